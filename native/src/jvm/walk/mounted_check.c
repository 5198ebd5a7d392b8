/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/walk/mounted_check.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/alloc.h"
#include "jvm/code/named_methods.h"
#include "jvm/code/same_method.h"
#include "jvm/threads/virtual_threads.h"
#include "jvm/walk/async.h"
#include "jvm/walk/by_jvmti.h"
#include "jvm/walk/cross_check.h"

enum { OLDEST = 2 };

/* Returns the two oldest frames of JVMTI's stack, the oldest one last, or NULL. Fetches the whole
 * stack, because a request for the oldest frames alone crashes JDK 21 and 25. */
static const struct smp_frame *fetch_oldest(struct smp_mounted_check *check, jobject mounted)
{
    const size_t room = SMP_MOUNTED_CHECK_FRAMES;
    size_t count = 0;

    if (check->frames == NULL)
        check->frames = smp_alloc(NULL, room * sizeof(*check->frames));
    if (check->frames == NULL ||
        smp_by_jvmti_fetch(mounted, check->frames, room, &count) != SMP_OK || count == room)
        return NULL;
    const size_t own = smp_virtual_threads_count_own(check->frames, count);
    return own < OLDEST ? NULL : check->frames + own - OLDEST;
}

/* Returns whether all keys are ids; keys of copied names cannot be compared with JVMTI's ids. */
static bool has_ids(const struct smp_sample *sample)
{
    bool has = true;

    for (size_t i = 1; i <= SMP_MOUNTED_CHECK_HIDDEN + OLDEST && i <= sample->count; i++) {
        const uint64_t method = sample->frames[sample->count - i].method;
        has = has && method != 0 && !smp_named_methods_is_key(method);
    }
    return has;
}

/* Returns whether the oldest frame is at another bci: the thread has then left the second
 * oldest. */
static bool has_left(const struct smp_frame *root, const struct smp_frame *other)
{
    return root->bci != other->bci && smp_same_method(root->method, other->method);
}

static bool has_same_end(const struct smp_sample *sample, const struct smp_frame *oldest)
{
    const struct smp_frame *end = sample->frames + sample->count;
    bool is_same = false;

    if (!smp_same_method(end[-1].method, oldest[1].method))
        return false;
    for (ptrdiff_t i = OLDEST;
         i <= SMP_MOUNTED_CHECK_HIDDEN + OLDEST && i <= (ptrdiff_t)sample->count; i++)
        is_same = is_same || smp_same_method(end[-i].method, oldest[0].method);
    return is_same;
}

void smp_mounted_check(struct smp_mounted_check *check, jobject mounted,
                       const struct smp_sample *sample)
{
    const struct smp_frame *oldest = NULL;

    if (mounted == NULL || sample->count < OLDEST || !has_ids(sample))
        return;
    if (!smp_cross_check_takes(check->stacks, check->differences)) {
        check->stacks++;
        return;
    }
    oldest = fetch_oldest(check, mounted);
    if (oldest == NULL || has_left(&sample->frames[sample->count - 1], &oldest[1]))
        return;
    const bool is_same = has_same_end(sample, oldest);
    check->stacks++;
    check->differences = is_same ? 0 : check->differences + 1;
    smp_cross_check_count(!is_same);
    if (check->differences > 1)
        smp_async_cut_virtual_threads("found wrong, a stack ends in other frames");
}

void smp_mounted_check_fini(struct smp_mounted_check *check)
{
    smp_free(NULL, check->frames);
}
