/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sources/wall_poll.h"

#include "base/clock.h"
#include "engine/sources/cpu.h"
#include "engine/threads/intensity.h"

#define NS_PER_MS INT64_C(1000000)

/* --- when --- */

void smp_poll_put_in(struct smp_wall *wall, struct smp_thread_record *record, uint64_t ticks)
{
    record->odds = SMP_CERTAIN;
    smp_timer_wheel_put(&wall->wheel, &record->due, wall->tick + ticks);
}

uint64_t smp_poll_ticks_in(const struct smp_wall *wall, int64_t ns)
{
    const int64_t ticks = ns / wall->interval_ns;

    return ticks > 1 ? (uint64_t)ticks : 1;
}

/* Idle or not any more. */
static void set_idle(struct smp_wall *wall, struct smp_thread_record *record, bool is_idle)
{
    if (record->is_idle == is_idle)
        return;
    record->is_idle = is_idle;
    wall->idle_threads += is_idle ? 1 : (uint64_t)-1;
}

/* Were there CPU time for all: at each tick, or of an idle thread with these odds. */
static int64_t free_odds(const struct smp_wall *wall, const struct smp_thread_record *record,
                         int64_t now_ns)
{
    double ticks =
        (double)(now_ns - record->idle.since_ns) / (double)wall->interval_ns / SMP_IDLE_SHARE;

    if (!record->is_idle)
        return SMP_CERTAIN;
    if (ticks > wall->idle_ticks)
        ticks = wall->idle_ticks;
    return smp_intensity_odds(ticks);
}

/* Hundreds that wake up for a moment now and then must not leave nothing for the few that work. It
 * goes by what a thread has used for some time, not by what it does at this look. */
static int64_t quietness(const struct smp_thread_record *record)
{
    const int64_t times = SMP_WHOLE_USE / SMP_BUSY_SHARE / (record->use + 1);

    if (times < 1)
        return 1;
    return times < SMP_MOST_QUIETNESS ? times : SMP_MOST_QUIETNESS;
}

/* It used so much of the time since the last look. */
static void learn_use(struct smp_thread_record *record, int64_t used_ns, int64_t span_ns)
{
    enum { SLOWNESS = 4 };
    const int64_t use = used_ns < span_ns ? used_ns * SMP_WHOLE_USE / span_ns : SMP_WHOLE_USE;

    record->use += (use - record->use) / SLOWNESS;
}

/* A thread that owes an answer is polled until it gives one. */
static bool is_to_throttle(const struct smp_wall *wall, const struct smp_thread_record *record)
{
    return wall->throttle.share < SMP_THROTTLE_WHOLE && !record->takes_all;
}

/* Of a thread that runs, the share; of a quiet one less, the less there is, but hardly less where
 * there is almost enough: else a sampler a little above its limit would hardly see quiet threads.
 */
static int64_t throttle_odds(const struct smp_wall *wall, const struct smp_thread_record *record)
{
    const double share = (double)wall->throttle.share / SMP_THROTTLE_WHOLE;

    return smp_intensity_odds((1 + (double)(quietness(record) - 1) * (1 - share)) / share);
}

/* Idle threads are polled at the same ticks, and draw the same. Throttled threads draw each for
 * themselves, so that what they cost is spread over the ticks. */
static struct smp_next_poll next_poll(struct smp_wall *wall, bool is_alone, int64_t odds,
                                      uint64_t most)
{
    struct smp_drawn *drawn = &wall->drawn;

    if (is_alone)
        return smp_intensity_next_alone(&wall->throttle.random, wall->tick, odds, most);
    if (drawn->tick != wall->tick || drawn->odds != odds || drawn->most != most)
        *drawn = (struct smp_drawn){
            .tick = wall->tick,
            .odds = odds,
            .most = most,
            .next = smp_intensity_next(wall->salt, wall->tick, odds, most),
        };
    return drawn->next;
}

/* When this thread is polled next. */
static void draw(struct smp_wall *wall, struct smp_thread_record *record, int64_t now_ns)
{
    uint64_t most = 1;
    int64_t odds;

    record->free_odds = free_odds(wall, record, now_ns);
    record->is_throttled = is_to_throttle(wall, record);
    odds = record->free_odds;
    if (record->is_idle)
        most = smp_poll_ticks_in(wall, wall->lookback_ns);
    if (record->is_throttled) {
        odds = smp_intensity_both(odds, throttle_odds(wall, record));
        most = smp_poll_ticks_in(wall, SMP_MOST_THIN_MS * NS_PER_MS);
    }
    /* No poll stands for more than twice the longest gap. */
    if (odds < SMP_CERTAIN / 2 / (int64_t)most)
        odds = SMP_CERTAIN / 2 / (int64_t)most;
    const struct smp_next_poll next = next_poll(wall, record->is_throttled, odds, most);
    smp_timer_wheel_put(&wall->wheel, &record->due, next.tick);
    record->odds = next.odds;
}

/* Of a thread that was polled in this tick. */
static void schedule(struct smp_wall *wall, struct smp_thread_record *record, int64_t now_ns)
{
    set_idle(wall, record, record->idle.has_leaf);
    record->polled_tick = wall->tick;
    draw(wall, record, now_ns);
}

