/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sources/poll_schedule.h"

#include "base/clock.h"
#include "base/random.h"
#include "engine/sources/source.h"

#define NS_PER_MS INT64_C(1000000)

void smp_poll_schedule_init(struct smp_poll_schedule *schedule, struct smp_throttle *throttle,
                            const struct smp_options *options)
{
    schedule->throttle = throttle;
    schedule->options = options;
    schedule->salt = (uint64_t)smp_clock_ns();
    schedule->least_share = SMP_THROTTLE_WHOLE;
    schedule->idle_poll_ns = SMP_IDLE_POLL_NS;
}

void smp_poll_schedule_begin_tick(struct smp_poll_schedule *schedule, int64_t since_ns)
{
    schedule->tick++;
    schedule->tick_ns = since_ns / (int64_t)(schedule->tick - schedule->made_tick);
    schedule->made_tick = schedule->tick;
}

/*
 * Idle threads are polled at the same ticks, so the cost of a tick counts once for all of them. If
 * running threads are polled at each tick anyway, it does not count.
 */
void smp_poll_schedule_learn_cost(struct smp_poll_schedule *schedule, unsigned polls,
                                  unsigned idle_polls, uint64_t threads)
{
    enum { FEW = 2, SLOWNESS = 8, LEAST_NS = 200, MOST_NS = 20000 };
    const struct smp_throttle *throttle = schedule->throttle;
    const bool has_busy = threads > schedule->idle_threads;
    const int64_t tick_ns = throttle->tick_ns > 0 ? throttle->tick_ns : SMP_IDLE_TICK_NS;

    if (polls >= FEW && polls == idle_polls) {
        int64_t poll_ns = (throttle->end_cpu_ns - throttle->cpu_ns) / polls;
        poll_ns = poll_ns < LEAST_NS ? LEAST_NS : poll_ns > MOST_NS ? MOST_NS : poll_ns;
        schedule->idle_poll_ns += (poll_ns - schedule->idle_poll_ns) / SLOWNESS;
    }
    const double cost_ns = (double)schedule->idle_threads * (double)schedule->idle_poll_ns +
                           (has_busy ? 0 : (double)tick_ns);
    schedule->idle_ticks =
        cost_ns * SMP_IDLE_COST_SHARE / (double)smp_options_interval_ns(schedule->options);
}

void smp_poll_schedule_put(struct smp_poll_schedule *schedule, struct smp_wall_thread *thread,
                           uint64_t ticks)
{
    thread->plan.odds = SMP_CERTAIN;
    smp_timer_wheel_put(&schedule->wheel, &thread->record.deadline, schedule->tick + ticks);
}

void smp_poll_schedule_set_idle(struct smp_poll_schedule *schedule, struct smp_wall_thread *thread,
                                bool is_idle)
{
    if (thread->plan.is_idle == is_idle)
        return;
    thread->plan.is_idle = is_idle;
    schedule->idle_threads += is_idle ? 1 : (uint64_t)-1;
}

void smp_poll_schedule_learn_cpu(struct smp_wall_thread *thread, int64_t used_ns, int64_t span_ns)
{
    enum { SLOWNESS = 4 };
    const int64_t share = used_ns < span_ns ? used_ns * SMP_WHOLE_CPU / span_ns : SMP_WHOLE_CPU;

    thread->plan.cpu_share += (share - thread->plan.cpu_share) / SLOWNESS;
}

/* --- odds --- */

/*
 * Returns the mean gap between polls of an idle thread: a twelfth of its idle time. If thousands
 * of threads are idle for about a second, this would cost far more than idle threads may. Their
 * gaps are therefore longer (is_of_many), but at most a third of the idle time, so that few idle
 * times have no poll. Threads that have never run are an exception: they share ticks, in the order
 * of their records, which halves the cost of a poll.
 */
