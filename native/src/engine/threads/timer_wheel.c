/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/threads/timer_wheel.h"

#include <stddef.h>

void smp_timer_wheel_remove(struct smp_timer_wheel *wheel, struct smp_deadline *due)
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

void smp_timer_wheel_put(struct smp_timer_wheel *wheel, struct smp_deadline *due, uint64_t at)
{
    /* A slot that has been taken is not looked at again before the next turn. */
    const uint64_t tick = at > wheel->turn ? at : wheel->turn;
    const uint32_t slot = (uint32_t)(tick % SMP_TIMER_WHEEL_SLOTS);

    smp_timer_wheel_remove(wheel, due);
    *due = (struct smp_deadline){ .before = wheel->last[slot], .at = at, .slot = slot };
    due->is_in = true;
    if (due->before == NULL || at < wheel->earliest[slot])
        wheel->earliest[slot] = at;
    if (due->before != NULL)
        due->before->next = due;
    else
        wheel->first[slot] = due;
    wheel->last[slot] = due;
}

void smp_timer_wheel_begin(struct smp_timer_wheel *wheel, uint64_t now)
{
    /* Each slot once is enough. But entries that the last taking left are first in line, however
     * long ago they were due. */
    if (wheel->turn == wheel->now && now >= wheel->turn + SMP_TIMER_WHEEL_SLOTS)
        wheel->turn = now - SMP_TIMER_WHEEL_SLOTS + 1;
    wheel->now = now;
    wheel->resume = wheel->first[wheel->turn % SMP_TIMER_WHEEL_SLOTS];
}

/* The slot of now is begun with again next time: more may be put there. */
struct smp_deadline *smp_timer_wheel_next(struct smp_timer_wheel *wheel)
{
    for (;;) {
        while (wheel->resume != NULL) {
            struct smp_deadline *due = wheel->resume;
            wheel->resume = due->next;
            if (due->at <= wheel->now) {
                smp_timer_wheel_remove(wheel, due);
                return due;
            }
        }
        if (wheel->turn >= wheel->now)
            return NULL;
        wheel->turn++;
        wheel->resume = wheel->first[wheel->turn % SMP_TIMER_WHEEL_SLOTS];
    }
}

uint64_t smp_timer_wheel_first(const struct smp_timer_wheel *wheel, uint64_t now, uint64_t most)
{
    if (wheel->turn < now)
        return now;
    for (uint64_t turn = wheel->turn; turn <= most && turn < wheel->turn + SMP_TIMER_WHEEL_SLOTS;
         turn++) {
        const uint64_t slot = turn % SMP_TIMER_WHEEL_SLOTS;
        if (wheel->first[slot] == NULL)
            continue;
        /* Else those of this slot are due in a later turn, and others may be before them. */
        if (wheel->earliest[slot] <= turn)
            return turn;
    }
    return most;
}
