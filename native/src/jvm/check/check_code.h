/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_code.h - compares the JVM's code with a layout: whether it is there, and its data are
 * right.
 *
 * Nothing is loaded from an address that only the layout vouches for: a wrong layout must give a
 * reason, not a fault.
 *
 * Threads  any.
 * Errors   the functions return NULL, or the reason, in a few words; static storage.
 * Cost     heaps: a few dozen system calls. method: about 200 ns for each pc of the record.
 */
#ifndef SMP_JVM_CHECK_CHECK_CODE_H
#define SMP_JVM_CHECK_CHECK_CODE_H

#include <jni.h>
#include <stddef.h>
#include <stdint.h>

#include "hotspot/layout.h"

/* Once, before anything is read by code.h. */
const char *smp_check_heaps(const struct smp_layout *layout);

/* A compiled method; the arguments of the event CompiledMethodLoad. */
struct smp_check_method {
    jmethodID method;
    uintptr_t start;
    size_t size;
    const void *info; /* jvmticmlr.h; may be NULL */
};

/* *frames grows by the frames that were compared. */
const char *smp_check_method(const struct smp_layout *layout, const struct smp_check_method *method,
                             uint64_t *frames);

/* Given up: no thread enters the code any more. The JVM gives up all code of a redefined method. */
enum smp_check_use { SMP_CHECK_USE_UNKNOWN, SMP_CHECK_IN_USE, SMP_CHECK_GIVEN_UP };

/* start: of a compiled method, which the JVM must keep meanwhile. */
enum smp_check_use smp_check_use(const struct smp_layout *layout, uintptr_t start);

/* Forgets the methods seen; for smp_hotspot_forget. */
void smp_check_forget(void);

/* The arguments of the event DynamicCodeGenerated. */
const char *smp_check_interpreter(const struct smp_layout *layout, uintptr_t start, size_t size);

#endif
