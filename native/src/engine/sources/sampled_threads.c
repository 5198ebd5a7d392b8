/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sources/sampled_threads.h"

#include <assert.h>

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
    /* A source that fails is asked again at the next tick. */
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

void smp_sampled_threads_remove_all_ended(struct smp_sampled_threads *threads, int64_t now_ns)
{
    smp_thread_names_let_go(threads->names);
    for (size_t i = 0; i < threads->table.count;) {
        if (!smp_sampled_threads_remove_ended(threads, threads->table.records[i], now_ns))
            i++;
    }
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

bool smp_sampled_threads_read_name(struct smp_sampled_threads *threads,
                                   struct smp_thread_record *record)
{
    smp_thread_names_read(threads->names, record);
    threads->events.named(threads->events.context, record);
    if (!record->is_candidate)
        smp_sampled_threads_leave_out(threads, record);
    return record->is_candidate;
}

/* The rule must not be called for threads that have ended. */
void smp_sampled_threads_name_all(struct smp_sampled_threads *threads)
{
    struct smp_thread_table *table = &threads->table;

    if (threads->default_name_rule)
        return;
    for (size_t i = 0; i < table->count;) {
        struct smp_thread_record *record = table->records[i];
        if (smp_sampled_threads_remove_ended(threads, record, threads->now_ns))
            continue;
        record->is_candidate = smp_sampled_threads_chooses(threads, record);
        if (!record->is_candidate)
            smp_sampled_threads_leave_out(threads, record);
        i++;
    }
    smp_interval_count(threads->attribution->interval, SMP_COUNTER_NAME_MANIPULATOR_FAILURES,
                       smp_thread_names_apply_rule(threads->names));
    for (size_t i = 0; i < table->count; i++) {
        struct smp_thread_record *record = table->records[i];
        threads->events.named(threads->events.context, record);
        if (record->naming == SMP_NAMING_SKIP && record->is_candidate)
            smp_sampled_threads_leave_out(threads, record);
    }
}

struct smp_group_key smp_sampled_threads_key_of_mounted(struct smp_sampled_threads *threads,
                                                        const struct smp_mounted_thread *mounted)
{
    uint64_t failures = 0;
    const char *group = smp_thread_names_of_mounted(threads->names, mounted, &failures);

    smp_interval_count(threads->attribution->interval, SMP_COUNTER_NAME_MANIPULATOR_FAILURES,
                       failures);
    return (struct smp_group_key){ .name = group };
}

/* --- options, filter --- */

/* Without a name callback there is only the default rule. */
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
    threads->default_name_rule = default_rule;
    smp_thread_names_set_rule(threads->names, default_rule);
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

static void on_leaving_group(void *context, struct smp_thread_record *record)
{
    struct smp_sampled_threads *threads = context;

    if (threads->events.leaves_group != NULL)
        threads->events.leaves_group(threads->events.context, record);
}

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
    return smp_thread_names_create(quota, &threads->table, threads->default_name_rule,
                                   on_leaving_group, threads, &threads->names);
}

void smp_sampled_threads_fini(struct smp_sampled_threads *threads)
{
    if (threads->quota == NULL)
        return;
    smp_thread_table_fini(&threads->table);
    drop_filter(threads);
    smp_thread_names_destroy(threads->names);
}
