/* SPDX-License-Identifier: Apache-2.0 */
/*
 * id_renewal.h - ids of methods whose classes were unloaded are used again, once no tree of calls
 * has them.
 *
 *   begin ─ enough wait? ─► these are due ─► trees begin anew (counting/call_renewal.h)
 *   a read of the trees, by the caller: those that threads have given back are freed
 *   end   ─► due, and in no tree that is left ─► free; the others wait for the next time
 *
 * A class is unloaded only when no frame runs its code, so no thread pushes such an id any more.
 *
 * A number stands for an id and how often it was used before, so it belongs to one method, while
 * ids come back.
 *
 * Owns     8 bytes for each id, from the first renewal on.
 * Threads  the reader's. It takes the lock of the counted classes.
 * Errors   without memory nothing is renewed: ids wait.
 * Cost     begin, end: O(ids that wait), each with the lock, and a pass over all nodes. The others:
 *          constant.
 */
#ifndef SMP_JVM_CALLS_ID_RENEWAL_H
#define SMP_JVM_CALLS_ID_RENEWAL_H

#include <stdbool.h>
#include <stdint.h>

#include "jvm/calls/counted_classes.h"

enum {
    SMP_RENEWAL_IDS = 1024, /* so many have to wait, */
    SMP_RENEWAL_SHARE = 8,  /* or that part of the limit of methods; */
    SMP_RENEWAL_READS = 64  /* after so many reads those that trees still had count, too */
};

struct smp_id_use {
    uint32_t count; /* how often the id has come back */
    bool is_due;
};

/* Zeroed: nothing was renewed yet. Good for one counting, from open to close of the classes. */
struct smp_id_renewal {
    struct smp_quota *quota; /* of uses */
    struct smp_id_use *uses; /* by reach's id; NULL: none has come back */
    uint32_t count;          /* of uses */
    int32_t id_base;         /* of the classes */
    uint32_t held;           /* ids that trees still had the last time */
    uint32_t reads;          /* since then; up to SMP_RENEWAL_READS */
};

void smp_id_renewal_fini(struct smp_id_renewal *renewal);
int64_t smp_id_renewal_number(const struct smp_id_renewal *renewal, int32_t pushed);
/* -1: the id has come back since. */
int32_t smp_id_renewal_pushed(const struct smp_id_renewal *renewal, int64_t number);
/* True: it has begun, and end is to come after a read. */
bool smp_id_renewal_begin(struct smp_id_renewal *renewal, struct smp_counted_classes *counted);
void smp_id_renewal_end(struct smp_id_renewal *renewal, struct smp_counted_classes *counted);

#endif
