/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exporters.h - profiles in the formats of other tools: a table of writers, each of which writes a
 * profile to a byte output.
 *
 *   TEXT        the report that people read, as PrintStreamSamplingOutputer prints it. Empty if
 *               nothing was sampled.
 *   COLLAPSED   a line "group;root;...;leaf amount" per stack with time of its own. A ';' inside a
 *               name is written as \u003b, a control character as escape.h has it, so that names
 *               which differ in these are different lines. Times are nanoseconds, so that sums
 *               equal those of the other formats. Amounts of 0 are omitted. Files can be
 *               concatenated. java_slashes and frame_types are for readers that colour Java
 *               frames (line_texts.h).
 *   PPROF       profile.proto, uncompressed. A sample type for each measure, the list backwards:
 *               readers that know no default show the last one, wall time. measure_alone: only
 *               the measure, and the period is CPU time if the measure is. The group is the
 *               label "thread". A function has the method's name as Java writes it (a.B.run), the
 *               JVM's as its system name (a/B.run), the source file with its folders (a/B.java),
 *               and its first line.
 *   OTLP        ProfilesData of OpenTelemetry (v1development, as in opentelemetry-proto 1.11),
 *               uncompressed: a profile for each measure with an amount above 0, wall time
 *               first. There is no resource: a sender inserts one before the profiles (otlp.c).
 *   SPEEDSCOPE  its file format: one sampled profile per group.
 *   JSON        everything: see json.c.
 *   TOP         tables: the lines and the methods with the most time of their own, and the counted
 *               methods.
 *   CALLS       a table of all counted methods, classes or packages (calls_table.c).
 *
 * Counted trees (group_key.h) repeat time of the sampled trees, and no format adds the two.
 * COLLAPSED and SPEEDSCOPE show only counted trees with the measure CALLS, and only sampled ones
 * with any other. TOP has a table of each kind, and with the measure CALLS that of counted methods
 * only. In PPROF and OTLP the stacks of counted trees have calls and no time. TEXT and JSON show
 * them separately.
 *
 * Groups are in descending order of time. Every writer streams: its working memory is proportional
 * to the nodes and frames that it must index, never to its output. TEXT makes one record at a time.
 *
 * Threads  any; the profile is immutable.
 * Errors   SMP_EIO: the output failed, and nothing more was written. SMP_ENOMEM, SMP_EQUOTA: no
 *          working memory, perhaps after a part was written. SMP_EINVAL: no such format, measure or
 *          kind of rows.
 * Cost     O(nodes), and the output; no recursion.
 */
#ifndef SMP_EXPORT_EXPORTERS_H
#define SMP_EXPORT_EXPORTERS_H

#include "base/alloc.h"
#include "base/status.h"
#include "base/writer.h"
#include "export/style.h"
#include "model/profile.h"

/* X(code, text): text is the name of the Java enum constant, and the order gives its ordinal. Java
 * makes HTML, a page around JSON, and gzip. */
#define SMP_FORMAT_MAP(X)       \
    X(TEXT, "TEXT")             \
    X(COLLAPSED, "COLLAPSED")   \
    X(PPROF, "PPROF")           \
    X(SPEEDSCOPE, "SPEEDSCOPE") \
    X(JSON, "JSON")             \
    X(TOP, "TOP")               \
    X(OTLP, "OTLP")             \
    X(CALLS, "CALLS")

enum smp_format {
#define X(code, text) SMP_FORMAT_##code,
    SMP_FORMAT_MAP(X)
#undef X
        SMP_FORMAT_COUNT
};

/* quota: for the working memory; may be NULL. */
SMP_CHECKED enum smp_status smp_export(const struct smp_profile *profile, enum smp_format format,
                                       const struct smp_export_style *style,
                                       struct smp_quota *quota, const struct smp_output *output);

#endif
