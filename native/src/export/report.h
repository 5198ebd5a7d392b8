/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h - sends a profile to an outputer as the report that people read, in the original's
 * format.
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
 * "of <g> groups" is in the title of [other threads]: the number of its groups
 * (model/group_limit.h). If calls are counted, the counted groups follow:
 *
 *   Counted thread: <group>. Max depth: <n>. Distinct threads: <k> [<names>, … <m> more]
 *   hook share: <h> %
 *   <2 spaces per ancestor><frame><pad> Cumulative time(ms): <C>, Method time(ms): <M>
 *       [, CPU time(ms): <U>], Calls: <n>[, Time per call(us): <mean>[, min <a>, max <b>]]
 *       [, Recursion depth: <d>][, Percent: <P>]\n
 *
 * Recursion depth is shown in a row whose recursion is folded (model/recursion.h): how deep its
 * calls were nested. Its time includes their callees once.
 *
 * In counted groups a frame is a method, without a line, and its calls are its own. Microseconds
 * have three digits after the point; min and max are those of finished calls of root methods. A row
 * with calls is never left out. hook share is the part of the time inside the roots that was spent
 * in the counting itself and is in no row; without that figure there is no such line. For calls in
 * rows of sampled groups see row_calls.h.
 *
 * pad is one space after spaces up to width 150, so "Cumulative" is in column 152 (0-based) if
 * indent and frame take at most 150 columns; otherwise it follows the frame after two spaces.
 * Columns are counted in code points. Milliseconds are rounded down from nanoseconds, so a parent
 * never shows less than the sum of its children. A row is left out if it is not a root, its method
 * time is zero and its cumulative time equals its parent's, as printed; its children move up
 * (rows.h). Pseudo-frames always stay, so that a gap in a deep stack is visible.
 *
 * Groups are in descending order of active time, in whole milliseconds, so that only [JVM] comes
 * after idle ones. Ties, counted groups and holders are in descending order of time, then in byte
 * order of their names (hot_groups.h). Siblings are in byte order of their frames, or in descending
 * order of time. A group without time and polls is not printed. An empty profile makes no call of
 * the outputer.
 *
 * Threads  any; the profile is immutable.
 * Errors   SMP_EIO: the outputer returned false, and the rest was not sent. SMP_ENOMEM, SMP_EQUOTA:
 *          no working memory, and nothing was sent. A record that exceeds SMP_MAX_RECORD_BYTES or
 *          the memory limit ends with a line with the number of missing rows;
 *          *records_cut counts such records. Without memory a summary is one line that says so, and
 *          recursions are shown with all their levels.
 * Cost     O(nodes) plus one sort of the distinct frame texts; no recursion. Working memory: 24
 *          bytes a node, the texts, and the longest record.
 */
#ifndef SMP_EXPORT_REPORT_H
#define SMP_EXPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/status.h"
#include "export/style.h"
#include "model/profile.h"

enum { SMP_MAX_RECORD_BYTES = 64 * 1024 * 1024 };

/*
 * The receiver of reports, and of messages. A report is one title, one record for the account and
 * one for each group, and one flush. If a call returns false, because the output failed, the rest
 * of the report is not sent; the next report is tried as usual. A deadlock is sent between two
 * reports. Texts are valid during the call and NUL-terminated; lengths do not count the NUL. In a
 * session all calls are on the reporter thread.
 */
struct smp_outputer {
    bool (*title)(void *self, int64_t from_wall_ms, int64_t till_wall_ms);
    bool (*record)(void *self, const char *title, size_t title_length, const char *rows,
                   size_t rows_length);
    bool (*flush)(void *self);
    /* Sends threads that wait for each other's locks, as one record; never fails. */
    void (*deadlock)(void *self, const char *title, size_t title_length, const char *rows,
                     size_t rows_length);
    /* Sends a message of the core (log.h); never fails. */
    void (*message)(void *self, enum smp_log_level level, const char *text);
    void *self;
};

SMP_CHECKED enum smp_status smp_report_text(const struct smp_profile *profile,
                                            struct smp_export_style style, struct smp_quota *quota,
                                            const struct smp_outputer *outputer,
                                            unsigned *records_cut);

#endif