static double idle_gap_ticks(const struct smp_poll_schedule *schedule,
                             const struct smp_wall_thread *thread, int64_t now_ns, bool *is_of_many)
{
    const double idle_for_ticks = (double)(now_ns - thread->activity.since_ns) /
                                  (double)smp_options_interval_ns(schedule->options);
    const double longest_ticks = schedule->idle_ticks / SMP_MANY_IDLE_COST_TIMES;
    const double ticks = idle_for_ticks / SMP_IDLE_SHARE;
    double many_ticks = idle_for_ticks / SMP_MANY_IDLE_GAP_SHARE;

    if (many_ticks > longest_ticks)
        many_ticks = longest_ticks;
    *is_of_many = ticks < many_ticks && thread->activity.has_run;
    if (*is_of_many)
        return many_ticks;
    return ticks < schedule->idle_ticks ? ticks : schedule->idle_ticks;
}

/* Returns the odds without the overhead limit: certain, or an idle thread's. */
static int64_t unthrottled_odds(const struct smp_poll_schedule *schedule,
                                const struct smp_wall_thread *thread, int64_t now_ns,
                                bool *is_of_many)
{
    *is_of_many = false;
    if (!thread->plan.is_idle)
        return SMP_CERTAIN;
    return smp_intensity_odds(idle_gap_ticks(schedule, thread, now_ns, is_of_many));
}

/* Returns how many times less often than a busy thread this thread is polled. So hundreds of
 * threads that wake up occasionally leave CPU time for the few that work. Depends on the moving
 * average, not on this poll. */
static int64_t rarity(const struct smp_wall_thread *thread)
{
    const int64_t times = SMP_WHOLE_CPU / SMP_BUSY_SHARE / (thread->plan.cpu_share + 1);

    if (times < 1)
        return 1;
    return times < SMP_MOST_RARITY ? times : SMP_MOST_RARITY;
}

/* A thread with an unanswered poll is polled until it answers. */
static bool is_throttling(const struct smp_poll_schedule *schedule,
                          const struct smp_wall_thread *thread)
{
    return schedule->throttle->share < SMP_THROTTLE_WHOLE && !thread->unanswered.takes_all;
}

/* Returns the odds of a busy thread, which are the share, or less for a quiet one. The closer the
 * share is to 1, the smaller the difference; otherwise a sampler slightly above its limit would
 * hardly poll quiet threads. */
static int64_t throttled_odds(const struct smp_wall_thread *thread, int64_t throttle_share)
{
    const double share = (double)throttle_share / SMP_THROTTLE_WHOLE;

    return smp_intensity_odds((1 + (double)(rarity(thread) - 1) * (1 - share)) / share);
}

/* --- draws --- */

/*
 * Idle threads share draws, and therefore ticks. Throttled threads draw independently, so that
 * their cost is spread over the ticks. Many idle threads also draw independently, because some are
 * due at each tick anyway, and errors then cancel out in their sums.
 */
static struct smp_next_poll draw_shared(struct smp_poll_schedule *schedule, int64_t odds,
                                        uint64_t most)
{
    struct smp_shared_draw *shared = &schedule->shared;

    if (shared->tick != schedule->tick || shared->odds != odds || shared->most != most)
        *shared = (struct smp_shared_draw){
            .tick = schedule->tick,
            .odds = odds,
            .most = most,
            .next = smp_intensity_next(schedule->salt, schedule->tick, odds, most),
        };
    return shared->next;
}

static struct smp_next_poll draw_tick(struct smp_poll_schedule *schedule,
                                      const struct smp_wall_thread *thread, bool is_of_many,
                                      int64_t odds, uint64_t most)
{
    if (thread->plan.is_throttled)
        return smp_intensity_next_alone(&schedule->throttle->random, schedule->tick, odds, most);
    /* Hashes the serial, because neighbours would draw the same numbers some ticks later. */
    if (is_of_many)
        return smp_intensity_next(schedule->salt + smp_random_of(thread->record.thread->serial),
                                  schedule->tick, odds, most);
    return draw_shared(schedule, odds, most);
}

