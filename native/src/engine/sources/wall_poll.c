/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sources/wall_poll.h"

#include "engine/sources/holders.h"
#include "engine/sources/pending_time.h"
#include "engine/sources/poll_answer.h"

#define NS_PER_MS INT64_C(1000000)

enum {
    /* The name of a thread that has not run is read again after a third of its life, or after this
     * time. */
    NAME_SHARE = 3,
    NAME_AGE_MS = 8000,
    LACKED_CPU_MS = 20 /* for so long a thread is believed to want a CPU */
};

void smp_wall_poll_begin(struct smp_wall_thread *thread, int64_t now_ns)
{
    thread->activity = (struct smp_activity){ 0 };
    thread->pending = (struct smp_pending){ .from_ns = now_ns };
    thread->unanswered = (struct smp_unanswered){ 0 };
    thread->queue = (struct smp_queue_time){ 0 };
    thread->plan.odds = SMP_CERTAIN;
    thread->plan.is_throttled = false;
}

/* --- sampled at all? --- */

static bool is_sampled_now(struct smp_wall *wall, struct smp_wall_thread *thread)
{
    struct smp_poll_schedule *schedule = &wall->schedule;
    struct smp_thread_record *record = &thread->record;

    if (!smp_sampled_threads_choose(wall->threads, record)) {
        smp_poll_schedule_put(
            schedule, thread,
            smp_poll_schedule_ticks_in(schedule, smp_options_lookback_ns(schedule->options)));
        return false;
    }
    if (record->is_candidate && record->naming != SMP_NAMING_SKIP)
        return true;
    smp_sampled_threads_leave_out(wall->threads, record);
    smp_poll_schedule_put(schedule, thread, 1);
    return false;
}

/* A thread that ran may have renamed itself. One that did not can only be renamed by others, mostly
 * soon after its start; a cold read of its name costs as much as reading the CPU clock. */
static bool is_name_due(const struct smp_wall *wall, const struct smp_wall_thread *thread)
{
    const int64_t now_ns = wall->poll->now_ns;
    const int64_t age_ns = now_ns - thread->named_ns;
    const int64_t life_ns = now_ns - thread->record.thread->started_ns;

    return thread->reading.activity != SMP_ACTIVITY_NONE || !thread->activity.has_leaf ||
           age_ns >= NAME_AGE_MS * NS_PER_MS || age_ns >= life_ns / NAME_SHARE ||
           thread->record.seen == NULL;
}

/* False: the thread came and went. */
static bool update_name(struct smp_wall *wall, struct smp_wall_thread *thread)
{
    if (!wall->threads->default_name_rule || !is_name_due(wall, thread))
        return true;
    thread->named_ns = wall->poll->now_ns;
    if (smp_sampled_threads_read_name(wall->threads, &thread->record))
        return true;
    smp_poll_schedule_put(&wall->schedule, thread, 1);
    return false;
}

/* --- the poll --- */

static void count_missed_polls(struct smp_wall *wall, struct smp_wall_thread *thread)
{
    const bool is_late = wall->schedule.tick > thread->record.deadline.at;

    if (!thread->record.was_polled || !(thread->plan.is_throttled || is_late))
        return;
    const uint64_t polls = smp_poll_schedule_missed(&wall->schedule, thread,
                                                    thread->reading.activity == SMP_ACTIVITY_NONE);
    if (polls > 1)
        smp_pending_count_skipped(wall, thread, polls - 1);
}

/* The thread has not run since the last poll: all time since then belongs to its last stack. */
static void attribute_idle(struct smp_wall *wall, struct smp_wall_thread *thread)
{
    const int64_t now_ns = wall->poll->now_ns;
    struct smp_tree_target target;

    wall->poll->idle_polls++;
    if (!smp_pending_target(wall, thread, &target)) {
        smp_walks_walk(&wall->walks, &thread->record, &thread->reading);
        return;
    }
    if (target.state == SMP_STATE_RUNNING)
        target.state = smp_walks_judge_again(&wall->walks, &thread->record);
    smp_attribution_stayed(wall->attribution, &thread->record, &target);
    const int64_t all_ns = smp_pending_ns(&thread->pending, now_ns);
    smp_pending_set(&thread->pending, now_ns,
                    all_ns < 0 ? smp_pending_credit(wall, &target, all_ns, now_ns) : 0);
    const int64_t carried_ns =
        all_ns < 0 ? 0 : smp_pending_credit_carried(wall, thread, &target, all_ns, now_ns - all_ns);
    smp_attribution_note(wall->attribution, &target, all_ns < 0 ? 0 : all_ns - carried_ns,
                         smp_span_before(now_ns, all_ns < 0 ? 0 : all_ns - carried_ns));
    smp_holders_polled(wall, thread, &target, smp_poll_schedule_weight_ns(&wall->schedule, thread),
                       false);
    smp_poll_schedule_next(&wall->schedule, thread, now_ns);
}