bool smp_poll_pass_over(struct smp_wall *wall, struct smp_thread_record *record)
{
    if (record->is_throttled || !record->was_looked_at || !is_to_throttle(wall, record))
        return false;
    const int64_t odds = throttle_odds(wall, record);
    const int64_t number = (int64_t)(smp_throttle_random(&wall->throttle) % (uint64_t)SMP_CERTAIN);
    if (number < odds) {
        record->odds = smp_intensity_both(record->odds, odds);
        record->is_throttled = true;
        return false;
    }
    draw(wall, record, wall->poll->now_ns);
    return true;
}

/* --- time that is kept --- */

void smp_poll_count_as_sampled(struct smp_wall *wall, struct smp_thread_record *record,
                               bool is_sampled)
{
    if (record->is_counted == is_sampled)
        return;
    record->is_counted = is_sampled;
    wall->threads += is_sampled ? 1 : (uint64_t)-1;
}

void smp_poll_begin(struct smp_thread_record *record, int64_t now_ns)
{
    record->credited_ns = now_ns;
    record->balance_ns = 0;
    record->owed_ns = 0;
    record->claim_ns = 0;
    record->idle = (struct smp_activity){ 0 };
    record->odds = SMP_CERTAIN;
    record->is_throttled = false;
    record->has_target = false;
    record->takes_all = false;
    record->unanswered_ns = 0;
    record->is_asked = false;
}

/* Whoever is not sampled now owns the time that passes, and it is not credited later. */
void smp_poll_leave_out(struct smp_wall *wall, struct smp_thread_record *record)
{
    record->was_looked_at = false;
    smp_poll_begin(record, wall->poll->now_ns);
    set_idle(wall, record, false);
    smp_poll_count_as_sampled(wall, record, false);
}

/* What the last poll found, as far as it is known. */
static bool find_target(struct smp_wall *wall, struct smp_thread_record *record,
                        struct smp_tree_target *out)
{
    if (!record->has_target || !smp_attribution_idle(&wall->attribution, record, out))
        return false;
    if (record->owed_ns > 0) {
        smp_interval_measured(wall->attribution.interval, out->node, record->owed_ns, 0);
        record->balance_ns -= record->owed_ns;
    }
    record->owed_ns = 0;
    return true;
}

/* Time that is not credited up to then; negative: a debt. */
static int64_t pending_ns(const struct smp_thread_record *record, int64_t till_ns)
{
    return till_ns - record->credited_ns + record->balance_ns;
}

/* All time up to then is credited, but for so much. */
static void set_credited(struct smp_thread_record *record, int64_t till_ns, int64_t balance_ns)
{
    record->credited_ns = till_ns;
    record->balance_ns = balance_ns;
}

/* Gives the time to the node, or takes it back where it is negative. Returns what there was not
 * enough for: 0, or a debt. */
static int64_t give(struct smp_wall *wall, const struct smp_tree_target *target, int64_t ns)
{
    if (ns < 0)
        return ns + smp_interval_take_back(wall->attribution.interval, target->node, -ns);
    smp_interval_measured(wall->attribution.interval, target->node, ns, 0);
    return 0;
}

/* Pays what was found out of the time of the stack that the thread is idle with. Returns how much.
 */
static int64_t pay_claim(struct smp_wall *wall, struct smp_thread_record *record,
                         const struct smp_tree_target *target, int64_t most_ns)
{
    const int64_t paid_ns = record->claim_ns < most_ns ? record->claim_ns : most_ns;

    if (paid_ns <= 0 || record->claim_epoch != wall->attribution.key_epoch ||
        record->claim_node == target->node)
        return 0;
    smp_interval_measured(wall->attribution.interval, record->claim_node, paid_ns, 0);
    record->claim_ns -= paid_ns;
    return paid_ns;
}

/* Polls that would have come since the last one, were there CPU time for all; an idle thread's
 * would not have come at each tick. */
static uint64_t free_polls(const struct smp_wall *wall, const struct smp_thread_record *record,
                           bool is_idle)
{
    const double longest_ticks = (double)smp_poll_ticks_in(wall, wall->lookback_ns);
    double mean_ticks = (double)SMP_CERTAIN / (double)record->free_odds;

    if (is_idle && mean_ticks < wall->idle_ticks)
        mean_ticks = wall->idle_ticks;
    /* About what the mean is where the longest gap cuts the others off. */
    if (record->is_idle || is_idle)
        mean_ticks = 1 / (1 / mean_ticks + 1 / longest_ticks);
    if (mean_ticks < 1)
        mean_ticks = 1;
    return (uint64_t)((double)(wall->tick - record->polled_tick) / mean_ticks);
}

static void skip_polls(struct smp_wall *wall, struct smp_thread_record *record, uint64_t count)
{
    if (count == 0)
        return;
    smp_interval_skip(wall->attribution.interval, smp_attribution_place(&wall->attribution, record),
                      SMP_OUTCOME_OVER_OVERHEAD_LIMIT, count);
    record->polled_tick = wall->tick;
}

/*
 * The thread is not polled for this: its clock is left alone, and what it used is found at the next
 * poll. Its time goes to what the last poll found. Where more was credited than has passed, that is
 * taken back, so that the interval holds what passed in it, and given again in the next one.
 */