static void draw_next_poll(struct smp_poll_schedule *schedule, struct smp_wall_thread *thread,
                           int64_t now_ns)
{
    struct smp_poll_plan *plan = &thread->plan;
    uint64_t most = 1;
    int64_t odds;
    bool is_of_many;

    plan->free_odds = unthrottled_odds(schedule, thread, now_ns, &is_of_many);
    plan->is_throttled = is_throttling(schedule, thread);
    odds = plan->free_odds;
    if (plan->is_idle)
        most = smp_ticks_in(schedule->options, smp_options_lookback_ns(schedule->options));
    if (plan->is_throttled) {
        plan->share = schedule->throttle->share;
        if (plan->share < schedule->least_share)
            schedule->least_share = plan->share;
        odds = smp_intensity_both(odds, throttled_odds(thread, plan->share));
        most = smp_ticks_in(schedule->options, SMP_MOST_THROTTLE_MS * NS_PER_MS);
    }
    /* A poll must not stand for more than twice the longest gap. */
    if (odds < SMP_CERTAIN / 2 / (int64_t)most)
        odds = SMP_CERTAIN / 2 / (int64_t)most;
    const struct smp_next_poll next = draw_tick(schedule, thread, is_of_many, odds, most);
    smp_timer_wheel_put(&schedule->wheel, &thread->record.deadline, next.tick);
    plan->odds = next.odds;
}

void smp_poll_schedule_next(struct smp_poll_schedule *schedule, struct smp_wall_thread *thread,
                            int64_t now_ns)
{
    smp_poll_schedule_set_idle(schedule, thread, thread->activity.has_leaf);
    thread->plan.polled_tick = schedule->tick;
    draw_next_poll(schedule, thread, now_ns);
}

/* Returns whether the rise is worth a pass over all threads. After a smaller one a poll is only a
 * few ticks late. */
static bool is_rise(int64_t from_share, int64_t to_share)
{
    enum { RISE = 4 };

    return from_share <= to_share / RISE;
}

bool smp_poll_schedule_share_rose(struct smp_poll_schedule *schedule)
{
    const bool has_risen = is_rise(schedule->least_share, schedule->throttle->share);

    if (has_risen)
        schedule->least_share = SMP_THROTTLE_WHOLE; /* lowered by redraw for polls that it keeps */
    return has_risen;
}

void smp_poll_schedule_redraw(struct smp_poll_schedule *schedule, struct smp_wall_thread *thread,
                              int64_t now_ns)
{
    const struct smp_poll_plan *plan = &thread->plan;

    if (!plan->is_throttled)
        return;
    if (is_rise(plan->share, schedule->throttle->share) &&
        thread->record.deadline.at > schedule->tick)
        draw_next_poll(schedule, thread, now_ns);
    else if (plan->share < schedule->least_share)
        schedule->least_share = plan->share;
}

/* --- after the fact --- */

uint64_t smp_poll_schedule_missed(const struct smp_poll_schedule *schedule,
                                  const struct smp_wall_thread *thread, bool is_idle)
{
    const double longest_ticks =
        (double)smp_ticks_in(schedule->options, smp_options_lookback_ns(schedule->options));
    double mean_ticks = (double)SMP_CERTAIN / (double)thread->plan.free_odds;

    if (is_idle && mean_ticks < schedule->idle_ticks)
        mean_ticks = schedule->idle_ticks;
    /* Approximates the mean of gaps that are limited to the longest one. */
    if (thread->plan.is_idle || is_idle)
        mean_ticks = 1 / (1 / mean_ticks + 1 / longest_ticks);
    if (mean_ticks < 1)
        mean_ticks = 1;
    return (uint64_t)((double)(schedule->tick - thread->plan.polled_tick) / mean_ticks);
}

/* Limits the time of a random poll, because a tick takes minutes if the whole process was stopped.
 * Long ticks of a long interval are not limited, nor are polls that come at each tick. */
int64_t smp_poll_schedule_weight_ns(const struct smp_poll_schedule *schedule,
                                    const struct smp_wall_thread *thread)
{
    const int64_t far_ns = SMP_MOST_TICK_INTERVALS * smp_options_interval_ns(schedule->options);
    int64_t most_ns = SMP_MOST_TICK_MS * NS_PER_MS;

    if (most_ns < far_ns)
        most_ns = far_ns;
    if (thread->plan.odds == SMP_CERTAIN || schedule->tick_ns < most_ns)
        return smp_intensity_weight_ns(schedule->tick_ns, thread->plan.odds);
    return smp_intensity_weight_ns(most_ns, thread->plan.odds);
}
