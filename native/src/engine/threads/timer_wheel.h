/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timer_wheel.h - which entries are due at which tick: a hashed timing wheel. An entry that is not due
 * costs nothing.
 *
 *   slot = tick mod SLOTS          [ ][ ][a b][ ][c][ ] ...
 *                                         ▲ taken up to here
 *
 * An entry that lies more than one turn ahead stays in its slot and is passed over once a turn.
 *
 * Owns     nothing; entries are the caller's, and must be taken out before they are freed.
 * Threads  one at a time.
 * Errors   none.
 * Cost     put, remove: O(1); taking: the slots since the last one, and the entries in them.
 */
#ifndef SMP_ENGINE_THREADS_TIMER_WHEEL_H
#define SMP_ENGINE_THREADS_TIMER_WHEEL_H

#include <stdbool.h>
#include <stdint.h>

enum { SMP_TIMER_WHEEL_SLOTS = 1024 };

/* Part of whatever can be due. Zeroed: in no wheel. */
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
    uint64_t
        earliest[SMP_TIMER_WHEEL_SLOTS]; /* that was put since it was empty: none in it is before */
    uint64_t turn;                       /* the tick whose slot is being taken, or was last */
    uint64_t now;                        /* of the taking */
    struct smp_deadline *resume;         /* where it goes on in that slot */
};

/* Due at that tick, wherever it was before. FIFO among equals. A zeroed wheel is empty. */
void smp_timer_wheel_put(struct smp_timer_wheel *wheel, struct smp_deadline *due, uint64_t at);
void smp_timer_wheel_remove(struct smp_timer_wheel *wheel, struct smp_deadline *due);
/*
 * Begins to take out all that are due at now or were before; now never goes back. next: one
 * of them, or NULL. In between entries may be put and removed; one that is put as due is taken by
 * this taking, too. Whoever stops early leaves the rest for the next taking, first in line.
 */
void smp_timer_wheel_begin(struct smp_timer_wheel *wheel, uint64_t now);
struct smp_deadline *smp_timer_wheel_next(struct smp_timer_wheel *wheel);
/*
 * The first tick after now at which an entry may be due: that of the next one, or a little sooner
 * where others have been removed. most where that is later, or more than a turn ahead; now where
 * what was due until then has not been taken.
 */
uint64_t smp_timer_wheel_first(const struct smp_timer_wheel *wheel, uint64_t now, uint64_t most);

#endif
