/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/threads/tids.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

struct os_thread {
    int32_t tid;
    int64_t before_ns;
    int64_t after_ns;
};

struct match {
    const struct smp_tid_clocks *clocks;
    struct os_thread *still; /* sorted by clock: it has not moved */
    size_t still_count;
    struct os_thread *moving; /* the others */
    size_t moving_count;
};

struct candidates {
    int32_t tids[SMP_TIDS_MAX_CANDIDATES];
    size_t count; /* may exceed the array: too many */
};

static int compare_clocks(const void *left, const void *right)
{
    const struct os_thread *a = left;
    const struct os_thread *b = right;

    return (a->before_ns > b->before_ns) - (a->before_ns < b->before_ns);
}

static void add_candidate(struct candidates *candidates, int32_t tid)
{
    if (candidates->count < SMP_TIDS_MAX_CANDIDATES)
        candidates->tids[candidates->count] = tid;
    candidates->count++;
}

static void find_candidates(const struct match *match, int64_t thread_ns,
                            struct candidates *candidates)
{
    size_t low = 0;
    size_t high = match->still_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (match->still[middle].before_ns < thread_ns)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low; i < match->still_count && match->still[i].before_ns == thread_ns; i++)
        add_candidate(candidates, match->still[i].tid);
    for (size_t i = 0; i < match->moving_count; i++) {
        const struct os_thread *os_thread = &match->moving[i];
        if (os_thread->before_ns <= thread_ns && thread_ns <= os_thread->after_ns)
            add_candidate(candidates, os_thread->tid);
    }
}

/* The second reading: only clocks that stand side by side. False also when the thread has ended. */
static bool clocks_enclose(const struct smp_tid_clocks *clocks, int32_t tid, size_t thread)
{
    int64_t before_ns = 0;
    int64_t thread_ns = 0;
    int64_t after_ns = 0;

    return clocks->os_thread_ns(clocks->self, tid, &before_ns) &&
           clocks->thread_ns(clocks->self, thread, &thread_ns) &&
           clocks->os_thread_ns(clocks->self, tid, &after_ns) && before_ns <= thread_ns &&
           thread_ns <= after_ns;
}

static int32_t choose_os_thread(const struct match *match, const struct candidates *candidates,
                                size_t thread)
{
    int32_t chosen = 0;

    if (candidates->count > SMP_TIDS_MAX_CANDIDATES)
        return 0;
    for (size_t i = 0; i < candidates->count; i++) {
        if (!clocks_enclose(match->clocks, candidates->tids[i], thread))
            continue;
        if (chosen != 0)
            return 0;
        chosen = candidates->tids[i];
    }
    return chosen;
}

static int compare_chosen(const void *left, const void *right)
{
    const int32_t *const *a = left;
    const int32_t *const *b = right;

    return (**a > **b) - (**a < **b);
}

/* One OS thread cannot be two Java threads: if it was chosen twice, neither counts. */
static void drop_doubles(int32_t **chosen, size_t count)
{
    qsort((void *)chosen, count, sizeof(*chosen), compare_chosen);
    for (size_t i = 0; i < count;) {
        size_t end = i + 1;
        while (end < count && *chosen[end] == *chosen[i])
            end++;
        for (size_t j = i; end - i > 1 && j < end; j++)
            *chosen[j] = 0;
        i = end;
    }
}

static int32_t tid_hint(const struct smp_tid_clocks *clocks, size_t thread)
{
    return clocks->hint != NULL ? clocks->hint(clocks->self, thread) : 0;
}

/* Is every hint right that can be checked, and are there enough of them? */
static bool are_hints_right(const struct smp_tid_clocks *clocks, const int32_t *out, size_t count)
{
    size_t agreed = 0;

    for (size_t i = 0; i < count; i++) {
        const int32_t hint = out[i] != 0 ? tid_hint(clocks, i) : 0;
        if (hint != 0 && hint != out[i])
            return false;
        agreed += hint != 0;
    }
    return agreed >= SMP_TIDS_HINTS_AGREED;
}

/* Two close readings must confirm the hint. */
static void take_tid_hints(const struct smp_tid_clocks *clocks, const int64_t *thread_ns,
                           size_t thread_count, int32_t *out)
{
    if (clocks->hint == NULL || !are_hints_right(clocks, out, thread_count))
        return;
    for (size_t i = 0; i < thread_count; i++) {
        if (out[i] != 0 || thread_ns[i] < 0)
            continue;
        const int32_t hint = tid_hint(clocks, i);
        if (hint != 0 && clocks_enclose(clocks, hint, i) && clocks_enclose(clocks, hint, i))
            out[i] = hint;
    }
}

