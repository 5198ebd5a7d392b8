/* SPDX-License-Identifier: Apache-2.0 */
/*
 * style.h - what a report and an export show: order, columns, measure.
 *
 * Threads  any: plain values.
 */
#ifndef SMP_EXPORT_STYLE_H
#define SMP_EXPORT_STYLE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/measure.h"
#include "model/options.h"

/* What a row of a table of calls is. */
enum smp_report_per { SMP_PER_METHOD, SMP_PER_CLASS, SMP_PER_PACKAGE };

struct smp_report_style {
    enum smp_report_order order;
    bool zero_time_packages; /* keep zero-time rows where the package differs from the parent's */
    uint32_t columns;        /* a set of measures: rows end in ", CPU time(ms): <U>", cumulative */
    bool percent;            /* each row's share of its group: ", Percent: 12.3" at its end */
    uint32_t min_per_mille;  /* rows below that share of their group's active time are one row */
    bool short_account;      /* of the account only what needs attention */
    bool summary;            /* the first record (summary.h) */
    bool fold_recursion;     /* calls that repeat those above them are one row with its depth */
};

struct smp_export_style {
    /* Of COLLAPSED and SPEEDSCOPE, where a stack has one number only; TOP and CALLS: the order */
    enum smp_measure measure;
    bool measure_alone;          /* PPROF: no other one */
    enum smp_report_order order; /* TEXT */
    bool zero_time_packages;     /* TEXT */
    uint32_t columns;            /* TEXT, TOP: a set of measures that are not always printed */
    bool percent;                /* TEXT: percent of the group's cumulative time */
    uint32_t min_per_mille;      /* TEXT: as above */
    bool short_account;          /* TEXT */
    bool java_slashes;           /* COLLAPSED: a/b/C.run in place of a.b.C.run */
    bool frame_types;            /* COLLAPSED: frames of Java methods end in "_[j]" */
    bool summary;                /* TEXT, TOP, JSON: has a summary (summary.h) */
    bool fold_recursion;         /* as above, in any format */
    bool without_nodes;          /* JSON: what stands beside a difference's tree */
    bool spots_by_group;         /* JSON: the summary's hot spots are more, each of one group */
    enum smp_report_per per;     /* CALLS */
    const char *focus;           /* CALLS: a row; only calls inside of its calls; NULL: all */
    int64_t period_ns;           /* PPROF, OTLP: the sampling interval, 0: as the profile says */
};

#endif
