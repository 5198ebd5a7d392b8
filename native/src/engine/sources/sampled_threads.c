/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sources/sampled_threads.h"

#include <assert.h>
#include <string.h>

#include "model/name_rule.h"
#include "model/thread_groups.h"

/* --- threads --- */

static bool on_thread_started(void *context, struct smp_thread *thread)
{
    struct smp_sampled_threads *threads = context;
    const bool is_new = thread->started_ns > threads->marked_ns;
    struct smp_thread_record *record = smp_thread_table_add(&threads->table, thread);

    if (record == NULL)
        return false;
    threads->events.started(threads->events.context, record,
                            is_new ? thread->started_ns : threads->marked_ns, is_new);
    return true;
}

void smp_sampled_threads_poll_starts(struct smp_sampled_threads *threads, int64_t now_ns)
{
    const struct smp_thread_source *source = &threads->jvm->threads;
    uint64_t unseen = 0;

    threads->now_ns = now_ns;
    /* After a failure the next tick polls again. */
    (void)source->poll(source->self, &threads->cursor, &unseen, on_thread_started, threads);
    if (!threads->is_first_poll)
        smp_interval_count(threads->attribution->interval, SMP_COUNTER_UNSEEN_THREADS, unseen);
    threads->is_first_poll = false;
}

void smp_sampled_threads_mark(struct smp_sampled_threads *threads, int64_t now_ns)
{
    threads->is_first_poll = true;
    threads->marked_ns = now_ns;
}

void smp_sampled_threads_set_sampled(struct smp_sampled_threads *threads,
                                     struct smp_thread_record *record, bool is_sampled)
{
    if (record->is_sampled == is_sampled)
        return;
    record->is_sampled = is_sampled;
    threads->sampled += is_sampled ? 1 : (uint64_t)-1;
}

static void note_java_end(const struct smp_sampled_threads *threads,
                          const struct smp_thread_record *record)
{
    const struct smp_os_thread_source *os_threads = &threads->jvm->os_threads;
    const int32_t tid = smp_thread_record_tid(record);

    if (os_threads->java_ended != NULL && tid > 0)
        os_threads->java_ended(os_threads->self, tid);
}

bool smp_sampled_threads_remove_ended(struct smp_sampled_threads *threads,
                                      struct smp_thread_record *record, int64_t now_ns)
{
    const int64_t ended_ns = atomic_load_explicit(&record->thread->ended_ns, memory_order_acquire);

    if (ended_ns == 0 || ended_ns > now_ns)
        return false;
    threads->events.ended(threads->events.context, record, ended_ns);
    assert(!record->deadline.is_in);
    smp_sampled_threads_set_sampled(threads, record, false);
    note_java_end(threads, record);
    smp_thread_table_remove(&threads->table, record);
    return true;
}

bool smp_sampled_threads_chooses(struct smp_sampled_threads *threads,
                                 struct smp_thread_record *record)
{
    const struct smp_thread_filter *thread_filter = &threads->thread_filter;

    if (record->thread->is_hidden)
        return false;
    if (record->filter_epoch != threads->filter_epoch) {
        record->filter_epoch = threads->filter_epoch;
        record->is_in_filter = thread_filter->contains != NULL &&
                               thread_filter->contains(thread_filter->self, record->thread);
    }
    if (threads->only || record->is_in_filter)
        return record->is_in_filter;
    return !(threads->skip_daemon_threads && record->thread->is_daemon);
}

void smp_sampled_threads_leave_out(struct smp_sampled_threads *threads,
                                   struct smp_thread_record *record)
{
    record->was_polled = false;
    threads->events.left_out(threads->events.context, record);
    smp_sampled_threads_set_sampled(threads, record, false);
}

bool smp_sampled_threads_choose(struct smp_sampled_threads *threads,
                                struct smp_thread_record *record)
{
    if (!threads->default_name_rule)
        return true;
    record->is_candidate = smp_sampled_threads_chooses(threads, record);
    if (!record->is_candidate)
        smp_sampled_threads_leave_out(threads, record);
    return record->is_candidate;
}

