/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/threads/throttle.h"

#include "base/clock.h"
#include "base/random.h"

#define NS_PER_MS INT64_C(1000000)

/* Returns the CPU time allowed for `ns`. The next function is the inverse. */
static int64_t income_of(const struct smp_throttle *throttle, int64_t ns)
{
    return ns / 1000 * throttle->limit_per_mille;
}

static int64_t time_for(const struct smp_throttle *throttle, int64_t cpu_ns)
{
    return cpu_ns * 1000 / throttle->limit_per_mille;
}

static int64_t at_most(int64_t value, int64_t most)
{
    return value < most ? value : most;
}

/* The bucket holds at least two intervals: otherwise a tick that used it up would leave nothing for
 * the next one. */
static int64_t full_ns(const struct smp_throttle *throttle)
{
    const int64_t bucket_ns = SMP_THROTTLE_BUCKET_MS * NS_PER_MS;
    const int64_t intervals_ns = SMP_THROTTLE_INTERVALS * throttle->interval_ns;

    return income_of(throttle, intervals_ns > bucket_ns ? intervals_ns : bucket_ns);
}

/*
 * Below half full the share falls with the third power of the level: it follows the level within
 * about ten ticks, and the cost of a single poll changes it little.
 */
static int64_t poll_share(const struct smp_throttle *throttle)
{
    const double level = (double)throttle->bucket_ns * 2 / (double)full_ns(throttle);
    const double share = level * level * level * SMP_THROTTLE_WHOLE;

    if (level >= 1)
        return SMP_THROTTLE_WHOLE;
    return share > SMP_THROTTLE_LEAST ? (int64_t)share : SMP_THROTTLE_LEAST;
}

void smp_throttle_init(struct smp_throttle *throttle, int64_t limit_per_mille, int64_t interval_ns,
                       uint64_t seed)
{
    *throttle = (struct smp_throttle){
        .limit_per_mille = limit_per_mille,
        .interval_ns = interval_ns,
        .share = SMP_THROTTLE_WHOLE,
        .random = seed,
    };
    throttle->bucket_ns =
        full_ns(throttle) + at_most(income_of(throttle, SMP_THROTTLE_START_MS * NS_PER_MS),
                                    SMP_THROTTLE_START_CPU_MS * NS_PER_MS);
}

void smp_throttle_set(struct smp_throttle *throttle, int64_t limit_per_mille, int64_t interval_ns)
{
    if (limit_per_mille == throttle->limit_per_mille && interval_ns == throttle->interval_ns)
        return;
    throttle->limit_per_mille = limit_per_mille;
    throttle->interval_ns = interval_ns;
    throttle->bucket_ns = full_ns(throttle);
}

void smp_throttle_restart(struct smp_throttle *throttle)
{
    throttle->has_begun = false;
}

/* Updates the average cost of a tick without its polls. The end of an interval may fall between
 * ticks, so at most MOST times the average counts as the tick's. Returns the CPU time above. */
static int64_t measure_tick(struct smp_throttle *throttle, int64_t cpu_ns)
{
    enum { MOST = 4, SLOWNESS = 8 };
    const int64_t used_ns = cpu_ns - throttle->end_cpu_ns;

    if (throttle->tick_ns == 0)
        throttle->tick_ns = used_ns;
    const int64_t cost_ns = at_most(used_ns, MOST * throttle->tick_ns);
    throttle->tick_ns += (cost_ns - throttle->tick_ns) / SLOWNESS;
    return used_ns - cost_ns;
}

/* Accounts for the time since the last tick began: adds the allowed CPU time, less a part of it for
 * deferred work, and subtracts the CPU time that was used. */
static void update_bucket(struct smp_throttle *throttle, int64_t now_ns, int64_t cpu_ns)
{
    const int64_t full = full_ns(throttle);
    const int64_t income_ns = income_of(throttle, now_ns - throttle->now_ns);
    const int64_t other_ns = throttle->has_ended ? measure_tick(throttle, cpu_ns) : 0;
    const int64_t used_ns = cpu_ns - throttle->cpu_ns - other_ns;
    int64_t most_ns = throttle->bucket_ns > full ? throttle->bucket_ns : full;

    /* Only the first tick with thousands of threads uses a full bucket. Without this rule a few
     * such ticks would use up the extra allowance of the start. */
    if (used_ns >= full)
        most_ns = 0;
    throttle->deferred_ns = at_most(throttle->deferred_ns + other_ns, full);
    const int64_t paid_ns = at_most(income_ns / SMP_THROTTLE_DEFERRED_SHARE, throttle->deferred_ns);
    throttle->deferred_ns -= paid_ns;
    throttle->bucket_ns = at_most(throttle->bucket_ns + income_ns - paid_ns - used_ns, most_ns);
    /* A larger debt is dropped, also for deferred work, or a short interval would have no polls. */
    if (throttle->bucket_ns < -full)
        throttle->bucket_ns = -full;
}

void smp_throttle_begin(struct smp_throttle *throttle, int64_t now_ns)
{
    const int64_t cpu_ns = smp_clock_own_cpu_ns();

    if (throttle->has_begun)
        update_bucket(throttle, now_ns, cpu_ns);
    throttle->has_begun = true;
    throttle->has_ended = false;
    throttle->now_ns = now_ns;
    throttle->cpu_ns = cpu_ns;
    throttle->unchecked = 0;
    throttle->share = poll_share(throttle);
}

bool smp_throttle_is_spent(struct smp_throttle *throttle)
{
    if (throttle->unchecked++ < SMP_THROTTLE_BATCH)
        return false;
    throttle->unchecked = 1;
    return smp_clock_own_cpu_ns() - throttle->cpu_ns >=
           at_most(throttle->bucket_ns, full_ns(throttle));
}

void smp_throttle_end(struct smp_throttle *throttle)
{
    throttle->end_cpu_ns = smp_clock_own_cpu_ns();
    throttle->has_ended = true;
}

/* Not beyond now: if a tick began within that time, its own count began later. */
void smp_throttle_excuse(struct smp_throttle *throttle, int64_t used_ns)
{
    const int64_t cpu_ns = smp_clock_own_cpu_ns();

    throttle->cpu_ns = at_most(throttle->cpu_ns + used_ns, cpu_ns);
    throttle->end_cpu_ns = at_most(throttle->end_cpu_ns + used_ns, cpu_ns);
}

int64_t smp_throttle_tick_gap_ns(struct smp_throttle *throttle)
{
    const int64_t used_ns = throttle->has_ended ? throttle->end_cpu_ns - throttle->cpu_ns : 0;
    const int64_t left_ns = throttle->bucket_ns - used_ns;
    const int64_t skipped = SMP_THROTTLE_WHOLE - throttle->share;
    int64_t gap_ns = at_most(time_for(throttle, throttle->tick_ns) * SMP_THROTTLE_TICKS_SHARE,
                             SMP_THROTTLE_TICK_GAP_MS * NS_PER_MS);

    if (!throttle->has_begun)
        return 0;
    gap_ns = gap_ns * skipped / SMP_THROTTLE_WHOLE;
    if (left_ns < 0 && time_for(throttle, -left_ns) > gap_ns)
        gap_ns = at_most(time_for(throttle, -left_ns), SMP_THROTTLE_MOST_GAP_MS * NS_PER_MS);
    /* Random, so that ticks do not synchronize with the program. */
    return smp_random_around(&throttle->random, gap_ns);
}
