/* SPDX-License-Identifier: Apache-2.0 */
/*
 * method_lines.h - the line of a byte code, from the compressed table behind a method's byte codes.
 *
 *   byte below 255          the byte code index grows by its upper five bits, the line by the rest
 *   byte 255, two numbers   both grow by these, which may be negative
 *   byte 0                  the end
 *
 * Threads  any, signal handlers included: no lock, no allocation.
 * Errors   false: the table does not end inside the method, or cannot be read.
 * Cost     a safe read for each block of the table (compressed.h): mostly one.
 */
#ifndef SMP_HOTSPOT_METHOD_LINES_H
#define SMP_HOTSPOT_METHOD_LINES_H

#include <stdbool.h>
#include <stdint.h>

struct smp_method_lines {
    int32_t line;  /* as smp_line_find; 0: none */
    int32_t first; /* the smallest line of the method; 0: none */
};

/* base: see layout.h. The table is in [start, end). A negative bci means the method's beginning. */
bool smp_method_lines_read(uint32_t base, uintptr_t start, uintptr_t end, int32_t bci,
                           struct smp_method_lines *out);

#endif
