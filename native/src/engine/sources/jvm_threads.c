/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sources/jvm_threads.h"

#include "base/sort.h"
#include "engine/sources/sampled_threads.h"

static const struct smp_group_key JVM_KEY = { .name = SMP_JVM_THREADS_NAME };

static const char *const KIND_TEXTS[SMP_OS_THREAD_KIND_COUNT] = {
#define X(code, text) text,
    SMP_OS_THREAD_KIND_MAP(X)
#undef X
};

struct jvm_threads {
    struct smp_quota *quota;
    const struct smp_os_thread_source *os_threads;
    struct smp_sampled_threads *threads;
    struct smp_attribution *attribution;
    const struct smp_options *options;
};

/* One read of all threads. */
struct jvm_reading {
    const struct jvm_threads *source;
    uint32_t *tids; /* tids of Java threads, sorted */
    size_t tid_count;
    bool knows_all; /* the tids of all Java threads are known */
    bool is_attributed;
};

static bool is_lower_tid(SMP_UNUSED const void *context, uint32_t a, uint32_t b)
{
    return a < b;
}

static uint64_t tid_at(const void *tids, size_t index)
{
    return ((const uint32_t *)tids)[index];
}

static bool is_java_tid(void *context, int32_t tid)
{
    const struct jvm_reading *reading = context;
    const size_t at = smp_lower_bound(reading->tids, reading->tid_count, tid_at, (uint32_t)tid);

    return at < reading->tid_count && reading->tids[at] == (uint32_t)tid;
}

static void on_jvm_thread_used(void *context, enum smp_os_thread_kind kind, uint64_t id,
                               const char *name, int64_t cpu_ns)
{
    const struct jvm_reading *reading = context;
    struct smp_interval *interval = reading->source->attribution->interval;
    struct smp_group_tree tree;
    uint32_t location;
    uint32_t node;

    if (!reading->is_attributed || cpu_ns <= 0 || (unsigned)kind >= SMP_OS_THREAD_KIND_COUNT)
        return;
    /* It may be a Java thread with an unknown tid. */
    if (kind == SMP_OS_THREAD_OTHER && !reading->knows_all)
        return;
    tree = smp_interval_find(interval, JVM_KEY, id, name);
    location = smp_methods_pseudo(reading->source->attribution->methods, KIND_TEXTS[kind]);
    if (!smp_interval_add(interval, tree, &location, 1, &node)) {
        enum smp_outcome outcome = SMP_OUTCOME_OVER_MEMORY_LIMIT;
        node = smp_interval_add_pseudo(interval, tree, &outcome);
    }
    smp_interval_measured(interval, tree, node, cpu_ns, cpu_ns);
}

static void collect_java_tids(struct jvm_reading *reading, const struct smp_thread_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        const int32_t tid = smp_thread_record_tid(table->records[i]);
        if (tid > 0)
            reading->tids[reading->tid_count++] = (uint32_t)tid;
        else
            reading->knows_all = false;
    }
    smp_sort(reading->tids, reading->tids + table->count, reading->tid_count, is_lower_tid, NULL);
}

/* Reads all threads. Attributes nothing if the report is only about chosen threads. */
static void read_jvm_threads(const struct jvm_threads *source, bool is_attributed)
{
    const struct smp_os_thread_source *os_threads = source->os_threads;
    const struct smp_thread_table *table = &source->threads->table;
    struct jvm_reading reading = {
        .source = source,
        .knows_all = true,
        .is_attributed = is_attributed,
    };

    if (os_threads->read == NULL || !source->options->report_jvm_threads || source->threads->only)
        return;
    reading.tids = smp_alloc(source->quota, (2 * table->count + 1) * sizeof(*reading.tids));
    if (reading.tids == NULL)
        return;
    collect_java_tids(&reading, table);
    os_threads->read(os_threads->self, is_java_tid, on_jvm_thread_used, &reading);
    smp_free(source->quota, reading.tids);
}

/* Skips the CPU time up to now. */
static void forget_jvm_time(void *self)
{
    read_jvm_threads(self, false);
}

static void mark_jvm_threads(void *self, SMP_UNUSED int64_t now_ns)
{
    forget_jvm_time(self);
}

static void flush_jvm_threads(void *self, enum smp_flush reason)
{
    if (reason != SMP_FLUSH_OPTIONS && reason != SMP_FLUSH_FOLD)
        read_jvm_threads(self, true);
}

static void set_jvm_threads_options(void *self, const struct smp_options *before)
{
    if (before->report_jvm_threads != ((struct jvm_threads *)self)->options->report_jvm_threads)
        forget_jvm_time(self);
}

static void destroy_jvm_threads(void *self)
{
    smp_free(((struct jvm_threads *)self)->quota, self);
}

enum smp_status smp_jvm_threads_create(const struct smp_source_setup *setup, struct smp_source *out)
{
    struct jvm_threads *source = smp_alloc(setup->quota, sizeof(*source));

    if (source == NULL)
        return SMP_ENOMEM;
    *source = (struct jvm_threads){
        .quota = setup->quota,
        .os_threads = &setup->jvm->os_threads,
        .threads = setup->threads,
        .attribution = setup->attribution,
        .options = setup->options,
    };
    *out = (struct smp_source){
        .mark = mark_jvm_threads,
        .flush = flush_jvm_threads,
        .set_options = set_jvm_threads_options,
        .filter_changed = forget_jvm_time,
        .destroy = destroy_jvm_threads,
        .self = source,
    };
    return SMP_OK;
}
