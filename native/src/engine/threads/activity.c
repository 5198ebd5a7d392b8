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
    /* So that a thousand parked threads are not polled at each of the first ticks. */
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

void smp_activity_finish(struct smp_activity *activity, int32_t tid, struct smp_reading *reading)
{
    int64_t second_ns = 0;

    if (reading->activity == SMP_ACTIVITY_UNKNOWN)
        *activity = (struct smp_activity){ 0 };
    if (reading->activity != SMP_ACTIVITY_RAN)
        return;
    const int64_t now_ns = smp_clock_ns();
    if (!smp_clock_thread_cpu_ns(tid, &second_ns))
        second_ns = reading->clock_ns;
    if (second_ns > reading->clock_ns)
        reading->activity = SMP_ACTIVITY_RUNNING;
    if (reading->is_measured)
        reading->used_ns = second_ns - activity->cpu_ns;
    reading->apart_ns = now_ns - activity->read_ns;
    activity->has_clock = true;
    activity->has_leaf = false;
    activity->has_run = true;
    activity->cpu_ns = second_ns;
    activity->read_ns = now_ns;
}

bool smp_activity_has_run_all_along(const struct smp_reading *reading)
{
    const int64_t share_ns = reading->apart_ns / SMP_MOMENT_SHARE;

    return reading->activity == SMP_ACTIVITY_RAN && reading->is_measured &&
           reading->used_ns >=
               reading->apart_ns - (share_ns < SMP_MOMENT_NS ? share_ns : SMP_MOMENT_NS);
}
