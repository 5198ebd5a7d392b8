/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm_threads.h - the group [JVM]: what the process's threads used that are not Java's, a row for
 * each kind. They are measured, not sampled: wall time there is CPU time.
 *
 * Owns     nothing.
 * Threads  the sampler thread only.
 * Errors   none: where there is no memory, what was used is found at the next call.
 * Cost     measure: O(threads of the process), system calls for those that are not Java's. Once per
 *          interval.
 */
#ifndef SMP_ENGINE_SOURCES_JVM_THREADS_H
#define SMP_ENGINE_SOURCES_JVM_THREADS_H

#include "engine/attribution/interval.h"
#include "engine/jvm.h"
#include "engine/threads/thread_table.h"
#include "model/methods.h"

/* Credits what was used since the last call; interval NULL: nobody is credited. */
void smp_jvm_threads_measure(const struct smp_os_thread_source *os_threads,
                             const struct smp_thread_table *table, struct smp_methods *methods,
                             struct smp_interval *interval);

#endif
