/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk_target.h - what is learnt of a thread from one asynchronous walk for the next: where its
 * stack lies, and which method all its stacks end in.
 *
 * A thread the JVM has started ends in its run(); of another (the main thread, a thread of native
 * code) the root is guessed from stacks that agree, and given up when they disagree as often.
 *
 * Owns     nothing.
 * Threads  any attached one; several sessions may learn at once.
 * Errors   none: what is not known is 0.
 * Cost     the first time some JNI calls, then a few loads.
 */
#ifndef SMP_JVM_WALK_WALK_TARGET_H
#define SMP_JVM_WALK_WALK_TARGET_H

#include <jni.h>

#include "jvm/threads/registry.h"
#include "jvm/walk/async.h"
#include "jvm/walk/handler/stack_walk.h"

enum {
    SMP_WALK_TARGET_ROOT_SURE = 8 /* stacks with one root, until it is taken for the thread's */
};

/* All that is known of thread, which is the Thread object of these facts. */
struct smp_walk_target smp_walk_target_of(struct smp_walk_info *info, const struct smp_async *async,
                                          JNIEnv *env, jobject thread);
/* The root JVMTI has told: this is it, whatever was guessed. */
void smp_walk_target_set_root(struct smp_walk_info *info, uint64_t root);
void smp_walk_target_learn_root(struct smp_walk_info *info, const struct smp_walk_answer *answer);
bool smp_walk_target_knows_stack(const struct smp_walk_info *info);

#endif
