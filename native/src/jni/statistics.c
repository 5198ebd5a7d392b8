/* SPDX-License-Identifier: Apache-2.0 */
/* Order: outcomes in total, outcomes of the interval, counters in total, of the interval, gauges.
 */
#include "jni/statistics.h"

#include <stdio.h>

#include "model/outcome.h"

static const char *const gauge_names[SMP_JNI_GAUGE_COUNT] = {
#define X(name, value) #name,
    SMP_JNI_GAUGE_MAP(X)
#undef X
};

void smp_jni_statistic_name(size_t index, char name[SMP_JNI_STATISTIC_NAME_BYTES])
{
    const size_t outcomes = 2 * (size_t)SMP_OUTCOME_COUNT;
    const size_t counters = 2 * (size_t)SMP_COUNTER_COUNT;
    const char *scope = NULL;

    if (index < outcomes) {
        scope = index < SMP_OUTCOME_COUNT ? "total" : "interval";
        (void)snprintf(name, SMP_JNI_STATISTIC_NAME_BYTES, "%s.outcome.%s", scope,
                       smp_outcome_code((enum smp_outcome)(index % SMP_OUTCOME_COUNT)));
        return;
    }
    index -= outcomes;
    if (index < counters) {
        scope = index < SMP_COUNTER_COUNT ? "total" : "interval";
        (void)snprintf(name, SMP_JNI_STATISTIC_NAME_BYTES, "%s.counter.%s", scope,
                       smp_counter_code((enum smp_counter)(index % SMP_COUNTER_COUNT)));
        return;
    }
    (void)snprintf(name, SMP_JNI_STATISTIC_NAME_BYTES, "gauge.%s", gauge_names[index - counters]);
}

static int64_t *put_statistic(int64_t *at, const uint64_t *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        *at++ = (int64_t)from[i];
    return at;
}

void smp_jni_statistic_values(const struct smp_statistics *statistics,
                              const struct smp_handler_cost *cost,
                              int64_t values[SMP_JNI_STATISTIC_COUNT])
{
    const struct smp_statistics *s = statistics;
    const struct smp_handler_cost *p = cost;
    const int64_t gauges[SMP_JNI_GAUGE_COUNT] = {
#define X(name, value) (int64_t)(value),
        SMP_JNI_GAUGE_MAP(X)
#undef X
    };
    int64_t *at = values;

    at = put_statistic(at, s->sampler.total_tally.outcomes, SMP_OUTCOME_COUNT);
    at = put_statistic(at, s->sampler.interval_tally.outcomes, SMP_OUTCOME_COUNT);
    at = put_statistic(at, s->sampler.total_counters, SMP_COUNTER_COUNT);
    at = put_statistic(at, s->sampler.interval_counters, SMP_COUNTER_COUNT);
    for (size_t i = 0; i < SMP_JNI_GAUGE_COUNT; i++)
        *at++ = gauges[i];
}