void smp_poll_credit_kept(struct smp_wall *wall, struct smp_thread_record *record)
{
    struct smp_tree_target target;

    if (!record->was_looked_at)
        return;
    if (record->is_throttled)
        skip_polls(wall, record, free_polls(wall, record, record->is_idle));
    if (pending_ns(record, wall->covered_ns) == 0 && record->owed_ns == 0)
        return;
    if (!find_target(wall, record, &target))
        target =
            smp_attribution_pseudo(&wall->attribution, record,
                                   record->unanswered_ns != 0 ? SMP_OUTCOME_SIGNAL_UNANSWERED
                                                              : SMP_OUTCOME_OVER_OVERHEAD_LIMIT);
    int64_t rest_ns = pending_ns(record, wall->covered_ns);
    if (record->is_idle && rest_ns > 0)
        rest_ns -= pay_claim(wall, record, &target, rest_ns);
    const int64_t debt_ns = give(wall, &target, rest_ns);
    if (rest_ns < 0)
        record->owed_ns = debt_ns - rest_ns;
    set_credited(record, wall->covered_ns, debt_ns);
}

/* May be told while a user's rule is asked, when the JVM cannot be: so a stack that has to be added
 * is added afterwards. */
void smp_poll_leaving(void *context, struct smp_thread_record *record)
{
    struct smp_wall *wall = context;

    /* At the end of an interval nothing is pending, and what it left is of an interval that is
     * over. */
    if (!record->was_looked_at || record->has_left || pending_ns(record, wall->covered_ns) <= 0)
        return;
    record->left_key = smp_attribution_place(&wall->attribution, record);
    record->has_left = true;
}

/* Credits what was kept in the place the record has left. */
void smp_poll_credit_left(struct smp_wall *wall, struct smp_thread_record *record)
{
    const struct smp_group_key key = record->key;
    const uint64_t epoch = record->key_epoch;

    if (!record->has_left)
        return;
    record->has_left = false;
    record->key = record->left_key;
    record->key_epoch = wall->attribution.key_epoch;
    smp_poll_credit_kept(wall, record);
    record->key = key;
    record->key_epoch = epoch;
    smp_last_stack_forget(&record->last);
}

/* The last of an ended thread's time: a tick's at most, because it was not polled in it; before
 * that it was where the last poll found it. */
static void credit_end(struct smp_wall *wall, struct smp_thread_record *record, int64_t ended_ns)
{
    struct smp_tree_target target;
    int64_t last_ns;

    if (!record->was_looked_at) {
        if (ended_ns > wall->marked_ns && record->naming != SMP_NAMING_SKIP &&
            smp_wall_chooses(wall, record))
            smp_interval_count(wall->attribution.interval, SMP_COUNTER_UNSEEN_THREADS, 1);
        return;
    }
    last_ns = pending_ns(record, ended_ns);
    if ((last_ns > wall->interval_ns || last_ns - record->owed_ns < 0) &&
        find_target(wall, record, &target)) {
        const int64_t all_ns = pending_ns(record, ended_ns);
        last_ns = all_ns < wall->interval_ns ? all_ns : wall->interval_ns;
        last_ns = last_ns > 0 ? last_ns : 0;
        (void)give(wall, &target, all_ns - last_ns);
    }
    if (last_ns <= 0)
        return;
    target = smp_attribution_pseudo(&wall->attribution, record, SMP_OUTCOME_THREAD_ENDED);
    smp_attribution_note(&wall->attribution, &target, last_ns);
}

/* A thread that ended after this look began is walked as if alive: it counts as gone during the
 * walk, and the rest of its time is credited at the next tick. True: the record is gone. */
bool smp_poll_remove_ended(struct smp_wall *wall, struct smp_thread_record *record)
{
    const int64_t ended_ns = atomic_load_explicit(&record->thread->ended_ns, memory_order_acquire);

    if (ended_ns == 0 || ended_ns > wall->poll->now_ns)
        return false;
    if (wall->is_cpu)
        smp_cpu_source_stop(wall, record);
    else if (wall->poll->span_ns < 0)
        credit_end(wall, record, ended_ns);
    set_idle(wall, record, false);
    smp_poll_count_as_sampled(wall, record, false);
    smp_timer_wheel_remove(&wall->wheel, &record->due);
    smp_thread_table_remove(&wall->table, record);
    return true;
}

/* --- one look: what was found --- */

/* How a walk ended. */
struct found {
    enum smp_outcome outcome;
    const struct smp_sample *sample;
    const char *group_name; /* NULL: the thread's own */
    bool is_late;           /* there is none yet, but there will be one */
};

/* The time that the poll stands for. After a stop of the whole process one tick is minutes long:
 * other polls than those at each tick do not multiply that. */
static int64_t weight_ns(const struct smp_wall *wall, const struct smp_thread_record *record)
{
    const int64_t most_ns = SMP_MOST_TICK_MS * NS_PER_MS;

    if (record->odds == SMP_CERTAIN || wall->tick_ns < most_ns)
        return smp_intensity_weight_ns(wall->tick_ns, record->odds);
    return smp_intensity_weight_ns(most_ns, record->odds);
}

