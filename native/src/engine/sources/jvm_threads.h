/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm_threads.h - the source of the group [JVM]: the CPU time of threads that are not Java
 * threads, with a row for each kind. They have no stacks, and their wall time is their CPU time.
 *
 * Threads  the sampler thread only.
 * Errors   create: SMP_ENOMEM, SMP_EQUOTA. Without memory, the next flush attributes the time.
 * Cost     flush, once per interval: O(threads of the process), with system calls for non-Java
 *          threads.
 */
#ifndef SMP_ENGINE_SOURCES_JVM_THREADS_H
#define SMP_ENGINE_SOURCES_JVM_THREADS_H

#include "base/status.h"
#include "engine/sources/source.h"

SMP_CHECKED enum smp_status smp_jvm_threads_create(const struct smp_source_setup *setup,
                                                   struct smp_source *out);

#endif
