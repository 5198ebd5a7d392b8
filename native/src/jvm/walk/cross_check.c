/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/walk/cross_check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "jvm/code/named_methods.h"
#include "jvm/code/same_method.h"

static struct {
    _Atomic uint64_t each; /* 0: as described in the header */
    _Atomic uint64_t compared;
    _Atomic uint64_t different;
    pthread_mutex_t mutex; /* guards last */
    char last[SMP_CROSS_CHECK_REASON_BYTES];
} process = { .mutex = PTHREAD_MUTEX_INITIALIZER };

enum smp_status smp_cross_check_init(struct smp_cross_check *check, size_t capacity)
{
    *check = (struct smp_cross_check){ .other.capacity = capacity };
    check->other.frames = smp_alloc(NULL, capacity * sizeof(*check->other.frames));
    return check->other.frames != NULL ? SMP_OK : SMP_ENOMEM;
}

void smp_cross_check_fini(struct smp_cross_check *check)
{
    smp_free(NULL, check->other.frames);
}

void smp_cross_check_set_each(uint64_t each)
{
    atomic_store(&process.each, each);
}

struct smp_cross_check_counts smp_cross_check_get_counts(void)
{
    return (struct smp_cross_check_counts){ .compared = process.compared,
                                            .different = process.different };
}

bool smp_cross_check_takes(uint64_t walks, unsigned differences)
{
    const uint64_t each = atomic_load_explicit(&process.each, memory_order_relaxed);

    if (differences > 0)
        return true;
    if (each != 0)
        return (walks + 1) % each == 0;
    return walks < SMP_CROSS_CHECK_FIRST || (walks + 1) % SMP_CROSS_CHECK_EACH == 0;
}

void smp_cross_check_count(bool is_different)
{
    atomic_fetch_add(&process.compared, 1);
    if (is_different)
        atomic_fetch_add(&process.different, 1);
}

void smp_cross_check_last_difference(char reason[SMP_CROSS_CHECK_REASON_BYTES])
{
    pthread_mutex_lock(&process.mutex);
    (void)snprintf(reason, SMP_CROSS_CHECK_REASON_BYTES, "%s", process.last);
    pthread_mutex_unlock(&process.mutex);
}

static void keep_difference(const char *reason)
{
    pthread_mutex_lock(&process.mutex);
    (void)snprintf(process.last, sizeof(process.last), "%s", reason);
    pthread_mutex_unlock(&process.mutex);
}

static int64_t read_clock(const struct smp_thread *thread)
{
    int64_t cpu_ns = -1;

    return thread->os_tid != 0 && smp_clock_thread_cpu_ns(thread->os_tid, &cpu_ns) ? cpu_ns : -1;
}

static uint64_t read_runs(const struct smp_thread *thread)
{
    uint64_t runs = 0;

    return thread->os_tid != 0 && smp_clock_thread_runs(thread->os_tid, &runs) ? runs : 0;
}

void smp_cross_check_begin(struct smp_cross_check *check, const struct smp_thread *thread)
{
    check->is_due = smp_cross_check_takes(check->walks, check->differences);
    if (!check->is_due)
        return;
    check->runs = read_runs(thread);
    check->cpu_ns = read_clock(thread);
}

static bool has_run_since(const struct smp_cross_check *check, const struct smp_thread *thread)
{
    return read_clock(thread) != check->cpu_ns || read_runs(thread) != check->runs;
}

/* A method key from copied names cannot be compared with an id, so it counts as equal. Ids are
 * compared with smp_same_method, because our id may belong to a redefined version of the method. */
static bool is_same_frame(const struct smp_frame *ours, const struct smp_frame *theirs)
{
    return ours->bci == theirs->bci && (smp_named_methods_is_key(ours->method) ||
                                        smp_same_method(ours->method, theirs->method));
}

/* Returns the depth of a stack, or its minimum depth if the root is unknown. */
static size_t depth_of(const struct smp_sample *sample)
{
    return smp_sample_lacks_root(sample) ? sample->count : sample->count + sample->omitted;
}

static bool is_same_depth(const struct smp_sample *a, const struct smp_sample *b)
{
    return (depth_of(a) >= depth_of(b) || smp_sample_lacks_root(a)) &&
           (depth_of(b) >= depth_of(a) || smp_sample_lacks_root(b));
}

/* Truncated stacks are compared at the leaf end, because JVMTI returns only that end. */
static bool is_same_stack(const struct smp_sample *a, const struct smp_sample *b,
                          char reason[SMP_CROSS_CHECK_REASON_BYTES])
{
    const size_t common = a->leaf_count < b->leaf_count ? a->leaf_count : b->leaf_count;

    if (!is_same_depth(a, b)) {
        (void)snprintf(reason, SMP_CROSS_CHECK_REASON_BYTES, "a stack of %zu frames read as %zu",
                       depth_of(b), depth_of(a));
        return false;
    }
    for (size_t i = 0; i < common; i++) {
        if (is_same_frame(&a->frames[i], &b->frames[i]))
            continue;
        (void)snprintf(reason, SMP_CROSS_CHECK_REASON_BYTES, "frame %zu of %zu read as another one",
                       i, a->count);
        return false;
    }
    return true;
}

bool smp_cross_check_end(struct smp_cross_check *check, const struct smp_walker *by_jvmti,
                         struct smp_thread *thread, const struct smp_sample *sample,
                         char reason[SMP_CROSS_CHECK_REASON_BYTES])
{
    if (!check->is_due) {
        check->walks++;
        return true;
    }
    check->other.count = check->other.leaf_count = check->other.omitted = 0;
    if (check->cpu_ns < 0 || by_jvmti->walk(by_jvmti->self, thread, &check->other) != SMP_OK ||
        has_run_since(check, thread))
        return true;
    const bool is_same = is_same_stack(sample, &check->other, reason);
    check->walks++;
    check->differences = is_same ? 0 : check->differences + 1;
    smp_cross_check_count(!is_same);
    if (!is_same)
        keep_difference(reason);
    return is_same;
}

bool smp_cross_check_is_second(const struct smp_cross_check *check)
{
    return check->differences > 1;
}
