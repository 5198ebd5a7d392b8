/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_filter.h - the threads that the user chose, by their Java ids.
 *
 * The filter holds ids, which are never reused, and no references, so that a chosen thread may end
 * and be collected. A thread that has not started yet already has its id.
 *
 * Owns     the sorted ids.
 * Threads  create on any attached thread; contains and destroy on any.
 * Errors   SMP_ENOMEM; SMP_EINVAL for a missing or null thread; SMP_EUNSUPPORTED.
 * Cost     create: O(n log n). contains: O(log n), no call to the JVM.
 */
#ifndef SMP_JVM_THREADS_THREAD_FILTER_H
#define SMP_JVM_THREADS_THREAD_FILTER_H

#include <jni.h>

#include "base/status.h"
#include "engine/jvm.h"

/* threads may be NULL: an empty filter. */
SMP_CHECKED enum smp_status smp_jvm_thread_filter_create(JNIEnv *env, jobjectArray threads,
                                                         struct smp_thread_filter *out);

#endif
