/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk_target.h - the data of a thread that a walk needs, and what a walk learns for the next one:
 * the bounds of the stack, whether the thread is alive, and whether its stacks end in its run().
 *
 * AsyncGetCallTrace may stop before the root. All stacks of a thread started by the JVM end in its
 * run(), so once a stack has ended there, all later stacks must. The root of other threads (the
 * main thread, attached native threads) is unknown.
 *
 * Threads  any attached thread; several sessions may learn at the same time.
 * Errors   unknown values are 0.
 * Cost     some JNI calls the first time, then a few loads.
 */
#ifndef SMP_JVM_WALK_WALK_TARGET_H
#define SMP_JVM_WALK_WALK_TARGET_H

#include <jni.h>

#include "handler/walk_data.h"
#include "jvm/threads/registry.h"
#include "jvm/walk/async.h"

/* Functions that find the counted call in which a thread is. */
struct smp_walk_call_source {
    /* Returns NULL if the thread counts no calls. The state is never freed. */
    const void *(*state_of)(int64_t java_id);
    /* Called in the thread's signal handler, or while the thread does not move. */
    struct smp_call_spot (*spot_of)(const void *state, int64_t java_id);
};
/* Called once, when the library is loaded. source is never freed. */
void smp_walk_target_set_calls(const struct smp_walk_call_source *source);

/* The caller must hold the thread until the walk has ended. */
struct smp_walk_target smp_walk_target_of(struct smp_thread *thread, const struct smp_async *async,
                                          JNIEnv *env);
/* Learns the root from a walk, and if it has frames, that the thread is alive. */
void smp_walk_target_learn(struct smp_thread *thread, JNIEnv *env,
                           const struct smp_walk_answer *answer);
/* Learns the stack bounds of a thread that was started before the library was loaded. */
void smp_walk_target_learn_stack(struct smp_walk_info *info, const struct smp_jvm_layout *layout);

#endif
