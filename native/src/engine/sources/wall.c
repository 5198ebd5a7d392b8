/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sources/wall.h"

#include "base/clock.h"
#include "engine/sources/holders.h"
#include "engine/sources/pending_time.h"
#include "engine/sources/poll_answer.h"
#include "engine/sources/poll_once.h"
#include "engine/sources/stopped.h"
#include "engine/sources/wall_poll.h"

#define NS_PER_MS INT64_C(1000000)

enum {
    /* Up to this interval answers may be collected at the next tick. */
    CLOSE_TICKS_MS = 5,  /* where threads wait for locks, whose holders may be among them; */
    LEFT_TICKS_MS = 100, /* else */
    MOST_REST_MS = 1000  /* without a tick: so old are the statistics, at most */
};

const size_t smp_wall_record_bytes = sizeof(struct smp_wall_thread);

/* --- the roster's events --- */

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

    if (wall->poll != NULL) /* sampling */
        smp_pending_end(wall, thread, ended_ns);
    smp_poll_schedule_set_idle(&wall->schedule, thread, false);
    smp_timer_wheel_remove(&wall->schedule.wheel, &record->deadline);
    smp_holders_forget(wall, thread);
}

static void on_wall_thread_left_out(void *context, struct smp_thread_record *record)
{
    struct smp_wall *wall = context;
    struct smp_wall_thread *thread = smp_wall_thread_of(record);

    smp_wall_poll_begin(thread, wall->roster->now_ns);
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
    for (size_t i = 0; i < wall->roster->table.count; i++) {
        struct smp_wall_thread *thread = smp_wall_thread_at(wall, i);
        if (!thread->plan.is_throttled)
            thread->plan.polled_tick = wall->schedule.tick; /* no poll has been left out */
        smp_poll_schedule_put(&wall->schedule, thread, 0);
    }
}

/* The next record, during the poll of this one: idle threads are in no cache. */
static void prefetch_thread(struct smp_deadline *deadline)
{
    const struct smp_wall_thread *thread = smp_wall_thread_of(smp_thread_record_of(deadline));

    __builtin_prefetch(thread->record.thread);
    __builtin_prefetch(&thread->record.last);
    __builtin_prefetch(&thread->activity);
    if (deadline->next != NULL)
        __builtin_prefetch(deadline->next);
}

/* Where the share has risen, polls that were drawn with a much smaller one would come up to a
 * minute after the load has gone. Those of this tick stay: whether they come is no longer
 * random. */
static void draw_again(struct smp_wall *wall)
{
    struct smp_poll_schedule *schedule = &wall->schedule;

    if (!smp_poll_schedule_share_rose(schedule))
        return;
    for (size_t i = 0; i < wall->roster->table.count; i++)
        smp_poll_schedule_redraw(schedule, smp_wall_thread_at(wall, i), wall->poll->now_ns);
}

/* Polls the threads that have started, those with a serial above after: each thread that lives for
 * a tick is seen, whatever that costs. Polls of others pay for it. With a user's rule they may be
 * anywhere: its pass over all threads has moved them to the places of threads that have ended. */
static void poll_started(struct smp_wall *wall, uint64_t after, size_t known)
{
    const struct smp_roster *roster = wall->roster;
    size_t at = roster->default_name_rule ? known : 0;

    while (roster->cursor > after && at < roster->table.count) {
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
        /* The others wait in the wheel. */
        if (thread->record.was_polled && smp_throttle_is_spent(&schedule->throttle)) {
            smp_timer_wheel_put(wheel, deadline, deadline->at);
            break;
        }
        (void)smp_wall_poll_thread(wall, thread);
    }
}

/* To wake up once more in a tick costs the threads that run more than their walks do. Not for the
 * first polls: a caller may wait for their answers. Not past the limit: the next tick may be
 * far. */
static bool may_leave_answers(const struct smp_wall *wall)
{
    const int64_t most_ms = wall->holders.count > 0 ? CLOSE_TICKS_MS : LEFT_TICKS_MS;

    return wall->schedule.interval_ns <= most_ms * NS_PER_MS &&
           wall->covered_ns > wall->roster->marked_ns &&
           wall->schedule.throttle.share == SMP_THROTTLE_WHOLE;
}

/* Where the cost of a tick is known, few polls of running threads below the limit leave nothing to
 * be learnt from theirs. */
static bool needs_end(const struct smp_wall *wall, const struct smp_poll *poll)
{
    const struct smp_throttle *throttle = &wall->schedule.throttle;

    return throttle->share < SMP_THROTTLE_WHOLE || throttle->tick_ns == 0 ||
           poll->polls > SMP_THROTTLE_BATCH || poll->polls == poll->idle_polls;
}

