/* SPDX-License-Identifier: Apache-2.0 */
#include "core/idle.h"

#include "base/clock.h"
#include "base/random.h"

#define NS_PER_MS INT64_C(1000000)

void smp_idle_start(struct smp_idle *idle, int32_t tid, int64_t now_ns)
{
    idle->has_leaf = false;
    idle->has_clock = tid > 0 && smp_clock_thread_cpu_ns(tid, &idle->cpu_ns);
    idle->since_ns = now_ns;
    idle->read_ns = smp_clock_ns();
    /* So that a thousand parked threads are not looked at every tick at first. */
    if (idle->has_clock && idle->cpu_ns < SMP_QUIET_CPU_MS * NS_PER_MS)
        idle->since_ns -= SMP_QUIET_LEAD_MS * NS_PER_MS;
}

void smp_idle_begin(const struct smp_idle *idle, int32_t tid, struct smp_reading *out)
{
    *out = (struct smp_reading){ .activity = SMP_ACTIVITY_UNKNOWN, .had_leaf = idle->has_leaf };
    if (tid <= 0 || !smp_clock_thread_cpu_ns(tid, &out->clock_ns))
        return;
    out->is_measured = idle->has_clock && out->clock_ns >= idle->cpu_ns;
    out->activity =
        out->is_measured && out->clock_ns == idle->cpu_ns ? SMP_ACTIVITY_NONE : SMP_ACTIVITY_RAN;
}

void smp_idle_finish(struct smp_idle *idle, int32_t tid, struct smp_reading *reading)
{
    int64_t second_ns = 0;

    if (reading->activity == SMP_ACTIVITY_UNKNOWN)
        *idle = (struct smp_idle){ 0 };
    if (reading->activity != SMP_ACTIVITY_RAN)
        return;
    const int64_t now_ns = smp_clock_ns();
    if (!smp_clock_thread_cpu_ns(tid, &second_ns))
        second_ns = reading->clock_ns;
    if (second_ns > reading->clock_ns)
        reading->activity = SMP_ACTIVITY_RUNNING;
    if (reading->is_measured)
        reading->used_ns = second_ns - idle->cpu_ns;
    reading->apart_ns = now_ns - idle->read_ns;
    idle->has_clock = true;
    idle->has_leaf = false;
    idle->cpu_ns = second_ns;
    idle->read_ns = now_ns;
}

bool smp_idle_has_run_all_along(const struct smp_reading *reading)
{
    const int64_t share_ns = reading->apart_ns / SMP_MOMENT_SHARE;

    return reading->activity == SMP_ACTIVITY_RAN && reading->is_measured &&
           reading->used_ns >=
               reading->apart_ns - (share_ns < SMP_MOMENT_NS ? share_ns : SMP_MOMENT_NS);
}

/* Up to one share-th less. */
static int64_t jittered(int64_t gap_ns, int64_t share, uint64_t random)
{
    enum { STEPS = 1024 };

    return gap_ns - gap_ns / share / STEPS * (int64_t)(random % STEPS);
}

int64_t smp_idle_gap_ns(int64_t idle_ns, int64_t interval_ns, int64_t most_ns, uint64_t random)
{
    enum { WHILE_GROWING = 4, AT_THE_CAP = 16 };
    int64_t gap_ns = idle_ns / SMP_IDLE_SHARE;

    /* Neither all threads at once nor in step with what they do. */
    gap_ns = gap_ns < most_ns ? jittered(gap_ns, WHILE_GROWING, random)
                              : jittered(most_ns, AT_THE_CAP, random);
    return gap_ns > interval_ns ? gap_ns : interval_ns;
}

int64_t smp_idle_meeting_ns(int64_t now_ns, int64_t gap_ns, int64_t interval_ns)
{
    int64_t length_ns = interval_ns;

    if (gap_ns < SMP_MEETING_SHARE * interval_ns)
        return now_ns + gap_ns;
    while (2 * length_ns * SMP_MEETING_SHARE <= gap_ns)
        length_ns *= 2;
    /* The last stretch that is over by then; to choose between two of them by where their times
     * fall would prefer one part of a stretch to the others. */
    const int64_t stretch = (now_ns + gap_ns) / length_ns - 1;
    return stretch * length_ns + (int64_t)(smp_random_of((uint64_t)stretch) % (uint64_t)length_ns);
}

static int64_t at_most(int64_t ns, int64_t most_ns)
{
    return ns < most_ns ? ns : most_ns;
}

bool smp_idle_is_long(int64_t span_ns, int64_t interval_ns)
{
    return span_ns > interval_ns + interval_ns / SMP_LONG_GAP_SHARE;
}

struct smp_shares smp_idle_split(const struct smp_gap *gap)
{
    struct smp_shares shares = { .found_ns = gap->span_ns };
    const int64_t half_ns = gap->interval_ns / 2;
    /* The clock is read a little after the span ends. */
    const int64_t used_ns = at_most(gap->used_ns, gap->span_ns);
    const int64_t rest_ns = gap->span_ns - used_ns;

    if (!gap->is_measured || !smp_idle_is_long(gap->span_ns, gap->interval_ns))
        return shares;
    if (gap->is_running) {
        if (gap->knows_old)
            shares.found_ns = at_most(used_ns + half_ns, gap->span_ns);
        shares.old_ns = gap->span_ns - shares.found_ns;
        return shares;
    }
    shares.unseen_ns = used_ns;
    shares.found_ns = rest_ns;
    if (gap->knows_old && !gap->is_same)
        shares.found_ns = at_most(rest_ns / 2 + half_ns, rest_ns);
    shares.old_ns = rest_ns - shares.found_ns;
    return shares;
}
