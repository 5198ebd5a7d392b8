/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sources/pending_time.h"

#include "engine/sources/holders.h"
#include "engine/sources/poll_schedule.h"
#include "engine/sources/queue_time.h"

bool smp_pending_target(struct smp_wall *wall, struct smp_wall_thread *thread,
                        struct smp_tree_target *out)
{
    return thread->pending.has_target &&
           smp_attribution_idle(wall->attribution, &thread->record, out);
}

int64_t smp_pending_credit(struct smp_wall *wall, const struct smp_tree_target *target, int64_t ns,
                           int64_t till_ns)
{
    if (ns < 0)
        return ns + smp_interval_take_back(wall->attribution->interval, target->tree, target->node,
                                           target->state, -ns, till_ns);
    smp_interval_spent(wall->attribution->interval, target->tree, target->node, target->state, ns,
                       till_ns);
    return 0;
}

/* --- corrections --- */

int64_t smp_pending_credit_carried(struct smp_wall *wall, struct smp_wall_thread *thread,
                                   const struct smp_tree_target *target, int64_t most_ns,
                                   int64_t from_ns)
{
    struct smp_pending *pending = &thread->pending;
    const int64_t carried_ns = pending->carried_ns < most_ns ? pending->carried_ns : most_ns;

    if (carried_ns <= 0 || pending->carried_epoch != wall->attribution->tree_epoch ||
        pending->carried_node == target->node)
        return 0;
    smp_interval_spent(wall->attribution->interval, target->tree, pending->carried_node,
                       pending->carried_state, carried_ns, from_ns + carried_ns);
    pending->carried_ns -= carried_ns;
    return carried_ns;
}

static void carry_over(struct smp_wall *wall, struct smp_pending *pending,
                       const struct smp_tree_target *target, int64_t ns)
{
    const uint64_t epoch = wall->attribution->tree_epoch;

    if (pending->carried_epoch != epoch || pending->carried_node != target->node)
        pending->carried_ns = 0;
    pending->carried_epoch = epoch;
    pending->carried_node = target->node;
    pending->carried_state = target->state;
    pending->carried_ns += ns;
}

/* --- a poll has found a stack --- */

int64_t smp_pending_found_ns(const struct smp_wall *wall, const struct smp_wall_thread *thread)
{
    const struct smp_unanswered *unanswered = &thread->unanswered;

    if (unanswered->takes_all)
        return unanswered->waiting_ns + wall->poll->now_ns - unanswered->until_ns;
    return smp_poll_schedule_weight_ns(&wall->schedule, thread);
}

int64_t smp_pending_take(struct smp_wall *wall, struct smp_wall_thread *thread,
                         const struct smp_tree_target *before, const struct smp_tree_target *found,
                         bool becomes_target)
{
    const int64_t now_ns = wall->poll->now_ns;
    const int64_t all_ns = smp_pending_ns(&thread->pending, now_ns);
    int64_t found_ns = all_ns;
    int64_t correction_ns = 0;

    if (before != NULL && before->node != found->node) {
        found_ns = smp_pending_found_ns(wall, thread);
        correction_ns =
            smp_pending_credit(wall, before, all_ns - found_ns,
                               all_ns < found_ns ? thread->pending.from_ns : now_ns - found_ns);
        if (correction_ns < 0 && becomes_target && found_ns + correction_ns >= 0) {
            /* A correction of the target would be taken from the found stack itself. */
            found_ns += correction_ns;
            carry_over(wall, &thread->pending, found, -correction_ns);
            correction_ns = 0;
        }
    } else if (all_ns < 0) {
        correction_ns = smp_pending_credit(wall, found, all_ns, now_ns);
        found_ns = 0;
    }
    /* A stack that is not the new target loses what it has; the rest of the correction is kept. */
    if (correction_ns < 0 && !becomes_target) {
        const int64_t left_ns = found_ns + correction_ns;
        found_ns = left_ns > 0 ? left_ns : 0;
        correction_ns = left_ns < 0 ? left_ns : 0;
    }
    smp_pending_set(&thread->pending, now_ns, correction_ns);
    return found_ns;
}

/* --- without a poll --- */

void smp_pending_count_skipped(struct smp_wall *wall, struct smp_wall_thread *thread,
                               uint64_t polls)
{
    if (polls == 0)
        return;
    smp_interval_skip(wall->attribution->interval,
                      smp_attribution_tree(wall->attribution, &thread->record),
                      SMP_OUTCOME_OVER_OVERHEAD_LIMIT, polls);
    thread->plan.polled_tick = wall->schedule.tick;
}

/* Notes time without a poll, left at the end of an interval by skipped polls. */
static void note_unseen(struct smp_wall *wall, const struct smp_wall_thread *thread,
                        const struct smp_tree_target *target, int64_t ns)
{
    if (ns <= 0 || thread->activity.has_leaf || target->outcome != SMP_OUTCOME_IDLE)
        return;
    smp_attribution_unseen(wall->attribution, target,
                           &(struct smp_poll_weight){ .weight_ns = ns,
                                                      .probability = 1,
                                                      .tick = smp_poll_tick(wall->covered_ns) });
}