/*
 * A thread that is found running has run for as long as the poll stands for, as far as one poll can
 * tell: so short runs between long waits count as much as they should. What the clock says to that
 * is the group's sum, to which all such figures are brought in proportion at the end of the
 * interval. Of an answer that came late the clock is the better measure: most of its time is a
 * wait.
 */
static void attribute_cpu(struct smp_wall *wall, const struct smp_thread_record *record,
                          const struct smp_tree_target *target, int64_t stands_for_ns)
{
    const struct smp_reading *reading = &record->reading;
    int64_t cpu_ns = 0;

    if (!reading->is_measured || wall->poll->span_ns >= 0)
        return;
    if (reading->activity == SMP_ACTIVITY_RUNNING && reading->used_ns > 0)
        cpu_ns = record->takes_all ? reading->used_ns : stands_for_ns;
    smp_interval_used_cpu(wall->attribution.interval, target->key, target->node, cpu_ns);
    smp_interval_ran_unseen(wall->attribution.interval, target->key, reading->used_ns - cpu_ns);
}

static bool has_stack(enum smp_outcome outcome)
{
    return smp_outcome_frame(outcome) == NULL || outcome == SMP_OUTCOME_NO_JAVA_FRAMES ||
           outcome == SMP_OUTCOME_OVER_MEMORY_LIMIT;
}

/* The time of what is found. Of a poll that was put off, or whose answer came late, that of the
 * ticks at which it waited as well. */
static int64_t found_time_ns(const struct smp_wall *wall, const struct smp_thread_record *record)
{
    if (record->takes_all)
        return record->promised_ns + wall->poll->now_ns - record->promised_until_ns;
    return weight_ns(wall, record);
}

/* What the stack that it left could not give to the one that was found: it gives it as soon as the
 * thread is idle again, within the interval. */
static void add_claim(struct smp_wall *wall, struct smp_thread_record *record, uint32_t node,
                      int64_t ns)
{
    if (record->claim_epoch != wall->attribution.key_epoch || record->claim_node != node)
        record->claim_ns = 0;
    record->claim_epoch = wall->attribution.key_epoch;
    record->claim_node = node;
    record->claim_ns += ns;
}

/* The time of a poll that found this, out of all that is pending; what remains goes to what the
 * poll before it found, which may also have to give some back. */
static int64_t take_time(struct smp_wall *wall, struct smp_thread_record *record,
                         const struct smp_tree_target *before, const struct smp_tree_target *found,
                         bool becomes_target)
{
    const int64_t now_ns = wall->poll->now_ns;
    const int64_t all_ns = pending_ns(record, now_ns);
    int64_t found_ns = all_ns;
    int64_t debt_ns = 0;

    if (before != NULL && before->node != found->node) {
        found_ns = found_time_ns(wall, record);
        debt_ns = give(wall, before, all_ns - found_ns);
        if (debt_ns < 0 && becomes_target && found_ns + debt_ns >= 0) {
            /* Were it a debt, the stack that was found would pay it itself. */
            found_ns += debt_ns;
            add_claim(wall, record, found->node, -debt_ns);
            debt_ns = 0;
        }
    } else if (all_ns < 0) {
        debt_ns = give(wall, found, all_ns);
        found_ns = 0;
    }
    /* A debt is paid by the stack that is found, or not made. */
    if (debt_ns < 0 && !becomes_target) {
        const int64_t left_ns = found_ns + debt_ns;
        found_ns = left_ns > 0 ? left_ns : 0;
        debt_ns = left_ns < 0 ? left_ns : 0;
    }
    set_credited(record, now_ns, debt_ns);
    return found_ns;
}

static void learn_activity(struct smp_wall *wall, struct smp_thread_record *record,
                           const struct smp_tree_target *target)
{
    const enum smp_activity_kind activity = record->reading.activity;

    if (activity != SMP_ACTIVITY_RAN && activity != SMP_ACTIVITY_NONE)
        return;
    record->idle.has_leaf =
        has_stack(target->outcome) && record->last.epoch == wall->attribution.stack_epoch;
    if (activity == SMP_ACTIVITY_RAN)
        record->idle.since_ns = wall->poll->now_ns;
}

/* Has what the poll before it found to be looked for? In a new interval it may not be there any
 * more, and shall not be if nothing is credited to it. */
static bool is_time_left(const struct smp_wall *wall, const struct smp_thread_record *record)
{
    return wall->poll->span_ns < 0 &&
           (record->owed_ns > 0 ||
            pending_ns(record, wall->poll->now_ns) != found_time_ns(wall, record));
}

/* The end of each poll: credits the time, and says when the next one is. Where there will be no
 * answer any more the thread is most likely where it was found last: a pseudo-frame would make all
 * other shares too large together, and say nothing. That it was not found is counted. */
