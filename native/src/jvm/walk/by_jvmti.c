/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measured on JDK 17 and 25: MaxJavaStackTraceDepth does not cap what GetStackTrace returns, and a
 * negative start depth beyond the stack is JVMTI_ERROR_ILLEGAL_ARGUMENT.
 */
#include "jvm/walk/by_jvmti.h"

#include <jvmti.h>
#include <limits.h>
#include <stddef.h>

#include "jvm/agent/agent.h"
#include "jvm/agent/jvmti_status.h"
#include "jvm/code/methods.h"
#include "jvm/threads/threads.h"

/* The JVM writes its frames into ours. */
_Static_assert(sizeof(struct smp_frame) == sizeof(jvmtiFrameInfo), "a frame is as large");
_Static_assert(offsetof(struct smp_frame, method) == offsetof(jvmtiFrameInfo, method),
               "the method stands first");
_Static_assert(offsetof(struct smp_frame, bci) == offsetof(jvmtiFrameInfo, location),
               "the byte code index stands second");
_Static_assert(sizeof(jmethodID) == sizeof(uint64_t), "a method id is a key");

/* start < 0: that many frames from the root. SMP_EVM if the JVM says that it wrote past room. */
static enum smp_status fetch_frames(jthread thread, jint start, struct smp_frame *frames,
                                    size_t room, size_t *count)
{
    jvmtiEnv *jvmti = smp_agent_jvmti();
    jint got = 0;
    enum smp_status status = smp_jvmti_status((*jvmti)->GetStackTrace(
        jvmti, thread, start, (jint)room, (jvmtiFrameInfo *)(void *)frames, &got));

    if (status == SMP_OK && (got < 0 || (size_t)got > room))
        status = SMP_EVM;
    if (status == SMP_OK)
        *count = (size_t)got;
    return status;
}

static enum smp_status fetch_depth(jthread thread, size_t *depth)
{
    jvmtiEnv *jvmti = smp_agent_jvmti();
    jint got = 0;
    enum smp_status status = smp_jvmti_status((*jvmti)->GetFrameCount(jvmti, thread, &got));

    if (status == SMP_OK && got < 0)
        status = SMP_EVM;
    if (status == SMP_OK)
        *depth = (size_t)got;
    return status;
}

/*
 * The sample is full of leaf frames. *again: the stack is not the one it was, and what was read
 * does not fit together.
 */
static enum smp_status fetch_root_end(jthread thread, size_t capacity, struct smp_sample *sample,
                                      bool *again)
{
    const size_t root = capacity / 2;
    const size_t leaf = capacity - root;
    size_t depth = 0;
    size_t got = 0;
    enum smp_status status = fetch_depth(thread, &depth);

    if (status != SMP_OK || depth == capacity)
        return status;
    if (depth < capacity) {
        *again = true;
        return SMP_OK;
    }
    status = fetch_frames(thread, -(jint)root, sample->frames + leaf, root, &got);
    if (status == SMP_EVM || (status == SMP_OK && got != root)) {
        *again = true;
        return SMP_OK;
    }
    sample->leaf_count = leaf;
    sample->omitted = depth - capacity;
    return status;
}

static enum smp_status walk_both_ends(jthread thread, size_t capacity, struct smp_sample *sample,
                                      bool *again)
{
    size_t count = 0;
    enum smp_status status = fetch_frames(thread, 0, sample->frames, capacity, &count);

    if (status != SMP_OK)
        return status;
    sample->count = count;
    sample->leaf_count = count;
    sample->omitted = 0;
    return count < capacity ? SMP_OK : fetch_root_end(thread, capacity, sample, again);
}

static void set_missing_keys(struct smp_sample *sample)
{
    for (size_t i = 0; i < sample->count; i++) {
        if (sample->frames[i].method == 0)
            sample->frames[i].method = SMP_METHODS_NO_ID;
    }
}

enum smp_status smp_by_jvmti_walk(jobject thread, struct smp_sample *sample)
{
    const size_t capacity = sample->capacity < INT_MAX ? sample->capacity : INT_MAX;
    enum smp_status status = SMP_OK;
    bool again = true;

    if (capacity < 2)
        return SMP_EINVAL;
    for (unsigned attempt = 0; again && attempt < SMP_JVMTI_WALK_ATTEMPTS; attempt++) {
        again = false;
        if (!smp_agent_is_live())
            return SMP_EPHASE;
        status = walk_both_ends(thread, capacity, sample, &again);
    }
    if (again)
        return SMP_EVM;
    if (status == SMP_OK)
        set_missing_keys(sample);
    return status;
}

static enum smp_status walk_by_jvmti(void *self, struct smp_thread *thread,
                                     struct smp_sample *sample)
{
    const enum smp_status status = smp_by_jvmti_walk(smp_threads_ref(thread), sample);

    (void)self;
    if (status == SMP_EGONE)
        smp_threads_gone(thread);
    return status;
}

enum smp_status smp_by_jvmti_fetch(jobject thread, struct smp_frame *frames, size_t capacity,
                                   size_t *count)
{
    return smp_agent_is_live() ? fetch_frames(thread, 0, frames, capacity, count) : SMP_EPHASE;
}

struct smp_walker smp_by_jvmti(void)
{
    return (struct smp_walker){ .name = "JVMTI", .walk = walk_by_jvmti };
}
