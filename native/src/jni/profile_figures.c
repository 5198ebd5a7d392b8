/* SPDX-License-Identifier: Apache-2.0 */
#include "jni/profile_figures.h"

#include <stdio.h>

#include "model/outcome.h"

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
    values[SMP_JNI_PROFILE_NODES] = (int64_t)smp_tree_node_count(profile->tree) - 1;
    for (int i = 0; i < SMP_MEASURE_COUNT; i++)
        values[SMP_JNI_PROFILE_AMOUNTS + i] =
            smp_column_at(smp_tree_column(profile->tree, (enum smp_measure)i), 0);
}

void smp_jni_group_figures(const struct smp_profile *profile, const struct smp_hot_groups *groups,
                           int64_t *values)
{
    for (size_t i = 0; i < groups->count; i++) {
        const uint32_t index = groups->indices[i];
        const struct smp_group_info *const info = smp_hot_group_info(profile, index);
        int64_t *const figures = &values[i * SMP_JNI_GROUP_FIGURE_COUNT];

        figures[SMP_JNI_GROUP_THREADS] = (int64_t)info->thread_count;
        figures[SMP_JNI_GROUP_MAX_DEPTH] = (int64_t)info->max_depth;
        figures[SMP_JNI_GROUP_POLLS] = (int64_t)info->tally.polls;
        for (int j = 0; j < SMP_MEASURE_COUNT; j++)
            figures[SMP_JNI_GROUP_AMOUNTS + j] =
                smp_hot_group_total(profile, index, (enum smp_measure)j);
    }
}

void smp_jni_account_values(const struct smp_profile *profile,
                            int64_t values[SMP_JNI_ACCOUNT_COUNT])
{
    for (size_t i = 0; i < SMP_OUTCOME_COUNT; i++)
        values[i] = (int64_t)profile->tally.outcomes[i];
    for (size_t i = 0; i < SMP_COUNTER_COUNT; i++)
        values[SMP_OUTCOME_COUNT + i] = (int64_t)profile->counters[i];
}

void smp_jni_account_name(size_t index, char name[SMP_JNI_ACCOUNT_NAME_BYTES])
{
    if (index < SMP_OUTCOME_COUNT)
        (void)snprintf(name, SMP_JNI_ACCOUNT_NAME_BYTES, "outcome.%s",
                       smp_outcome_code((enum smp_outcome)index));
    else
        (void)snprintf(name, SMP_JNI_ACCOUNT_NAME_BYTES, "counter.%s",
                       smp_counter_code((enum smp_counter)(index - SMP_OUTCOME_COUNT)));
}
