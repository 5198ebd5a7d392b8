/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unmounted.h - draws virtual threads at random, and walks those that are not mounted.
 *
 *   virtual_thread_sets ─► key_set: some threads of each ─► no carrier? ─► JVMTI's GetStackTrace
 *
 * Since JDK 22 GetStackTrace reads an unmounted virtual thread on the calling thread, and only
 * keeps that virtual thread from being mounted meanwhile. Older JDKs stop the JVM for each such
 * thread. This was measured on JDK 25; older JDKs are refused.
 *
 * If a thread is mounted just before the walk, the walk is a handshake and shows a later stack.
 *
 * Platform threads of an executor are skipped. If an executor has both kinds, the number of its
 * virtual threads is estimated from the drawn threads. All other numbers are exact.
 *
 * Owns     memory for one stack and one name, references to sets; all created at the first draw.
 * Threads  one sampler thread. destroy: any attached thread.
 * Errors   create: SMP_ENOMEM. draw: as in jvm.h.
 * Cost     draw: see virtual_thread_sets.h, and about 10 us for each walk.
 */
#ifndef SMP_JVM_WALK_UNMOUNTED_H
#define SMP_JVM_WALK_UNMOUNTED_H

#include <jni.h>
#include <stddef.h>

#include "base/status.h"
#include "engine/jvm.h"

enum {
    SMP_UNMOUNTED_OLDEST_JDK = 25,
    SMP_UNMOUNTED_SLOTS = 8192 /* table slots that one draw may read */
};

struct smp_unmounted;

/* capacity is the number of frames of a sample, at least 2. */
SMP_CHECKED enum smp_status smp_unmounted_create(size_t capacity, struct smp_unmounted **out);
/* unmounted may be NULL. */
void smp_unmounted_destroy(JNIEnv *env, struct smp_unmounted *unmounted);
/* Borrows unmounted. */
struct smp_virtual_threads smp_unmounted_functions(struct smp_unmounted *unmounted);

#endif
