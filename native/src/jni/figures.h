/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figures.h - writes a session's statistics and a profile's figures to arrays of long for Java, in
 * the order that NativeBridge documents.
 *
 *   account      outcomes, counters
 *   statistics   account in total, account of the interval, gauges
 *
 * Threads  any; a profile is immutable.
 * Cost     constant for each figure.
 */
#ifndef SMP_JNI_FIGURES_H
#define SMP_JNI_FIGURES_H

#include <stddef.h>
#include <stdint.h>

#include "engine/session/session.h"
#include "export/hot_groups.h"
#include "export/hot_lines.h"
#include "jvm/walk/signals.h"
#include "model/error_range.h"
#include "model/profile.h"

enum smp_jni_profile_figure {
    SMP_JNI_PROFILE_FROM_MS,
    SMP_JNI_PROFILE_TILL_MS,
    SMP_JNI_PROFILE_ELAPSED_NS,
    SMP_JNI_PROFILE_OWN_CPU_NS,
    SMP_JNI_PROFILE_MEMORY_USED,
    SMP_JNI_PROFILE_MEMORY_LIMIT,
    SMP_JNI_PROFILE_POLLS,
    SMP_JNI_PROFILE_GROUPS,
    SMP_JNI_PROFILE_NODES,
    SMP_JNI_PROFILE_CPU_CLOCK, /* 1: times are CPU times */
    SMP_JNI_PROFILE_AMOUNTS,   /* from here on: the total of each measure */
    SMP_JNI_PROFILE_FIGURE_COUNT = SMP_JNI_PROFILE_AMOUNTS + SMP_MEASURE_COUNT
};

enum smp_jni_group_figure {
    SMP_JNI_GROUP_THREADS,
    SMP_JNI_GROUP_MAX_DEPTH,
    SMP_JNI_GROUP_POLLS,
    SMP_JNI_GROUP_ROOT,    /* the node whose children are the root frames; 0: none */
    SMP_JNI_GROUP_AMOUNTS, /* from here on: the total of each measure */
    SMP_JNI_GROUP_FIGURE_COUNT = SMP_JNI_GROUP_AMOUNTS + SMP_MEASURE_COUNT
};

enum smp_jni_row_figure {
    SMP_JNI_ROW_NODE,
    SMP_JNI_ROW_LOCATION,
    SMP_JNI_ROW_LINE, /* as in StackTraceElement: -1 unknown, -2 a native method */
    /* From here on: each measure of the row with all below it, or of the row alone if the measure
     * adds up as OWN (measure.h) */
    SMP_JNI_ROW_TOTAL,
    SMP_JNI_ROW_OWN = SMP_JNI_ROW_TOTAL + SMP_MEASURE_COUNT, /* then: of the row alone */
    /* Then both ends of each measure's error range (error_range.h); both -1: not known */
    SMP_JNI_ROW_ERROR = SMP_JNI_ROW_OWN + SMP_MEASURE_COUNT,
    SMP_JNI_ROW_FIGURE_COUNT = SMP_JNI_ROW_ERROR + 2 * SMP_MEASURE_COUNT
};

enum smp_jni_line_figure {
    SMP_JNI_LINE_LINE, /* as in a row */
    SMP_JNI_LINE_OWN,  /* from here on: each measure of the line alone */
    SMP_JNI_LINE_FIGURE_COUNT = SMP_JNI_LINE_OWN + SMP_MEASURE_COUNT
};

/* X(name, expression over const struct smp_statistics *s, const struct smp_handler_cost *p) */
#define SMP_JNI_GAUGE_MAP(X)                                 \
    X(polls, s->ticker.sampler.total_tally.polls)            \
    X(intervalPolls, s->ticker.sampler.interval_tally.polls) \
    X(threads, s->ticker.sampler.sampled_threads)            \
    X(nodes, s->ticker.sampler.nodes)                        \
    X(locations, s->ticker.sampler.locations)                \
    X(reportsWritten, s->reports_written)                    \
    X(reportsWaiting, s->reports_waiting)                    \
    X(memoryUsedBytes, s->memory_used_bytes)                 \
    X(memoryPeakBytes, s->memory_peak_bytes)                 \
    X(memoryLimitBytes, s->memory_limit_bytes)               \
    X(ownCpuNanos, s->own_cpu_ns)                            \
    X(elapsedNanos, s->ticker.elapsed_ns)                    \
    X(handlerSamplesTimed, p->timed)                         \
    X(handlerNanosTimed, p->timed_ns)                        \
    X(handlerNanosMedian, p->median_ns)                      \
    X(walksInOtherHandlers, p->in_other_handlers)

enum smp_jni_gauge {
#define X(name, value) SMP_JNI_GAUGE_##name,
    SMP_JNI_GAUGE_MAP(X)
#undef X
        SMP_JNI_GAUGE_COUNT
};

enum {
    SMP_JNI_ACCOUNT_COUNT = SMP_OUTCOME_COUNT + SMP_COUNTER_COUNT,
    SMP_JNI_STATISTIC_COUNT = 2 * SMP_JNI_ACCOUNT_COUNT + SMP_JNI_GAUGE_COUNT,
    SMP_JNI_FIGURE_NAME_BYTES = 128
};

/* These write the name of an account's figure, or of a statistic, to self, a buffer of
 * SMP_JNI_FIGURE_NAME_BYTES, and return it. */
const char *smp_jni_account_name(void *self, size_t index);
const char *smp_jni_statistic_name(void *self, size_t index);

void smp_jni_statistics(const struct smp_statistics *statistics,
                        const struct smp_handler_cost *cost,
                        int64_t values[SMP_JNI_STATISTIC_COUNT]);
void smp_jni_profile_account(const struct smp_profile *profile,
                             int64_t values[SMP_JNI_ACCOUNT_COUNT]);
void smp_jni_profile_figures(const struct smp_profile *profile, const struct smp_hot_groups *groups,
                             int64_t values[SMP_JNI_PROFILE_FIGURE_COUNT]);
/* index: of the group in the profile. */
void smp_jni_group_figures(const struct smp_profile *profile, uint32_t index,
                           int64_t values[SMP_JNI_GROUP_FIGURE_COUNT]);
/* node: a frame. errors: of its group. O(children of the node). */
void smp_jni_row_figures(const struct smp_group_errors *errors, uint32_t node,
                         int64_t values[SMP_JNI_ROW_FIGURE_COUNT]);
void smp_jni_line_figures(const struct smp_profile *profile, const struct smp_hot_line *line,
                          int64_t values[SMP_JNI_LINE_FIGURE_COUNT]);

#endif
