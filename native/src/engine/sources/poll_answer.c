/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sources/poll_answer.h"

#include "engine/sources/holders.h"
#include "engine/sources/pending_time.h"
#include "engine/sources/queue_time.h"

#define NS_PER_MS INT64_C(1000000)

/* --- found --- */

/*
 * A thread that is found running has run for the time that the poll stands for, as far as one poll
 * can tell. So short runs between long waits get their share. The clock's figure goes into the
 * group's sum, and at the end of the interval all such figures are scaled to it. The clock is the
 * better measure for a late answer and for a thread without a CPU, because most of their time is a
 * wait.
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
    smp_interval_used_cpu(interval, target->node, cpu_ns);
    smp_interval_ran_unseen(interval, target->tree, reading->used_ns - cpu_ns);
}

/* The ticks that an answer stands for were certain to come. */
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

/* Finding the old target may add nodes for it in a new interval, so it is done only if the target
 * gets time. */
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

/* If the poll is given up, a pseudo-frame would say nothing, and would make all other shares too
 * large. So the time stays with the target, and the outcome is counted. */
static void on_found(void *context, struct smp_thread_record *record, const struct smp_found *found)
{
    struct smp_wall *wall = context;
    struct smp_wall_thread *thread = smp_wall_thread_of(record);
    const int64_t now_ns = wall->poll->now_ns;
    struct smp_tree_target before;
    struct smp_tree_target target;

    /* Before the new stack replaces the last one. */
    const bool knows_before = (is_time_left(wall, thread) || found->is_given_up ||
                               (thread->queue.was_idle && is_last_stack_current(wall, thread))) &&
                              smp_pending_target(wall, thread, &before);
    const bool stays = found->is_given_up && knows_before;
    if (stays) {
        target = before;
        target.state =
            smp_wait_state((struct smp_wait_verdict){ .state = before.state }, found->word);
        if (target.outcome == SMP_OUTCOME_IDLE)
            target.outcome = found->outcome;
    } else {
        target = smp_attribution_found(wall->attribution, &thread->record, found);
    }
    const bool becomes_target =
        stays || (outcome_has_stack(target.outcome) && found->mounted.name == NULL &&
                  is_last_stack_current(wall, thread));
    const int64_t all_ns = smp_pending_ns(&thread->pending, now_ns);
    const int64_t weight_ns =
        thread->pending.has_target ? smp_pending_found_ns(wall, thread) : all_ns;
    const int64_t found_ns =
        smp_pending_take(wall, thread, knows_before ? &before : NULL, &target, becomes_target);
    const int64_t before_ns = all_ns - smp_pending_ns(&thread->pending, now_ns) - found_ns;
    smp_attribution_note(wall->attribution, &target, found_ns, smp_span_before(now_ns, found_ns));
    if (knows_before)
        smp_attribution_resumed(wall->attribution, &thread->record, &before);
    note_move(wall, thread, &target, weight_ns > 0 ? weight_ns : 0);
    smp_queue_time_attribute(wall, thread, knows_before ? &before : NULL, before_ns, &target,
                             found_ns);
    smp_holders_polled(wall, thread, &target, found_ns, true);
    attribute_cpu(wall, thread, &target, weight_ns > 0 ? weight_ns : 0);
    end_poll(thread, becomes_target);
    update_activity(wall, thread, &target);
    smp_poll_schedule_next(&wall->schedule, thread, now_ns);
}

static void on_looked_at(void *context, struct smp_thread_record *record,
                         const struct smp_sample *sample)
{
    smp_holders_looked_at(context, record, sample);
}

/* The time of the virtual thread is not attributed to anything. */
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

/* --- not found yet --- */

/* The next tick polls the thread again, and the stack that it finds also gets the time of this
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

/* As if this poll had not read the clock. */
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

/* False: the thread has had enough time. */
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

struct smp_walk_events smp_poll_answer_events(struct smp_wall *wall)
{
    return (struct smp_walk_events){
        .found = on_found,
        .skipped = on_skipped,
        .unanswered = on_unanswered,
        .postponed = on_postponed,
        .looked_at = on_looked_at,
        .context = wall,
    };
}

/* --- late answers --- */

/* Counts as of the last tick at which the thread had this stack. */
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
    /* A walk that failed is not tried again, because the thread has moved on. Only its last stack
     * says where it waited. */
    if (smp_walks_find(&wall->walks, answer, sample, mounted, &found)) {
        found.is_given_up = smp_outcome_kind_of(found.outcome) == SMP_KIND_FAILED;
        on_found(wall, &thread->record, &found);
    } else {
        on_skipped(wall, &thread->record);
    }
    wall->poll = poll;
}

/* Each tick is a poll of its own, however late the answer comes. If all time up to the answer went
 * to the requested stack, long waits would be preferred to short ones. */
bool smp_poll_answer_is_pending(struct smp_wall *wall, struct smp_wall_thread *thread)
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
        thread->plan.odds = SMP_CERTAIN; /* for this poll: the drawn odds are those of the next
                                          * one */
        smp_activity_begin(&thread->activity, smp_thread_record_tid(record), &thread->reading);
        return thread->pending.from_ns >= poll->now_ns;
    }
    if (thread->reading.clock_ns != thread->unanswered.clock_ns || poll->is_last)
        return false;
    thread->unanswered.since_ns = poll->now_ns;
    postpone_poll(wall, thread, SMP_OUTCOME_SIGNAL_UNANSWERED);
    return true;
}
