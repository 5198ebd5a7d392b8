/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timer_wheel.h - which deadlines are due at which tick: a hashed timing wheel. A deadline that is
 * not due costs nothing.
 *
 *   slot = tick mod SLOTS          [ ][ ][a b][ ][c][ ] ...
 *                                         ▲ taken up to here
 *
 * A deadline more than one turn ahead stays in its slot and is skipped once a turn.
 *
 * Owns     its slots; deadlines are the caller's, and must be removed before they are freed.
 * Threads  one at a time.
 * Cost     put, remove: O(1); begin to next = NULL: the slots since the last time, and what is in
 *          them.
 */
#ifndef SMP_ENGINE_THREADS_TIMER_WHEEL_H
#define SMP_ENGINE_THREADS_TIMER_WHEEL_H

#include <stdbool.h>
#include <stdint.h>

enum { SMP_TIMER_WHEEL_SLOTS = 1024 };

/* Embedded in the structure that has the deadline. Zeroed: in no wheel. */
struct smp_deadline {
    struct smp_deadline *next;
    struct smp_deadline *before;
    uint64_t at; /* the tick */
    uint32_t slot;
    bool is_in;
};

struct smp_timer_wheel {
    struct smp_deadline *first[SMP_TIMER_WHEEL_SLOTS];
    struct smp_deadline *last[SMP_TIMER_WHEEL_SLOTS];
    uint64_t earliest[SMP_TIMER_WHEEL_SLOTS]; /* a lower bound: the earliest deadline put since the
                                               * slot was empty */
    uint64_t turn;                            /* the tick whose slot was visited last, or is being
                                               * visited */
    uint64_t now;                             /* of the last begin */
    struct smp_deadline *resume;              /* where next continues in that slot */
};

/* Moves or adds the deadline to this tick. FIFO among equal deadlines. A zeroed wheel is empty. */
void smp_timer_wheel_put(struct smp_timer_wheel *wheel, struct smp_deadline *due, uint64_t at);
void smp_timer_wheel_remove(struct smp_timer_wheel *wheel, struct smp_deadline *due);
/*
 * Begins to take out all deadlines up to now, which never decreases. Each call of next returns one
 * of them, or NULL at the end. Deadlines may be put and removed in between; next also returns those
 * that are put as due. If the caller stops before NULL, the remaining ones come first after the
 * next begin.
 */
void smp_timer_wheel_begin(struct smp_timer_wheel *wheel, uint64_t now);
struct smp_deadline *smp_timer_wheel_next(struct smp_timer_wheel *wheel);
/*
 * Returns the first tick after now at which a deadline may be due. It may be earlier than the next
 * deadline if others have been removed. Returns most if the tick is later or more than a turn
 * ahead, and now if due deadlines have not been taken yet.
 */
uint64_t smp_timer_wheel_first(const struct smp_timer_wheel *wheel, uint64_t now, uint64_t most);

#endif
