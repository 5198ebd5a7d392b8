/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference_stars.h - a naive version of the star matching in counting/root_rules: tries every
 * length.
 *
 * Cost     exponential in the number of stars.
 */
#ifndef SMP_SUPPORT_REFERENCE_STARS_H
#define SMP_SUPPORT_REFERENCE_STARS_H

#include <stdbool.h>
#include <string.h>

/* Both strings are NUL-terminated; the pattern has dots where the name has slashes. */
static inline bool reference_stars(const char *pattern, const char *name)
{
    if (*pattern == '\0')
        return *name == '\0';
    if (strncmp(pattern, "**", 2) == 0) {
        for (size_t taken = 1; taken <= strlen(name); taken++) {
            if (reference_stars(pattern + 2, name + taken))
                return true;
        }
        return false;
    }
    if (*pattern == '*') {
        for (size_t taken = 0;; taken++) {
            if (reference_stars(pattern + 1, name + taken))
                return true;
            if (name[taken] == '\0' || name[taken] == '/')
                return false;
        }
    }
    return *name == (*pattern == '.' ? '/' : *pattern) && reference_stars(pattern + 1, name + 1);
}

#endif