/* --- names --- */

#define UNNAMED_VIRTUAL "[virtual threads]"

struct smp_name_buffers {
    char raw[SMP_MAX_GROUP_NAME_BYTES];
    char group[SMP_MAX_GROUP_NAME_BYTES];
};

static void leave_group(struct smp_sampled_threads *threads, struct smp_thread_record *record)
{
    if (threads->events.leaves_group != NULL)
        threads->events.leaves_group(threads->events.context, record);
    record->tree_epoch = 0;
    smp_last_stack_forget(&record->last);
}

/* Without memory returns false, and the thread goes to the overflow group, not to a wrong one. */
static bool set_group_name(struct smp_sampled_threads *threads, struct smp_thread_record *record,
                           const char *name)
{
    const char *wanted = name[0] != '\0' ? name : SMP_UNNAMED;

    if (record->group_name != NULL && strcmp(record->group_name, wanted) == 0)
        return true;
    leave_group(threads, record);
    if (smp_set_name(threads->quota, &record->group_name, wanted))
        return true;
    smp_free(threads->quota, record->group_name);
    record->group_name = NULL;
    return false;
}

/* Applies the default rule. Returns the group's name in a buffer. */
static const char *apply_default_rule(struct smp_sampled_threads *threads, const char *raw)
{
    char *group = threads->buffers->group;

    (void)smp_name_rule_apply(raw, strlen(raw), group, SMP_MAX_GROUP_NAME_BYTES);
    return group;
}

/* Returns false without memory. */
static bool set_raw_name(struct smp_sampled_threads *threads, struct smp_thread_record *record,
                         const char *raw)
{
    if (!smp_set_name(threads->quota, &record->raw_name, raw))
        return false;
    if (threads->default_name_rule)
        return set_group_name(threads, record, apply_default_rule(threads, raw));
    return record->naming != SMP_NAMING_FAILED || set_group_name(threads, record, raw);
}

void smp_sampled_threads_read_name(struct smp_sampled_threads *threads,
                                   struct smp_thread_record *record)
{
    const struct smp_thread_source *source = &threads->jvm->threads;
    char *raw = threads->buffers->raw;
    bool changed = false;
    const enum smp_status status = source->name(source->self, record->thread, &record->seen, raw,
                                                SMP_MAX_GROUP_NAME_BYTES, &changed);

    if (status == SMP_OK && changed && !set_raw_name(threads, record, raw))
        smp_thread_table_forget_name(&threads->table, record);
    /* The thread started and ended between two ticks. It counts as unseen and is never polled. */
    if (status == SMP_EGONE && !record->was_polled)
        record->is_candidate = false;
    else if (status != SMP_OK && record->group_name == NULL)
        (void)set_group_name(threads, record, SMP_UNNAMED);
}

bool smp_sampled_threads_name(struct smp_sampled_threads *threads, struct smp_thread_record *record)
{
    smp_sampled_threads_read_name(threads, record);
    threads->events.named(threads->events.context, record);
    if (!record->is_candidate)
        smp_sampled_threads_leave_out(threads, record);
    return record->is_candidate;
}

/* --- the user's rule for names --- */

static void count_rule_failure(const struct smp_sampled_threads *threads)
{
    smp_interval_count(threads->attribution->interval, SMP_COUNTER_NAME_MANIPULATOR_FAILURES, 1);
}

static void on_name_answer(void *context, void *named, enum smp_naming naming, const char *name)
{
    struct smp_sampled_threads *threads = context;
    struct smp_thread_record *record = named;
    bool kept = true;

    record->is_named = true;
    if (naming == SMP_NAMING_SAME && record->naming != SMP_NAMING_SAME)
        return;
    record->naming = naming == SMP_NAMING_SAME ? SMP_NAMING_FAILED : naming;
    if (record->naming == SMP_NAMING_NAMED)
        kept = set_group_name(threads, record, name);
    if (record->naming == SMP_NAMING_FAILED) {
        count_rule_failure(threads);
        kept = set_group_name(threads, record, record->raw_name != NULL ? record->raw_name : "");
    }
    /* The name was not kept, so SAME would be wrong next time: the callback must repeat it. */
    if (!kept)
        record->naming = SMP_NAMING_SAME;
}

