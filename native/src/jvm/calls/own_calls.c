/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/calls/own_calls.h"

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/alloc.h"
#include "jvm/agent/agent.h"
#include "jvm/code/same_method.h"

enum { HOOK_FRAMES = 2, KNOWN = 64 };

/* Ids that were compared with the method's already: a comparison costs much more than a look-up
 * here. */
struct known_methods {
    jmethodID own;
    jmethodID ids[KNOWN];
    bool is_same[KNOWN];
};

static bool is_own(struct known_methods *known, jmethodID id)
{
    const size_t place = ((uintptr_t)id >> 3) % KNOWN;

    if (id == known->own)
        return true;
    if (known->ids[place] != id) {
        known->ids[place] = id;
        known->is_same[place] = smp_same_method((uintptr_t)known->own, (uintptr_t)id);
    }
    return known->is_same[place];
}

static int32_t count_same(const jvmtiFrameInfo *frames, jint count)
{
    struct known_methods known = { .own = frames[HOOK_FRAMES].method };
    int32_t calls = 0;

    for (jint i = HOOK_FRAMES; i < count; i++)
        calls += is_own(&known, frames[i].method) ? 1 : 0;
    return calls;
}

int32_t smp_own_calls_count(void)
{
    jvmtiEnv *const jvmti = smp_agent_is_live() ? smp_agent_jvmti() : NULL;
    jvmtiFrameInfo *const frames =
        jvmti == NULL ? NULL : smp_alloc(NULL, SMP_OWN_CALLS_MOST_FRAMES * sizeof(*frames));
    jint count = 0;
    int32_t calls = 0;

    if (frames == NULL)
        return 0;
    if ((*jvmti)->GetStackTrace(jvmti, NULL, 0, SMP_OWN_CALLS_MOST_FRAMES, frames, &count) ==
            JVMTI_ERROR_NONE &&
        count > HOOK_FRAMES && count < SMP_OWN_CALLS_MOST_FRAMES)
        calls = count_same(frames, count);
    smp_free(NULL, frames);
    return calls;
}

/* --- calls that began before their probes --- */

enum { NEAR_FRAMES = 8 };

/* A walk through the stack. */
struct stack_look {
    jvmtiEnv *jvmti;
    uint64_t caller;   /* 0: the call is an outermost root */
    uint64_t own;      /* 0: its frame was not reached yet */
    int32_t at;        /* the next frame */
    bool has_replaced; /* a frame runs replaced code */
    bool is_over;
    enum smp_call_look seen;
};

static void look_at_frame(struct stack_look *look, jmethodID method)
{
    const uint64_t id = (uint64_t)(uintptr_t)method;
    jboolean is_replaced = JNI_FALSE;

    if (look->own == 0) {
        look->own = id;
        return;
    }
    if (look->caller != 0 && id == look->caller) {
        look->is_over = true;
        return;
    }
    if ((*look->jvmti)->IsMethodObsolete(look->jvmti, method, &is_replaced) != JVMTI_ERROR_NONE ||
        is_replaced == JNI_FALSE)
        return;
    look->has_replaced = true;
    look->is_over = smp_same_method(look->own, id);
    if (look->is_over)
        look->seen = SMP_CALL_LOOK_OLD;
}

/* True: the stack has at least so many frames. */
static bool look_at_stack(struct stack_look *look, jvmtiFrameInfo *frames, jint most)
{
    jint count = 0;

    if ((*look->jvmti)->GetStackTrace(look->jvmti, NULL, 0, most, frames, &count) !=
        JVMTI_ERROR_NONE)
        return true;
    for (; look->at < count && !look->is_over; look->at++)
        look_at_frame(look, frames[look->at].method);
    return count == most;
}

uint64_t smp_own_calls_method(int32_t hook_frames)
{
    jvmtiEnv *const jvmti = smp_agent_is_live() ? smp_agent_jvmti() : NULL;
    jvmtiFrameInfo frames[NEAR_FRAMES];
    jint count = 0;

    if (jvmti == NULL || (*jvmti)->GetStackTrace(jvmti, NULL, 0, hook_frames + 1, frames, &count) !=
                             JVMTI_ERROR_NONE)
        return 0;
    return count > hook_frames ? (uint64_t)(uintptr_t)frames[hook_frames].method : 0;
}

enum smp_call_look smp_own_calls_look(int32_t hook_frames, uint64_t caller)
{
    struct stack_look look = { .jvmti = smp_agent_is_live() ? smp_agent_jvmti() : NULL,
                               .caller = caller,
                               .at = hook_frames,
                               .seen = SMP_CALL_LOOK_OLDER };
    jvmtiFrameInfo near[NEAR_FRAMES];
    bool has_more = look.jvmti != NULL && look_at_stack(&look, near, NEAR_FRAMES);

    if (has_more && !look.is_over) {
        jvmtiFrameInfo *const frames = smp_alloc(NULL, SMP_OWN_CALLS_LOOK_FRAMES * sizeof(*frames));
        if (frames != NULL)
            has_more = look_at_stack(&look, frames, SMP_OWN_CALLS_LOOK_FRAMES);
        smp_free(NULL, frames);
    }
    const bool is_whole = caller != 0 ? look.is_over : look.own != 0 && !has_more;
    return is_whole && !look.has_replaced ? SMP_CALL_LOOK_NEW : look.seen;
}
