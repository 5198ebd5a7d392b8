/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sources/wall.h"

#include "base/clock.h"
#include "engine/sources/holders.h"
#include "engine/sources/lock_chain.h"
#include "engine/sources/pending_time.h"
#include "engine/sources/poll_once.h"
#include "engine/sources/poll_schedule.h"
#include "engine/sources/queue_time.h"
#include "engine/sources/wall_poll.h"

#define NS_PER_MS INT64_C(1000000)

enum {
    /* The longest interval at which answers may be collected at the next tick: */
    CLOSE_TICKS_MS = 5,  /* if threads wait for locks, because holders may have to answer, */
    LEFT_TICKS_MS = 100, /* otherwise */
    MOST_REST_MS = 1000  /* longest time without a tick, for up-to-date statistics */
};

const size_t smp_wall_record_bytes = sizeof(struct smp_wall_thread);

/* --- thread events --- */

static void on_wall_thread_started(void *context, struct smp_thread_record *record, int64_t from_ns,
                                   bool is_new)
{
    struct smp_wall *wall = context;
    struct smp_wall_thread *thread = smp_wall_thread_of(record);

    thread->pending.from_ns = from_ns;
    thread->activity.has_clock = is_new;
    thread->activity.cpu_ns = record->thread->started_cpu_ns;
    smp_poll_schedule_put(&wall->schedule, thread, 0);
}

static void on_wall_thread_ended(void *context, struct smp_thread_record *record, int64_t ended_ns)
{
    struct smp_wall *wall = context;
    struct smp_wall_thread *thread = smp_wall_thread_of(record);

    if (wall->poll != NULL) /* only while sampling */
        smp_pending_end(wall, thread, ended_ns);
    smp_poll_schedule_set_idle(&wall->schedule, thread, false);
    smp_timer_wheel_remove(&wall->schedule.wheel, &record->deadline);
    smp_lock_chain_forget(wall, thread);
}

static void on_wall_thread_left_out(void *context, struct smp_thread_record *record)
{
    struct smp_wall *wall = context;
    struct smp_wall_thread *thread = smp_wall_thread_of(record);

    smp_wall_poll_begin(thread, wall->threads->now_ns);
    smp_poll_schedule_set_idle(&wall->schedule, thread, false);
}

static void on_wall_thread_leaves_group(void *context, struct smp_thread_record *record)
{
    smp_pending_leaves_group(context, smp_wall_thread_of(record));
}

static void on_wall_thread_named(void *context, struct smp_thread_record *record)
{
    struct smp_wall *wall = context;
    struct smp_wall_thread *thread = smp_wall_thread_of(record);

    smp_pending_flush_left(wall, thread);
    if (record->naming != SMP_NAMING_SKIP || !record->is_candidate)
        return;
    smp_pending_flush(wall, thread);
    smp_poll_schedule_put(&wall->schedule, thread, 0);
}

/* --- ticks --- */

static void make_all_due(struct smp_wall *wall)
{
    for (size_t i = 0; i < wall->threads->table.count; i++) {
        struct smp_wall_thread *thread = smp_wall_thread_at(wall, i);
        if (!thread->plan.is_throttled)
            thread->plan.polled_tick = wall->schedule.tick; /* it has skipped no poll */
        smp_poll_schedule_put(&wall->schedule, thread, 0);
    }
}

/* Loads the next record during the poll of this one: idle threads are not in the cache. */
static void prefetch_thread(struct smp_deadline *deadline)
{
    const struct smp_wall_thread *thread = smp_wall_thread_of(smp_thread_record_of(deadline));

    __builtin_prefetch(thread->record.thread);
    __builtin_prefetch(&thread->record.last);
    __builtin_prefetch(&thread->activity);
    if (deadline->next != NULL)
        __builtin_prefetch(deadline->next);
}

/* Redraws polls after the share has risen: those drawn with a much smaller share might be a minute
 * late. Keeps polls that are due in this tick, because they are not random any more. */
static void draw_again(struct smp_wall *wall)
{
    struct smp_poll_schedule *schedule = &wall->schedule;

    if (!smp_poll_schedule_share_rose(schedule))
        return;
    for (size_t i = 0; i < wall->threads->table.count; i++)
        smp_poll_schedule_redraw(schedule, smp_wall_thread_at(wall, i), wall->poll->now_ns);
}

/* Polls threads that have started (serial above `after`), so that each thread that lives for a
 * tick is seen, at the expense of others. With a user's rule they may be anywhere in the table,
 * because its pass has reused the places of ended threads. */
