/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm_threads.h - the source of the group [JVM]: the CPU time of the process's threads that are not
 * Java threads, a row for each kind. They have no stacks, and their wall time is their CPU time.
 *
 * Threads  the sampler thread only.
 * Errors   create: SMP_ENOMEM, SMP_EQUOTA. If memory is short, the next flush attributes the time.
 * Cost     flush: O(threads of the process), with system calls for those that are not Java threads;
 *          once per interval.
 */
#ifndef SMP_ENGINE_SOURCES_JVM_THREADS_H
#define SMP_ENGINE_SOURCES_JVM_THREADS_H

#include "base/status.h"
#include "engine/sources/source.h"

SMP_CHECKED enum smp_status smp_jvm_threads_create(const struct smp_source_setup *setup,
                                                   struct smp_source *out);

#endif
