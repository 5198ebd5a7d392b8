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
    if (wheel->resume == due)
        wheel->resume = due->next;
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
    if (due->before == NULL || at_ns < wheel->earliest_ns[slot])
        wheel->earliest_ns[slot] = at_ns;
    if (due->before != NULL)
        due->before->next = due;
    else
        wheel->first[slot] = due;
    wheel->last[slot] = due;
}

void smp_wheel_begin(struct smp_wheel *wheel, int64_t now_ns)
{
    const int64_t now = now_ns / wheel->quantum_ns;

    wheel->now_ns = now_ns;
    if (now - wheel->turn >= SMP_WHEEL_SLOTS)
        wheel->turn = now - SMP_WHEEL_SLOTS + 1;
    wheel->resume = wheel->first[(uint64_t)wheel->turn % SMP_WHEEL_SLOTS];
}

/* The slot of now is begun with again next time: it may not be over yet. */
struct smp_due *smp_wheel_next(struct smp_wheel *wheel)
{
    const int64_t now = wheel->now_ns / wheel->quantum_ns;

    for (;;) {
        while (wheel->resume != NULL) {
            struct smp_due *due = wheel->resume;
            wheel->resume = due->next;
            if (due->at_ns <= wheel->now_ns) {
                smp_wheel_remove(wheel, due);
                return due;
            }
        }
        if (wheel->turn >= now)
            return NULL;
        wheel->turn++;
        wheel->resume = wheel->first[(uint64_t)wheel->turn % SMP_WHEEL_SLOTS];
    }
}

int64_t smp_wheel_first_ns(const struct smp_wheel *wheel, int64_t now_ns, int64_t most_ns)
{
    const int64_t most = most_ns / wheel->quantum_ns;

    if (wheel->turn < now_ns / wheel->quantum_ns)
        return now_ns;
    for (int64_t turn = wheel->turn; turn <= most && turn < wheel->turn + SMP_WHEEL_SLOTS; turn++) {
        const uint64_t slot = (uint64_t)turn % SMP_WHEEL_SLOTS;
        const int64_t begin_ns = turn * wheel->quantum_ns;
        if (wheel->first[slot] == NULL)
            continue;
        if (wheel->earliest_ns[slot] < begin_ns)
            return begin_ns;
        /* Else those of this slot are due in a later turn, and others may be before them. */
        if (wheel->earliest_ns[slot] < begin_ns + wheel->quantum_ns)
            return wheel->earliest_ns[slot] < most_ns ? wheel->earliest_ns[slot] : most_ns;
    }
    return most_ns;
}