static void poll_started(struct smp_wall *wall, uint64_t after, size_t known)
{
    const struct smp_sampled_threads *threads = wall->threads;
    size_t at = threads->default_name_rule ? known : 0;

    while (threads->cursor > after && at < threads->table.count) {
        struct smp_wall_thread *thread = smp_wall_thread_at(wall, at);
        if (thread->record.thread->serial <= after) {
            at++;
            continue;
        }
        smp_timer_wheel_remove(&wall->schedule.wheel, &thread->record.deadline);
        if (smp_wall_poll_thread(wall, thread))
            at++;
    }
}

static void poll_due(struct smp_wall *wall)
{
    struct smp_poll_schedule *schedule = &wall->schedule;
    struct smp_timer_wheel *wheel = &schedule->wheel;

    smp_timer_wheel_begin(wheel, schedule->tick);
    for (struct smp_deadline *deadline = smp_timer_wheel_next(wheel); deadline != NULL;
         deadline = smp_timer_wheel_next(wheel)) {
        if (wheel->resume != NULL)
            prefetch_thread(wheel->resume);
        struct smp_wall_thread *thread = smp_wall_thread_of(smp_thread_record_of(deadline));
        /* The remaining threads stay in the wheel. */
        if (thread->record.was_polled && smp_throttle_is_spent(schedule->throttle)) {
            smp_timer_wheel_put(wheel, deadline, deadline->at);
            break;
        }
        (void)smp_wall_poll_thread(wall, thread);
    }
}

/* Returns whether answers may wait for the next tick. A second wake-up of the sampler would cost
 * running threads more than their walks. The first polls must not wait, because a caller may need
 * their answers, nor polls above the overhead limit, because the next tick may be far away. */
static bool may_leave_answers(const struct smp_wall *wall)
{
    const int64_t most_ms = wall->holders.count > 0 ? CLOSE_TICKS_MS : LEFT_TICKS_MS;

    return smp_options_interval_ns(wall->schedule.options) <= most_ms * NS_PER_MS &&
           wall->covered_ns > wall->threads->marked_ns &&
           wall->schedule.throttle->share == SMP_THROTTLE_WHOLE;
}

/* Returns whether to measure the cost of this tick. If the cost is known, few polls of running
 * threads below the limit add no information. */
static bool needs_end(const struct smp_wall *wall, const struct smp_poll *poll)
{
    const struct smp_throttle *throttle = wall->schedule.throttle;

    return throttle->share < SMP_THROTTLE_WHOLE || throttle->tick_ns == 0 ||
           poll->polls > SMP_THROTTLE_BATCH || poll->polls == poll->idle_polls;
}

/* Collects answers of the last tick, which count for that tick. */
static void take_left_answers(struct smp_wall *wall, enum smp_answers answers)
{
    struct smp_poll poll = { .now_ns = wall->covered_ns, .is_last = answers == SMP_ANSWERS_LAST };

    smp_holders_charge_rest(wall); /* blocked time of other sources, not of these threads */
    if (wall->walks.in_flight == 0)
        return;
    wall->walks.begun_ns = smp_clock_ns();
    wall->poll = &poll;
    smp_walks_collect(&wall->walks, answers);
    wall->poll = NULL;
}

/* Moves a time before the gap by the length of the gap. If the stop came in the middle of a tick,
 * some threads were read after the gap. */
static void shift_moment(int64_t *moment_ns, int64_t now_ns, int64_t gap_ns)
{
    if (*moment_ns + gap_ns <= now_ns)
        *moment_ns += gap_ns;
}

static void shift_moments(struct smp_wall_thread *thread, int64_t now_ns, int64_t gap_ns)
{
    shift_moment(&thread->pending.from_ns, now_ns, gap_ns);
    shift_moment(&thread->activity.read_ns, now_ns, gap_ns);
    shift_moment(&thread->activity.since_ns, now_ns, gap_ns);
    if (thread->unanswered.since_ns != 0)
        shift_moment(&thread->unanswered.since_ns, now_ns, gap_ns);
    shift_moment(&thread->unanswered.until_ns, now_ns, gap_ns);
}

static void credit_stop(struct smp_wall *wall, struct smp_wall_thread *thread, int64_t now_ns,
                        int64_t gap_ns)
{
    if (!thread->record.was_polled)
        return;
    const struct smp_tree_target target =
        smp_attribution_pseudo(wall->attribution, &thread->record, SMP_OUTCOME_PROCESS_STOPPED);
    smp_attribution_note(wall->attribution, &target, gap_ns,
                         smp_span_before(wall->covered_ns + gap_ns, gap_ns));
    shift_moments(thread, now_ns, gap_ns);
}