static size_t gather_chosen(int32_t *out, size_t thread_count, int32_t **chosen)
{
    size_t count = 0;

    for (size_t i = 0; i < thread_count; i++) {
        if (out[i] != 0)
            chosen[count++] = &out[i];
    }
    return count;
}

static void choose_os_threads(const struct match *match, const int64_t *thread_ns,
                              size_t thread_count, int32_t *out, int32_t **chosen)
{
    for (size_t i = 0; i < thread_count; i++) {
        struct candidates candidates = { .count = 0 };
        if (thread_ns[i] < 0)
            continue;
        find_candidates(match, thread_ns[i], &candidates);
        out[i] = choose_os_thread(match, &candidates, i);
    }
    take_tid_hints(match->clocks, thread_ns, thread_count, out);
    drop_doubles(chosen, gather_chosen(out, thread_count, chosen));
}

static void read_before(const struct smp_tid_clocks *clocks, const int32_t *tids, size_t tid_count,
                        struct match *match)
{
    for (size_t i = 0; i < tid_count; i++) {
        struct os_thread os_thread = { .tid = tids[i] };
        if (clocks->os_thread_ns(clocks->self, tids[i], &os_thread.before_ns))
            match->still[match->still_count++] = os_thread;
    }
}

/* An OS thread that has ended meanwhile drops out: if it was a Java thread's, that one has ended
 * too, and its second reading fails. */
static void read_after(struct match *match)
{
    const size_t count = match->still_count;

    match->still_count = 0;
    for (size_t i = 0; i < count; i++) {
        struct os_thread os_thread = match->still[i];
        if (!match->clocks->os_thread_ns(match->clocks->self, os_thread.tid, &os_thread.after_ns))
            continue;
        if (os_thread.after_ns == os_thread.before_ns)
            match->still[match->still_count++] = os_thread;
        else
            match->moving[match->moving_count++] = os_thread;
    }
    qsort(match->still, match->still_count, sizeof(*match->still), compare_clocks);
}

enum smp_status smp_tids_match(const struct smp_tid_clocks *clocks, const int32_t *tids,
                               size_t tid_count, size_t thread_count, int32_t *out)
{
    struct match match = { .clocks = clocks };
    enum smp_status status = SMP_ENOMEM;
    int64_t *thread_ns = NULL;
    int32_t **chosen = NULL;

    memset(out, 0, thread_count * sizeof(*out));
    if (tid_count == 0 || thread_count == 0)
        return SMP_OK;
    match.still = smp_alloc(NULL, tid_count * sizeof(*match.still));
    match.moving = smp_alloc(NULL, tid_count * sizeof(*match.moving));
    thread_ns = smp_alloc(NULL, thread_count * sizeof(*thread_ns));
    chosen = smp_alloc(NULL, thread_count * sizeof(*chosen));
    if (match.still == NULL || match.moving == NULL || thread_ns == NULL || chosen == NULL)
        goto done;
    read_before(clocks, tids, tid_count, &match);
    for (size_t i = 0; i < thread_count; i++) {
        if (!clocks->thread_ns(clocks->self, i, &thread_ns[i]))
            thread_ns[i] = -1;
    }
    read_after(&match);
    choose_os_threads(&match, thread_ns, thread_count, out, chosen);
    status = SMP_OK;
done:
    smp_free(NULL, (void *)chosen);
    smp_free(NULL, match.still);
    smp_free(NULL, match.moving);
    smp_free(NULL, thread_ns);
    return status;
}

/* --- the process's threads --- */

enum smp_status smp_tids_each(bool (*visit)(void *context, int32_t tid), void *context)
{
    DIR *folder = opendir("/proc/self/task");
    const struct dirent *entry = NULL;
    bool goes_on = true;

    if (folder == NULL)
        return SMP_EUNSUPPORTED;
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this call's own */
    while (goes_on && (entry = readdir(folder)) != NULL) {
        const long tid = strtol(entry->d_name, NULL, 10); /* 0 for "." and ".." */
        goes_on = tid <= 0 || visit(context, (int32_t)tid);
    }
    (void)closedir(folder);
    return goes_on ? SMP_OK : SMP_ENOMEM;
}
