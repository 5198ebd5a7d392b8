/* SPDX-License-Identifier: Apache-2.0 */
/*
 * golden.h - expected outputs as files, compared byte for byte.
 *
 * With SMP_GOLDEN_UPDATE=1 in the environment a check writes the file instead; read what changed
 * before you commit it.
 *
 * Threads  the test's own.
 * Errors   a difference fails the test and shows the first line that differs.
 * Cost     one file.
 */
#ifndef SMP_SUPPORT_GOLDEN_H
#define SMP_SUPPORT_GOLDEN_H

#include <stddef.h>

/* name: of a file in src-test-c/golden. */
void golden_check(const char *name, const char *actual, size_t length);

#endif
