/* SPDX-License-Identifier: Apache-2.0 */
/*
 * by_jvmti.h - walks one thread's stack through JVMTI.
 *
 * A walk is one GetStackTrace: a handshake with that thread alone, proportional to the frames
 * read. GetAllStackTraces and lists of threads would stop the whole JVM and are never used. A
 * stack that fills the sample counts as deeper than the sample; only its leaf end is known.
 *
 * Threads  any attached thread.
 * Errors   as in jvm.h. SMP_EINVAL: capacity is below 2.
 * Cost     a handshake, about 0.5 us for each frame. No allocation.
 */
#ifndef SMP_JVM_WALK_BY_JVMTI_H
#define SMP_JVM_WALK_BY_JVMTI_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>

#include "engine/jvm.h"

enum { SMP_BY_JVMTI_ASK_MS = 1000 };

struct smp_walker smp_by_jvmti(void);

/* Like the walker, for any Thread object. */
SMP_CHECKED enum smp_status smp_by_jvmti_walk(jobject thread, struct smp_sample *sample);

/*
 * Confirms by a handshake that a thread found by a scan is alive; frames prove that its ThreadEnd
 * is still to come. Our own walk needs this, because it reads the JVM's thread object, which is
 * freed when the thread ends. Only for threads in native code, where the handshake does not wait,
 * and at most once in SMP_BY_JVMTI_ASK_MS, because attached native threads may have no frames. A
 * thread that runs Java code proves by its own walk that it is alive.
 */
void smp_by_jvmti_confirm_life(struct smp_thread *thread);

/*
 * Copies up to capacity frames of a thread, leaf first, by one handshake, which also creates the
 * ids of their methods. If *count == capacity, the stack may be deeper.
 */
SMP_CHECKED enum smp_status smp_by_jvmti_fetch(jobject thread, struct smp_frame *frames,
                                               size_t capacity, size_t *count);

#endif
