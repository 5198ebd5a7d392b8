/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/threads/timer_wheel.h"

#include <stddef.h>

void smp_timer_wheel_remove(struct smp_timer_wheel *wheel, struct smp_deadline *deadline)
{
    if (!deadline->is_in)
        return;
    if (wheel->resume == deadline)
        wheel->resume = deadline->next;
    if (deadline->before != NULL)
        deadline->before->next = deadline->next;
    else
        wheel->first[deadline->slot] = deadline->next;
    if (deadline->next != NULL)
        deadline->next->before = deadline->before;
    else
        wheel->last[deadline->slot] = deadline->before;
    deadline->is_in = false;
}

void smp_timer_wheel_put(struct smp_timer_wheel *wheel, struct smp_deadline *deadline, uint64_t at)
{
    /* A slot that was visited is not visited again before the next turn. */
    const uint64_t tick = at > wheel->turn ? at : wheel->turn;
    const uint32_t slot = (uint32_t)(tick % SMP_TIMER_WHEEL_SLOTS);

    smp_timer_wheel_remove(wheel, deadline);
    *deadline = (struct smp_deadline){ .before = wheel->last[slot], .at = at, .slot = slot };
    deadline->is_in = true;
    if (deadline->before == NULL || at < wheel->earliest[slot])
        wheel->earliest[slot] = at;
    if (deadline->before != NULL)
        deadline->before->next = deadline;
    else
        wheel->first[slot] = deadline;
    wheel->last[slot] = deadline;
}

void smp_timer_wheel_begin(struct smp_timer_wheel *wheel, uint64_t now)
{
    /* Visiting each slot once is enough. Deadlines left over from the last begin still come first,
     * however long ago they were due. */
    if (wheel->turn == wheel->now && now >= wheel->turn + SMP_TIMER_WHEEL_SLOTS)
        wheel->turn = now - SMP_TIMER_WHEEL_SLOTS + 1;
    wheel->now = now;
    wheel->resume = wheel->first[wheel->turn % SMP_TIMER_WHEEL_SLOTS];
}

/* The next begin starts with the slot of now again, because more deadlines may be put there. */
struct smp_deadline *smp_timer_wheel_next(struct smp_timer_wheel *wheel)
{
    for (;;) {
        while (wheel->resume != NULL) {
            struct smp_deadline *deadline = wheel->resume;
            wheel->resume = deadline->next;
            if (deadline->at <= wheel->now) {
                smp_timer_wheel_remove(wheel, deadline);
                return deadline;
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
        /* Otherwise all deadlines of this slot belong to a later turn, and others may come before
         * them. */
        if (wheel->earliest[slot] <= turn)
            return turn;
    }
    return most;
}
