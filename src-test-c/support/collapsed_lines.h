/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collapsed_lines.h - a profile's collapsed form, parsed into stacks and amounts. Tests compare
 * the difference of profiles and the hot lines with it.
 *
 * Owns     its lines.
 * Threads  the test's own.
 * Errors   fail the test.
 */
#ifndef SMP_SUPPORT_COLLAPSED_LINES_H
#define SMP_SUPPORT_COLLAPSED_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "export/exporters.h"

struct collapsed_line {
    char *stack;
    int64_t amount;
};

struct collapsed_lines {
    struct collapsed_line *list;
    size_t count;
};

/* profile NULL: returns no lines. */
struct collapsed_lines collapsed_lines_of(const struct smp_profile *profile,
                                          enum smp_measure measure);
void collapsed_lines_fini(struct collapsed_lines *lines);
/* Returns the first line with this stack, or NULL. */
struct collapsed_line *collapsed_lines_find(const struct collapsed_lines *lines, const char *stack);

#endif
