/* SPDX-License-Identifier: Apache-2.0 */
/*
 * virtual_threads.h - virtual threads, as a walk of their carrier shows them.
 *
 *   leaf ... VirtualThread.run, [enter0], Continuation.enter | enterSpecial, Continuation.run ...
 *   └──────────── the virtual thread's ────────────┘ boundary └──────── the carrier's ────────┘
 *
 * The frames below the boundary are cut off. A virtual thread that has parked has its older frames
 * in the heap (hotspot/chunks.h). If a walk could not read them, the boundary follows a user's
 * frame, which shows that the stack is incomplete.
 *
 * The mounted virtual thread is read from fields of the carrier's Thread object, without stopping
 * it: carrier.cont.target.val$vthread. It may change at any time, so a caller that needs to be sure
 * reads before and after.
 *
 * Owns     ids of fields and methods; they last, as the JDK's own classes are never unloaded.
 * Threads  init: one; the others any attached one.
 * Errors   a JDK without virtual threads, or with other fields, counts as one that uses none.
 * Cost     mounted: a few field reads.
 */
#ifndef SMP_JVM_THREADS_VIRTUAL_THREADS_H
#define SMP_JVM_THREADS_VIRTUAL_THREADS_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>

#include "engine/jvm.h"
#include "model/sample.h"

enum smp_virtual_cut {
    SMP_VIRTUAL_NONE,  /* no virtual thread on this stack */
    SMP_VIRTUAL_WHOLE, /* trimmed */
    SMP_VIRTUAL_CUT    /* trimmed, and not complete */
};

/* Returns false if this JVM has no virtual threads. */
bool smp_virtual_threads_init(JNIEnv *env);
/* Removes the carrier's frames from a stack. */
enum smp_virtual_cut smp_virtual_threads_trim(struct smp_sample *sample);
/* Removes the frames below VirtualThread.run from a virtual thread's own stack. */
void smp_virtual_threads_trim_root(struct smp_sample *sample);
/* Returns the virtual thread with its name, which is read into name. ref may be NULL. */
struct smp_mounted_thread smp_virtual_threads_describe(JNIEnv *env, jobject ref, char *name,
                                                       size_t size);
/* Returns the number of frames without the JDK's own, which begin at VirtualThread.run. frames: a
 * virtual thread's, leaf first, without the boundary. */
size_t smp_virtual_threads_count_own(const struct smp_frame *frames, size_t count);
/* Returns the method of the frame below those of a virtual thread; 0 if it is not known. */
uint64_t smp_virtual_threads_boundary(void);
/* Returns whether this is a carrier thread. If so, virtual threads are in use from now on. */
bool smp_virtual_threads_is_carrier(JNIEnv *env, jobject thread);
/* Returns whether a carrier thread has ever been seen. */
bool smp_virtual_threads_in_use(void);
/* Returns a carrier's mounted virtual thread, as a local reference; NULL: none, or not known. */
jobject smp_virtual_threads_mounted(JNIEnv *env, jobject carrier);

#endif
