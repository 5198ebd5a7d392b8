/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_bounds.h - where a thread's stack lies: the words a handler may read.
 *
 * A thread that starts while we listen finds its own bounds. Of an older one the first walk gives
 * the stack pointer, and /proc/self/maps the memory that it lies in. Both C libraries keep the
 * thread's descriptor, or the program's environment, above the first frame, so the memory above a
 * stack pointer does not end within the few words that are read.
 *
 * Threads  any; own: the thread in question.
 * Errors   bounds of zeros: not known.
 * Cost     own: a few loads; for the initial thread, and find: a read of /proc/self/maps.
 */
#ifndef SMP_JVM_THREADS_STACK_BOUNDS_H
#define SMP_JVM_THREADS_STACK_BOUNDS_H

#include <stddef.h>
#include <stdint.h>

struct smp_stack_bounds {
    uintptr_t low;
    uintptr_t high;
};

/* Of the calling thread. */
struct smp_stack_bounds smp_stack_bounds_own(void);
/* Sets bounds[i] to the writable memory that sps[i] lies in. */
void smp_stack_bounds_find(const uintptr_t *sps, struct smp_stack_bounds *bounds, size_t count);

#endif