static void finish(struct smp_wall *wall, struct smp_thread_record *record,
                   const struct found *found)
{
    const int64_t span_ns = wall->poll->span_ns;
    struct smp_tree_target before;
    struct smp_tree_target target;
    int64_t found_ns = span_ns;

    /* Before the stack is replaced. */
    const bool knows_before =
        (is_time_left(wall, record) || found->is_late) && find_target(wall, record, &before);
    const bool stays = found->is_late && knows_before;
    if (stays) {
        target = before;
        if (target.outcome == SMP_OUTCOME_IDLE)
            target.outcome = found->outcome;
    } else {
        target = smp_attribution_found(&wall->attribution, record, found->outcome, found->sample,
                                       found->group_name);
    }
    const bool becomes_target = stays || (has_stack(target.outcome) && found->group_name == NULL &&
                                          record->last.epoch == wall->attribution.stack_epoch);
    const int64_t stands_for_ns =
        record->has_target ? found_time_ns(wall, record) : pending_ns(record, wall->poll->now_ns);
    if (span_ns < 0)
        found_ns = take_time(wall, record, knows_before ? &before : NULL, &target, becomes_target);
    else
        set_credited(record, wall->poll->now_ns, 0);
    smp_attribution_note(&wall->attribution, &target, found_ns);
    attribute_cpu(wall, record, &target, stands_for_ns > 0 ? stands_for_ns : 0);
    record->unanswered_ns = 0;
    record->is_asked = false;
    record->takes_all = false;
    record->has_target = becomes_target;
    learn_activity(wall, record, &target);
    schedule(wall, record, wall->poll->now_ns);
}

/* The thread is polled at the next tick, and what is found there gets the time of this poll, too.
 */
static void postpone(struct smp_wall *wall, struct smp_thread_record *record,
                     enum smp_outcome outcome)
{
    smp_interval_skip(wall->attribution.interval, smp_attribution_place(&wall->attribution, record),
                      outcome, 1);
    record->promised_ns = found_time_ns(wall, record);
    record->promised_until_ns = wall->poll->now_ns;
    record->takes_all = true;
    record->polled_tick = wall->tick;
    smp_poll_put_in(wall, record, 1);
}

/* As if its clock had not been read. */
static void put_clock_back(struct smp_thread_record *record)
{
    if (record->reading.is_measured)
        record->idle.cpu_ns -= record->reading.used_ns;
    else
        record->idle.has_clock = false;
}

/*
 * A thread that does not answer is one that waits for a CPU: it is where it was when it lost it. So
 * its time waits, too: for the answer where it was asked, else as if this look had not been. Where
 * it runs without answering, not for ever.
 */
static bool wait_for_answer(struct smp_wall *wall, struct smp_thread_record *record)
{
    const struct smp_poll *poll = wall->poll;

    if (poll->is_settling || poll->span_ns >= 0)
        return false;
    if (record->unanswered_ns == 0)
        record->unanswered_ns = poll->now_ns;
    if (poll->now_ns - record->unanswered_ns > SMP_MAX_UNANSWERED_MS * NS_PER_MS)
        return false;
    postpone(wall, record, SMP_OUTCOME_SIGNAL_UNANSWERED);
    record->asked_clock_ns = record->idle.cpu_ns;
    record->asked_used_ns = record->reading.is_measured ? record->reading.used_ns : -1;
    put_clock_back(record);
    return true;
}

static void finish_without(struct smp_wall *wall, struct smp_thread_record *record,
                           enum smp_outcome outcome)
{
    const struct found found = {
        .outcome = outcome,
        .is_late = outcome == SMP_OUTCOME_SIGNAL_UNANSWERED && wall->poll->is_settling,
    };

    if (outcome != SMP_OUTCOME_SIGNAL_UNANSWERED || !wait_for_answer(wall, record))
        finish(wall, record, &found);
}

/* --- one look: walks --- */

static enum smp_outcome outcome_of(enum smp_status status, const struct smp_sample *sample)
{
    switch (status) {
    case SMP_OK:
        if (sample->count > sample->capacity || sample->leaf_count > sample->count)
            return SMP_OUTCOME_REFUSED_BY_JVM; /* not a stack */
        if (sample->count == 0)
            return SMP_OUTCOME_NO_JAVA_FRAMES;
        return sample->omitted > 0 ? SMP_OUTCOME_DEEP_STACK_CUT : SMP_OUTCOME_WALKED;
    case SMP_EGONE:
        return SMP_OUTCOME_THREAD_ENDED_IN_WALK;
    case SMP_EPHASE:
        return SMP_OUTCOME_JVM_NOT_LIVE;
    case SMP_ENOMEM:
        return SMP_OUTCOME_JVM_OUT_OF_MEMORY;
    default:
        return SMP_OUTCOME_REFUSED_BY_JVM;
    }
}

static void walk(struct smp_wall *wall, struct smp_thread_record *record)
{
    const struct smp_walker *walker = &wall->vm->walker;
    struct smp_sample *sample = &wall->sample;
    struct found found = { .sample = sample };

    sample->count = 0;
    sample->leaf_count = 0;
    sample->omitted = 0;
    found.outcome = outcome_of(walker->walk(walker->self, record->thread, sample), sample);
    finish(wall, record, &found);
}

enum smp_outcome smp_poll_outcome(enum smp_answer answer, const struct smp_sample *sample)
{
    static const enum smp_outcome outcomes[SMP_ANSWER_COUNT] = {
#define X(code, outcome) [SMP_ANSWER_##code] = SMP_OUTCOME_##outcome,
        SMP_ANSWER_MAP(X)
#undef X
    };
    const enum smp_outcome outcome =
        (unsigned)answer < SMP_ANSWER_COUNT ? outcomes[answer] : SMP_OUTCOME_REFUSED_BY_JVM;

