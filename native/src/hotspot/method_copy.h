/* SPDX-License-Identifier: Apache-2.0 */
/*
 * method_copy.h - copies what a report shows of a frame without a method id: class, name, source
 * file and line. The method must be alive.
 *
 *   Method*, byte code index ─► class, name, file as the class file has them · line · native
 *
 * JVMTI returns the same texts and lines for the method's id, so frames with and without an id are
 * one row. A name is never cut: if there is no room, nothing is copied.
 *
 * Threads  any, signal handlers included: no lock, no allocation, no call into the JVM.
 * Errors   0: no room, or memory that is no method.
 * Cost     7 to 9 system calls (base/safe_read.h), more where its lines take over 512 bytes.
 */
#ifndef SMP_HOTSPOT_METHOD_COPY_H
#define SMP_HOTSPOT_METHOD_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hotspot/layout.h"

/* The texts are modified UTF-8 without a NUL, one behind the other. */
struct smp_method_copy {
    int32_t line;       /* 0: unknown */
    int32_t first_line; /* the smallest line of the method; 0: unknown */
    bool is_native;
    uint16_t class_bytes; /* com/acme/Outer$Inner */
    uint16_t name_bytes;
    uint16_t file_bytes; /* 0: unknown */
    char texts[];
};

/* Returns the bytes used, a multiple of 8. room is aligned to 8. */
size_t smp_method_copy(const struct smp_layout *layout, uintptr_t method, int32_t bci, char *room,
                       size_t bytes);

#endif