/* If more than the elapsed time was attributed, takes the difference back, so that the interval
 * has exactly the time that passed in it. */
void smp_pending_flush(struct smp_wall *wall, struct smp_wall_thread *thread)
{
    struct smp_pending *pending = &thread->pending;
    const bool is_idle = thread->plan.is_idle;
    struct smp_tree_target target;

    if (!thread->record.was_polled)
        return;
    if (thread->plan.is_throttled)
        smp_pending_count_skipped(wall, thread,
                                  smp_poll_schedule_missed(&wall->schedule, thread, is_idle));
    if (smp_pending_ns(pending, wall->covered_ns) == 0)
        return;
    if (!smp_pending_target(wall, thread, &target))
        target = smp_attribution_pseudo(wall->attribution, &thread->record,
                                        thread->unanswered.since_ns != 0
                                            ? SMP_OUTCOME_SIGNAL_UNANSWERED
                                            : SMP_OUTCOME_OVER_OVERHEAD_LIMIT);
    int64_t rest_ns = smp_pending_ns(pending, wall->covered_ns);
    note_unseen(wall, thread, &target, rest_ns);
    const int64_t owed_ns = smp_queue_time_flush(thread, target.state, rest_ns, wall->covered_ns);
    if (owed_ns > 0)
        smp_interval_spent(wall->attribution->interval, target.tree, target.node,
                           SMP_STATE_RUNNABLE, owed_ns, wall->covered_ns);
    rest_ns -= owed_ns;
    if (is_idle && rest_ns > 0)
        rest_ns -= smp_pending_credit_carried(wall, thread, &target, rest_ns, pending->from_ns);
    smp_pending_set(
        pending, wall->covered_ns,
        smp_pending_credit(wall, &target, rest_ns, wall->covered_ns - (owed_ns > 0 ? owed_ns : 0)));
    smp_holders_flush(wall, thread);
}

/* Does nothing right after the end of an interval, when no time is pending and the record's tree
 * belongs to the old interval. */
void smp_pending_leaves_group(struct smp_wall *wall, struct smp_wall_thread *thread)
{
    struct smp_pending *pending = &thread->pending;

    if (!thread->record.was_polled || pending->has_left ||
        smp_pending_ns(pending, wall->covered_ns) <= 0)
        return;
    pending->left_tree = smp_attribution_tree(wall->attribution, &thread->record);
    pending->has_left = true;
}

void smp_pending_flush_left(struct smp_wall *wall, struct smp_wall_thread *thread)
{
    struct smp_thread_record *record = &thread->record;
    const struct smp_group_tree tree = record->tree;
    const uint64_t epoch = record->tree_epoch;

    if (!thread->pending.has_left)
        return;
    thread->pending.has_left = false;
    record->tree = thread->pending.left_tree;
    record->tree_epoch = wall->attribution->tree_epoch;
    smp_pending_flush(wall, thread);
    record->tree = tree;
    record->tree_epoch = epoch;
    smp_last_stack_forget(&record->last);
}

/* [thread ended] gets at most the time of one tick; the target gets the time before that. */
void smp_pending_end(struct smp_wall *wall, struct smp_wall_thread *thread, int64_t ended_ns)
{
    const int64_t interval_ns = smp_options_interval_ns(wall->schedule.options);
    struct smp_thread_record *record = &thread->record;
    struct smp_tree_target target;
    int64_t last_ns;

    if (!record->was_polled) {
        if (ended_ns > wall->threads->marked_ns && record->naming != SMP_NAMING_SKIP &&
            smp_sampled_threads_chooses(wall->threads, record))
            smp_interval_count(wall->attribution->interval, SMP_COUNTER_UNSEEN_THREADS, 1);
        return;
    }
    last_ns = smp_pending_ns(&thread->pending, ended_ns);
    if ((last_ns > interval_ns || last_ns < 0) && smp_pending_target(wall, thread, &target)) {
        const int64_t all_ns = smp_pending_ns(&thread->pending, ended_ns);
        last_ns = all_ns < interval_ns ? all_ns : interval_ns;
        last_ns = last_ns > 0 ? last_ns : 0;
        (void)smp_pending_credit(wall, &target, all_ns - last_ns, ended_ns - last_ns);
        smp_holders_flush(wall, thread);
    }
    if (last_ns <= 0)
        return;
    target = smp_attribution_pseudo(wall->attribution, record, SMP_OUTCOME_THREAD_ENDED);
    smp_attribution_note(wall->attribution, &target, last_ns, smp_span_before(ended_ns, last_ns));
    /* Counts the whole square, including the half of the thread's first tick. */
    smp_attribution_moved(
        wall->attribution, record, &target, false,
        &(struct smp_poll_weight){ .weight_ns = last_ns, .tick = smp_poll_tick(ended_ns) });
}