    if (smp_outcome_frame(outcome) != NULL)
        return outcome;
    if (sample == NULL || outcome_of(SMP_OK, sample) == SMP_OUTCOME_REFUSED_BY_JVM)
        return SMP_OUTCOME_REFUSED_BY_JVM;
    if (sample->count == 0)
        return SMP_OUTCOME_NO_JAVA_FRAMES;
    return outcome == SMP_OUTCOME_WALKED && sample->omitted > 0 ? SMP_OUTCOME_DEEP_STACK_CUT
                                                                : outcome;
}

/* The user's rule leaves this virtual thread out: its time is nobody's. */
static void leave_out_guest(struct smp_wall *wall, struct smp_thread_record *record)
{
    const int64_t now_ns = wall->poll->now_ns;
    struct smp_tree_target before;
    int64_t debt_ns = 0;

    if (wall->poll->span_ns < 0 && find_target(wall, record, &before)) {
        const int64_t found_ns = found_time_ns(wall, record);
        debt_ns = found_ns + give(wall, &before, pending_ns(record, now_ns) - found_ns);
    }
    set_credited(record, now_ns, debt_ns < 0 ? debt_ns : 0);
    record->unanswered_ns = 0;
    record->is_asked = false;
    record->takes_all = false;
    record->has_target = false;
    schedule(wall, record, wall->poll->now_ns);
}

const char *smp_poll_group_of_mounted(struct smp_wall *wall,
                                      const struct smp_mounted_thread *mounted)
{
    uint64_t failures = 0;
    const char *group = smp_thread_names_of_mounted(wall->names, mounted, &failures);

    smp_interval_count(wall->attribution.interval, SMP_COUNTER_NAME_MANIPULATOR_FAILURES, failures);
    return group;
}

static void take_answer(struct smp_wall *wall, struct smp_thread_record *record,
                        enum smp_answer answer, const struct smp_sample *sample,
                        const struct smp_mounted_thread *mounted)
{
    static const struct smp_sample none = { 0 };
    const enum smp_outcome outcome = smp_poll_outcome(answer, sample);
    const struct found found = {
        .outcome = outcome,
        .sample = sample != NULL && outcome != SMP_OUTCOME_NO_JAVA_FRAMES ? sample : &none,
        .group_name = mounted != NULL ? smp_poll_group_of_mounted(wall, mounted) : NULL,
    };

    if (mounted != NULL && found.group_name == NULL)
        leave_out_guest(wall, record);
    else
        finish(wall, record, &found);
}

static void on_answer(void *context, uint64_t token, enum smp_answer answer,
                      const struct smp_sample *sample, const struct smp_mounted_thread *mounted)
{
    struct smp_wall *wall = context;
    struct smp_thread_record *record = (struct smp_thread_record *)(uintptr_t)token;

    wall->in_flight--;
    if (answer == SMP_ANSWER_UNANSWERED) {
        record->is_asked = true;
        finish_without(wall, record, SMP_OUTCOME_SIGNAL_UNANSWERED);
    } else {
        take_answer(wall, record, answer, sample, mounted);
    }
}

/* The answer to an earlier look: it is credited as of the last tick at which it was true. */
static void on_late_answer(void *context, uint64_t token, enum smp_answer answer,
                           const struct smp_sample *sample,
                           const struct smp_mounted_thread *mounted)
{
    struct smp_wall *wall = context;
    struct smp_thread_record *record = (struct smp_thread_record *)(uintptr_t)token;
    struct smp_poll *poll = wall->poll;
    struct smp_poll asked = { .now_ns = record->promised_until_ns, .span_ns = -1 };

    record->reading = (struct smp_reading){
        .activity = SMP_ACTIVITY_RUNNING,
        .is_measured = record->asked_used_ns >= 0,
        .used_ns = record->asked_used_ns,
        .clock_ns = record->asked_clock_ns,
    };
    record->idle.cpu_ns = record->asked_clock_ns;
    record->idle.has_clock = true;
    wall->poll = &asked;
    take_answer(wall, record, answer, sample, mounted);
    wall->poll = poll;
}

static void collect_within(struct smp_wall *wall, int64_t wait_ns)
{
    const struct smp_async_walker *async = &wall->vm->async;

    if (wall->in_flight > 0)
        async->collect(async->self, smp_clock_ns() + wait_ns, on_answer, wall);
}

/* For a moment: who does not answer at a tick is asked again at the next one. */
static void collect_soon(struct smp_wall *wall)
{
    const int64_t share_ns = wall->interval_ns / SMP_ANSWER_WAIT_SHARE;
    const int64_t most_ns = SMP_ANSWER_WAIT_MS * NS_PER_MS;

    collect_within(wall, share_ns < most_ns ? share_ns : most_ns);
}

/* Takes the answers to all that was asked. */
void smp_poll_collect(struct smp_wall *wall)
{
    /* At the end of an interval time cannot wait for an answer: who only waits for a CPU gets one.
     */
    if (wall->poll->is_settling)
        collect_within(wall, SMP_LAST_ANSWER_WAIT_MS * NS_PER_MS);
    else
        collect_soon(wall);
}