static size_t collect_candidates(struct smp_thread_table *table)
{
    size_t count = 0;

    for (size_t i = 0; i < table->count; i++) {
        struct smp_thread_record *record = table->records[i];
        if (!record->is_candidate)
            continue;
        record->is_named = false;
        if (record->naming == SMP_NAMING_SAME)
            smp_thread_table_forget_answer(table, record);
        table->to_name[count++] = (struct smp_thread_to_name){ .thread = record->thread,
                                                               .memory = &record->given,
                                                               .record = record };
    }
    return count;
}

/* Calls the rule. After a failed call, threads without an answer get their raw name, as if the
 * rule had failed for each of them. */
static void call_name_rule(struct smp_sampled_threads *threads)
{
    struct smp_thread_table *table = &threads->table;
    const struct smp_name_callback *name_callback = &threads->jvm->name_callback;
    const size_t count = collect_candidates(table);

    if (count == 0)
        return;
    name_callback->group_names(name_callback->self, table->to_name, count, on_name_answer, threads);
    for (size_t i = 0; i < count; i++) {
        struct smp_thread_record *record = table->to_name[i].record;
        if (!record->is_named)
            on_name_answer(threads, record, SMP_NAMING_FAILED, NULL);
    }
}

/* Called before a time in which the rule is not called. The callback then releases all threads. */
static void let_go_of_threads(struct smp_sampled_threads *threads)
{
    const struct smp_name_callback *name_callback = &threads->jvm->name_callback;

    if (!threads->default_name_rule && name_callback->group_names != NULL)
        name_callback->group_names(name_callback->self, NULL, 0, on_name_answer, threads);
}

/* Removes ended threads, for which the rule must not be called. */
static void choose_candidates(struct smp_sampled_threads *threads)
{
    struct smp_thread_table *table = &threads->table;

    for (size_t i = 0; i < table->count;) {
        struct smp_thread_record *record = table->records[i];
        if (smp_sampled_threads_remove_ended(threads, record, threads->now_ns))
            continue;
        record->is_candidate = smp_sampled_threads_chooses(threads, record);
        if (!record->is_candidate)
            smp_sampled_threads_leave_out(threads, record);
        i++;
    }
}

void smp_sampled_threads_name_all(struct smp_sampled_threads *threads)
{
    struct smp_thread_table *table = &threads->table;

    if (threads->default_name_rule)
        return;
    choose_candidates(threads);
    for (size_t i = 0; i < table->count; i++) {
        if (table->records[i]->is_candidate)
            smp_sampled_threads_read_name(threads, table->records[i]);
    }
    call_name_rule(threads);
    for (size_t i = 0; i < table->count; i++) {
        struct smp_thread_record *record = table->records[i];
        threads->events.named(threads->events.context, record);
        if (record->naming == SMP_NAMING_SKIP && record->is_candidate)
            smp_sampled_threads_leave_out(threads, record);
    }
}

/* Returns the name of a virtual thread's group, or NULL if the thread is not sampled. */
static const char *group_of_mounted(struct smp_sampled_threads *threads,
                                    const struct smp_mounted_thread *mounted)
{
    const struct smp_name_callback *name_callback = &threads->jvm->name_callback;
    const bool has_name = mounted->name != NULL && mounted->name[0] != '\0';
    const char *raw = has_name ? mounted->name : UNNAMED_VIRTUAL;
    const char *name = NULL;

    if (threads->default_name_rule)
        return apply_default_rule(threads, raw);
    if (mounted->ref == NULL || name_callback->mounted_name == NULL)
        return raw;
    switch (name_callback->mounted_name(name_callback->self, mounted->ref, &name)) {
    case SMP_NAMING_NAMED:
        return name[0] != '\0' ? name : SMP_UNNAMED;
    case SMP_NAMING_SKIP:
        return NULL;
    default:
        count_rule_failure(threads);
        return raw;
    }
}

