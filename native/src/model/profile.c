/* SPDX-License-Identifier: Apache-2.0 */
#include "model/profile.h"

#include <string.h>

static void sum_tallies(struct smp_profile *profile)
{
    const size_t count = smp_thread_groups_count(profile->groups);

    for (uint32_t i = 0; i < count; i++)
        smp_tally_add(&profile->tally, &smp_profile_group_info(profile, i)->tally);
}

enum smp_status smp_profile_create(struct smp_quota *quota, struct smp_tree *tree,
                                   struct smp_thread_groups *groups, struct smp_methods *methods,
                                   struct smp_profile **out)
{
    const enum smp_status status = smp_profile_create_for(quota, tree, groups, methods,
                                                          smp_methods_location_count(methods), out);

    if (status == SMP_OK)
        smp_methods_packages(methods, (*out)->packages, sizeof((*out)->packages));
    return status;
}

enum smp_status smp_profile_create_for(struct smp_quota *quota, struct smp_tree *tree,
                                       struct smp_thread_groups *groups,
                                       struct smp_methods *methods, uint32_t location_count,
                                       struct smp_profile **out)
{
    struct smp_profile *profile = smp_alloc(quota, sizeof(*profile));
    enum smp_status status;

    if (profile == NULL)
        return SMP_ENOMEM;
    status = smp_overloads_init(&profile->overloads, quota, tree, groups, methods);
    if (status != SMP_OK) {
        smp_free(quota, profile);
        return status;
    }
    profile->quota = smp_quota_hold(quota);
    profile->tree = tree;
    profile->groups = groups;
    profile->methods = smp_methods_hold(methods);
    profile->family = smp_methods_family(methods);
    profile->location_count = location_count;
    atomic_init(&profile->holders, 1);
    smp_tree_finish(tree);
    sum_tallies(profile);
    *out = profile;
    return SMP_OK;
}

void smp_profile_view(const struct smp_profile *profile, uint32_t location,
                      struct smp_location_view *out)
{
    smp_overloads_view(&profile->overloads, profile->methods, location, out);
}

void smp_profile_frame_text(const struct smp_profile *profile, uint32_t location,
                            struct smp_bytes *out)
{
    struct smp_location_view view;

    smp_profile_view(profile, location, &view);
    smp_location_frame_text(&view, out);
}

void smp_profile_method_text(const struct smp_profile *profile, uint32_t location,
                             struct smp_bytes *out)
{
    struct smp_location_view view;

    smp_profile_view(profile, location, &view);
    smp_location_method_text(&view, out);
}

bool smp_profile_group_is_jvm(const struct smp_profile *profile, uint32_t index)
{
    return smp_thread_groups_is_jvm(profile->groups, (struct smp_group){ .index = index });
}

int64_t smp_profile_group_total(const struct smp_profile *profile, uint32_t index,
                                enum smp_measure measure)
{
    const uint32_t root = smp_profile_group_info(profile, index)->root;

    return root == 0 ? 0 : smp_column_at(smp_tree_column(profile->tree, measure), root);
}

int64_t smp_profile_group_active(const struct smp_profile *profile, uint32_t index)
{
    return smp_subtract_clamped(smp_profile_group_total(profile, index, SMP_MEASURE_WALL),
                                smp_profile_group_total(profile, index, SMP_MEASURE_IDLE));
}

int64_t smp_profile_total(const struct smp_profile *profile, enum smp_measure measure)
{
    const size_t count = smp_thread_groups_count(profile->groups);
    int64_t total = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (smp_profile_group_info(profile, i)->kind == smp_profile_kind_of(measure))
            total = smp_add_clamped(total, smp_profile_group_total(profile, i, measure));
    }
    return total;
}

enum smp_group_kind smp_profile_node_kind(const struct smp_profile *profile, uint32_t node)
{
    const struct smp_thread_groups *const groups = profile->groups;

    if (!smp_thread_groups_has(groups, SMP_GROUP_COUNTED) &&
        !smp_thread_groups_has(groups, SMP_GROUP_HOLDERS))
        return SMP_GROUP_SAMPLED;
    return smp_thread_groups_kind_of_node(groups, smp_tree_nodes(profile->tree), node);
}

bool smp_profile_guesses_application(const struct smp_profile *profile)
{
    return profile->packages[0] == '\0' || strcmp(profile->packages, SMP_FILTER_AUTO) == 0;
}

bool smp_profile_misses_packages(const struct smp_profile *profile)
{
    const struct smp_node *const nodes = smp_tree_nodes(profile->tree);
    const size_t count = smp_tree_node_count(profile->tree);
    bool has_frames = false;

    if (profile->packages[0] == '\0')
        return false;
    for (uint32_t i = 1; i < count; i++) {
        struct smp_location_view view;
        if (smp_node_is_group(&nodes[i]))
            continue;
        smp_methods_view(profile->methods, nodes[i].location, &view);
        if ((view.is_monitored || !has_frames) &&
            smp_profile_node_kind(profile, i) != SMP_GROUP_SAMPLED)
            continue;
        if (view.is_monitored)
            return false;
        has_frames = has_frames || !view.is_pseudo;
    }
    return has_frames;
}

struct smp_profile *smp_profile_hold(struct smp_profile *profile)
{
    /* Relaxed: the caller has a hold already. */
    atomic_fetch_add_explicit(&profile->holders, 1, memory_order_relaxed);
    return profile;
}

void smp_profile_release(struct smp_profile *profile)
{
    if (profile == NULL)
        return;
    /* Acquire: the other holders' accesses happen before the last one frees the profile. */
    if (atomic_fetch_sub_explicit(&profile->holders, 1, memory_order_acq_rel) != 1)
        return;

    struct smp_quota *quota = profile->quota;

    smp_tree_destroy(profile->tree);
    smp_thread_groups_destroy(profile->groups);
    smp_profile_counts_fini(&profile->counts);
    smp_lock_times_destroy(profile->lock_times);
    smp_second_times_destroy(profile->seconds);
    smp_overloads_fini(&profile->overloads);
    smp_free(quota, profile->levels);
    smp_methods_release(profile->methods);
    smp_free(quota, profile);
    smp_quota_release(quota);
}

size_t smp_profile_bytes(const struct smp_profile *profile)
{
    return smp_tree_bytes(profile->tree) + smp_thread_groups_bytes(profile->groups) +
           smp_second_times_bytes(profile->seconds);
}

/* Judges a sampled group by wall time only: its root may have CPU time that no poll has seen. */
static bool has_anything(const struct smp_profile *profile, uint32_t index)
{
    const struct smp_group_info *const info = smp_profile_group_info(profile, index);

    return info->kind == SMP_GROUP_COUNTED
               ? info->root != 0 && smp_tree_has_any(profile->tree, info->root)
               : smp_profile_group_total(profile, index, SMP_MEASURE_WALL) > 0;
}

bool smp_profile_is_empty(const struct smp_profile *profile)
{
    const size_t count = smp_thread_groups_count(profile->groups);

    if (profile->tally.polls > 0 || profile->counters[SMP_COUNTER_DROPPED_INTERVALS] > 0 ||
        profile->signal_taker[0] != '\0')
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (has_anything(profile, i) && !smp_profile_group_is_jvm(profile, i))
            return false;
    }
    return true;
}