/*
 * Called after the whole process was stopped (session/standstill.h):
 *
 *   tick              gap              tick
 *    ├───┤─────────────────────────├────┤
 *         [process stopped] gets it      pending time continues as if there was no gap
 */
static void attribute_stop(struct smp_wall *wall, int64_t now_ns, int64_t gap_ns)
{
    struct smp_poll poll = { .now_ns = now_ns };

    /* First, because ended threads are removed below, and their answers would have no record. */
    take_left_answers(wall, SMP_ANSWERS_THERE);
    wall->poll = &poll;
    for (size_t i = 0; i < wall->threads->table.count;) {
        struct smp_wall_thread *thread = smp_wall_thread_at(wall, i);
        if (!smp_sampled_threads_remove_ended(wall->threads, &thread->record, now_ns)) {
            credit_stop(wall, thread, now_ns, gap_ns);
            i++;
        }
    }
    wall->covered_ns += gap_ns;
    wall->poll = NULL;
}

static void make_all_due_at_last(struct smp_wall *wall)
{
    /* First, because answers are weighted with the odds of their own polls. */
    take_left_answers(wall, SMP_ANSWERS_SOON);
    if (wall->schedule.throttle->share == SMP_THROTTLE_WHOLE)
        make_all_due(wall);
}

/* Handles what has happened since the last tick. */
static void begin_wall_tick(struct smp_wall *wall, const struct smp_tick *tick)
{
    wall->schedule.tick += tick->skipped;
    if (tick->is_last)
        make_all_due_at_last(wall);
    if (tick->stopped_ns > 0)
        attribute_stop(wall, tick->now_ns, tick->stopped_ns);
}

static void tick_wall(void *self, const struct smp_tick *tick)
{
    struct smp_wall *wall = self;
    const int64_t now_ns = tick->now_ns;
    struct smp_poll poll = { .now_ns = now_ns };

    begin_wall_tick(wall, tick);
    const size_t known = wall->threads->table.count;
    const uint64_t after = wall->threads->cursor;
    smp_throttle_begin(wall->schedule.throttle, now_ns);
    smp_cpu_loss_tick(wall, now_ns);
    take_left_answers(wall, SMP_ANSWERS_THERE);
    wall->walks.begun_ns = smp_clock_ns();
    wall->poll = &poll;
    smp_poll_schedule_begin_tick(&wall->schedule, now_ns - wall->covered_ns);
    smp_sampled_threads_poll_starts(wall->threads, now_ns);
    smp_sampled_threads_name_all(wall->threads);
    poll_started(wall, after, known);
    draw_again(wall);
    poll_due(wall);
    if (!may_leave_answers(wall))
        smp_walks_collect(&wall->walks, SMP_ANSWERS_SOON);
    smp_holders_charge(wall, true);
    if (needs_end(wall, &poll))
        smp_throttle_end(wall->schedule.throttle);
    smp_poll_schedule_learn_cost(&wall->schedule, poll.polls, poll.idle_polls,
                                 wall->threads->sampled);
    wall->covered_ns = now_ns;
    wall->poll = NULL;
}

static void poll_wall_once(void *self, int64_t now_ns, int64_t span_ns)
{
    struct smp_wall *wall = self;

    smp_poll_once(&wall->walks, now_ns, span_ns, false);
}

/* Reads all names, so that renamed threads are in their new groups for the whole next interval.
 * Called after the flush, whose time is older than the new names. */
static void read_names(struct smp_wall *wall)
{
    struct smp_sampled_threads *threads = wall->threads;

    if (!threads->default_name_rule)
        return;
    for (size_t i = 0; i < threads->table.count; i++) {
        if (threads->table.records[i]->was_polled)
            smp_sampled_threads_read_name(threads, threads->table.records[i]);
    }
}

static void flush_wall(void *self, enum smp_flush reason)
{
    struct smp_wall *wall = self;
    struct smp_poll poll = { .now_ns = wall->covered_ns };

    /* The caller's next work, such as the end of an interval, must not count as polls. */
    if (!wall->schedule.throttle->has_ended)
        smp_throttle_end(wall->schedule.throttle);
    take_left_answers(wall, reason == SMP_FLUSH_LAST ? SMP_ANSWERS_LAST : SMP_ANSWERS_SOON);
    wall->poll = &poll;
    smp_holders_charge(wall, false);
    for (size_t i = 0; i < wall->threads->table.count;) {
        struct smp_wall_thread *thread = smp_wall_thread_at(wall, i);
        if (!smp_sampled_threads_remove_ended(wall->threads, &thread->record, wall->covered_ns)) {
            smp_pending_flush(wall, thread);
            i++;
        }
    }
    read_names(wall);
    smp_cpu_loss_flush(wall);
    wall->poll = NULL;
}

