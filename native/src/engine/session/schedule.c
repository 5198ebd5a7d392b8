/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/session/schedule.h"

#include "base/random.h"

static int64_t jittered_interval(struct smp_schedule *schedule)
{
    return smp_random_around(&schedule->random, schedule->interval_ns);
}

void smp_schedule_init(struct smp_schedule *schedule, int64_t interval_ns, int64_t period_ns,
                       int64_t now_ns, uint64_t seed)
{
    schedule->interval_ns = interval_ns;
    schedule->period_ns = period_ns;
    schedule->random = seed;
    schedule->report_due_ns = now_ns + period_ns;
    smp_schedule_restart_ticks(schedule, now_ns);
}

void smp_schedule_set(struct smp_schedule *schedule, int64_t interval_ns, int64_t period_ns,
                      int64_t now_ns)
{
    if (schedule->period_ns != period_ns) {
        schedule->period_ns = period_ns;
        schedule->report_due_ns = now_ns + period_ns;
    }
    if (schedule->interval_ns != interval_ns) {
        schedule->interval_ns = interval_ns;
        smp_schedule_restart_ticks(schedule, now_ns);
    }
}

void smp_schedule_restart_ticks(struct smp_schedule *schedule, int64_t now_ns)
{
    schedule->due_ns = now_ns + jittered_interval(schedule);
}

bool smp_schedule_tick_is_due(const struct smp_schedule *schedule, int64_t now_ns)
{
    return now_ns >= schedule->due_ns;
}

bool smp_schedule_begin_tick(struct smp_schedule *schedule, int64_t now_ns)
{
    const bool late = now_ns - schedule->due_ns > schedule->interval_ns / 2;

    /* Counts from the due time, so that small delays do not add up. */
    schedule->due_ns += jittered_interval(schedule);
    if (schedule->due_ns <= now_ns)
        smp_schedule_restart_ticks(schedule, now_ns);
    return late;
}

uint64_t smp_schedule_skip_ticks(struct smp_schedule *schedule, int64_t at_ns, uint64_t most)
{
    uint64_t left_out = 0;

    for (; schedule->due_ns < at_ns && left_out < most; left_out++)
        schedule->due_ns += jittered_interval(schedule);
    return left_out;
}

uint64_t smp_schedule_hold_tick(struct smp_schedule *schedule, int64_t at_ns)
{
    /* The last tick before at_ns is not skipped but delayed. */
    const uint64_t left_out =
        smp_schedule_skip_ticks(schedule, at_ns - schedule->interval_ns + 1, UINT64_MAX);

    if (schedule->due_ns < at_ns)
        schedule->due_ns = at_ns;
    return left_out;
}

bool smp_schedule_report_is_due(const struct smp_schedule *schedule, int64_t now_ns)
{
    return schedule->period_ns > 0 && now_ns >= schedule->report_due_ns;
}

void smp_schedule_begin_report(struct smp_schedule *schedule, int64_t now_ns)
{
    const int64_t behind = now_ns - schedule->report_due_ns;

    schedule->report_due_ns += (behind / schedule->period_ns + 1) * schedule->period_ns;
}

int64_t smp_schedule_next_ns(const struct smp_schedule *schedule, bool ticking)
{
    int64_t next = INT64_MAX;

    if (schedule->period_ns > 0)
        next = schedule->report_due_ns;
    if (ticking && schedule->due_ns < next)
        next = schedule->due_ns;
    return next;
}
