/* SPDX-License-Identifier: Apache-2.0 */
/*
 * class_bytes.h - a class file in memory.
 *
 * Owns     nothing.
 * Threads  any.
 */
#ifndef SMP_JVM_CALLS_CLASS_BYTES_H
#define SMP_JVM_CALLS_CLASS_BYTES_H

#include <stddef.h>

struct smp_class_bytes {
    const unsigned char *bytes;
    size_t size;
};

#endif
