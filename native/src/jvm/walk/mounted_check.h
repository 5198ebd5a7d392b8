/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mounted_check.h - compares stacks of mounted virtual threads, whose frames were partly read from
 * the heap, with JVMTI's: as many as cross_check.h compares.
 *
 * The thread runs on meanwhile, so only its two oldest frames are compared. They stay while the
 * thread lives, and our walk reaches them last, through all chunks. JVMTI may leave out frames
 * between the two.
 *
 * Two differences in a row mean that we misread this JVM: no frame is read from the heap any more
 * (smp_async_cut_virtual_threads), and the engine's name says why.
 *
 * Owns     memory for one stack.
 * Threads  one sampler thread.
 * Errors   a thread that ends meanwhile is not compared; without memory none is.
 * Cost     a handshake; on average nothing.
 */
#ifndef SMP_JVM_WALK_MOUNTED_CHECK_H
#define SMP_JVM_WALK_MOUNTED_CHECK_H

#include <jni.h>
#include <stdint.h>

#include "model/sample.h"

enum {
    SMP_MOUNTED_CHECK_HIDDEN = 4,   /* frames in a row that JVMTI may not show */
    SMP_MOUNTED_CHECK_FRAMES = 1024 /* a stack that has as many is not compared */
};

struct smp_mounted_check {
    uint64_t stacks;
    unsigned differences;     /* in a row */
    struct smp_frame *frames; /* JVMTI's; NULL before the first */
};

/* check: all zero. */
void smp_mounted_check_fini(struct smp_mounted_check *check);

/* After a walk that reached the virtual thread's root; sample: its own frames. */
void smp_mounted_check(struct smp_mounted_check *check, jobject mounted,
                       const struct smp_sample *sample);

#endif