/* Collects the answers that the last tick has left. They count as of that tick. */
static void take_left_answers(struct smp_wall *wall, enum smp_answers answers)
{
    struct smp_poll poll = { .now_ns = wall->covered_ns, .is_last = answers == SMP_ANSWERS_LAST };

    smp_holders_charge_rest(wall); /* first: what other sources have added is no thread's here */
    if (wall->walks.in_flight == 0)
        return;
    wall->walks.begun_ns = smp_clock_ns();
    wall->poll = &poll;
    smp_walks_collect(&wall->walks, answers);
    wall->poll = NULL;
}

static void tick_wall(void *self, int64_t now_ns)
{
    struct smp_wall *wall = self;
    struct smp_poll poll = { .now_ns = now_ns };
    const size_t known = wall->roster->table.count;
    const uint64_t after = wall->roster->cursor;

    smp_throttle_begin(&wall->schedule.throttle, now_ns);
    smp_cpu_loss_tick(&wall->loss, &wall->walks.jvm->os_threads, wall->attribution->interval,
                      now_ns);
    take_left_answers(wall, SMP_ANSWERS_THERE);
    wall->walks.begun_ns = smp_clock_ns();
    wall->poll = &poll;
    smp_poll_schedule_begin_tick(&wall->schedule, now_ns - wall->covered_ns);
    smp_roster_poll_starts(wall->roster, now_ns);
    smp_roster_name_all(wall->roster);
    poll_started(wall, after, known);
    draw_again(wall);
    poll_due(wall);
    if (!may_leave_answers(wall))
        smp_walks_collect(&wall->walks, SMP_ANSWERS_SOON);
    smp_holders_settle(wall, true);
    if (needs_end(wall, &poll))
        smp_throttle_end(&wall->schedule.throttle);
    smp_poll_schedule_learn_cost(&wall->schedule, poll.polls, poll.idle_polls,
                                 wall->roster->sampled);
    wall->covered_ns = now_ns;
    wall->poll = NULL;
}

static void wall_leave_out_stop(void *self, int64_t now_ns, int64_t gap_ns)
{
    struct smp_wall *wall = self;
    struct smp_poll poll = { .now_ns = now_ns };

    /* First: threads that have ended are removed here, and their answers would find no record. */
    take_left_answers(wall, SMP_ANSWERS_THERE);
    wall->poll = &poll;
    smp_stopped_attribute(wall, now_ns, gap_ns);
    wall->poll = NULL;
}

static void poll_all_wall(void *self)
{
    struct smp_wall *wall = self;

    take_left_answers(wall,
                      SMP_ANSWERS_SOON); /* they are weighted with the odds of their own polls */
    if (wall->schedule.throttle.share == SMP_THROTTLE_WHOLE)
        make_all_due(wall);
}

static void poll_wall_once(void *self, int64_t now_ns, int64_t span_ns)
{
    struct smp_wall *wall = self;

    smp_poll_once(&wall->walks, now_ns, span_ns, false);
}

/* A thread that was renamed is in its new group for the whole of the next interval. What is flushed
 * is older than the new name, so names come after it. */
static void read_names(struct smp_wall *wall)
{
    struct smp_roster *roster = wall->roster;

    if (!roster->default_name_rule)
        return;
    for (size_t i = 0; i < roster->table.count; i++) {
        if (roster->table.records[i]->was_polled)
            smp_thread_names_read(roster->names, roster->table.records[i]);
    }
}

static void flush_wall(void *self, enum smp_flush reason)
{
    struct smp_wall *wall = self;
    struct smp_poll poll = { .now_ns = wall->covered_ns };

    /* What follows, the end of an interval maybe, is no polls. */
    if (!wall->schedule.throttle.has_ended)
        smp_throttle_end(&wall->schedule.throttle);
    take_left_answers(wall, reason == SMP_FLUSH_LAST ? SMP_ANSWERS_LAST : SMP_ANSWERS_SOON);
    wall->poll = &poll;
    smp_holders_settle(wall, false);
    for (size_t i = 0; i < wall->roster->table.count;) {
        struct smp_wall_thread *thread = smp_wall_thread_at(wall, i);
        if (!smp_roster_remove_ended(wall->roster, &thread->record, wall->covered_ns)) {
            smp_pending_flush(wall, thread);
            i++;
        }
    }
    read_names(wall);
    smp_cpu_loss_flush(&wall->loss, &wall->walks.jvm->os_threads, wall->attribution->interval,
                       wall->covered_ns);
    wall->poll = NULL;
}

static void mark_wall(void *self, int64_t now_ns)
{
    struct smp_wall *wall = self;

    for (size_t i = 0; i < wall->roster->table.count; i++)
        smp_wall_poll_begin(smp_wall_thread_at(wall, i), now_ns);
    wall->covered_ns = now_ns;
    wall->schedule.made_tick = wall->schedule.tick;
    smp_throttle_restart(&wall->schedule.throttle);
    smp_cpu_loss_mark(&wall->loss, &wall->walks.jvm->os_threads, now_ns);
    make_all_due(wall);
}

