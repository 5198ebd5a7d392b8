/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_bounds.h - the bounds of the calling thread's stack, within which its walks may read. For
 * other threads see hotspot/thread_layout.h.
 *
 * Threads  any.
 * Errors   bounds of zeros: not known.
 * Cost     a few loads; for the initial thread a read of /proc/self/maps.
 */
#ifndef SMP_JVM_THREADS_STACK_BOUNDS_H
#define SMP_JVM_THREADS_STACK_BOUNDS_H

#include <stdint.h>

struct smp_stack_bounds {
    uintptr_t low;
    uintptr_t high;
};

/* The calling thread's. */
struct smp_stack_bounds smp_stack_bounds_own(void);

#endif
