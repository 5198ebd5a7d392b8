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
 * Cost     put, take out: O(1); take: the slots since the last take, and the entries in them.
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
    int64_t quantum_ns;
    int64_t turn; /* the quantum that was taken last */
};

/* Empty. quantum_ns > 0: about the time between two takes. */
void smp_wheel_init(struct smp_wheel *wheel, int64_t quantum_ns);
/* Due at at_ns, wherever it was before. Who is put later is taken later, among equals. */
void smp_wheel_put(struct smp_wheel *wheel, struct smp_due *due, int64_t at_ns);
void smp_wheel_remove(struct smp_wheel *wheel, struct smp_due *due);
/* Takes all out that are due at now_ns or were before; linked by next. now_ns never goes back. */
struct smp_due *smp_wheel_take(struct smp_wheel *wheel, int64_t now_ns);

#endif
