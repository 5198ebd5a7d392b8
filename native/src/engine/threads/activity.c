/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/threads/activity.h"

#include "base/clock.h"

#define NS_PER_MS INT64_C(1000000)

void smp_activity_start(struct smp_activity *activity, int32_t tid, int64_t now_ns)
{
    activity->has_leaf = false;
    activity->has_run = false;
    activity->has_clock = tid > 0 && smp_clock_thread_cpu_ns(tid, &activity->cpu_ns);
    activity->since_ns = now_ns;
    activity->read_ns = smp_clock_ns();
    /* Otherwise a thousand parked threads would be polled at each of the first ticks. */
    if (activity->has_clock && activity->cpu_ns < SMP_QUIET_CPU_MS * NS_PER_MS)
        activity->since_ns -= SMP_QUIET_LEAD_MS * NS_PER_MS;
}

void smp_activity_begin(const struct smp_activity *activity, int32_t tid, struct smp_reading *out)
{
    *out = (struct smp_reading){ .activity = SMP_ACTIVITY_UNKNOWN };
    if (tid <= 0 || !smp_clock_thread_cpu_ns(tid, &out->clock_ns))
        return;
    out->is_measured = activity->has_clock && out->clock_ns >= activity->cpu_ns;
    out->activity = out->is_measured && out->clock_ns == activity->cpu_ns ? SMP_ACTIVITY_NONE
                                                                          : SMP_ACTIVITY_RAN;
}

/* Also true for a thread that was preempted, most likely by the sampler, or has just begun to
 * wait. */
static bool has_run_all_along(const struct smp_activity *activity,
                              const struct smp_reading *reading, int64_t now_ns)
{
    const int64_t apart_ns = now_ns - activity->read_ns;
    const int64_t share_ns = apart_ns / SMP_MOMENT_SHARE;

    return reading->is_measured &&
           reading->clock_ns - activity->cpu_ns >=
               apart_ns - (share_ns < SMP_MOMENT_NS ? share_ns : SMP_MOMENT_NS);
}

bool smp_activity_is_open(const struct smp_activity *activity, struct smp_reading *reading,
                          int64_t *read_ns)
{
    if (reading->activity != SMP_ACTIVITY_RAN)
        return false;
    *read_ns = smp_clock_ns();
    if (has_run_all_along(activity, reading, *read_ns))
        reading->activity = SMP_ACTIVITY_RUNNING;
    return reading->activity == SMP_ACTIVITY_RAN;
}

void smp_activity_read_again(int32_t tid, struct smp_reading *reading, int64_t *read_ns)
{
    int64_t cpu_ns = 0;

    *read_ns = smp_clock_ns();
    if (!smp_clock_thread_cpu_ns(tid, &cpu_ns) || cpu_ns <= reading->clock_ns)
        return;
    reading->used_ns = cpu_ns - reading->clock_ns;
    reading->activity = SMP_ACTIVITY_RUNNING;
}

void smp_activity_finish(struct smp_activity *activity, struct smp_reading *reading,
                         int64_t read_ns)
{
    const int64_t cpu_ns = reading->clock_ns + reading->used_ns;

    if (reading->activity == SMP_ACTIVITY_UNKNOWN)
        *activity = (struct smp_activity){ 0 };
    if (reading->activity == SMP_ACTIVITY_UNKNOWN || reading->activity == SMP_ACTIVITY_NONE)
        return;
    reading->used_ns = reading->is_measured ? cpu_ns - activity->cpu_ns : 0;
    activity->has_clock = true;
    activity->has_leaf = false;
    activity->has_run = true;
    activity->cpu_ns = cpu_ns;
    activity->read_ns = read_ns;
}
