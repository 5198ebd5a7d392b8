/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sources/roster.h"

#include <assert.h>

/* --- threads --- */

static bool on_thread_started(void *context, struct smp_thread *thread)
{
    struct smp_roster *roster = context;
    const bool is_new = thread->started_ns > roster->marked_ns;
    struct smp_thread_record *record = smp_thread_table_add(&roster->table, thread);

    if (record == NULL)
        return false;
    roster->events.started(roster->events.context, record,
                           is_new ? thread->started_ns : roster->marked_ns, is_new);
    return true;
}

void smp_roster_poll_starts(struct smp_roster *roster, int64_t now_ns)
{
    const struct smp_thread_source *source = &roster->jvm->threads;
    uint64_t unseen = 0;

    roster->now_ns = now_ns;
    /* A source that fails is polled again at the next tick. */
    (void)source->poll(source->self, &roster->cursor, &unseen, on_thread_started, roster);
    if (!roster->is_first_poll)
        smp_interval_count(roster->attribution->interval, SMP_COUNTER_UNSEEN_THREADS, unseen);
    roster->is_first_poll = false;
}

void smp_roster_mark(struct smp_roster *roster, int64_t now_ns)
{
    roster->is_first_poll = true;
    roster->marked_ns = now_ns;
}

void smp_roster_set_sampled(struct smp_roster *roster, struct smp_thread_record *record,
                            bool is_sampled)
{
    if (record->is_sampled == is_sampled)
        return;
    record->is_sampled = is_sampled;
    roster->sampled += is_sampled ? 1 : (uint64_t)-1;
}

static void note_java_end(const struct smp_roster *roster, const struct smp_thread_record *record)
{
    const struct smp_os_thread_source *os_threads = &roster->jvm->os_threads;
    const int32_t tid = smp_thread_record_tid(record);

    if (os_threads->java_ended != NULL && tid > 0)
        os_threads->java_ended(os_threads->self, tid);
}

bool smp_roster_remove_ended(struct smp_roster *roster, struct smp_thread_record *record,
                             int64_t now_ns)
{
    const int64_t ended_ns = atomic_load_explicit(&record->thread->ended_ns, memory_order_acquire);

    if (ended_ns == 0 || ended_ns > now_ns)
        return false;
    roster->events.ended(roster->events.context, record, ended_ns);
    assert(!record->deadline.is_in);
    smp_roster_set_sampled(roster, record, false);
    note_java_end(roster, record);
    smp_thread_table_remove(&roster->table, record);
    return true;
}

void smp_roster_remove_all_ended(struct smp_roster *roster, int64_t now_ns)
{
    smp_thread_names_let_go(roster->names);
    for (size_t i = 0; i < roster->table.count;) {
        if (!smp_roster_remove_ended(roster, roster->table.records[i], now_ns))
            i++;
    }
}

bool smp_roster_chooses(struct smp_roster *roster, struct smp_thread_record *record)
{
    const struct smp_thread_filter *thread_filter = &roster->thread_filter;

    if (record->thread->is_hidden)
        return false;
    if (record->filter_epoch != roster->filter_epoch) {
        record->filter_epoch = roster->filter_epoch;
        record->is_in_filter = thread_filter->contains != NULL &&
                               thread_filter->contains(thread_filter->self, record->thread);
    }
    if (roster->only || record->is_in_filter)
        return record->is_in_filter;
    return !(roster->skip_daemon_threads && record->thread->is_daemon);
}

void smp_roster_leave_out(struct smp_roster *roster, struct smp_thread_record *record)
{
    record->was_polled = false;
    roster->events.left_out(roster->events.context, record);
    smp_roster_set_sampled(roster, record, false);
}

bool smp_roster_choose(struct smp_roster *roster, struct smp_thread_record *record)
{
    if (!roster->default_name_rule)
        return true;
    record->is_candidate = smp_roster_chooses(roster, record);
    if (!record->is_candidate)
        smp_roster_leave_out(roster, record);
    return record->is_candidate;
}

/* --- names --- */

bool smp_roster_read_name(struct smp_roster *roster, struct smp_thread_record *record)
{
    smp_thread_names_read(roster->names, record);
    roster->events.named(roster->events.context, record);
    if (!record->is_candidate)
        smp_roster_leave_out(roster, record);
    return record->is_candidate;
}

