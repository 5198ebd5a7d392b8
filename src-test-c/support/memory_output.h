/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_output.h - an output into memory that can fail at a chosen call.
 *
 * Owns     its bytes: from malloc, so that no allocation of it is counted or refused.
 * Threads  the test's own.
 * Errors   a call after it has failed fails the test.
 */
#ifndef SMP_SUPPORT_MEMORY_OUTPUT_H
#define SMP_SUPPORT_MEMORY_OUTPUT_H

#include <stddef.h>

#include "base/writer.h"

/* A zeroed struct is empty. */
struct memory_output {
    char *bytes; /* NUL-terminated; NULL at first */
    size_t length;
    size_t capacity;
    size_t calls;
    size_t fail_at; /* the call that fails, from 1; 0: none */
};

struct smp_output memory_output_functions(struct memory_output *output);
/* Returns "" if nothing was written. */
const char *memory_output_text(const struct memory_output *output);
void memory_output_fini(struct memory_output *output);

#endif