static uint64_t idle_ticks_of_wall(const void *self)
{
    const struct smp_wall *wall = self;
    const struct smp_poll_schedule *schedule = &wall->schedule;
    const uint64_t most = smp_poll_schedule_ticks_in(schedule, MOST_REST_MS * NS_PER_MS);

    /* A user's rule is called at each tick. Past the limit, tick_gap_ns says when ticks come. */
    if (!wall->roster->default_name_rule || schedule->throttle.share < SMP_THROTTLE_WHOLE ||
        wall->walks.in_flight > 0)
        return 0;
    const uint64_t first =
        smp_timer_wheel_first(&schedule->wheel, schedule->tick, schedule->tick + most);
    return first > schedule->tick ? first - schedule->tick - 1 : 0;
}

static void skip_wall_ticks(void *self, uint64_t count)
{
    ((struct smp_wall *)self)->schedule.tick += count;
}

static int64_t tick_gap_of_wall(void *self)
{
    return smp_throttle_tick_gap_ns(&((struct smp_wall *)self)->schedule.throttle);
}

static void excuse_wall_cpu(void *self, int64_t used_ns)
{
    smp_throttle_excuse(&((struct smp_wall *)self)->schedule.throttle, used_ns);
}

/* --- options, filter --- */

/* A thread that was not sampled so far has no time before the last tick. */
static void choose_all_again(void *self)
{
    struct smp_wall *wall = self;

    for (size_t i = 0; i < wall->roster->table.count; i++) {
        struct smp_wall_thread *thread = smp_wall_thread_at(wall, i);
        if (!thread->record.was_polled && !thread->record.is_sampled &&
            thread->pending.from_ns < wall->covered_ns)
            thread->pending.from_ns = wall->covered_ns;
    }
    make_all_due(wall);
}

/* Is any thread due sooner than under the old options? If not, thousands need not be polled at
 * once. */
static bool is_any_due_sooner(const struct smp_wall *wall, const struct smp_options *options)
{
    const struct smp_poll_schedule *schedule = &wall->schedule;

    return smp_roster_would_change(wall->roster, options) ||
           schedule->interval_ns != options->sampling_frequency_millis * NS_PER_MS ||
           schedule->lookback_ns > options->idle_lookback_millis * NS_PER_MS ||
           schedule->throttle.limit_per_mille < options->overhead_limit_per_mille;
}

static void set_wall_options(void *self, const struct smp_options *options)
{
    struct smp_wall *wall = self;
    const bool is_sooner = is_any_due_sooner(wall, options);

    wall->schedule.lookback_ns = options->idle_lookback_millis * NS_PER_MS;
    wall->schedule.interval_ns = options->sampling_frequency_millis * NS_PER_MS;
    wall->walks.interval_ns = wall->schedule.interval_ns;
    smp_throttle_set(&wall->schedule.throttle, options->overhead_limit_per_mille,
                     wall->schedule.interval_ns);
    if (is_sooner)
        choose_all_again(wall);
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
    const struct smp_throttle *const throttle = &wall->schedule.throttle;

    out->polls = true;
    out->idle_threads = wall->schedule.idle_threads;
    out->walks_in_flight = wall->walks.in_flight;
    out->throttle_share = throttle->share;
    out->throttle_bucket_ns = throttle->bucket_ns;
    out->throttle_debt_ns = throttle->debt_ns;
    out->throttle_tick_ns = throttle->tick_ns;
    out->own_cpu_ns = throttle->cpu_ns;
}

static bool take_wall_news(void *self)
{
    return smp_holders_take_news(self);
}

static struct smp_source wall_source(struct smp_wall *wall)
{
    return (struct smp_source){
        .mark = mark_wall,
        .tick = tick_wall,
        .stopped = wall_leave_out_stop,
        .poll_all = poll_all_wall,
        .flush = flush_wall,
        .poll_once = poll_wall_once,
        .set_options = set_wall_options,
        .get_live = get_wall_live,
        .filter_changed = choose_all_again,
        .idle_ticks = idle_ticks_of_wall,
        .skip_ticks = skip_wall_ticks,
        .tick_gap_ns = tick_gap_of_wall,
        .excuse_cpu = excuse_wall_cpu,
        .take_news = take_wall_news,
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
    wall->roster = setup->roster;
    wall->attribution = setup->attribution;
    smp_poll_schedule_init(&wall->schedule, setup->options);
    smp_holders_init(wall, setup->log);
    status = smp_walks_init(&wall->walks, setup->quota, setup->jvm, setup->roster, setup->options);
    if (status != SMP_OK) {
        smp_free(setup->quota, wall);
        return status;
    }
    wall->walks.events = smp_poll_answer_events(wall);
    setup->roster->events = (struct smp_roster_events){
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
