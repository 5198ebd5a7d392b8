/* SPDX-License-Identifier: Apache-2.0 */
#include "jni/snapshot_figures.h"

#include <stdio.h>

#include "model/accounting.h"
#include "report/tree_walk.h"

static uint64_t all_samples(const struct smp_snapshot *snapshot)
{
    const struct smp_node *const nodes = smp_tree_nodes(snapshot->tree);
    const size_t count = smp_tree_node_count(snapshot->tree);
    uint64_t samples = 0;

    for (size_t i = 1; i < count; i++)
        samples += nodes[i].samples;
    return samples;
}

void smp_jni_snapshot_figures(const struct smp_snapshot *snapshot,
                              const struct smp_hot_groups *groups,
                              int64_t values[SMP_JNI_SNAPSHOT_FIGURE_COUNT])
{
    const struct smp_node *const all = &smp_tree_nodes(snapshot->tree)[0];

    values[SMP_JNI_SNAPSHOT_FROM_MS] = snapshot->from_wall_ms;
    values[SMP_JNI_SNAPSHOT_TILL_MS] = snapshot->till_wall_ms;
    values[SMP_JNI_SNAPSHOT_ELAPSED_NS] = snapshot->elapsed_ns;
    values[SMP_JNI_SNAPSHOT_OWN_CPU_NS] = snapshot->own_cpu_ns;
    values[SMP_JNI_SNAPSHOT_MEMORY_USED] = (int64_t)snapshot->memory_used_bytes;
    values[SMP_JNI_SNAPSHOT_MEMORY_LIMIT] = (int64_t)snapshot->memory_limit_bytes;
    values[SMP_JNI_SNAPSHOT_ATTEMPTS] = (int64_t)snapshot->tally.attempts;
    values[SMP_JNI_SNAPSHOT_GROUPS] = (int64_t)groups->count;
    values[SMP_JNI_SNAPSHOT_NODES] = (int64_t)smp_tree_node_count(snapshot->tree) - 1;
    values[SMP_JNI_SNAPSHOT_WALL_NS] = all->wall_ns;
    values[SMP_JNI_SNAPSHOT_CPU_NS] = all->cpu_ns;
    values[SMP_JNI_SNAPSHOT_SAMPLES] = (int64_t)all_samples(snapshot);
}

static int64_t samples_below(struct smp_tree_walk *walk, uint32_t root)
{
    int64_t samples = 0;

    smp_tree_walk_begin(walk, root);
    while (smp_tree_walk_next(walk))
        samples += walk->nodes[smp_tree_walk_node(walk)].samples;
    return samples;
}

enum smp_status smp_jni_group_figures(const struct smp_snapshot *snapshot,
                                      const struct smp_hot_groups *groups, int64_t *values)
{
    struct smp_tree_walk walk;
    enum smp_status status;

    smp_tree_walk_init(&walk, groups->quota, snapshot->tree);
    for (size_t i = 0; i < groups->count; i++) {
        const struct smp_group_info *const info = smp_hot_group_info(snapshot, groups->indices[i]);
        const struct smp_group_sums sums = smp_hot_group_sums(snapshot, groups->indices[i]);
        int64_t *const figures = &values[i * SMP_JNI_GROUP_FIGURE_COUNT];

        figures[SMP_JNI_GROUP_WALL_NS] = sums.wall_ns;
        figures[SMP_JNI_GROUP_CPU_NS] = sums.cpu_ns;
        figures[SMP_JNI_GROUP_SAMPLES] = samples_below(&walk, info->root);
        figures[SMP_JNI_GROUP_THREADS] = (int64_t)info->thread_count;
        figures[SMP_JNI_GROUP_MAX_DEPTH] = (int64_t)info->max_depth;
        figures[SMP_JNI_GROUP_ATTEMPTS] = (int64_t)info->tally.attempts;
    }
    status = walk.status;
    smp_tree_walk_fini(&walk);
    return status;
}

void smp_jni_account_values(const struct smp_snapshot *snapshot,
                            int64_t values[SMP_JNI_ACCOUNT_COUNT])
{
    for (size_t i = 0; i < SMP_OUTCOME_COUNT; i++)
        values[i] = (int64_t)snapshot->tally.outcomes[i];
    for (size_t i = 0; i < SMP_COUNTER_COUNT; i++)
        values[SMP_OUTCOME_COUNT + i] = (int64_t)snapshot->counters[i];
}

void smp_jni_account_name(size_t index, char name[SMP_JNI_ACCOUNT_NAME_BYTES])
{
    if (index < SMP_OUTCOME_COUNT)
        (void)snprintf(name, SMP_JNI_ACCOUNT_NAME_BYTES, "outcome.%s",
                       smp_outcome_text((enum smp_outcome)index));
    else
        (void)snprintf(name, SMP_JNI_ACCOUNT_NAME_BYTES, "counter.%s",
                       smp_counter_text((enum smp_counter)(index - SMP_OUTCOME_COUNT)));
}
