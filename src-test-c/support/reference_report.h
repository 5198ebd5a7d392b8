/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference_report.h - the report in the plainest form, from its description: a reference for tests
 * to compare with. Strings for everything, recursion over depth, quadratic searches.
 *
 * Owns     nothing after the call.
 * Threads  any.
 * Errors   an assertion fails if a fixed table is full.
 * Cost     small inputs only.
 */
#ifndef SMP_SUPPORT_REFERENCE_REPORT_H
#define SMP_SUPPORT_REFERENCE_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reference_sample {
    const char *group;
    const char *thread;
    const char *stack; /* frames as they are printed, root first, separated by '|' */
    int64_t wall_ns;
    bool is_idle; /* the thread waited for work */
};

struct reference_style {
    bool by_time;
    bool zero_time_packages;
    const char *package; /* the monitored package; NULL: all packages */
    int min_per_mille;   /* rows below this share of their group's active time are hidden */
};

enum { REFERENCE_REPORT_BYTES = 64 * 1024 };

/* Writes the records of all groups to out as "== <title>\n<rows>", in order. At most 24 samples,
 * with at most 12 frames each. */
void reference_report(const struct reference_sample *samples, size_t count,
                      struct reference_style style, char out[REFERENCE_REPORT_BYTES]);

#endif
