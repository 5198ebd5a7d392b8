/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sources/wall_poll.h"

#include "engine/sources/holders.h"
#include "engine/sources/pending_time.h"
#include "engine/sources/poll_schedule.h"
#include "engine/sources/queue_time.h"
#include "engine/sources/source.h"

#define NS_PER_MS INT64_C(1000000)

enum {
    /* The name of a thread that has not run is read again after a third of its life, or after
     * this. */
    NAME_SHARE = 3,
    NAME_AGE_MS = 8000,
    LACKED_CPU_MS = 20 /* time for which a thread is assumed to want a CPU */
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

/* --- the walk has found a stack, or has failed --- */

/*
 * Credits a thread that was found running with CPU time for the whole time of the poll, so that
 * short runs between long waits get their share. The clock's time goes into the group's sum, to
 * which these amounts are scaled at the end of the interval. For a late answer, or a thread
 * without a CPU, the clock's time is credited instead, because most of their time is a wait.
 */
static void attribute_cpu(struct smp_wall *wall, const struct smp_wall_thread *thread,
                          const struct smp_tree_target *target, int64_t weight_ns)
{
    const struct smp_reading *reading = &thread->reading;
    struct smp_interval *interval = wall->attribution->interval;
    int64_t cpu_ns = 0;

    if (!reading->is_measured)
        return;
    if (reading->activity == SMP_ACTIVITY_RUNNING && reading->used_ns > 0)
        cpu_ns = thread->unanswered.takes_all || reading->lacks_cpu ? reading->used_ns : weight_ns;
    smp_tree_credit(interval->tree, target->node, SMP_MEASURE_CPU, cpu_ns);
    smp_interval_ran_unseen(interval, target->tree, reading->used_ns - cpu_ns);
}

/* The ticks for which a late answer stands were certain to come. */
static void note_move(struct smp_wall *wall, struct smp_wall_thread *thread,
                      const struct smp_tree_target *target, int64_t weight_ns)
{
    const bool is_certain = thread->unanswered.takes_all || thread->plan.odds >= SMP_CERTAIN;
    const struct smp_poll_weight weight = {
        .weight_ns = weight_ns,
        .probability = is_certain ? 1 : (double)thread->plan.odds / (double)SMP_CERTAIN,
        .tick = smp_poll_tick(wall->poll->now_ns),
    };
    const struct smp_reading *reading = &thread->reading;

    smp_attribution_moved(wall->attribution, &thread->record, target,
                          reading->activity == SMP_ACTIVITY_RUNNING && reading->used_ns > 0,
                          &weight);
}

static bool outcome_has_stack(enum smp_outcome outcome)
{
    return smp_outcome_frame(outcome) == NULL || outcome == SMP_OUTCOME_NO_JAVA_FRAMES ||
           outcome == SMP_OUTCOME_OVER_MEMORY_LIMIT;
}

static bool is_last_stack_current(const struct smp_wall *wall, const struct smp_wall_thread *thread)
{
    return thread->record.last.epoch == wall->attribution->stack_epoch;
}

static void update_activity(struct smp_wall *wall, struct smp_wall_thread *thread,
                            const struct smp_tree_target *target)
{
    const enum smp_activity_kind activity = thread->reading.activity;

    if (activity != SMP_ACTIVITY_RAN && activity != SMP_ACTIVITY_NONE)
        return;
    thread->activity.has_leaf =
        outcome_has_stack(target->outcome) && is_last_stack_current(wall, thread);
    if (activity == SMP_ACTIVITY_RAN)
        thread->activity.since_ns = wall->poll->now_ns;
}

/* Returns whether the old target gets time. Otherwise it is not looked up, which may add nodes. */
static bool is_time_left(const struct smp_wall *wall, const struct smp_wall_thread *thread)
{
    return smp_pending_ns(&thread->pending, wall->poll->now_ns) !=
           smp_pending_found_ns(wall, thread);
}

static void end_poll(struct smp_wall_thread *thread, bool has_target)
{
    thread->unanswered.since_ns = 0;
    thread->unanswered.is_requested = false;
    thread->unanswered.takes_all = false;
    thread->pending.has_target = has_target;
}

/* Returns the target of a poll that was given up: the old target, with the outcome of the poll. A
 * pseudo-frame would give no information and change all other shares. */
static struct smp_tree_target target_of_given_up(const struct smp_tree_target *before,
                                                 const struct smp_found *found)
{
    struct smp_tree_target target = *before;

    target.state = smp_wait_state((struct smp_wait_verdict){ .state = before->state }, found->word);
    if (target.outcome == SMP_OUTCOME_IDLE)
        target.outcome = found->outcome;
    return target;
}

static void on_found(void *context, struct smp_thread_record *record, const struct smp_found *found)
{
    struct smp_wall *wall = context;
    struct smp_wall_thread *thread = smp_wall_thread_of(record);
    const int64_t now_ns = wall->poll->now_ns;
    struct smp_tree_target before;

    /* Must come before the new stack replaces the last one. */
    const bool knows_before = (is_time_left(wall, thread) || found->is_given_up ||
                               (thread->queue.was_idle && is_last_stack_current(wall, thread))) &&
                              smp_pending_target(wall, thread, &before);
    const bool stays = found->is_given_up && knows_before;
    const struct smp_tree_target target =
        stays ? target_of_given_up(&before, found)
              : smp_attribution_found(wall->attribution, &thread->record, found);
    const bool becomes_target =
        stays || (outcome_has_stack(target.outcome) && found->mounted.name == NULL &&
                  is_last_stack_current(wall, thread));
    const int64_t all_ns = smp_pending_ns(&thread->pending, now_ns);
    const int64_t poll_ns =
        thread->pending.has_target ? smp_pending_found_ns(wall, thread) : all_ns;
    const int64_t weight_ns = poll_ns > 0 ? poll_ns : 0;
    const int64_t found_ns =
        smp_pending_take(wall, thread, knows_before ? &before : NULL, &target, becomes_target);
    const int64_t before_ns = all_ns - smp_pending_ns(&thread->pending, now_ns) - found_ns;
    smp_attribution_note(wall->attribution, &target, found_ns, smp_span_before(now_ns, found_ns));
    if (knows_before)
        smp_attribution_resumed(wall->attribution, &thread->record, &before);
    note_move(wall, thread, &target, weight_ns);
    smp_queue_time_attribute(wall, thread, knows_before ? &before : NULL, before_ns, &target,
                             found_ns);
    smp_holders_polled(wall, thread, &target, found_ns, true);
    attribute_cpu(wall, thread, &target, weight_ns);
    end_poll(thread, becomes_target);
    update_activity(wall, thread, &target);
    smp_poll_schedule_next(&wall->schedule, thread, now_ns);
}

/* The time of the virtual thread is not attributed. */
static void on_skipped(void *context, struct smp_thread_record *record)
{
    struct smp_wall *wall = context;
    struct smp_wall_thread *thread = smp_wall_thread_of(record);
    const int64_t now_ns = wall->poll->now_ns;
    struct smp_tree_target before;
    int64_t correction_ns = 0;

    if (smp_pending_target(wall, thread, &before)) {
        const int64_t found_ns = smp_pending_found_ns(wall, thread);
        correction_ns =
            found_ns + smp_pending_credit(wall, &before,
                                          smp_pending_ns(&thread->pending, now_ns) - found_ns,
                                          now_ns - found_ns);
    }
    smp_pending_set(&thread->pending, now_ns, correction_ns < 0 ? correction_ns : 0);
    smp_holders_flush(wall, thread);
    end_poll(thread, false);
    smp_poll_schedule_next(&wall->schedule, thread, now_ns);
}

/* --- the walk has no answer yet --- */

/* Lets the next tick poll the thread again. The stack found then also gets the time of this
 * poll. */
static void postpone_poll(struct smp_wall *wall, struct smp_wall_thread *thread,
                          enum smp_outcome outcome)
{
    smp_interval_skip(wall->attribution->interval,
                      smp_attribution_tree(wall->attribution, &thread->record), outcome, 1);
    thread->unanswered.waiting_ns = smp_pending_found_ns(wall, thread);
    thread->unanswered.until_ns = wall->poll->now_ns;
    thread->unanswered.takes_all = true;
    thread->plan.polled_tick = wall->schedule.tick;
    smp_poll_schedule_put(&wall->schedule, thread, 1);
}

/* Restores the state from before this poll has read the clock. */
static void undo_clock_reading(struct smp_wall_thread *thread)
{
    if (thread->reading.is_measured)
        thread->activity.cpu_ns -= thread->reading.used_ns;
    else
        thread->activity.has_clock = false;
    thread->activity.read_ns = 0;
}

static void on_postponed(void *context, struct smp_thread_record *record)
{
    struct smp_wall_thread *thread = smp_wall_thread_of(record);

    postpone_poll(context, thread, SMP_OUTCOME_OVER_OVERHEAD_LIMIT);
    undo_clock_reading(thread);
}

/* Returns false if the thread has had enough time. */
static bool wait_for_late_answer(struct smp_wall *wall, struct smp_wall_thread *thread)
{
    const int64_t now_ns = wall->poll->now_ns;
    struct smp_unanswered *unanswered = &thread->unanswered;

    if (wall->poll->is_last)
        return false;
    if (unanswered->since_ns == 0)
        unanswered->since_ns = now_ns;
    if (now_ns - unanswered->since_ns > SMP_MAX_UNANSWERED_MS * NS_PER_MS)
        return false;
    postpone_poll(wall, thread, SMP_OUTCOME_SIGNAL_UNANSWERED);
    unanswered->clock_ns = thread->activity.cpu_ns;
    unanswered->used_ns = thread->reading.is_measured ? thread->reading.used_ns : -1;
    undo_clock_reading(thread);
    return true;
}

static void on_unanswered(void *context, struct smp_thread_record *record, bool is_requested)
{
    struct smp_wall *wall = context;
    struct smp_wall_thread *thread = smp_wall_thread_of(record);

    if (is_requested)
        thread->unanswered.is_requested = true;
    if (!wait_for_late_answer(wall, thread))
        on_found(wall, record,
                 &(struct smp_found){ .outcome = SMP_OUTCOME_SIGNAL_UNANSWERED,
                                      .word = SMP_WORD_RUNS,
                                      .is_given_up = wall->poll->is_last });
}

struct smp_walk_events smp_wall_poll_events(struct smp_wall *wall)
{
    return (struct smp_walk_events){
        .found = on_found,
        .skipped = on_skipped,
        .unanswered = on_unanswered,
        .postponed = on_postponed,
        .holder_walked = smp_holders_walked,
        .context = wall,
    };
}

/* --- late answers --- */

/* Counts for the last tick at which the thread had this stack. */
static void on_late_answer(void *context, uint64_t token, enum smp_answer answer,
                           const struct smp_sample *sample,
                           const struct smp_mounted_thread *mounted)
{
    struct smp_wall *wall = context;
    struct smp_wall_thread *thread = smp_wall_thread_of(smp_walks_record_of(token));
    const struct smp_unanswered *unanswered = &thread->unanswered;
    struct smp_poll *poll = wall->poll;
    struct smp_poll requested = { .now_ns = unanswered->until_ns };
    struct smp_found found;

    thread->reading = (struct smp_reading){
        .activity = SMP_ACTIVITY_RUNNING,
        .is_measured = unanswered->used_ns >= 0,
        .used_ns = unanswered->used_ns,
        .clock_ns = unanswered->clock_ns,
    };
    thread->activity.cpu_ns = unanswered->clock_ns;
    thread->activity.has_clock = true;
    wall->poll = &requested;
    /* A failed walk is not retried, because the thread has moved. Its last stack is the best
     * information about where it waited. */
    if (smp_walks_find(&wall->walks, answer, sample, mounted, &found)) {
        found.is_given_up = smp_outcome_kind_of(found.outcome) == SMP_KIND_FAILED;
        on_found(wall, &thread->record, &found);
    } else {
        on_skipped(wall, &thread->record);
    }
    wall->poll = poll;
}

/*
 * Takes a late answer if there is one. Called after the thread's clock was read into
 * thread->reading. Returns true if the running poll is over, because the thread has not answered,
 * or because the late answer covers this poll's time.
 *
 * Each tick counts as a separate poll, even if the answer is late. If the requested stack got all
 * time up to the answer, long waits would count more than short ones.
 */
static bool is_answer_pending(struct smp_wall *wall, struct smp_wall_thread *thread)
{
    const struct smp_async_walker *async = &wall->walks.jvm->async;
    struct smp_thread_record *record = &thread->record;
    const struct smp_poll *poll = wall->poll;

    if (!thread->unanswered.is_requested || thread->reading.activity == SMP_ACTIVITY_UNKNOWN)
        return false;
    const enum smp_status status = async->take_late(
        async->self, record->thread, smp_walks_token_of(record), on_late_answer, wall);
    if (status == SMP_EGONE) {
        thread->unanswered.is_requested = false;
        return false;
    }
    if (status == SMP_OK) {
        thread->plan.odds = SMP_CERTAIN; /* for this poll; the drawn odds are for the next one */
        smp_activity_begin(&thread->activity, smp_thread_record_tid(record), &thread->reading);
        return thread->pending.from_ns >= poll->now_ns;
    }
    if (thread->reading.clock_ns != thread->unanswered.clock_ns || poll->is_last)
        return false;
    thread->unanswered.since_ns = poll->now_ns;
    postpone_poll(wall, thread, SMP_OUTCOME_SIGNAL_UNANSWERED);
    return true;
}

/* --- whether the thread is sampled --- */

static bool is_sampled_now(struct smp_wall *wall, struct smp_wall_thread *thread)
{
    struct smp_poll_schedule *schedule = &wall->schedule;
    struct smp_thread_record *record = &thread->record;

    if (!smp_sampled_threads_choose(wall->threads, record)) {
        smp_poll_schedule_put(
            schedule, thread,
            smp_ticks_in(schedule->options, smp_options_lookback_ns(schedule->options)));
        return false;
    }
    if (record->is_candidate && record->naming != SMP_NAMING_SKIP)
        return true;
    smp_sampled_threads_leave_out(wall->threads, record);
    smp_poll_schedule_put(schedule, thread, 1);
    return false;
}

/* Returns whether to read the name. A thread that ran may have renamed itself. Other threads
 * rename a thread mostly soon after its start, and a cold read costs as much as reading the CPU
 * clock. */
static bool is_name_due(const struct smp_wall *wall, const struct smp_wall_thread *thread)
{
    const int64_t now_ns = wall->poll->now_ns;
    const int64_t age_ns = now_ns - thread->named_ns;
    const int64_t life_ns = now_ns - thread->record.thread->started_ns;

    return thread->reading.activity != SMP_ACTIVITY_NONE || !thread->activity.has_leaf ||
           age_ns >= NAME_AGE_MS * NS_PER_MS || age_ns >= life_ns / NAME_SHARE ||
           thread->record.seen == NULL;
}

/* Returns false if the thread has already ended. */
static bool update_name(struct smp_wall *wall, struct smp_wall_thread *thread)
{
    if (!wall->threads->default_name_rule || !is_name_due(wall, thread))
        return true;
    thread->named_ns = wall->poll->now_ns;
    if (smp_sampled_threads_name(wall->threads, &thread->record))
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

/* Credits the last stack with all time since the last poll: the thread has not run since. */
static void attribute_idle(struct smp_wall *wall, struct smp_wall_thread *thread)
{
    const int64_t now_ns = wall->poll->now_ns;
    struct smp_tree_target target;
    int64_t idle_ns = 0;
    int64_t correction_ns = 0;

    wall->poll->idle_polls++;
    if (!smp_pending_target(wall, thread, &target)) {
        smp_walks_walk(&wall->walks, &thread->record, &thread->reading);
        return;
    }
    if (target.state == SMP_STATE_RUNNING)
        target.state = smp_walks_judge_again(&wall->walks, &thread->record);
    smp_attribution_stayed(wall->attribution, &thread->record, &target);
    const int64_t all_ns = smp_pending_ns(&thread->pending, now_ns);
    if (all_ns < 0)
        correction_ns = smp_pending_credit(wall, &target, all_ns, now_ns);
    else
        idle_ns =
            all_ns - smp_pending_credit_carried(wall, thread, &target, all_ns, now_ns - all_ns);
    smp_pending_set(&thread->pending, now_ns, correction_ns);
    smp_attribution_note(wall->attribution, &target, idle_ns, smp_span_before(now_ns, idle_ns));
    smp_holders_polled(wall, thread, &target, smp_poll_schedule_weight_ns(&wall->schedule, thread),
                       false);
    smp_poll_schedule_next(&wall->schedule, thread, now_ns);
}

/* Returns whether the thread still wants a CPU, because it wanted one a moment ago and has had
 * none since. Assumed only for a short time: on some machines short runs do not move the clock. */
static bool still_lacks_cpu(const struct smp_wall *wall, const struct smp_wall_thread *thread)
{
    return thread->reading.activity == SMP_ACTIVITY_NONE && thread->activity.lacked_cpu_ns != 0 &&
           wall->poll->now_ns - thread->activity.lacked_cpu_ns < LACKED_CPU_MS * NS_PER_MS;
}

/* Reads the clock again, unless the JVM says that the thread waits, which the walk then proves. */
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

    if (is_answer_pending(wall, thread))
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
    /* A thread that has not answered gets another request even if it waits now: it has answered
     * meanwhile, and the time until then belongs to that answer. */
    if (thread->unanswered.since_ns != 0 || still_lacks)
        reading->activity = SMP_ACTIVITY_RUNNING;
    smp_walks_start(&wall->walks, &thread->record, reading);
    if (!still_lacks)
        thread->activity.lacked_cpu_ns = reading->lacks_cpu ? wall->poll->now_ns : 0;
}

/* The first poll of a thread that is older than the sampling only sets the start of its time. */
static void start_clock(struct smp_wall *wall, struct smp_wall_thread *thread)
{
    const int64_t now_ns = wall->poll->now_ns;

    thread->record.was_polled = true;
    if (thread->pending.from_ns < now_ns)
        thread->pending.from_ns = now_ns;
    thread->plan.cpu_share = SMP_WHOLE_CPU; /* assumed until it is measured */
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
