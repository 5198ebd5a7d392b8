/* SPDX-License-Identifier: Apache-2.0 */
/*
 * statistics.h - a session's figures as two lists of equal length: names and values.
 *
 * Threads  any.
 * Cost     O(SMP_JNI_STATISTIC_COUNT).
 */
#ifndef SMP_JNI_STATISTICS_H
#define SMP_JNI_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

#include "engine/session/session.h"
#include "jvm/walk/signals.h"

/* X(name, expression over const struct smp_statistics *s, const struct smp_handler_cost *p) */
#define SMP_JNI_GAUGE_MAP(X)                          \
    X(polls, s->sampler.total_tally.polls)            \
    X(intervalPolls, s->sampler.interval_tally.polls) \
    X(threads, s->sampler.threads)                    \
    X(nodes, s->sampler.nodes)                        \
    X(locations, s->sampler.locations)                \
    X(reportsWritten, s->reports_written)             \
    X(memoryUsedBytes, s->memory_used_bytes)          \
    X(memoryPeakBytes, s->memory_peak_bytes)          \
    X(memoryLimitBytes, s->memory_limit_bytes)        \
    X(ownCpuNanos, s->own_cpu_ns)                     \
    X(elapsedNanos, s->elapsed_ns)                    \
    X(handlerSamplesTimed, p->timed)                  \
    X(handlerNanosTimed, p->timed_ns)                 \
    X(handlerNanosMedian, p->median_ns)               \
    X(walksInOtherHandlers, p->in_other_handlers)

enum smp_jni_gauge {
#define X(name, value) SMP_JNI_GAUGE_##name,
    SMP_JNI_GAUGE_MAP(X)
#undef X
        SMP_JNI_GAUGE_COUNT
};

enum {
    SMP_JNI_STATISTIC_COUNT = 2 * SMP_OUTCOME_COUNT + 2 * SMP_COUNTER_COUNT + SMP_JNI_GAUGE_COUNT,
    SMP_JNI_STATISTIC_NAME_BYTES = 128
};

/* The name of value number index, as NativeBridge.statisticNames documents it. */
void smp_jni_statistic_name(size_t index, char name[SMP_JNI_STATISTIC_NAME_BYTES]);
void smp_jni_statistic_values(const struct smp_statistics *statistics,
                              const struct smp_handler_cost *cost,
                              int64_t values[SMP_JNI_STATISTIC_COUNT]);

#endif