struct smp_group_key smp_sampled_threads_key_of_mounted(struct smp_sampled_threads *threads,
                                                        const struct smp_mounted_thread *mounted)
{
    return (struct smp_group_key){ .name = group_of_mounted(threads, mounted) };
}

void smp_sampled_threads_remove_all_ended(struct smp_sampled_threads *threads, int64_t now_ns)
{
    let_go_of_threads(threads);
    for (size_t i = 0; i < threads->table.count;) {
        if (!smp_sampled_threads_remove_ended(threads, threads->table.records[i], now_ns))
            i++;
    }
}

/* --- options, filter --- */

/* Without a name callback the default rule is used. */
static bool uses_default_rule(const struct smp_sampled_threads *threads,
                              const struct smp_options *options)
{
    return options->default_name_rule || threads->jvm->name_callback.group_names == NULL;
}

bool smp_sampled_threads_would_change(const struct smp_sampled_threads *threads,
                                      const struct smp_options *before)
{
    return threads->options->skip_daemon_threads != before->skip_daemon_threads ||
           uses_default_rule(threads, threads->options) != uses_default_rule(threads, before);
}

void smp_sampled_threads_use_options(struct smp_sampled_threads *threads)
{
    const bool default_rule = uses_default_rule(threads, threads->options);

    threads->skip_daemon_threads = threads->options->skip_daemon_threads;
    if (default_rule == threads->default_name_rule)
        return;
    let_go_of_threads(threads);
    threads->default_name_rule = default_rule;
    for (size_t i = 0; i < threads->table.count; i++) {
        smp_thread_table_forget_answer(&threads->table, threads->table.records[i]);
        smp_thread_table_forget_name(&threads->table, threads->table.records[i]);
    }
}

static void drop_filter(struct smp_sampled_threads *threads)
{
    if (threads->thread_filter.destroy != NULL)
        threads->thread_filter.destroy(threads->thread_filter.self);
    threads->thread_filter = (struct smp_thread_filter){ 0 };
}

void smp_sampled_threads_set_filter(struct smp_sampled_threads *threads,
                                    struct smp_thread_filter thread_filter, bool only)
{
    drop_filter(threads);
    threads->thread_filter = thread_filter;
    threads->only = only;
    threads->filter_epoch++;
}

void smp_sampled_threads_forget_stacks(struct smp_sampled_threads *threads)
{
    for (size_t i = 0; i < threads->table.count; i++)
        smp_last_stack_fini(&threads->table.records[i]->last, &threads->attribution->budget);
}

/* --- init, fini --- */

enum smp_status smp_sampled_threads_init(struct smp_sampled_threads *threads,
                                         struct smp_quota *quota, const struct smp_jvm *jvm,
                                         struct smp_attribution *attribution,
                                         const struct smp_options *options, size_t record_bytes)
{
    *threads = (struct smp_sampled_threads){
        .quota = quota,
        .jvm = jvm,
        .attribution = attribution,
        .filter_epoch = 1,
        .options = options,
    };
    threads->skip_daemon_threads = options->skip_daemon_threads;
    threads->default_name_rule = uses_default_rule(threads, options);
    smp_thread_table_init(&threads->table, quota, record_bytes, &attribution->budget, &jvm->threads,
                          &jvm->name_callback);
    threads->buffers = smp_alloc(quota, sizeof(*threads->buffers));
    return threads->buffers != NULL ? SMP_OK : SMP_ENOMEM;
}

void smp_sampled_threads_fini(struct smp_sampled_threads *threads)
{
    if (threads->quota == NULL)
        return;
    smp_thread_table_fini(&threads->table);
    drop_filter(threads);
    smp_free(threads->quota, threads->buffers);
}
