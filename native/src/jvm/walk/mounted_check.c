/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/walk/mounted_check.h"

#include <jvmti.h>
#include <stdbool.h>

#include "jvm/agent/agent.h"
#include "jvm/walk/async.h"
#include "jvm/walk/cross_check.h"

enum { OLDEST = 2 };

/* The two oldest frames, the older one last. */
static bool fetch(jobject mounted, jvmtiFrameInfo frames[OLDEST])
{
    jvmtiEnv *jvmti = smp_agent_jvmti();
    jint count = 0;

    return smp_agent_is_live() &&
           (*jvmti)->GetStackTrace(jvmti, mounted, -OLDEST, OLDEST, frames, &count) ==
               JVMTI_ERROR_NONE &&
           count == OLDEST;
}

static bool is_method(const struct smp_frame *frame, const jvmtiFrameInfo *other)
{
    return frame->method == (uint64_t)(uintptr_t)other->method;
}

/* Elsewhere in its first method it has left the second one. */
static bool has_left(const struct smp_frame *root, const jvmtiFrameInfo *other)
{
    return is_method(root, other) && root->bci != other->location;
}

static bool has_same_end(const struct smp_sample *sample, const jvmtiFrameInfo frames[OLDEST])
{
    const struct smp_frame *root = &sample->frames[sample->count - 1];
    bool is_same = false;

    if (!is_method(root, &frames[1]))
        return false;
    for (size_t i = 2; i <= SMP_MOUNTED_CHECK_HIDDEN + 2 && i <= sample->count; i++)
        is_same = is_same || is_method(&sample->frames[sample->count - i], &frames[0]);
    return is_same;
}

void smp_mounted_check(struct smp_mounted_check *check, jobject mounted,
                       const struct smp_sample *sample)
{
    jvmtiFrameInfo frames[OLDEST];

    if (mounted == NULL || sample->count < OLDEST)
        return;
    if (!smp_cross_check_takes(check->stacks, check->differences)) {
        check->stacks++;
        return;
    }
    if (!fetch(mounted, frames) || has_left(&sample->frames[sample->count - 1], &frames[1]))
        return;
    const bool is_same = has_same_end(sample, frames);
    check->stacks++;
    check->differences = is_same ? 0 : check->differences + 1;
    smp_cross_check_count(!is_same);
    if (check->differences > 1)
        smp_async_cut_virtual_threads("found wrong, a stack ends in other frames");
}
