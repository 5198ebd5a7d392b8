/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/calls/own_calls.h"

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/alloc.h"
#include "jvm/agent/agent.h"
#include "jvm/code/same_method.h"

enum { HOOK_FRAMES = 2, KNOWN = 64 };

/* Ids that were compared with the method's, which costs much more than a look in here. */
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
