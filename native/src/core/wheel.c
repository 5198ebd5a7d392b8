/* SPDX-License-Identifier: Apache-2.0 */
#include "core/wheel.h"

#include <stddef.h>

void smp_wheel_init(struct smp_wheel *wheel, int64_t quantum_ns)
{
    *wheel = (struct smp_wheel){ .quantum_ns = quantum_ns };
}

void smp_wheel_remove(struct smp_wheel *wheel, struct smp_due *due)
{
    if (!due->is_in)
        return;
    if (due->before != NULL)
        due->before->next = due->next;
    else
        wheel->first[due->slot] = due->next;
    if (due->next != NULL)
        due->next->before = due->before;
    else
        wheel->last[due->slot] = due->before;
    due->is_in = false;
}

void smp_wheel_put(struct smp_wheel *wheel, struct smp_due *due, int64_t at_ns)
{
    const int64_t wanted = at_ns / wheel->quantum_ns;
    /* A slot that has been taken is not looked at again before the next turn. */
    const int64_t quantum = wanted > wheel->turn ? wanted : wheel->turn;
    const uint32_t slot = (uint32_t)((uint64_t)quantum % SMP_WHEEL_SLOTS);

    smp_wheel_remove(wheel, due);
    *due = (struct smp_due){ .before = wheel->last[slot], .at_ns = at_ns, .slot = slot };
    due->is_in = true;
    if (due->before != NULL)
        due->before->next = due;
    else
        wheel->first[slot] = due;
    wheel->last[slot] = due;
}

struct smp_due *smp_wheel_take(struct smp_wheel *wheel, int64_t now_ns)
{
    const int64_t now = now_ns / wheel->quantum_ns;
    int64_t turn = wheel->turn;
    struct smp_due *taken = NULL;
    struct smp_due **end = &taken;

    if (now - turn >= SMP_WHEEL_SLOTS)
        turn = now - SMP_WHEEL_SLOTS + 1;
    for (; turn <= now; turn++) {
        struct smp_due *due = wheel->first[(uint64_t)turn % SMP_WHEEL_SLOTS];
        while (due != NULL) {
            struct smp_due *next = due->next;
            if (due->at_ns <= now_ns) {
                smp_wheel_remove(wheel, due);
                *end = due;
                end = &due->next;
            }
            due = next;
        }
    }
    *end = NULL;
    if (now > wheel->turn)
        wheel->turn = now; /* taken again next time: it may not be over yet */
    return taken;
}
