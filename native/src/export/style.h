/* SPDX-License-Identifier: Apache-2.0 */
/*
 * style.h - options of a report and of an export: order, columns, measure.
 *
 * Threads  any: plain values.
 */
#ifndef SMP_EXPORT_STYLE_H
#define SMP_EXPORT_STYLE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/measure.h"
#include "model/options.h"

/* The unit of a row in the table of calls. */
enum smp_report_per { SMP_PER_METHOD, SMP_PER_CLASS, SMP_PER_PACKAGE };

struct smp_report_style {
    enum smp_report_order order;
    bool zero_time_packages; /* keep zero-time rows if the package differs from the parent's */
    uint32_t columns;        /* a set of measures, shown as totals: ", CPU time(ms): <U>" */
    bool percent;            /* each row ends in its share of its group: ", Percent: 12.3" */
    uint32_t min_per_mille;  /* rows below this share of their group's active time are joined */
    bool short_account;      /* only lines of the account that need attention */
    bool summary;            /* begin with the summary (summary.h) */
    bool fold_recursion;     /* a recursion is one row that shows its depth */
};

struct smp_export_style {
    /* The one number of a stack in COLLAPSED and SPEEDSCOPE; the order of TOP and CALLS */
    enum smp_measure measure;
    bool measure_alone;          /* PPROF: only this measure */
    enum smp_report_order order; /* TEXT */
    bool zero_time_packages;     /* TEXT */
    uint32_t columns;            /* TEXT, TOP: a set of further measures */
    bool percent;                /* TEXT: percent of the group's cumulative time */
    uint32_t min_per_mille;      /* TEXT: as above */
    bool short_account;          /* TEXT */
    bool java_slashes;           /* COLLAPSED: a/b/C.run in place of a.b.C.run */
    bool frame_types;            /* COLLAPSED: frames of Java methods end in "_[j]" */
    bool summary;                /* TEXT, TOP, JSON: has a summary (summary.h) */
    bool fold_recursion;         /* as above, in any format */
    bool without_nodes;          /* JSON: for documents beside a difference's tree */
    bool spots_by_group;         /* JSON: the summary has more hot spots, each of one group */
    enum smp_report_per per;     /* CALLS */
    const char *focus;           /* CALLS: name of a row: only calls inside its calls; NULL: all */
    int64_t period_ns;           /* PPROF, OTLP: the sampling interval; 0: that of the profile */
};

#endif
