/* SPDX-License-Identifier: Apache-2.0 */
#include "export/hot_groups.h"

#include <string.h>

#include "base/sort.h"
#include "model/name_rule.h"

static bool is_hotter_group(const void *context, uint32_t a, uint32_t b)
{
    const struct smp_profile *const profile = context;
    const int64_t left_ns = smp_profile_group_total(profile, a, SMP_MEASURE_WALL);
    const int64_t right_ns = smp_profile_group_total(profile, b, SMP_MEASURE_WALL);

    if (smp_profile_group_is_jvm(profile, a) != smp_profile_group_is_jvm(profile, b))
        return smp_profile_group_is_jvm(profile, b);
    if (left_ns != right_ns)
        return left_ns > right_ns;
    return strcmp(smp_profile_group_info(profile, a)->name,
                  smp_profile_group_info(profile, b)->name) < 0;
}

static int64_t group_active_ms(const struct smp_profile *profile, uint32_t index)
{
    return smp_measure_printed(SMP_MEASURE_WALL, smp_profile_group_active(profile, index));
}

static bool is_more_active_group(const void *context, uint32_t a, uint32_t b)
{
    return group_active_ms(context, a) > group_active_ms(context, b);
}

static bool is_hot(const struct smp_profile *profile, uint32_t index, enum smp_group_kind kind)
{
    const struct smp_group_info *const info = smp_profile_group_info(profile, index);

    if (info->kind != kind)
        return false;
    if (kind == SMP_GROUP_COUNTED)
        return info->root != 0 && smp_tree_has_any(profile->tree, info->root);
    return info->tally.polls > 0 || smp_profile_group_total(profile, index, SMP_MEASURE_WALL) > 0;
}

enum smp_status smp_hot_groups_init(struct smp_hot_groups *groups, struct smp_quota *quota,
                                    const struct smp_profile *profile, enum smp_group_kind kind)
{
    const size_t count = smp_thread_groups_count(profile->groups);

    *groups = (struct smp_hot_groups){ .quota = quota };
    if (!smp_thread_groups_has(profile->groups, kind))
        return SMP_OK;
    /* The second half is scratch memory; one more, because 0 bytes cannot be allocated. */
    groups->indices = smp_alloc(quota, (2 * count + 1) * sizeof(*groups->indices));
    if (groups->indices == NULL)
        return SMP_ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        if (is_hot(profile, i, kind))
            groups->indices[groups->count++] = i;
    }
    smp_sort(groups->indices, groups->indices + count, groups->count, is_hotter_group, profile);
    return SMP_OK;
}

enum smp_status smp_hot_groups_init_all(struct smp_hot_groups groups[SMP_GROUP_KINDS],
                                        struct smp_quota *quota, const struct smp_profile *profile)
{
    enum smp_status status = SMP_OK;

    memset(groups, 0, SMP_GROUP_KINDS * sizeof(*groups));
    for (int kind = 0; kind < SMP_GROUP_KINDS && status == SMP_OK; kind++)
        status = smp_hot_groups_init(&groups[kind], quota, profile, (enum smp_group_kind)kind);
    if (status != SMP_OK)
        smp_hot_groups_fini_all(groups);
    return status;
}

void smp_hot_groups_fini_all(struct smp_hot_groups groups[SMP_GROUP_KINDS])
{
    for (int kind = 0; kind < SMP_GROUP_KINDS; kind++)
        smp_hot_groups_fini(&groups[kind]);
}

/* Groups without active time are already in order. */
void smp_hot_groups_sort_active(struct smp_hot_groups *groups, const struct smp_profile *profile)
{
    uint32_t *scratch;
    size_t active = 0;
    size_t rest = 0;

    if (groups->count < 2)
        return;
    scratch = groups->indices + groups->count;
    for (size_t i = 0; i < groups->count; i++) {
        const uint32_t index = groups->indices[i];
        const bool is_active = !smp_profile_group_is_jvm(profile, index) &&
                               group_active_ms(profile, index) > 0 &&
                               !smp_hot_group_is_idle(profile, index);
        if (is_active)
            groups->indices[active++] = index;
        else
            scratch[rest++] = index;
    }
    if (rest > 0)
        memcpy(groups->indices + active, scratch, rest * sizeof(*scratch));
    if (active > 1)
        smp_sort(groups->indices, scratch, active, is_more_active_group, profile);
}

void smp_hot_groups_fini(struct smp_hot_groups *groups)
{
    smp_free(groups->quota, groups->indices);
    *groups = (struct smp_hot_groups){ 0 };
}

const char *smp_hot_group_name(const struct smp_group_info *group)
{
    return group->name[0] == '\0' ? SMP_UNNAMED : group->name;
}

int64_t smp_hot_group_whole(const struct smp_profile *profile, uint32_t index,
                            enum smp_measure measure)
{
    const enum smp_group_kind kind = smp_profile_kind_of(measure);
    struct smp_group group = { .index = index };

    if (kind == SMP_GROUP_SAMPLED ||
        smp_profile_group_info(profile, index)->kind == SMP_GROUP_HOLDERS)
        return smp_profile_group_total(profile, index, measure);
    return smp_thread_groups_of_same_name(profile->groups, group, kind, &group)
               ? smp_profile_group_total(profile, group.index, measure)
               : 0;
}

/* Returns whether this is the frame of a poll without a stack. */
static bool is_without_stack(const struct smp_profile *profile, uint32_t location)
{
    struct smp_location_view view;
    bool is_one = false;

    smp_profile_view(profile, location, &view);
    for (int i = 0; view.is_pseudo && i < SMP_OUTCOME_COUNT && !is_one; i++) {
        const enum smp_outcome outcome = (enum smp_outcome)i;
        is_one = !smp_outcome_is_sample(outcome) &&
                 strcmp(view.class_name, smp_outcome_frame(outcome)) == 0;
    }
    return is_one;
}

int64_t smp_hot_group_without_stack(const struct smp_profile *profile, uint32_t index)
{
    const struct smp_node *const nodes = smp_tree_nodes(profile->tree);
    const uint32_t *const siblings = smp_tree_next_siblings(profile->tree);
    const struct smp_column wall = smp_tree_column(profile->tree, SMP_MEASURE_WALL);
    const uint32_t root = smp_profile_group_info(profile, index)->root;
    int64_t without_ns = 0;

    for (uint32_t node = root == 0 ? 0 : nodes[root].last_child; node != 0; node = siblings[node]) {
        if (is_without_stack(profile, nodes[node].location))
            without_ns = smp_add_clamped(without_ns, smp_column_at(wall, node));
    }
    return without_ns;
}

bool smp_hot_group_is_idle(const struct smp_profile *profile, uint32_t index)
{
    const int64_t idle_ns = smp_profile_group_total(profile, index, SMP_MEASURE_IDLE);

    return smp_measure_printed(SMP_MEASURE_IDLE, idle_ns) > 0 &&
           smp_measure_printed(SMP_MEASURE_WALL,
                               smp_subtract_clamped(smp_profile_group_active(profile, index),
                                                    smp_hot_group_without_stack(profile, index))) ==
               0;
}
