/* SPDX-License-Identifier: Apache-2.0 */
#include "model/snapshot.h"

static void sum_tallies(struct smp_snapshot *snapshot)
{
    const size_t count = smp_thread_groups_count(snapshot->groups);

    for (size_t i = 0; i < count; i++) {
        const struct smp_group group = { .index = (uint32_t)i };
        smp_tally_add(&snapshot->tally, &smp_thread_groups_info(snapshot->groups, group)->tally);
    }
}

enum smp_status smp_snapshot_create(struct smp_quota *quota, struct smp_tree *tree,
                                    struct smp_thread_groups *groups, struct smp_methods *methods,
                                    struct smp_snapshot **out)
{
    const enum smp_status status = smp_snapshot_create_for(
        quota, tree, groups, methods, smp_methods_location_count(methods), out);

    if (status == SMP_OK)
        smp_methods_packages(methods, (*out)->packages, sizeof((*out)->packages));
    return status;
}

enum smp_status smp_snapshot_create_for(struct smp_quota *quota, struct smp_tree *tree,
                                        struct smp_thread_groups *groups,
                                        struct smp_methods *methods, uint32_t location_count,
                                        struct smp_snapshot **out)
{
    struct smp_snapshot *snapshot = smp_alloc(quota, sizeof(*snapshot));

    if (snapshot == NULL)
        return SMP_ENOMEM;
    snapshot->quota = smp_quota_hold(quota);
    snapshot->tree = tree;
    snapshot->groups = groups;
    snapshot->methods = smp_methods_hold(methods);
    snapshot->location_count = location_count;
    atomic_init(&snapshot->holders, 1);
    smp_tree_seal(tree);
    sum_tallies(snapshot);
    *out = snapshot;
    return SMP_OK;
}

bool smp_snapshot_misses_packages(const struct smp_snapshot *snapshot)
{
    const struct smp_node *const nodes = smp_tree_nodes(snapshot->tree);
    const size_t count = smp_tree_node_count(snapshot->tree);
    bool has_frames = false;

    if (snapshot->packages[0] == '\0')
        return false;
    for (size_t i = 1; i < count; i++) {
        struct smp_location_view view;
        if ((nodes[i].location & SMP_LOCATION_GROUP) != 0)
            continue;
        smp_methods_view(snapshot->methods, nodes[i].location, &view);
        if (view.is_monitored)
            return false;
        has_frames = has_frames || !view.is_pseudo;
    }
    return has_frames;
}

struct smp_snapshot *smp_snapshot_hold(struct smp_snapshot *snapshot)
{
    /* Who holds on already has one, so nothing needs to be ordered. */
    atomic_fetch_add_explicit(&snapshot->holders, 1, memory_order_relaxed);
    return snapshot;
}

void smp_snapshot_release(struct smp_snapshot *snapshot)
{
    if (snapshot == NULL)
        return;
    /* The last one must see what every other holder did before it let go. */
    if (atomic_fetch_sub_explicit(&snapshot->holders, 1, memory_order_acq_rel) != 1)
        return;

    struct smp_quota *quota = snapshot->quota;

    smp_tree_destroy(snapshot->tree);
    smp_thread_groups_destroy(snapshot->groups);
    smp_methods_release(snapshot->methods);
    smp_free(quota, snapshot);
    smp_quota_release(quota);
}

bool smp_snapshot_is_empty(const struct smp_snapshot *snapshot)
{
    const struct smp_node *nodes = smp_tree_nodes(snapshot->tree);
    const size_t count = smp_thread_groups_count(snapshot->groups);

    if (snapshot->tally.attempts > 0)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct smp_group group = { .index = i };
        const uint32_t root = smp_thread_groups_info(snapshot->groups, group)->root;
        if (root != 0 && nodes[root].wall_ns > 0 &&
            !smp_thread_groups_is_jvm(snapshot->groups, group))
            return false;
    }
    return true;
}
