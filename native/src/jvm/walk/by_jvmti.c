/* SPDX-License-Identifier: Apache-2.0 */
/*
 * This file never requests a frame count or a negative start depth, for which the JVM walks the
 * whole stack in a handshake. 500,000 frames take 3.4 s, during which no safepoint can begin.
 */
#include "jvm/walk/by_jvmti.h"

#include <jvmti.h>
#include <limits.h>
#include <stddef.h>

#include "base/clock.h"
#include "handler/pauses.h"
#include "jvm/agent/agent.h"
#include "jvm/agent/jvmti_status.h"
#include "jvm/code/methods.h"
#include "jvm/threads/threads.h"
#include "jvm/walk/wait_word.h"

#define NS_PER_MS INT64_C(1000000)

/* The JVM writes its frames directly into ours. */
_Static_assert(sizeof(struct smp_frame) == sizeof(jvmtiFrameInfo), "a frame is as large");
_Static_assert(offsetof(struct smp_frame, method) == offsetof(jvmtiFrameInfo, method),
               "the method stands first");
_Static_assert(offsetof(struct smp_frame, bci) == offsetof(jvmtiFrameInfo, location),
               "the byte code index stands second");
_Static_assert(sizeof(jmethodID) == sizeof(uint64_t), "a method id is a key");

/* Returns SMP_EVM if the JVM reports more frames than capacity. */
enum smp_status smp_by_jvmti_fetch(jobject thread, struct smp_frame *frames, size_t capacity,
                                   size_t *count)
{
    jvmtiEnv *jvmti = smp_agent_jvmti();
    jint got = 0;

    if (!smp_agent_is_live())
        return SMP_EPHASE;
    const int64_t start_ns = smp_clock_ns();
    enum smp_status status = smp_jvmti_status((*jvmti)->GetStackTrace(
        jvmti, thread, 0, (jint)capacity, (jvmtiFrameInfo *)(void *)frames, &got));
    smp_pauses_note(SMP_PAUSE_HANDSHAKE, smp_clock_ns() - start_ns);
    if (status == SMP_OK && (got < 0 || (size_t)got > capacity))
        status = SMP_EVM;
    if (status == SMP_OK)
        *count = (size_t)got;
    return status;
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
    size_t count = 0;

    if (capacity < 2)
        return SMP_EINVAL;
    const enum smp_status status = smp_by_jvmti_fetch(thread, sample->frames, capacity, &count);
    if (status != SMP_OK)
        return status;
    sample->count = sample->leaf_count = count;
    sample->omitted = count == capacity ? 1 : 0;
    set_missing_keys(sample);
    return SMP_OK;
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

static bool is_in_native(jobject thread)
{
    jvmtiEnv *jvmti = smp_agent_jvmti();
    jint state = 0;

    return smp_agent_is_live() &&
           (*jvmti)->GetThreadState(jvmti, thread, &state) == JVMTI_ERROR_NONE &&
           (state & JVMTI_THREAD_STATE_IN_NATIVE) != 0;
}

void smp_by_jvmti_confirm_life(struct smp_thread *thread)
{
    struct smp_walk_info *info = smp_threads_walk_info(thread);
    const int64_t now_ns = smp_clock_ns();
    struct smp_frame frame;
    size_t count = 0;

    if (!smp_gate_is_unsure(&info->gate) ||
        (info->asked_ns != 0 && now_ns - info->asked_ns < SMP_BY_JVMTI_ASK_MS * NS_PER_MS) ||
        !is_in_native(smp_threads_ref(thread)))
        return;
    info->asked_ns = now_ns;
    if (smp_by_jvmti_fetch(smp_threads_ref(thread), &frame, 1, &count) == SMP_OK && count > 0)
        smp_gate_confirm(&info->gate);
}

static enum smp_wait_word word_by_jvmti(void *self, struct smp_thread *thread)
{
    (void)self;
    return smp_wait_word_read(NULL, thread);
}

struct smp_walker smp_by_jvmti(void)
{
    return (struct smp_walker){ .walk = walk_by_jvmti, .wait_word = word_by_jvmti };
}
