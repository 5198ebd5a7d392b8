/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tid_resolver.h - finds the tids of registered threads that are older than the library. If such a
 * thread turns out to have ended, ends its entry in the registry: its ThreadEnd may have come
 * before the scan registered it.
 *
 * The tid is read from the JVM's own record, at the offsets that libjvm exports for debuggers. The
 * offsets count if the calling thread's record is right. A record counts if two readings of the
 * same clock agree: JVMTI's of the Java thread's CPU time and the system's of the OS thread's.
 *
 *   OS thread's clock ≤ Java thread's clock ≤ OS thread's clock      for the right one, always
 *
 * For a thread that waits all three are equal to the nanosecond. A record in memory that the JVM
 * has freed may name a tid that is another thread's by now. Such a record does not count: JVMTI
 * goes by the Thread object, and returns no time for a thread that has ended.
 *
 * Threads  any attached one; if several call at once, one does the work and the others return.
 * Errors   a thread that was not found is tried again, at growing intervals.
 * Cost     nothing to do, or too early: two loads. Else some 5 us for each thread.
 */
#ifndef SMP_JVM_THREADS_TID_RESOLVER_H
#define SMP_JVM_THREADS_TID_RESOLVER_H

#include "jvm/threads/registry.h"

/* Lets the next run start at once. java_thread: the calling thread's; 0: not known. */
void smp_tid_resolver_restart(uintptr_t java_thread);
/* dispose frees an entry whose last hold was released here. */
void smp_tid_resolver_run(struct smp_registry *registry,
                          void (*dispose)(struct smp_jvm_thread *entry));

/* Test seam: sets where the record is, and lets the next run start at once. Not for production. */
void smp_tid_resolver_set_fields(uint64_t os_thread_offset, uint64_t tid_offset);

#endif
