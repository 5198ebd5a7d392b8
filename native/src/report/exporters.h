/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exporters.h - the forms other tools open: a table of writers, each from a snapshot into a byte
 * sink.
 *
 * Every writer streams: its working memory is proportional to what it must index (functions,
 * locations), never to its output. A thread group is the root frame of its stacks.
 *
 * Owns     nothing after the call.
 * Threads  any; the snapshot is immutable.
 * Errors   SMP_EIO: the sink refused, nothing more was written. SMP_ENOMEM, SMP_EQUOTA: no working
 * memory, perhaps after a part was written. SMP_EINVAL: the format has no such weight. Cost
 * O(nodes); no recursion.
 */
#ifndef SMP_REPORT_EXPORTERS_H
#define SMP_REPORT_EXPORTERS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/alloc.h"
#include "base/status.h"
#include "model/options.h"
#include "model/snapshot.h"

/* X(code, text): text is the name of the Java enum constant, the order its ordinal. HTML is JSON
 * inside a page that Java wraps around it; gzip is Java's too. */
#define SMP_FORMAT_MAP(X)       \
    X(TEXT, "TEXT")             \
    X(COLLAPSED, "COLLAPSED")   \
    X(PPROF, "PPROF")           \
    X(SPEEDSCOPE, "SPEEDSCOPE") \
    X(JSON, "JSON")             \
    X(TOP, "TOP")

enum smp_format {
#define X(code, text) SMP_FORMAT_##code,
    SMP_FORMAT_MAP(X)
#undef X
        SMP_FORMAT_COUNT
};

/* What a stack weighs where a format has one number only (COLLAPSED, SPEEDSCOPE). */
enum smp_weight { SMP_WEIGHT_WALL, SMP_WEIGHT_CPU, SMP_WEIGHT_SAMPLES };

struct smp_export_style {
    enum smp_weight weight;
    enum smp_report_order order; /* TEXT */
    bool zero_time_packages;     /* TEXT */
    bool cpu_time;               /* TEXT, TOP: a CPU column */
    bool percent;                /* TEXT: percent of the group's cumulative time */
    int64_t period_ns;           /* PPROF: the sampling interval */
};

/* Bytes go here, in pieces of at most SMP_EXPORT_PIECE_BYTES. */
enum { SMP_EXPORT_PIECE_BYTES = 64 * 1024 };
struct smp_byte_sink {
    bool (*write)(void *self, const char *bytes, size_t length);
    void *self;
};

SMP_CHECKED enum smp_status smp_export(const struct smp_snapshot *snapshot, enum smp_format format,
                                       const struct smp_export_style *style,
                                       struct smp_quota *quota, const struct smp_byte_sink *sink);

#endif
