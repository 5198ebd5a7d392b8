/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.h - the source of counted calls: how often each method was called from root methods down,
 * and how long that took.
 *
 *   counter (call_counter.h) ─► each second or more: counts, EXACT's times ─► nodes of the interval
 *                            └► each tick: who is inside of a root; EXACT: who is in a probe
 *   sampled stacks ─► after each read and at the interval's end: SAMPLED's times, CPU time, states
 *                     (model/counted_times.h)
 *
 * EXACT's hook share is right on average, because the time of a tick does not depend on what
 * threads do. If checking them would cost more than a quarter of the overhead limit, only a random
 * part of the threads is checked, with the inverse weight.
 *
 * A session without root methods has no such source. If counting cannot start, the session runs
 * without it, and a message in the log says why.
 *
 * Owns     a quota for all memory of counting: half of the memory limit, in addition to it.
 * Threads  the sampler thread only.
 * Errors   create: SMP_ENOMEM, SMP_EQUOTA. Afterwards: the account of counting.
 * Cost     tick: 0.1 us for each thread that was inside of a root, 1 us for one that is inside.
 *          Reads take at most a quarter of a percent of a core.
 */
#ifndef SMP_ENGINE_SOURCES_CALLS_H
#define SMP_ENGINE_SOURCES_CALLS_H

#include "base/status.h"
#include "engine/sources/source.h"
#include "model/options.h"

enum {
    SMP_CALLS_MEMORY_SHARE = 2,  /* counting may take half of memoryLimitBytes, in addition to it */
    SMP_CALLS_READ_MS = 1000,    /* the least time between two reads, */
    SMP_CALLS_READ_SHARE = 400,  /* or so many times the cost of one */
    SMP_CALLS_TICK_SHARE = 4,    /* this part of the overhead limit is for positions at ticks */
    SMP_CALLS_LEAST_SHARE = 16,  /* at least one thread in so many is checked */
    SMP_CALLS_WARM_UP_MS = 3000, /* discardWarmUp: so long without a new method */
    SMP_CALLS_JUDGE_MS = 500     /* the least time between two judgements */
};

/* SMP_OK without root methods: *out stays as it is, and nothing is allocated. */
SMP_CHECKED enum smp_status smp_calls_create(const struct smp_source_setup *setup,
                                             struct smp_source *out);
/* self: of this source. Counts of the running interval begin at zero. */
void smp_calls_reset(void *self);

#endif
