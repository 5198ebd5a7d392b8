/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_diff.c - the nodes of each side are added to one tree. Parents come before children, so a
 * node's parent has its place already.
 *
 *   node ──► places[side][node]       group ──► groups[side][group]       location ──► adopted[..]
 */
#include "model/profile_diff.h"

#include <math.h>
#include <string.h>

#include "model/error_range.h"

/* Mark the kind in the location of a group's place; a sampled group has no mark. Groups of the same
 * name but different kinds are different groups. */
#define COUNTED SMP_LOCATION_GROUP
#define HOLDERS (SMP_LOCATION_GROUP >> 1)

enum {
    /* The most for the names of both sides, unless a quota is lower. Reserved, not used. */
    MAX_NAMES_BYTES = 256 * 1024 * 1024,
    TREE_STEPS_BYTES = 4 * 64 * 1024
};

struct smp_profile_diff {
    struct smp_quota *quota;
    const struct smp_profile *profiles[SMP_DIFF_SIDES];
    struct smp_methods *names;
    struct smp_tree *tree; /* without measures */
    uint32_t *groups[SMP_DIFF_SIDES];
    uint32_t *places[SMP_DIFF_SIDES];
};

static size_t group_count(const struct smp_profile *profile)
{
    return profile == NULL ? 0 : smp_thread_groups_count(profile->groups);
}

static size_t node_count(const struct smp_profile *profile)
{
    return profile == NULL ? 1 : smp_tree_node_count(profile->tree);
}

/* --- the parts --- */

static enum smp_status make_names(struct smp_profile_diff *diff)
{
    const size_t limit = diff->quota == NULL ? SIZE_MAX : diff->quota->limit_bytes;

    return smp_methods_create(diff->quota, limit < MAX_NAMES_BYTES ? limit : MAX_NAMES_BYTES, NULL,
                              &diff->names);
}

static enum smp_status make_tree(struct smp_profile_diff *diff)
{
    size_t places = 0;

    for (int side = 0; side < SMP_DIFF_SIDES; side++)
        places += node_count(diff->profiles[side]) + group_count(diff->profiles[side]);
    return smp_tree_create(diff->quota, 0, places * smp_tree_node_bytes(0) + TREE_STEPS_BYTES,
                           &diff->tree);
}

static enum smp_status make_side_arrays(struct smp_profile_diff *diff, enum smp_diff_side side)
{
    const struct smp_profile *const profile = diff->profiles[side];

    /* One more than needed, because 0 bytes cannot be allocated. */
    diff->groups[side] =
        smp_alloc(diff->quota, (group_count(profile) + 1) * sizeof(*diff->groups[side]));
    diff->places[side] = smp_alloc(diff->quota, node_count(profile) * sizeof(*diff->places[side]));
    return diff->groups[side] != NULL && diff->places[side] != NULL ? SMP_OK : SMP_ENOMEM;
}

/* --- adding a side --- */

static enum smp_status add_side_groups(struct smp_profile_diff *diff, enum smp_diff_side side)
{
    const struct smp_profile *const profile = diff->profiles[side];
    static const uint32_t tags[SMP_GROUP_KINDS] = {
        [SMP_GROUP_COUNTED] = COUNTED, [SMP_GROUP_HOLDERS] = HOLDERS
    };
    const size_t count = group_count(profile);
    enum smp_status status = SMP_OK;

    for (uint32_t i = 0; i < count && status == SMP_OK; i++) {
        const struct smp_group_info *const info = smp_profile_group_info(profile, i);
        const uint32_t name = smp_methods_try_pseudo(diff->names, info->name);
        const uint32_t location = name | tags[info->kind];
        status = name == SMP_LOCATION_NONE
                     ? SMP_ENOMEM
                     : smp_tree_add(diff->tree, 0, &location, 1, &diff->groups[side][i]);
    }
    return status;
}

