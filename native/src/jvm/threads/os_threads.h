/* SPDX-License-Identifier: Apache-2.0 */
/*
 * os_threads.h - the process's threads as the operating system sees them: the CPU time of those
 * that are not Java threads, whether a thread is runnable, how long it has waited for a CPU, and
 * whether it is in a system call of input or output.
 *
 * A thread's kind follows from the first characters of its name (comm), which the JVM sets: a name
 * of up to 15 characters is whole, a longer one is cut to its first 15 or to "1234567..123456". A
 * list of the JVM's names has the whole name. The number of "C2 CompilerThread0" is lost if only
 * the first 15 characters are kept.
 *
 * Owns     what each thread had used at the last read, or when it ended as a Java thread.
 * Threads  one at a time.
 * Errors   create: SMP_ENOMEM. read: if /proc cannot be read, or without memory, nothing is
 *          reported; the next read reports what was used meanwhile. java_ended without memory: the
 *          next read only begins.
 * Cost     read: a directory scan, one clock per thread that is not Java's, one file for each that
 *          is reported for the first time. java_ended: one clock.
 *          is_runnable: one file (kept_files.h), or nothing where no thread waits for a CPU, see
 *          cpu_demand.h. queued_ns: run_queue.h. is_in_io: one file (3 to 9 us).
 */
#ifndef SMP_JVM_THREADS_OS_THREADS_H
#define SMP_JVM_THREADS_OS_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/jvm.h"

enum { SMP_OS_THREADS_MAX = 65536, SMP_OS_THREAD_NAME_BYTES = 32 };

struct smp_os_threads;

SMP_CHECKED enum smp_status smp_os_threads_create(struct smp_os_threads **out);
void smp_os_threads_destroy(struct smp_os_threads *os_threads); /* NULL is fine */
/* Valid until destroy. */
struct smp_os_thread_source smp_os_threads_source(struct smp_os_threads *os_threads);

enum smp_os_thread_kind smp_os_threads_kind(const char *name);
/* Writes the whole name for a comm, or the comm itself. */
void smp_os_threads_whole_name(const char *comm, char name[SMP_OS_THREAD_NAME_BYTES]);

#endif
