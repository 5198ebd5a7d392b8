/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counter_account.h - what counting did in this JVM, and why something is not counted, by the codes
 * of model/counting_account.h.
 *
 * Threads  the sampler thread, while calls are counted.
 * Errors   a name for which there is no memory is missing.
 * Cost     a pass over the rules of roots and the names of what is lost.
 */
#ifndef SMP_JVM_CALLS_COUNTER_ACCOUNT_H
#define SMP_JVM_CALLS_COUNTER_ACCOUNT_H

#include <stdint.h>

#include "model/counting_account.h"

/* What is in earlier accounts. */
struct smp_counter_account_seen {
    uint64_t batches;
    uint64_t lost_roots;
    uint64_t lost_threads;
    uint64_t misplaced;
};

/* Counting begins: nothing of it is in an account. */
struct smp_counter_account_seen smp_counter_account_begin(void);
void smp_counter_account_add(struct smp_counter_account_seen *seen,
                             struct smp_counting_account *out);

#endif
