/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_pace.h - when the next batch (class_batches.h) may be.
 *
 * A program that starts, or that is attached to, calls new methods for seconds, and each batch
 * stops all its threads and discards compiled code. So batches come ever more rarely: each after a
 * quarter of the time since the first one, so that some twenty are made within ten seconds. Once no
 * batch was needed for SMP_BATCH_CALM_NS the next one comes soon again.
 *
 * Threads  one at a time.
 * Cost     constant.
 */
#ifndef SMP_JVM_CALLS_BATCH_PACE_H
#define SMP_JVM_CALLS_BATCH_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define SMP_BATCH_LEAST_PAUSE_NS 100000000LL
#define SMP_BATCH_MOST_PAUSE_NS 1000000000LL
#define SMP_BATCH_CALM_NS 5000000000LL

enum {
    SMP_BATCH_PAUSE_SHARE = 4, /* of the time since the first batch */
    SMP_BATCH_RUN_SHARE = 3 /* the program runs at least so many times as long as it was stopped */
};

/* Zeroed: no batch was made. */
struct smp_batch_pace {
    int64_t first_ns; /* the first batch of those that followed each other */
    int64_t ended_ns; /* the last one */
    bool has_any;
};

/* After a batch: how long to wait before the next one. */
int64_t smp_batch_pace_wait_ns(struct smp_batch_pace *pace, int64_t start_ns, int64_t end_ns);

#endif
