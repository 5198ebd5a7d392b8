/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_bounds.h - where a thread's stack lies: the words a handler may read.
 *
 * A thread that starts while we listen tells it itself. Of an older one a first answer tells its
 * stack pointer, and /proc/self/maps what memory that lies in. Both the C libraries keep the
 * thread's descriptor, or the program's environment, above the first frame, so that the memory
 * above a stack pointer does not end within the few words that are looked at.
 *
 * Owns     nothing.
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

struct smp_stack_bounds smp_stack_bounds_own(void);
/* Sets bounds[i] to the writable memory that sps[i] lies in. */
void smp_stack_bounds_find(const uintptr_t *sps, struct smp_stack_bounds *bounds, size_t count);

#endif
