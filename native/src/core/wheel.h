/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wheel.h - who is due when: a hashed timing wheel. Whoever is not due costs nothing.
 *
 *   slot = due / quantum mod SLOTS          [ ][ ][a b][ ][c][ ] ...
 *                                                  ▲ taken up to here
 *
 * An entry that lies more than one turn ahead stays in its slot and is passed over once a turn.
 *
 * Owns     nothing; entries are the caller's, and must be taken out before they are freed.
 * Threads  one at a time.
 * Errors   none.
 * Cost     put, remove: O(1); taking: the slots since the last one, and the entries in them.
 */
#ifndef SMP_CORE_WHEEL_H
#define SMP_CORE_WHEEL_H

#include <stdbool.h>
#include <stdint.h>

enum { SMP_WHEEL_SLOTS = 1024 };

/* Part of whatever can be due. Zeroed: in no wheel. */
struct smp_due {
    struct smp_due *next;
    struct smp_due *before;
    int64_t at_ns;
    uint32_t slot;
    bool is_in;
};

struct smp_wheel {
    struct smp_due *first[SMP_WHEEL_SLOTS];
    struct smp_due *last[SMP_WHEEL_SLOTS];
    int64_t
        earliest_ns[SMP_WHEEL_SLOTS]; /* that was put since it was empty: none in it is before */
    int64_t quantum_ns;
    int64_t turn;           /* the quantum whose slot is being taken, or was last */
    int64_t now_ns;         /* of the taking */
    struct smp_due *resume; /* where it goes on in that slot */
};

/* Empty. quantum_ns > 0: about the time between two takes. */
void smp_wheel_init(struct smp_wheel *wheel, int64_t quantum_ns);
/* Due at at_ns, wherever it was before. Who is put later is taken later, among equals. */
void smp_wheel_put(struct smp_wheel *wheel, struct smp_due *due, int64_t at_ns);
void smp_wheel_remove(struct smp_wheel *wheel, struct smp_due *due);
/*
 * Begins to take out all that are due at now_ns or were before; now_ns never goes back. next: one
 * of them, or NULL. In between entries may be put and removed; one that is put as due is taken by
 * this taking, too. Whoever stops early leaves the rest for the next taking, first in line.
 */
void smp_wheel_begin(struct smp_wheel *wheel, int64_t now_ns);
struct smp_due *smp_wheel_next(struct smp_wheel *wheel);
/*
 * Nobody is due before: when the next one is, or a little sooner where others have been removed.
 * most_ns where that is later, or more than a turn ahead; now_ns where what was due until then has
 * not been taken.
 */
int64_t smp_wheel_first_ns(const struct smp_wheel *wheel, int64_t now_ns, int64_t most_ns);

#endif
