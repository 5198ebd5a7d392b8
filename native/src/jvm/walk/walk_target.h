/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk_target.h - what a walk is given of its thread, and what it learns for the next one: where
 * the thread's stack lies, and which method all its stacks end in.
 *
 * A thread that the JVM started ends in its run(); of another (the main thread, a thread of native
 * code) the root is guessed from stacks that agree, and dropped when as many disagree.
 *
 * Threads  any attached one; several sessions may learn at once.
 * Errors   what is not known is 0.
 * Cost     the first time some JNI calls, then a few loads.
 */
#ifndef SMP_JVM_WALK_WALK_TARGET_H
#define SMP_JVM_WALK_WALK_TARGET_H

#include <jni.h>

#include "jvm/threads/registry.h"
#include "jvm/walk/async.h"
#include "jvm/walk/handler/walk_data.h"

enum {
    SMP_WALK_TARGET_ROOT_SURE = 8,  /* stacks in a row with one root make it the thread's */
    SMP_WALK_TARGET_GAP_MS = 200,   /* between two searches for stacks, the first in vain */
    SMP_WALK_TARGET_REST_TIMES = 20 /* else so many times as long as the search took */
};

/* All that is known of thread, which is the Thread object of this info. */
struct smp_walk_target smp_walk_target_of(struct smp_walk_info *info, const struct smp_async *async,
                                          JNIEnv *env, jobject thread);
/* The root as JVMTI returned it: replaces any guess. */
void smp_walk_target_set_root(struct smp_walk_info *info, uint64_t root);
void smp_walk_target_learn_root(struct smp_walk_info *info, const struct smp_walk_answer *answer);
/*
 * Finds the bounds of the stack that sp lies in, if they are not known yet: without them nothing is
 * recovered. It reads the process's whole memory map, so *due_ns limits how often.
 */
void smp_walk_target_find_stack(struct smp_walk_info *info, uintptr_t sp, int64_t *due_ns);

#endif
