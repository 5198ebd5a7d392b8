/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread.h - a thread of the operating system: its id, its CPUs, and starting one.
 *
 * Owns     a started thread is the caller's, who must join it.
 * Threads  any.
 * Errors   SMP_ETHREAD: no thread was started.
 * Cost     own_tid, own_cpus: a system call. start: a new thread.
 */
#ifndef SMP_BASE_THREAD_H
#define SMP_BASE_THREAD_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/*
 * The smallest stack of an internal thread, as HotSpot gives a Java thread. The system's default
 * may be too small: 128 KiB with musl, and "ulimit -s" with glibc.
 */
enum { SMP_THREAD_MIN_STACK_BYTES = 1024 * 1024 };

/* Returns the caller's id in /proc/self/task. glibc has gettid() only since 2.30. */
int32_t smp_thread_own_tid(void);

/* Returns the number of CPUs the caller may run on; 0: unknown, or more than a cpu_set_t holds. */
unsigned smp_thread_own_cpus(void);

/* The stack has stack_bytes, but at least SMP_THREAD_MIN_STACK_BYTES. */
SMP_CHECKED enum smp_status smp_thread_start(pthread_t *thread, size_t stack_bytes,
                                             void *(*run)(void *argument), void *argument);

#endif