/* The thread wanted a CPU a moment ago and has had none since, so it still wants one. This is not
 * believed for long: on some machines short runs do not move the clock. */
static bool still_lacks_cpu(const struct smp_wall *wall, const struct smp_wall_thread *thread)
{
    return thread->reading.activity == SMP_ACTIVITY_NONE && thread->activity.lacked_cpu_ns != 0 &&
           wall->poll->now_ns - thread->activity.lacked_cpu_ns < LACKED_CPU_MS * NS_PER_MS;
}

/* If the JVM says that the thread waits, the walk proves whether its clock still stands. */
static void finish_reading(struct smp_wall *wall, struct smp_wall_thread *thread)
{
    struct smp_reading *reading = &thread->reading;
    int64_t read_ns = 0;

    if (smp_activity_is_open(&thread->activity, reading, &read_ns) &&
        !smp_walks_waits(&wall->walks, &thread->record, reading))
        smp_activity_read_again(smp_thread_record_tid(&thread->record), reading, &read_ns);
    smp_activity_finish(&thread->activity, reading, read_ns);
}

static void poll_by_clock(struct smp_wall *wall, struct smp_wall_thread *thread)
{
    struct smp_reading *reading = &thread->reading;

    if (smp_poll_answer_is_pending(wall, thread))
        return;
    const int64_t span_ns = wall->poll->now_ns - thread->pending.from_ns;
    thread->queue.was_idle = thread->activity.has_leaf;
    finish_reading(wall, thread);
    count_missed_polls(wall, thread);
    thread->record.was_polled = true;
    if (reading->is_measured)
        smp_poll_schedule_learn_cpu(thread, reading->used_ns, span_ns);
    if (reading->activity == SMP_ACTIVITY_NONE && thread->activity.has_leaf) {
        attribute_idle(wall, thread);
        return;
    }
    const bool still_lacks = still_lacks_cpu(wall, thread);
    reading->lacks_cpu = reading->lacks_cpu || still_lacks;
    /* A thread that ran at an unanswered request is requested again, even if it waits by now: it
     * has answered meanwhile, and the time until then belongs to that answer. */
    if (thread->unanswered.since_ns != 0 || still_lacks)
        reading->activity = SMP_ACTIVITY_RUNNING;
    smp_walks_start(&wall->walks, &thread->record, reading);
    if (!still_lacks)
        thread->activity.lacked_cpu_ns = reading->lacks_cpu ? wall->poll->now_ns : 0;
}

/* The first poll of a thread that is older than the sampling only sets the start. */
static void start_clock(struct smp_wall *wall, struct smp_wall_thread *thread)
{
    const int64_t now_ns = wall->poll->now_ns;

    thread->record.was_polled = true;
    if (thread->pending.from_ns < now_ns)
        thread->pending.from_ns = now_ns;
    thread->plan.cpu_share = SMP_WHOLE_CPU; /* until it is measured */
    if (!thread->activity.has_clock)
        smp_activity_start(&thread->activity, smp_thread_record_tid(&thread->record), now_ns);
    smp_poll_schedule_next(&wall->schedule, thread, now_ns);
}

bool smp_wall_poll_thread(struct smp_wall *wall, struct smp_wall_thread *thread)
{
    struct smp_poll *poll = wall->poll;
    struct smp_thread_record *record = &thread->record;
    const bool has_time = poll->now_ns > thread->pending.from_ns;

    if (smp_sampled_threads_remove_ended(wall->threads, record, poll->now_ns))
        return false;
    if (!is_sampled_now(wall, thread))
        return true;
    if (has_time)
        smp_activity_begin(&thread->activity, smp_thread_record_tid(record), &thread->reading);
    if (!update_name(wall, thread))
        return true;
    smp_sampled_threads_set_sampled(wall->threads, record, true);
    poll->polls++;
    if (has_time)
        poll_by_clock(wall, thread);
    else
        start_clock(wall, thread);
    return true;
}
