/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread.h - a thread of the operating system: its id, and one that is started.
 *
 * Owns     a started thread is the caller's, to be joined by it.
 * Threads  any.
 * Errors   SMP_ETHREAD: no thread was started.
 * Cost     own_tid, own_cpus: a system call; start: a thread.
 */
#ifndef SMP_BASE_THREAD_H
#define SMP_BASE_THREAD_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/*
 * The least stack of an internal thread, as HotSpot gives a Java thread. The system's default will
 * not do: 128 KiB with musl, and what "ulimit -s" says with glibc.
 */
enum { SMP_THREAD_MIN_STACK_BYTES = 1024 * 1024 };

/* The caller's id in /proc/self/task. Not gettid(), which glibc has since 2.30 only. */
int32_t smp_thread_own_tid(void);

/* How many CPUs the caller may run on; 0: unknown, or more than a cpu_set_t holds. */
unsigned smp_thread_own_cpus(void);

/* With room for stack_bytes, or for SMP_THREAD_MIN_STACK_BYTES if those are more. */
SMP_CHECKED enum smp_status smp_thread_start(pthread_t *thread, size_t stack_bytes,
                                             void *(*run)(void *argument), void *argument);

#endif
