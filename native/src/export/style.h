/* SPDX-License-Identifier: Apache-2.0 */
/*
 * style.h - options of an export: order, columns, measure.
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

/* A format ignores the options of other formats. The report of an outputer (report.h) is TEXT. */
struct smp_export_style {
    /* COLLAPSED, SPEEDSCOPE: the one number of a stack. TOP, CALLS: the order */
    enum smp_measure measure;
    bool measure_alone;          /* PPROF: only this measure */
    enum smp_report_order order; /* TEXT */
    bool zero_time_packages;     /* TEXT: keep zero-time rows if the package differs from the
                                  * parent's */
    uint32_t columns;            /* TEXT, TOP: a set of further measures, shown as totals */
    bool percent;                /* TEXT: each row ends in its share of its group */
    uint32_t min_per_mille;      /* TEXT: rows below this share of their group's active time are
                                  * joined */
    bool short_account;          /* TEXT: only lines of the account that need attention */
    bool java_slashes;           /* COLLAPSED: a/b/C.run in place of a.b.C.run */
    bool frame_types;            /* COLLAPSED: frames of Java methods end in "_[j]" */
    bool summary;                /* TEXT, TOP, JSON: has a summary (summary.h) */
    bool fold_recursion;         /* all but CALLS: a recursion is one row that shows its depth */
    bool without_nodes;          /* JSON: for documents beside a difference's tree */
    bool spots_by_group;         /* JSON: the summary has more hot spots, each of one group */
    enum smp_report_per per;     /* CALLS */
    const char *focus;           /* CALLS: name of a row: only calls inside its calls; NULL: all */
    int64_t period_ns;           /* PPROF, OTLP: the sampling interval; 0: that of the profile */
};

#endif