static void mark_wall(void *self, int64_t now_ns)
{
    struct smp_wall *wall = self;

    for (size_t i = 0; i < wall->threads->table.count; i++)
        smp_wall_poll_begin(smp_wall_thread_at(wall, i), now_ns);
    wall->covered_ns = now_ns;
    wall->schedule.made_tick = wall->schedule.tick;
    smp_throttle_restart(wall->schedule.throttle);
    smp_cpu_loss_mark(wall, now_ns);
    make_all_due(wall);
}

static uint64_t idle_ticks_of_wall(const void *self)
{
    const struct smp_wall *wall = self;
    const struct smp_poll_schedule *schedule = &wall->schedule;
    const uint64_t most = smp_ticks_in(schedule->options, MOST_REST_MS * NS_PER_MS);

    /* A user's rule is called at each tick. Above the limit, the throttle sets the gap to the next
     * tick. */
    if (!wall->threads->default_name_rule || schedule->throttle->share < SMP_THROTTLE_WHOLE ||
        wall->walks.in_flight > 0)
        return 0;
    const uint64_t first =
        smp_timer_wheel_first(&schedule->wheel, schedule->tick, schedule->tick + most);
    return first > schedule->tick ? first - schedule->tick - 1 : 0;
}

/* --- options, filter --- */

/* Makes all threads due. Threads not sampled so far have no time before the last tick. */
static void choose_all_again(void *self)
{
    struct smp_wall *wall = self;

    for (size_t i = 0; i < wall->threads->table.count; i++) {
        struct smp_wall_thread *thread = smp_wall_thread_at(wall, i);
        if (!thread->record.was_polled && !thread->record.is_sampled &&
            thread->pending.from_ns < wall->covered_ns)
            thread->pending.from_ns = wall->covered_ns;
    }
    make_all_due(wall);
}

/* Returns whether a thread is due sooner than with the old options. If not, thousands of threads
 * need not be polled at once. */
static bool is_any_due_sooner(const struct smp_wall *wall, const struct smp_options *before)
{
    const struct smp_options *now = wall->schedule.options;

    return smp_sampled_threads_would_change(wall->threads, before) ||
           now->sampling_frequency_millis != before->sampling_frequency_millis ||
           now->idle_lookback_millis < before->idle_lookback_millis ||
           now->overhead_limit_per_mille > before->overhead_limit_per_mille;
}

static void set_wall_options(void *self, const struct smp_options *before)
{
    if (is_any_due_sooner(self, before))
        choose_all_again(self);
}

/* --- create, destroy --- */

static void destroy_wall(void *self)
{
    struct smp_wall *wall = self;

    smp_holders_fini(wall);
    smp_walks_fini(&wall->walks);
    smp_free(wall->quota, wall);
}

static void get_wall_live(const void *self, struct smp_source_live *out)
{
    const struct smp_wall *const wall = self;

    out->polls = true;
    out->idle_threads = wall->schedule.idle_threads;
    out->walks_in_flight = wall->walks.in_flight;
}

static struct smp_source wall_source(struct smp_wall *wall)
{
    return (struct smp_source){
        .mark = mark_wall,
        .tick = tick_wall,
        .flush = flush_wall,
        .poll_once = poll_wall_once,
        .set_options = set_wall_options,
        .get_live = get_wall_live,
        .filter_changed = choose_all_again,
        .idle_ticks = idle_ticks_of_wall,
        .destroy = destroy_wall,
        .self = wall,
    };
}

enum smp_status smp_wall_create(const struct smp_source_setup *setup, struct smp_source *out)
{
    struct smp_wall *wall = smp_alloc(setup->quota, sizeof(*wall));
    enum smp_status status;

    if (wall == NULL)
        return SMP_ENOMEM;
    wall->quota = setup->quota;
    wall->threads = setup->threads;
    wall->attribution = setup->attribution;
    smp_poll_schedule_init(&wall->schedule, setup->throttle, setup->options);
    smp_holders_init(wall, setup->log);
    status = smp_walks_init(&wall->walks, setup->quota, setup->jvm, setup->threads, setup->options);
    if (status != SMP_OK) {
        smp_free(setup->quota, wall);
        return status;
    }
    wall->walks.events = smp_wall_poll_events(wall);
    setup->threads->events = (struct smp_sampled_threads_events){
        .started = on_wall_thread_started,
        .ended = on_wall_thread_ended,
        .left_out = on_wall_thread_left_out,
        .leaves_group = on_wall_thread_leaves_group,
        .named = on_wall_thread_named,
        .context = wall,
    };
    *out = wall_source(wall);
    return SMP_OK;
}
