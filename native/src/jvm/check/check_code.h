/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_code.h - checks a layout against the JVM's code heaps and compiled methods.
 *
 * An address that is known only from the layout is read with safe reads, so that a wrong layout
 * gives a reason instead of a fault.
 *
 * Threads  any.
 * Errors   the functions return NULL or a short reason in static storage.
 * Cost     heaps: a few dozen system calls. method: about 200 ns for each pc of the record.
 */
#ifndef SMP_JVM_CHECK_CHECK_CODE_H
#define SMP_JVM_CHECK_CHECK_CODE_H

#include <jni.h>
#include <stddef.h>
#include <stdint.h>

#include "hotspot/layout.h"

/* Called once, before any function of code.h. */
const char *smp_check_heaps(const struct smp_layout *layout);

/* The arguments of the event CompiledMethodLoad. */
struct smp_check_method {
    jmethodID method;
    uintptr_t start;
    size_t size;
    const void *info; /* jvmticmlr.h; may be NULL */
};

/* Adds the number of compared frames to *frames. */
const char *smp_check_method(const struct smp_layout *layout, const struct smp_check_method *method,
                             uint64_t *frames);

/* GIVEN_UP: the code is not entrant any more, as all code of a redefined method. */
enum smp_check_use { SMP_CHECK_USE_UNKNOWN, SMP_CHECK_IN_USE, SMP_CHECK_GIVEN_UP };

/* start is the address of a compiled method, which the JVM must not free meanwhile. */
enum smp_check_use smp_check_use(const struct smp_layout *layout, uintptr_t start);

/* Empties the caches; for smp_hotspot_forget. */
void smp_check_forget(void);

/* The arguments of the event DynamicCodeGenerated. */
const char *smp_check_interpreter(const struct smp_layout *layout, uintptr_t start, size_t size);

#endif