struct addition {
    struct smp_profile_diff *diff;
    enum smp_diff_side side;
    bool by_line;
    uint32_t *adopted; /* by location of the side's profile: its location in names, once known */
};

/* Returns the name with its parameters if a side shows them, else NULL. */
static const char *name_with_parameters(const struct addition *addition, uint32_t location)
{
    const char *name = NULL;
    struct smp_location_view view;

    smp_methods_view(addition->diff->profiles[addition->side]->methods, location, &view);
    for (int side = 0; side < SMP_DIFF_SIDES && name == NULL; side++) {
        const struct smp_profile *const profile = addition->diff->profiles[side];
        if (profile != NULL)
            name = smp_overloads_find(&profile->overloads, profile->methods, &view);
    }
    return name;
}

static uint32_t adopt_text(const struct addition *addition, uint32_t location)
{
    uint32_t *const known = &addition->adopted[location];

    if (*known == SMP_LOCATION_NONE)
        *known = smp_methods_adopt_text(
            addition->diff->names, addition->diff->profiles[addition->side]->methods, location,
            addition->by_line, name_with_parameters(addition, location));
    return *known;
}

static enum smp_status add_side_node(const struct addition *addition, const struct smp_node *node,
                                     uint32_t *place)
{
    struct smp_profile_diff *const diff = addition->diff;
    uint32_t location;

    if (smp_node_is_group(node)) {
        *place = diff->groups[addition->side][smp_node_group(node)];
        return SMP_OK;
    }
    location = adopt_text(addition, node->location);
    if (location == SMP_LOCATION_NONE)
        return SMP_ENOMEM;
    return smp_tree_add(diff->tree, diff->places[addition->side][node->parent], &location, 1,
                        place);
}

static enum smp_status add_side_nodes(struct smp_profile_diff *diff, enum smp_diff_side side,
                                      bool by_line)
{
    const struct smp_profile *const profile = diff->profiles[side];
    const struct smp_node *const nodes = smp_tree_nodes(profile->tree);
    const size_t count = node_count(profile);
    struct addition addition = { .diff = diff, .side = side, .by_line = by_line };
    enum smp_status status = SMP_OK;

    addition.adopted = smp_alloc(diff->quota, profile->location_count * sizeof(*addition.adopted));
    if (addition.adopted == NULL)
        return SMP_ENOMEM;
    for (uint32_t i = 1; i < count && status == SMP_OK; i++)
        status = add_side_node(&addition, &nodes[i], &diff->places[side][i]);
    smp_free(diff->quota, addition.adopted);
    return status;
}

static enum smp_status add_side(struct smp_profile_diff *diff, enum smp_diff_side side,
                                bool by_line)
{
    enum smp_status status = make_side_arrays(diff, side);

    if (status == SMP_OK)
        status = add_side_groups(diff, side);
    if (status == SMP_OK && diff->profiles[side] != NULL)
        status = add_side_nodes(diff, side, by_line);
    return status;
}

/* --- public --- */

enum smp_status smp_profile_diff_create(struct smp_quota *quota,
                                        const struct smp_profile *const profiles[SMP_DIFF_SIDES],
                                        bool by_line, struct smp_profile_diff **out)
{
    struct smp_profile_diff *diff = smp_alloc(quota, sizeof(*diff));
    enum smp_status status;

    if (diff == NULL)
        return SMP_ENOMEM;
    diff->quota = quota;
    memcpy(diff->profiles, profiles, sizeof(diff->profiles));
    status = make_names(diff);
    if (status == SMP_OK)
        status = make_tree(diff);
    for (int side = 0; side < SMP_DIFF_SIDES && status == SMP_OK; side++)
        status = add_side(diff, (enum smp_diff_side)side, by_line);
    if (status == SMP_OK)
        *out = diff;
    else
        smp_profile_diff_destroy(diff);
    return status;
}

