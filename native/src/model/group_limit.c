/* SPDX-License-Identifier: Apache-2.0 */
#include "model/group_limit.h"

#include <stdbool.h>
#include <string.h>

#include "base/sort.h"
#include "model/profile_merge.h"

struct group_limit {
    const struct smp_profile *profile;
    size_t most;       /* groups of each kind */
    size_t count;      /* of all */
    uint32_t *ranking; /* room for twice as many: the second half is for sorting */
    bool *is_joined;   /* by group index */
};

/* Returns a group's active time or, without states, its CPU time. */
static int64_t active_ns(const struct smp_profile *profile, uint32_t index)
{
    return (smp_tree_measures(profile->tree) & SMP_STATE_MEASURES) == 0
               ? smp_profile_group_total(profile, index, SMP_MEASURE_CPU)
               : smp_profile_group_active(profile, index);
}

/* Ties are ordered by wall time, then by first sight. */
static bool is_more_active(const void *context, uint32_t a, uint32_t b)
{
    const struct smp_profile *const profile = context;
    const int64_t left_ns = active_ns(profile, a);
    const int64_t right_ns = active_ns(profile, b);

    if (left_ns != right_ns)
        return left_ns > right_ns;
    return smp_profile_group_total(profile, a, SMP_MEASURE_WALL) >
           smp_profile_group_total(profile, b, SMP_MEASURE_WALL);
}

/* Returns whether the group always stays. */
static bool is_apart(const struct smp_profile *profile, uint32_t index)
{
    const struct smp_group group = { .index = index };

    return smp_thread_groups_is_overflow(profile->groups, group) ||
           smp_thread_groups_is_jvm(profile->groups, group) ||
           strcmp(smp_profile_group_info(profile, index)->name, SMP_OTHER_THREADS_NAME) == 0;
}

static bool has_too_many(const struct group_limit *limit)
{
    size_t of_kind[SMP_GROUP_KINDS] = { 0 };
    bool is_too_many = false;

    if (limit->most == 0 || limit->count <= limit->most)
        return false;
    for (uint32_t i = 0; i < limit->count; i++)
        of_kind[smp_profile_group_info(limit->profile, i)->kind] += !is_apart(limit->profile, i);
    for (int kind = 0; kind < SMP_GROUP_KINDS; kind++)
        is_too_many = is_too_many || of_kind[kind] > limit->most;
    return is_too_many;
}

/* Marks all but the most active of the first groups in the ranking. */
static void join_least_active(struct group_limit *limit, size_t ranked, size_t most)
{
    smp_sort(limit->ranking, limit->ranking + limit->count, ranked, is_more_active, limit->profile);
    for (size_t i = most; i < ranked; i++)
        limit->is_joined[limit->ranking[i]] = true;
}

static void join_sampled(struct group_limit *limit)
{
    size_t ranked = 0;

    for (uint32_t i = 0; i < limit->count; i++) {
        if (smp_profile_group_info(limit->profile, i)->kind == SMP_GROUP_SAMPLED &&
            !is_apart(limit->profile, i))
            limit->ranking[ranked++] = i;
    }
    join_least_active(limit, ranked, limit->most);
}

/* Groups of the other kinds follow the sampled group with their name. */
static void join_others(struct group_limit *limit, enum smp_group_kind kind)
{
    size_t stay = 0;
    size_t ranked = 0;

    for (uint32_t i = 0; i < limit->count; i++) {
        struct smp_group sampled;
        if (smp_profile_group_info(limit->profile, i)->kind != kind || is_apart(limit->profile, i))
            continue;
        if (!smp_thread_groups_of_same_name(limit->profile->groups,
                                            (struct smp_group){ .index = i }, SMP_GROUP_SAMPLED,
                                            &sampled))
            limit->ranking[ranked++] = i;
        else if (limit->is_joined[sampled.index])
            limit->is_joined[i] = true;
        else
            stay++;
    }
    join_least_active(limit, ranked, stay < limit->most ? limit->most - stay : 0);
}

static enum smp_status join_groups(struct smp_quota *quota, struct group_limit *limit,
                                   struct smp_profile **out)
{
    enum smp_status status = SMP_ENOMEM;

    limit->ranking = smp_alloc(quota, 2 * limit->count * sizeof(*limit->ranking));
    limit->is_joined = smp_alloc(quota, limit->count * sizeof(*limit->is_joined));
    if (limit->ranking != NULL && limit->is_joined != NULL) {
        join_sampled(limit);
        join_others(limit, SMP_GROUP_COUNTED);
        join_others(limit, SMP_GROUP_HOLDERS);
        status = smp_profile_join_groups(quota, limit->profile, limit->is_joined, out);
    }
    smp_free(quota, limit->is_joined);
    smp_free(quota, limit->ranking);
    return status;
}

struct smp_profile *smp_group_limit_apply(struct smp_quota *quota, struct smp_profile *profile,
                                          uint32_t times)
{
    struct group_limit limit = { .profile = profile,
                                 .most = (size_t)times * profile->max_groups,
                                 .count = smp_thread_groups_count(profile->groups) };
    struct smp_profile *joined = NULL;

    if (!has_too_many(&limit) || join_groups(quota, &limit, &joined) != SMP_OK)
        return profile;
    smp_profile_release(profile);
    return joined;
}
