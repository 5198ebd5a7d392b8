/* SPDX-License-Identifier: Apache-2.0 */
#include "jni/figures.h"

#include <stdio.h>
#include <string.h>

#include "model/names.h"
#include "model/outcome.h"

static const char *const GAUGE_NAMES[SMP_JNI_GAUGE_COUNT] = {
#define X(name, value) #name,
    SMP_JNI_GAUGE_MAP(X)
#undef X
};

/* --- accounts, statistics --- */

static const char *put_account_name(char *name, const char *scope, size_t index)
{
    const bool is_outcome = index < SMP_OUTCOME_COUNT;

    (void)snprintf(name, SMP_JNI_FIGURE_NAME_BYTES, "%s%s.%s", scope,
                   is_outcome ? "outcome" : "counter",
                   is_outcome ? smp_outcome_code((enum smp_outcome)index)
                              : smp_counter_code((enum smp_counter)(index - SMP_OUTCOME_COUNT)));
    return name;
}

const char *smp_jni_account_name(void *self, size_t index)
{
    return put_account_name(self, "", index);
}

const char *smp_jni_statistic_name(void *self, size_t index)
{
    const size_t gauges_at = 2 * (size_t)SMP_JNI_ACCOUNT_COUNT;

    if (index < SMP_JNI_ACCOUNT_COUNT)
        return put_account_name(self, "total.", index);
    if (index < gauges_at)
        return put_account_name(self, "interval.", index - SMP_JNI_ACCOUNT_COUNT);
    (void)snprintf(self, SMP_JNI_FIGURE_NAME_BYTES, "gauge.%s", GAUGE_NAMES[index - gauges_at]);
    return self;
}

static void put_account_figures(const struct smp_tally *tally, const uint64_t *counters,
                                int64_t *values)
{
    for (size_t i = 0; i < SMP_OUTCOME_COUNT; i++)
        *values++ = (int64_t)tally->outcomes[i];
    for (size_t i = 0; i < SMP_COUNTER_COUNT; i++)
        *values++ = (int64_t)counters[i];
}

void smp_jni_statistics(const struct smp_statistics *statistics,
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

    put_account_figures(&s->ticker.sampler.total_tally, s->ticker.sampler.total_counters, values);
    values += SMP_JNI_ACCOUNT_COUNT;
    put_account_figures(&s->ticker.sampler.interval_tally, s->ticker.sampler.interval_counters,
                        values);
    values += SMP_JNI_ACCOUNT_COUNT;
    memcpy(values, gauges, sizeof(gauges));
}

void smp_jni_profile_account(const struct smp_profile *profile,
                             int64_t values[SMP_JNI_ACCOUNT_COUNT])
{
    put_account_figures(&profile->tally, profile->counters, values);
}

/* --- profiles --- */

void smp_jni_profile_figures(const struct smp_profile *profile, const struct smp_hot_groups *groups,
                             int64_t values[SMP_JNI_PROFILE_FIGURE_COUNT])
{
    values[SMP_JNI_PROFILE_FROM_MS] = profile->from_wall_ms;
    values[SMP_JNI_PROFILE_TILL_MS] = profile->till_wall_ms;
    values[SMP_JNI_PROFILE_ELAPSED_NS] = profile->elapsed_ns;
    values[SMP_JNI_PROFILE_OWN_CPU_NS] = profile->own_cpu_ns;
    values[SMP_JNI_PROFILE_MEMORY_USED] = (int64_t)profile->memory_used_bytes;
    values[SMP_JNI_PROFILE_MEMORY_LIMIT] = (int64_t)profile->memory_limit_bytes;
    values[SMP_JNI_PROFILE_POLLS] = (int64_t)profile->tally.polls;
    values[SMP_JNI_PROFILE_GROUPS] = (int64_t)groups->count;
    values[SMP_JNI_PROFILE_CPU_CLOCK] = profile->is_cpu_clock;
    values[SMP_JNI_PROFILE_NODES] = (int64_t)smp_tree_node_count(profile->tree) - 1;
    for (int i = 0; i < SMP_MEASURE_COUNT; i++)
        values[SMP_JNI_PROFILE_AMOUNTS + i] = smp_profile_total(profile, (enum smp_measure)i);
}

void smp_jni_group_figures(const struct smp_profile *profile, uint32_t index,
                           int64_t values[SMP_JNI_GROUP_FIGURE_COUNT])
{
    const struct smp_group_info *const info = smp_profile_group_info(profile, index);

    values[SMP_JNI_GROUP_THREADS] = (int64_t)info->thread_count;
    values[SMP_JNI_GROUP_MAX_DEPTH] = (int64_t)info->max_depth;
    values[SMP_JNI_GROUP_POLLS] = (int64_t)info->tally.polls;
    values[SMP_JNI_GROUP_ROOT] = info->root;
    for (int i = 0; i < SMP_MEASURE_COUNT; i++)
        values[SMP_JNI_GROUP_AMOUNTS + i] =
            smp_hot_group_whole(profile, index, (enum smp_measure)i);
}

static int64_t line_of(const struct smp_profile *profile, uint32_t location)
{
    struct smp_location_view view;

    smp_profile_view(profile, location, &view);
    return view.is_native ? SMP_LINE_NATIVE : view.line;
}

static void put_error(const struct smp_group_errors *errors, uint32_t node,
                      enum smp_measure measure, int64_t values[2])
{
    struct smp_error_range range;

    if (!smp_group_errors_range(errors, node, measure, &range))
        range = (struct smp_error_range){ .lower = -1, .upper = -1 };
    values[0] = range.lower;
    values[1] = range.upper;
}

void smp_jni_row_figures(const struct smp_group_errors *errors, uint32_t node,
                         int64_t values[SMP_JNI_ROW_FIGURE_COUNT])
{
    const struct smp_profile *const profile = errors->profile;
    const struct smp_amounts own = smp_tree_self_all(profile->tree, node);
    const uint32_t location = smp_tree_nodes(profile->tree)[node].location;

    values[SMP_JNI_ROW_NODE] = node;
    values[SMP_JNI_ROW_LOCATION] = location;
    values[SMP_JNI_ROW_LINE] = line_of(profile, location);
    for (int i = 0; i < SMP_MEASURE_COUNT; i++) {
        const struct smp_column column = smp_tree_column(profile->tree, (enum smp_measure)i);
        const bool is_own = smp_measure_info((enum smp_measure)i)->adding == SMP_ADDING_OWN;
        values[SMP_JNI_ROW_TOTAL + i] = is_own ? own.of[i] : smp_column_at(column, node);
        values[SMP_JNI_ROW_OWN + i] = own.of[i];
        put_error(errors, node, (enum smp_measure)i, &values[SMP_JNI_ROW_ERROR + 2 * i]);
    }
}

void smp_jni_line_figures(const struct smp_profile *profile, const struct smp_hot_line *line,
                          int64_t values[SMP_JNI_LINE_FIGURE_COUNT])
{
    values[SMP_JNI_LINE_LINE] = line_of(profile, line->location);
    for (int i = 0; i < SMP_MEASURE_COUNT; i++)
        values[SMP_JNI_LINE_OWN + i] = line->self.of[i];
}
