/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.h - the source of counted calls: how often methods below a root were called, and for how
 * long.
 *
 *   counter (call_counter.h) ─► each second or more: counts, EXACT's times ─► nodes of the interval
 *                            └► each tick: threads inside of a root; EXACT: threads in a probe
 *   sampled stacks ─► after each read and at the interval's end: SAMPLED's times, CPU time, states
 *                     (model/counted_times.h)
 *
 * EXACT's time in probes is right on average, because the time of a tick does not depend on what
 * threads do. If checking all threads would cost more than a quarter of the overhead limit, only a
 * random share is checked, with the inverse weight.
 *
 * A session without root methods does not have this source. If counting cannot start, the session
 * runs without it, and a log message says why.
 *
 * Owns     a quota for all memory of counting, half of the memory limit and in addition to it.
 * Threads  the sampler thread only.
 * Errors   create: SMP_ENOMEM, SMP_EQUOTA. Later failures are in the account.
 * Cost     tick: 0.1 us for each thread that was ever inside of a root, 1 us if it is inside now.
 *          Reads take at most a quarter of a percent of a core.
 */
#ifndef SMP_ENGINE_SOURCES_CALLS_H
#define SMP_ENGINE_SOURCES_CALLS_H

#include "base/status.h"
#include "engine/sources/source.h"
#include "model/options.h"

enum {
    SMP_CALLS_MEMORY_SHARE = 2,  /* counting may take half of memoryLimitBytes, in addition to it */
    SMP_CALLS_READ_MS = 1000,    /* minimum time between two reads, */
    SMP_CALLS_READ_SHARE = 400,  /* or this many times the cost of one */
    SMP_CALLS_TICK_SHARE = 4,    /* this part of the overhead limit is for positions at ticks */
    SMP_CALLS_LEAST_SHARE = 16,  /* at least this part of the threads is checked */
    SMP_CALLS_WARM_UP_MS = 3000, /* discardWarmUp: time without a new method */
    SMP_CALLS_JUDGE_MS = 500     /* minimum time between two judgements */
};

/* Without root methods returns SMP_OK, allocates nothing and leaves *out unchanged. */
SMP_CHECKED enum smp_status smp_calls_create(const struct smp_source_setup *setup,
                                             struct smp_source *out);
/* self is this source's. Resets the counts of the running interval. */
void smp_calls_reset(void *self);

#endif
