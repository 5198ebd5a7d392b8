/* SPDX-License-Identifier: Apache-2.0 */
/*
 * by_jvmti.h - walks one thread's stack through JVMTI.
 *
 * A walk is one GetStackTrace: a handshake with that thread alone, as long as the frames that are
 * read. Lists of threads and GetAllStackTraces would stop the whole JVM and are never used. A stack
 * that fills the sample counts as deeper than the sample: only its leaf end is known then.
 *
 * Threads  any attached one.
 * Errors   as jvm.h lists. SMP_EINVAL: capacity below 2.
 * Cost     a handshake of some 0.5 us a frame. No allocation.
 */
#ifndef SMP_JVM_WALK_BY_JVMTI_H
#define SMP_JVM_WALK_BY_JVMTI_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>

#include "engine/jvm.h"

enum { SMP_BY_JVMTI_ASK_MS = 1000 };

struct smp_walker smp_by_jvmti(void);

/* As the walker, for any Thread object. */
SMP_CHECKED enum smp_status smp_by_jvmti_walk(jobject thread, struct smp_sample *sample);

/*
 * Confirms that a thread which a scan has found lives: frames show that its end is still to come.
 * Our own walk reads the JVM's object of the thread, which a thread that has ended does not have.
 * Asks only if the thread is in native code, where the handshake waits for nothing, and at most
 * once in SMP_BY_JVMTI_ASK_MS: native code that has attached itself has no frame. A thread that
 * runs Java code shows by its own walk that it lives.
 */
void smp_by_jvmti_confirm_life(struct smp_thread *thread);

/*
 * Up to capacity frames of a thread, leaf first, by one handshake, which also makes the ids of
 * their methods. *count == capacity: the stack may be deeper.
 */
SMP_CHECKED enum smp_status smp_by_jvmti_fetch(jobject thread, struct smp_frame *frames,
                                               size_t capacity, size_t *count);

#endif