/* Has waiting for answers taken so long that the next tick is near? */
static bool has_waited_enough(const struct smp_wall *wall)
{
    return smp_clock_ns() - wall->poll->begun_ns > wall->interval_ns / SMP_MAX_WAITS_SHARE;
}

static void ask(struct smp_wall *wall, struct smp_thread_record *record)
{
    const struct smp_async_walker *async = &wall->vm->async;

    if (wall->in_flight == SMP_MAX_REQUESTS) {
        collect_soon(wall);
        if (has_waited_enough(wall)) {
            postpone(wall, record, SMP_OUTCOME_OVER_OVERHEAD_LIMIT);
            put_clock_back(record);
            return;
        }
    }
    switch (async->request(async->self, record->thread, (uint64_t)(uintptr_t)record)) {
    case SMP_OK:
        wall->in_flight++;
        return;
    case SMP_ESTATE: /* has not even answered the one before */
        finish_without(wall, record, SMP_OUTCOME_SIGNAL_UNANSWERED);
        return;
    case SMP_EGONE:
        finish_without(wall, record, SMP_OUTCOME_THREAD_ENDED_IN_WALK);
        return;
    case SMP_EQUOTA:
        finish_without(wall, record, SMP_OUTCOME_SIGNAL_QUEUE_FULL);
        return;
    case SMP_EUNSUPPORTED:
        walk(wall, record);
        return;
    case SMP_EINVAL:
        finish_without(wall, record, SMP_OUTCOME_THREAD_UNIDENTIFIED);
        return;
    default:
        finish_without(wall, record, SMP_OUTCOME_REFUSED_BY_JVM);
    }
}

/* --- one look --- */

/* Until the next tick. */
static void pass_by(struct smp_wall *wall, struct smp_thread_record *record)
{
    smp_poll_leave_out(wall, record);
    smp_poll_put_in(wall, record, 1);
}

/* False: it is not sampled now. */
static bool is_sampled(struct smp_wall *wall, struct smp_thread_record *record)
{
    if (wall->default_name_rule) {
        record->is_candidate = smp_wall_chooses(wall, record);
        if (!record->is_candidate) {
            smp_poll_leave_out(wall, record);
            smp_poll_put_in(wall, record, smp_poll_ticks_in(wall, wall->lookback_ns));
            return false;
        }
    }
    if (record->is_candidate && record->naming != SMP_NAMING_SKIP)
        return true;
    pass_by(wall, record);
    return false;
}

/* Who has run may have renamed itself. Who has not is renamed by others only, and that mostly soon
 * after it was made: to read a name that nobody has touched for a while costs as much as the clock.
 */
static bool is_name_due(const struct smp_wall *wall, const struct smp_thread_record *record)
{
    const int64_t now_ns = wall->poll->now_ns;
    const int64_t age_ns = now_ns - record->named_ns;

    return wall->poll->span_ns >= 0 || record->reading.activity != SMP_ACTIVITY_NONE ||
           !record->idle.has_leaf || age_ns >= SMP_NAME_AGE_MS * NS_PER_MS ||
           age_ns >= (now_ns - record->idle.since_ns) / SMP_NAME_SHARE || record->seen == NULL;
}

/* False: it came and went. */
static bool read_name(struct smp_wall *wall, struct smp_thread_record *record)
{
    if (!wall->default_name_rule || !is_name_due(wall, record))
        return true;
    record->named_ns = wall->poll->now_ns;
    smp_thread_names_read(wall->names, record);
    smp_poll_credit_left(wall, record);
    if (record->is_candidate)
        return true;
    pass_by(wall, record);
    return false;
}

/* Before this poll. */
static void count_skipped(struct smp_wall *wall, struct smp_thread_record *record)
{
    const bool is_late = wall->poll->span_ns < 0 && wall->tick > record->due.at;
    const uint64_t polls = free_polls(wall, record, record->reading.activity == SMP_ACTIVITY_NONE);

    if (record->was_looked_at && polls > 1 && (record->is_throttled || is_late))
        skip_polls(wall, record, polls - 1);
}

/* It has not run since the last poll: all time since then is the leaf's. */
static void attribute_idle(struct smp_wall *wall, struct smp_thread_record *record)
{
    struct smp_tree_target target;

    wall->idle_polls++;
    if (!find_target(wall, record, &target)) {
        walk(wall, record);
        return;
    }
    const int64_t all_ns = pending_ns(record, wall->poll->now_ns);
    set_credited(record, wall->poll->now_ns, all_ns < 0 ? give(wall, &target, all_ns) : 0);
    smp_attribution_note(&wall->attribution, &target,
                         all_ns < 0 ? 0 : all_ns - pay_claim(wall, record, &target, all_ns));
    schedule(wall, record, wall->poll->now_ns);
}

/* A thread that was preempted does not move either; to walk it would be to wait for it. To ask the
 * system costs more than the rest of a look. */