void smp_profile_diff_destroy(struct smp_profile_diff *diff)
{
    if (diff == NULL)
        return;
    for (int side = 0; side < SMP_DIFF_SIDES; side++) {
        smp_free(diff->quota, diff->places[side]);
        smp_free(diff->quota, diff->groups[side]);
    }
    smp_tree_destroy(diff->tree);
    smp_methods_release(diff->names);
    smp_free(diff->quota, diff);
}

size_t smp_profile_diff_count(const struct smp_profile_diff *diff)
{
    return smp_tree_node_count(diff->tree);
}

uint32_t smp_profile_diff_parent(const struct smp_profile_diff *diff, uint32_t place)
{
    return smp_tree_nodes(diff->tree)[place].parent;
}

uint32_t smp_profile_diff_location(const struct smp_profile_diff *diff, uint32_t place)
{
    return smp_tree_nodes(diff->tree)[place].location & ~(COUNTED | HOLDERS);
}

const struct smp_methods *smp_profile_diff_names(const struct smp_profile_diff *diff)
{
    return diff->names;
}

uint32_t smp_profile_diff_group(const struct smp_profile_diff *diff, enum smp_diff_side side,
                                uint32_t group)
{
    return diff->groups[side][group];
}

uint32_t smp_profile_diff_place(const struct smp_profile_diff *diff, enum smp_diff_side side,
                                uint32_t node)
{
    return diff->places[side][node];
}

uint32_t smp_profile_diff_measures(const struct smp_profile_diff *diff)
{
    uint32_t any = 0;
    uint32_t all = SMP_ALL_MEASURES;

    for (int side = 0; side < SMP_DIFF_SIDES; side++) {
        if (diff->profiles[side] == NULL)
            continue;
        any |= smp_tree_measures(diff->profiles[side]->tree);
        all &= smp_tree_measures(diff->profiles[side]->tree);
    }
    return smp_common_measures(any, all);
}

void smp_profile_diff_sum(const struct smp_profile_diff *diff, enum smp_diff_side side,
                          enum smp_measure measure, int64_t *sums)
{
    const struct smp_profile *const profile = diff->profiles[side];
    const size_t count = node_count(profile);

    memset(sums, 0, smp_profile_diff_count(diff) * sizeof(*sums));
    for (uint32_t i = 1; i < count; i++) {
        int64_t *const sum = &sums[diff->places[side][i]];
        *sum = smp_add_clamped(*sum, smp_tree_self(profile->tree, i, measure));
    }
}

/* Errors of several nodes of a place are independent, so their squares add up. */
static int64_t add_half(int64_t to, int64_t more)
{
    const double sum = (double)to * (double)to + (double)more * (double)more;

    return to < 0 || more < 0 ? -1 : (int64_t)sqrt(sum);
}

static int64_t half_of(const struct smp_group_errors *errors, uint32_t node,
                       enum smp_measure measure)
{
    struct smp_error_range range;

    if (smp_column_at(smp_tree_column(errors->profile->tree, measure), node) == 0)
        return 0;
    return smp_group_errors_range(errors, node, measure, &range) ? range.upper / 2 - range.lower / 2
                                                                 : -1;
}

/* A group's root comes before the nodes below it, but nodes of different groups alternate. */
void smp_profile_diff_errors(const struct smp_profile_diff *diff, enum smp_diff_side side,
                             enum smp_measure measure, int64_t *halves)
{
    const struct smp_profile *const profile = diff->profiles[side];
    const size_t count = node_count(profile);
    struct smp_group_errors errors = { 0 };
    uint32_t root = 0;

    memset(halves, 0, smp_profile_diff_count(diff) * sizeof(*halves));
    for (uint32_t i = 1; i < count; i++) {
        int64_t *const half = &halves[diff->places[side][i]];
        const uint32_t of_node = smp_node_root(smp_tree_nodes(profile->tree), i);
        if (i == 1 || of_node != root)
            errors = smp_group_errors_of(profile, of_node);
        root = of_node;
        *half = add_half(*half, half_of(&errors, i, measure));
    }
}