/* The rule must not be called for threads that have ended. */
void smp_roster_name_all(struct smp_roster *roster)
{
    struct smp_thread_table *table = &roster->table;

    if (roster->default_name_rule)
        return;
    for (size_t i = 0; i < table->count;) {
        struct smp_thread_record *record = table->records[i];
        if (smp_roster_remove_ended(roster, record, roster->now_ns))
            continue;
        record->is_candidate = smp_roster_chooses(roster, record);
        if (!record->is_candidate)
            smp_roster_leave_out(roster, record);
        i++;
    }
    smp_interval_count(roster->attribution->interval, SMP_COUNTER_NAME_MANIPULATOR_FAILURES,
                       smp_thread_names_apply_rule(roster->names));
    for (size_t i = 0; i < table->count; i++) {
        struct smp_thread_record *record = table->records[i];
        roster->events.named(roster->events.context, record);
        if (record->naming == SMP_NAMING_SKIP && record->is_candidate)
            smp_roster_leave_out(roster, record);
    }
}

struct smp_group_key smp_roster_key_of_mounted(struct smp_roster *roster,
                                               const struct smp_mounted_thread *mounted)
{
    uint64_t failures = 0;
    const char *group = smp_thread_names_of_mounted(roster->names, mounted, &failures);

    smp_interval_count(roster->attribution->interval, SMP_COUNTER_NAME_MANIPULATOR_FAILURES,
                       failures);
    return (struct smp_group_key){ .name = group };
}

/* --- options, filter --- */

/* A JVM without a name callback has no rule but the default one. */
static bool uses_default_rule(const struct smp_roster *roster, const struct smp_options *options)
{
    return options->default_name_rule || roster->jvm->name_callback.group_names == NULL;
}

bool smp_roster_would_change(const struct smp_roster *roster, const struct smp_options *options)
{
    return roster->skip_daemon_threads != options->skip_daemon_threads ||
           roster->default_name_rule != uses_default_rule(roster, options);
}

void smp_roster_set_options(struct smp_roster *roster, const struct smp_options *options)
{
    const bool default_rule = uses_default_rule(roster, options);

    roster->skip_daemon_threads = options->skip_daemon_threads;
    if (default_rule == roster->default_name_rule)
        return;
    roster->default_name_rule = default_rule;
    smp_thread_names_set_rule(roster->names, default_rule);
}

static void drop_filter(struct smp_roster *roster)
{
    if (roster->thread_filter.destroy != NULL)
        roster->thread_filter.destroy(roster->thread_filter.self);
    roster->thread_filter = (struct smp_thread_filter){ 0 };
}

void smp_roster_set_filter(struct smp_roster *roster, struct smp_thread_filter thread_filter,
                           bool only)
{
    drop_filter(roster);
    roster->thread_filter = thread_filter;
    roster->only = only;
    roster->filter_epoch++;
}

void smp_roster_forget_stacks(struct smp_roster *roster)
{
    for (size_t i = 0; i < roster->table.count; i++)
        smp_last_stack_fini(&roster->table.records[i]->last, &roster->attribution->budget);
}

/* --- init, fini --- */

static void on_leaving_group(void *context, struct smp_thread_record *record)
{
    struct smp_roster *roster = context;

    if (roster->events.leaves_group != NULL)
        roster->events.leaves_group(roster->events.context, record);
}

enum smp_status smp_roster_init(struct smp_roster *roster, struct smp_quota *quota,
                                const struct smp_jvm *jvm, struct smp_attribution *attribution,
                                const struct smp_options *options, size_t record_bytes)
{
    *roster = (struct smp_roster){
        .quota = quota,
        .jvm = jvm,
        .attribution = attribution,
        .filter_epoch = 1,
        .skip_daemon_threads = options->skip_daemon_threads,
    };
    roster->default_name_rule = uses_default_rule(roster, options);
    smp_thread_table_init(&roster->table, quota, record_bytes, &attribution->budget, &jvm->threads,
                          &jvm->name_callback);
    return smp_thread_names_create(quota, &roster->table, roster->default_name_rule,
                                   on_leaving_group, roster, &roster->names);
}

void smp_roster_fini(struct smp_roster *roster)
{
    if (roster->quota == NULL)
        return;
    smp_thread_table_fini(&roster->table);
    drop_filter(roster);
    smp_thread_names_destroy(roster->names);
}
