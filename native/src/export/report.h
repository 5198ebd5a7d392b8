/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h - the report that people read, in the original's format, from a profile to an outputer.
 *
 *   Summary.                                       (summary.h; only where the style has it)
 *   ...
 *
 *   Sampler account.                                                        (account_record.h)
 *   <text>: <figure>\n
 *
 *   Aggregated thread: <group>. Max depth: <n>. Distinct threads: <k> [<names>, … <m> more]
 *       [ of <g> groups]
 *   <2 spaces per printed ancestor><frame><pad> Cumulative time(ms): <C>, Method time(ms): <M>
 *       [, CPU time(ms): <U>][, Calls: <n>[ over <k> paths]][, Recursion depth: <d>]
 *       [, Percent: <P>]\n
 *
 * of <g> groups: of [other threads], which holds so many (model/group_limit.h). Where calls are
 * counted, after these groups:
 *
 *   Counted thread: <group>. Max depth: <n>. Distinct threads: <k> [<names>, … <m> more]
 *   hook share: <h> %
 *   <2 spaces per ancestor><frame><pad> Cumulative time(ms): <C>, Method time(ms): <M>
 *       [, CPU time(ms): <U>], Calls: <n>[, Time per call(us): <mean>[, min <a>, max <b>]]
 *       [, Recursion depth: <d>][, Percent: <P>]\n
 *
 * Recursion depth: of a row whose recursion is folded (model/recursion.h), how deep its calls were
 * in each other. Its time has what they called once.
 *
 * In counted groups a frame is a method, without a line, and its calls are its own. Microseconds
 * have three digits behind the point; min and max are of root methods' calls that have ended. No
 * row with calls is left out. hook share: the part of the time inside the roots that was spent in
 * the counting itself and is in no row; no such line where it is not known. Calls in rows of
 * sampled groups: row_calls.h.
 *
 * pad: one space, and before it spaces up to width 150, so that "Cumulative" stands in column 152
 * (0-based) as long as indent and frame take at most 150 columns, and two spaces after the frame
 * beyond that. Columns are counted in code points. Milliseconds are rounded down from nanoseconds,
 * so a parent never shows less than the sum of its children. A row is left out when it is not a
 * root, its method time is zero and its cumulative time equals its parent's, as printed; its
 * children move up (rows.h). Pseudo-frames stay: a gap in a deep stack must be seen.
 *
 * Groups stand in descending active time, in whole milliseconds, so that idle ones are last but for
 * [JVM]; ties, counted groups and holders in descending time, then in byte order of their names
 * (hot_groups.h). Siblings stand in byte order of their frames, or in descending time. A group
 * without time and polls is not printed. A profile of which nothing was sampled makes no call of
 * the outputer.
 *
 * Threads  any; the profile is immutable.
 * Errors   SMP_EIO: the outputer returned false, the rest was not sent. SMP_ENOMEM, SMP_EQUOTA: no
 *          working memory, nothing was sent. A record past SMP_MAX_RECORD_BYTES (group_record.h) or
 *          past the memory limit ends with a line that says how many rows are missing;
 *          *records_cut counts such records.A summary without memory is one line that says so;
 *          without memory for a fold all levels of a recursion are shown.
 * Cost     O(nodes) plus one sort of the distinct frame texts; no recursion. Working memory: 24
 *          bytes a node, the texts, and the longest record.
 */
#ifndef SMP_EXPORT_REPORT_H
#define SMP_EXPORT_REPORT_H

#include "base/alloc.h"
#include "base/status.h"
#include "export/outputer.h"
#include "export/style.h"
#include "model/profile.h"

SMP_CHECKED enum smp_status smp_report_text(const struct smp_profile *profile,
                                            struct smp_report_style style, struct smp_quota *quota,
                                            const struct smp_outputer *outputer,
                                            unsigned *records_cut);

#endif
