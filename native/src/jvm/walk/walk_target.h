/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk_target.h - the data that a walk gets of its thread, and that it learns for the next walk:
 * the bounds of the thread's stack, whether the thread lives, and whether its stacks end in its
 * run().
 *
 * AsyncGetCallTrace may stop before the root. All stacks of a thread that the JVM started end in
 * its run(): once one has, the others must. The root of other threads (the main thread, threads of
 * native code) is not known.
 *
 * Threads  any attached one; several sessions may learn at once.
 * Errors   what is not known is 0.
 * Cost     the first time some JNI calls, then a few loads.
 */
#ifndef SMP_JVM_WALK_WALK_TARGET_H
#define SMP_JVM_WALK_WALK_TARGET_H

#include <jni.h>

#include "handler/walk_data.h"
#include "jvm/threads/registry.h"
#include "jvm/walk/async.h"

/* Finds the counted call that a thread is in. */
struct smp_walk_call_source {
    /* NULL: the thread counts no calls. Never freed. */
    const void *(*state_of)(int64_t java_id);
    /* Called in that thread's handler, or while the thread stands still. */
    struct smp_call_spot (*spot_of)(const void *state, int64_t java_id);
};
/* Once, when the library is loaded; source is never freed. */
void smp_walk_target_set_calls(const struct smp_walk_call_source *source);

/* The caller holds the thread until the walk has ended. */
struct smp_walk_target smp_walk_target_of(struct smp_thread *thread, const struct smp_async *async,
                                          JNIEnv *env);
/* Learns the root from a walk, and, if a walk has frames, that the thread lives. */
void smp_walk_target_learn(struct smp_thread *thread, JNIEnv *env,
                           const struct smp_walk_answer *answer);
/* Learns the bounds of the stack of a thread that is older than the library. */
void smp_walk_target_learn_stack(struct smp_walk_info *info, const struct smp_jvm_layout *layout);

#endif
