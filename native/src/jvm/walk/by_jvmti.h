/* SPDX-License-Identifier: Apache-2.0 */
/*
 * by_jvmti.h - walks one thread's stack through JVMTI.
 *
 * One GetStackTrace for one thread: a handshake with that thread alone. Lists of threads and
 * GetAllStackTraces would stop the whole JVM and are never used. A stack that fills the sample is
 * deeper than it, so its depth and then its root end are read as well.
 *
 *   frames [leaf 0 ... leaf_count) [root end ... count)     omitted = depth - count
 *
 * The two ends of a running thread's stack are not of one moment. If it shrank in between, the walk
 * is repeated, SMP_JVMTI_WALK_ATTEMPTS times at most.
 *
 * Threads  any attached one.
 * Errors   as jvm.h lists. SMP_EINVAL: capacity below 2.
 * Cost     a handshake; three for a deep stack. No allocation.
 */
#ifndef SMP_JVM_WALK_BY_JVMTI_H
#define SMP_JVM_WALK_BY_JVMTI_H

#include <jni.h>
#include <stddef.h>

#include "engine/jvm.h"

enum { SMP_JVMTI_WALK_ATTEMPTS = 3 };

struct smp_walker smp_by_jvmti(void);

/* As the walker, of any Thread object. */
SMP_CHECKED enum smp_status smp_by_jvmti_walk(jobject thread, struct smp_sample *sample);

/*
 * Up to capacity frames of a thread, leaf first, by one handshake, which also makes the ids of
 * their methods. *count == capacity: the stack may be deeper.
 */
SMP_CHECKED enum smp_status smp_by_jvmti_fetch(jobject thread, struct smp_frame *frames,
                                               size_t capacity, size_t *count);

#endif
