/* SPDX-License-Identifier: Apache-2.0 */
#include "jni/profile_figures.h"

#include <stdio.h>

#include "export/tree_walk.h"
#include "model/outcome.h"

static uint64_t all_samples(const struct smp_profile *profile)
{
    const struct smp_node *const nodes = smp_tree_nodes(profile->tree);
    const size_t count = smp_tree_node_count(profile->tree);
    uint64_t samples = 0;

    for (size_t i = 1; i < count; i++)
        samples += nodes[i].samples;
    return samples;
}

void smp_jni_profile_figures(const struct smp_profile *profile, const struct smp_hot_groups *groups,
                             int64_t values[SMP_JNI_PROFILE_FIGURE_COUNT])
{
    const struct smp_node *const all = &smp_tree_nodes(profile->tree)[0];

    values[SMP_JNI_PROFILE_FROM_MS] = profile->from_wall_ms;
    values[SMP_JNI_PROFILE_TILL_MS] = profile->till_wall_ms;
    values[SMP_JNI_PROFILE_ELAPSED_NS] = profile->elapsed_ns;
    values[SMP_JNI_PROFILE_OWN_CPU_NS] = profile->own_cpu_ns;
    values[SMP_JNI_PROFILE_MEMORY_USED] = (int64_t)profile->memory_used_bytes;
    values[SMP_JNI_PROFILE_MEMORY_LIMIT] = (int64_t)profile->memory_limit_bytes;
    values[SMP_JNI_PROFILE_POLLS] = (int64_t)profile->tally.polls;
    values[SMP_JNI_PROFILE_GROUPS] = (int64_t)groups->count;
    values[SMP_JNI_PROFILE_NODES] = (int64_t)smp_tree_node_count(profile->tree) - 1;
    values[SMP_JNI_PROFILE_WALL_NS] = all->wall_ns;
    values[SMP_JNI_PROFILE_CPU_NS] = all->cpu_ns;
    values[SMP_JNI_PROFILE_SAMPLES] = (int64_t)all_samples(profile);
}

static int64_t samples_below(struct smp_tree_walk *walk, uint32_t root)
{
    int64_t samples = 0;

    smp_tree_walk_begin(walk, root);
    while (smp_tree_walk_next(walk))
        samples += walk->nodes[smp_tree_walk_node(walk)].samples;
    return samples;
}

enum smp_status smp_jni_group_figures(const struct smp_profile *profile,
                                      const struct smp_hot_groups *groups, int64_t *values)
{
    struct smp_tree_walk walk;
    enum smp_status status;

    smp_tree_walk_init(&walk, groups->quota, profile->tree);
    for (size_t i = 0; i < groups->count; i++) {
        const struct smp_group_info *const info = smp_hot_group_info(profile, groups->indices[i]);
        const struct smp_group_sums sums = smp_hot_group_sums(profile, groups->indices[i]);
        int64_t *const figures = &values[i * SMP_JNI_GROUP_FIGURE_COUNT];

        figures[SMP_JNI_GROUP_WALL_NS] = sums.wall_ns;
        figures[SMP_JNI_GROUP_CPU_NS] = sums.cpu_ns;
        figures[SMP_JNI_GROUP_SAMPLES] = samples_below(&walk, info->root);
        figures[SMP_JNI_GROUP_THREADS] = (int64_t)info->thread_count;
        figures[SMP_JNI_GROUP_MAX_DEPTH] = (int64_t)info->max_depth;
        figures[SMP_JNI_GROUP_POLLS] = (int64_t)info->tally.polls;
    }
    status = walk.status;
    smp_tree_walk_fini(&walk);
    return status;
}

void smp_jni_line_figures(const struct smp_hot_line *line,
                          int64_t values[SMP_JNI_LINE_FIGURE_COUNT])
{
    values[SMP_JNI_LINE_WALL_NS] = line->self.wall_ns;
    values[SMP_JNI_LINE_CPU_NS] = line->self.cpu_ns;
    values[SMP_JNI_LINE_SAMPLES] = (int64_t)line->self.samples;
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
