/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mounted_check.h - compares stacks of mounted virtual threads with JVMTI's, as often as
 * cross_check.h. Some of their frames were read from the heap.
 *
 * The thread keeps running, so only its two oldest frames are compared. They do not change while
 * the thread is alive, and our walk reaches them last, after all chunks. JVMTI may hide frames
 * between the two.
 *
 * Two differences in a row mean that our layout is wrong for this JVM: frames in the heap are not
 * read any more (smp_async_cut_virtual_threads), and the engine's name has the reason.
 *
 * Owns     memory for one stack.
 * Threads  one sampler thread.
 * Errors   a thread that ends meanwhile is not compared. Without memory no thread is.
 * Cost     a handshake; on average negligible.
 */
#ifndef SMP_JVM_WALK_MOUNTED_CHECK_H
#define SMP_JVM_WALK_MOUNTED_CHECK_H

#include <jni.h>
#include <stdint.h>

#include "model/sample.h"

enum {
    SMP_MOUNTED_CHECK_HIDDEN = 4,   /* consecutive frames that JVMTI may hide */
    SMP_MOUNTED_CHECK_FRAMES = 1024 /* a stack with so many frames is not compared */
};

struct smp_mounted_check {
    uint64_t stacks;
    unsigned differences;     /* in a row */
    struct smp_frame *frames; /* by JVMTI; NULL before the first check */
};

/* check starts zeroed. */
void smp_mounted_check_fini(struct smp_mounted_check *check);

/* Called after a walk that reached the root of the virtual thread. sample has only its frames. */
void smp_mounted_check(struct smp_mounted_check *check, jobject mounted,
                       const struct smp_sample *sample);

#endif
