/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sources/poll_once.h"

#include "base/clock.h"

struct once {
    struct smp_attribution *attribution;
    int64_t now_ns;
    int64_t span_ns;
    uint32_t tick;
};

static void once_found(void *context, struct smp_thread_record *record,
                       const struct smp_found *found)
{
    const struct once *once = context;
    const struct smp_tree_target target = smp_attribution_found(once->attribution, record, found);

    smp_attribution_note(once->attribution, &target, once->span_ns,
                         smp_span_before(once->now_ns, once->span_ns));
    /* One poll says little about the time: counts as if the thread had just moved there. */
    smp_tree_moved(once->attribution->interval->tree, target.tree.root, target.node,
                   smp_error_change(once->span_ns, 0), once->tick);
}

static void once_skipped(SMP_UNUSED void *context, struct smp_thread_record *record)
{
    (void)record;
}

static void once_unanswered(void *context, struct smp_thread_record *record,
                            SMP_UNUSED bool is_requested)
{
    const struct smp_found found = { .outcome = SMP_OUTCOME_SIGNAL_UNANSWERED,
                                     .word = SMP_WORD_RUNS };

    once_found(context, record, &found);
}

static void once_postponed(void *context, struct smp_thread_record *record)
{
    const struct once *once = context;

    smp_interval_skip(once->attribution->interval, smp_attribution_tree(once->attribution, record),
                      SMP_OUTCOME_OVER_OVERHEAD_LIMIT, 1);
}

static bool is_sampled_once(struct smp_sampled_threads *threads, struct smp_thread_record *record)
{
    if (!smp_sampled_threads_choose(threads, record))
        return false;
    if (threads->default_name_rule)
        return smp_sampled_threads_name(threads, record);
    return record->is_candidate && record->naming != SMP_NAMING_SKIP;
}

static void poll_thread_once(struct smp_walks *walks, struct smp_thread_record *record,
                             bool only_running)
{
    const int32_t tid = smp_thread_record_tid(record);
    struct smp_activity activity = { 0 };
    struct smp_reading reading;
    int64_t read_ns = 0;

    if (!is_sampled_once(walks->threads, record))
        return;
    smp_sampled_threads_set_sampled(walks->threads, record, true);
    smp_activity_begin(&activity, tid, &reading);
    if (smp_activity_is_open(&activity, &reading, &read_ns))
        smp_activity_read_again(tid, &reading, &read_ns);
    smp_activity_finish(&activity, &reading, read_ns);
    if (only_running && !smp_walks_is_running(walks, record, &reading))
        return;
    smp_walks_start(walks, record, &reading);
}

void smp_poll_once(struct smp_walks *walks, int64_t now_ns, int64_t span_ns, bool only_running)
{
    struct smp_sampled_threads *threads = walks->threads;
    const struct smp_walk_events events = walks->events;
    struct once once = { .attribution = threads->attribution,
                         .now_ns = now_ns,
                         .span_ns = span_ns,
                         .tick = (uint32_t)now_ns };

    walks->events = (struct smp_walk_events){
        .found = once_found,
        .skipped = once_skipped,
        .unanswered = once_unanswered,
        .postponed = once_postponed,
        .context = &once,
    };
    walks->begun_ns = smp_clock_ns();
    threads->is_first_poll = true;
    smp_sampled_threads_poll_starts(threads, now_ns);
    smp_sampled_threads_name_all(threads);
    for (size_t i = 0; i < threads->table.count;) {
        struct smp_thread_record *record = threads->table.records[i];
        if (smp_sampled_threads_remove_ended(threads, record, now_ns))
            continue;
        poll_thread_once(walks, record, only_running);
        i++;
    }
    smp_walks_collect(walks, SMP_ANSWERS_SOON);
    walks->events = events;
}