static bool is_running(const struct smp_wall *wall, const struct smp_thread_record *record)
{
    const struct smp_os_thread_source *os_threads = &wall->vm->os_threads;

    if (record->reading.activity == SMP_ACTIVITY_RUNNING)
        return true;
    if (!wall->is_async || record->reading.activity == SMP_ACTIVITY_UNKNOWN)
        return false;
    return smp_activity_has_run_all_along(&record->reading) ||
           (os_threads->is_runnable != NULL &&
            os_threads->is_runnable(os_threads->self, smp_thread_record_tid(record)));
}

/* One whose tid is not known may run: the asynchronous walker says what can be done with it. */
static bool is_asked(const struct smp_wall *wall, const struct smp_thread_record *record)
{
    return wall->is_async &&
           (record->reading.activity == SMP_ACTIVITY_RUNNING || smp_thread_record_tid(record) == 0);
}

/* It has run since the last look, or nothing is known of it. */
static void find_out(struct smp_wall *wall, struct smp_thread_record *record)
{
    struct smp_reading *reading = &record->reading;

    /* Where it ran when it was asked it is asked again, even if it waits by now: it has answered
     * meanwhile, and the time until then belongs there. */
    if (record->unanswered_ns != 0 || is_running(wall, record))
        reading->activity = SMP_ACTIVITY_RUNNING;
    if (is_asked(wall, record))
        ask(wall, record);
    else
        walk(wall, record);
}

/*
 * Each tick is a look of its own, however long the answer to an earlier one takes: as long as its
 * clock stands the thread is where it was asked; from then on it is where this look finds it. To
 * charge all of that to the place it was asked in would prefer long waits to short ones. True: this
 * look is over.
 */
static bool has_still_to_answer(struct smp_wall *wall, struct smp_thread_record *record)
{
    const struct smp_async_walker *async = &wall->vm->async;
    const struct smp_poll *poll = wall->poll;

    if (!record->is_asked || record->reading.activity == SMP_ACTIVITY_UNKNOWN)
        return false;
    if (async->take_late(async->self, record->thread, (uint64_t)(uintptr_t)record, on_late_answer,
                         wall)) {
        record->odds = SMP_CERTAIN; /* of this poll; what was drawn is the next one's */
        smp_activity_begin(&record->idle, smp_thread_record_tid(record), &record->reading);
        return record->credited_ns >= poll->now_ns;
    }
    if (record->reading.clock_ns != record->asked_clock_ns || poll->is_settling)
        return false;
    record->unanswered_ns = poll->now_ns;
    postpone(wall, record, SMP_OUTCOME_SIGNAL_UNANSWERED);
    return true;
}

static void look_with_clock(struct smp_wall *wall, struct smp_thread_record *record)
{
    struct smp_reading *reading = &record->reading;

    if (has_still_to_answer(wall, record))
        return;
    const int64_t span_ns = wall->poll->now_ns - record->credited_ns;
    smp_activity_finish(&record->idle, smp_thread_record_tid(record), reading);
    count_skipped(wall, record);
    /* A native thread that has been attached brings along what it used before. */
    if (!record->was_looked_at && reading->used_ns > span_ns + wall->interval_ns)
        reading->is_measured = false;
    record->was_looked_at = true;
    if (reading->is_measured)
        learn_use(record, reading->used_ns, span_ns);
    if (reading->activity == SMP_ACTIVITY_NONE && record->idle.has_leaf)
        attribute_idle(wall, record);
    else
        find_out(wall, record);
}

/* Of which nothing is kept: running, or not. */
static void look_once(struct smp_wall *wall, struct smp_thread_record *record)
{
    record->idle = (struct smp_activity){ 0 };
    smp_activity_begin(&record->idle, smp_thread_record_tid(record), &record->reading);
    smp_activity_finish(&record->idle, smp_thread_record_tid(record), &record->reading);
    record->idle.has_clock = false;
    record->was_looked_at = !wall->is_cpu; /* there nothing is kept */
    if (wall->is_cpu && !is_running(wall, record))
        return;
    find_out(wall, record);
}

static void start_clock(struct smp_wall *wall, struct smp_thread_record *record)
{
    record->was_looked_at = true;
    if (record->credited_ns < wall->poll->now_ns)
        record->credited_ns = wall->poll->now_ns;
    record->use = SMP_WHOLE_USE; /* until more is known */
    if (!record->idle.has_clock)
        smp_activity_start(&record->idle, smp_thread_record_tid(record), wall->poll->now_ns);
    schedule(wall, record, wall->poll->now_ns);
}

/* False: the record is gone. */
bool smp_poll_at(struct smp_wall *wall, struct smp_thread_record *record)
{
    const struct smp_poll *poll = wall->poll;
    const bool has_time = poll->span_ns < 0 && poll->now_ns > record->credited_ns;

    if (smp_poll_remove_ended(wall, record))
        return false;
    if (!is_sampled(wall, record))
        return true;
    if (has_time)
        smp_activity_begin(&record->idle, smp_thread_record_tid(record), &record->reading);
    if (!read_name(wall, record))
        return true;
    smp_poll_count_as_sampled(wall, record, true);
    wall->polls++;
    if (poll->span_ns > 0)
        look_once(wall, record);
    else if (has_time)
        look_with_clock(wall, record);
    else
        start_clock(wall, record);
    return true;
}
