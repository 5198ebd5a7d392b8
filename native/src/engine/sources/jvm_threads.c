/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sources/jvm_threads.h"

#include "base/sort.h"

static const char *const KIND_TEXTS[SMP_OS_THREAD_KIND_COUNT] = {
#define X(code, text) text,
    SMP_OS_THREAD_KIND_MAP(X)
#undef X
};

/* One call of measure. */
struct measuring {
    uint32_t *tids; /* of Java threads, in order */
    size_t tid_count;
    bool knows_all; /* each of them has a tid */
    struct smp_methods *methods;
    struct smp_interval *interval;
};

static bool is_lower(const void *context, uint32_t a, uint32_t b)
{
    (void)context;
    return a < b;
}

static bool is_java(void *context, int32_t tid)
{
    const struct measuring *measuring = context;
    size_t from = 0;
    size_t till = measuring->tid_count;

    while (from < till) {
        const size_t middle = from + (till - from) / 2;
        if (measuring->tids[middle] == (uint32_t)tid)
            return true;
        if (measuring->tids[middle] < (uint32_t)tid)
            from = middle + 1;
        else
            till = middle;
    }
    return false;
}

static void on_used(void *context, enum smp_os_thread_kind kind, uint64_t id, const char *name,
                    int64_t cpu_ns)
{
    const struct measuring *measuring = context;
    struct smp_group_key key;
    uint32_t location;
    uint32_t node;

    if (measuring->interval == NULL || cpu_ns <= 0 || (unsigned)kind >= SMP_OS_THREAD_KIND_COUNT)
        return;
    /* It may be a Java thread whose tid is not known. */
    if (kind == SMP_OS_THREAD_OTHER && !measuring->knows_all)
        return;
    key = smp_interval_find(measuring->interval, SMP_JVM_THREADS_NAME, id, name);
    location = smp_methods_pseudo(measuring->methods, KIND_TEXTS[kind]);
    if (!smp_interval_add(measuring->interval, key, &location, 1, &node)) {
        enum smp_outcome outcome = SMP_OUTCOME_OVER_MEMORY_LIMIT;
        node = smp_interval_add_pseudo(measuring->interval, key, &outcome);
    }
    smp_interval_measured(measuring->interval, node, cpu_ns, cpu_ns);
}

void smp_jvm_threads_measure(const struct smp_os_thread_source *os_threads,
                             const struct smp_thread_table *table, struct smp_methods *methods,
                             struct smp_interval *interval)
{
    struct measuring measuring = { .knows_all = true, .methods = methods };

    measuring.interval = interval;
    if (os_threads->read == NULL)
        return;
    measuring.tids = smp_alloc(table->quota, (2 * table->count + 1) * sizeof(*measuring.tids));
    if (measuring.tids == NULL)
        return;
    for (size_t i = 0; i < table->count; i++) {
        const int32_t tid = table->records[i]->thread->os_tid;
        if (tid > 0)
            measuring.tids[measuring.tid_count++] = (uint32_t)tid;
        else
            measuring.knows_all = false;
    }
    smp_sort(measuring.tids, measuring.tids + table->count, measuring.tid_count, is_lower, NULL);
    os_threads->read(os_threads->self, is_java, on_used, &measuring);
    smp_free(table->quota, measuring.tids);
}
