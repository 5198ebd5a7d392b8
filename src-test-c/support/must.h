/* SPDX-License-Identifier: Apache-2.0 */
/*
 * must.h - assertions for benchmarks and tools: a failure prints the condition and ends the
 * program.
 *
 * Threads  any.
 */
#ifndef SMP_TEST_MUST_H
#define SMP_TEST_MUST_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static inline void must(bool held, const char *what)
{
    if (held)
        return;
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, what);
    exit(2);
}

#endif
