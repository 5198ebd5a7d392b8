/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_calls.c - one pass downwards, so that a parent's counted node is known before its children's.
 * All children of a node are handled together, so that a counted node of several of them counts as
 * one path.
 */
#include "export/row_calls.h"

#include <string.h>

struct matching {
    const struct smp_profile *profile;
    const struct smp_node *nodes;
    const uint32_t *siblings;
    uint32_t *reached; /* by node: the counted node reached; 0: none */
    uint32_t *paths;
    uint32_t *seen; /* by counted node: the last node with a child that corresponds to it */
};

static struct smp_location_view view_at(const struct matching *matching, uint32_t node)
{
    struct smp_location_view view;

    smp_methods_view(matching->profile->methods, matching->nodes[node].location, &view);
    return view;
}

static bool is_of_method(const struct matching *matching, uint32_t node,
                         const struct smp_location_view *view)
{
    const struct smp_location_view other = view_at(matching, node);

    return smp_location_is_same_method(view, &other);
}

/* Returns the counted node to which a frame leads, or place if the frame is not counted there. */
static uint32_t step_down(const struct matching *matching, uint32_t place, uint32_t node)
{
    const struct smp_location_view view = view_at(matching, node);
    uint32_t child = matching->nodes[place].last_child;

    while (child != 0 && !is_of_method(matching, child, &view))
        child = matching->siblings[child];
    return child == 0 ? place : child;
}

/* Returns the root of the counted tree of the group with the same name; 0 if there is none. */
static uint32_t counted_root(const struct smp_profile *profile, uint32_t index)
{
    struct smp_group group = { .index = index };

    if (smp_thread_groups_kind(profile->groups, group) != SMP_GROUP_SAMPLED ||
        !smp_thread_groups_of_same_name(profile->groups, group, SMP_GROUP_COUNTED, &group))
        return 0;
    return smp_thread_groups_info(profile->groups, group)->root;
}

static void match_children(struct matching *matching, uint32_t node)
{
    const uint32_t place = matching->reached[node];

    for (uint32_t child = matching->nodes[node].last_child; child != 0;
         child = matching->siblings[child]) {
        const uint32_t next = step_down(matching, place, child);
        matching->reached[child] = next;
        if (next != place && matching->seen[next] != node) {
            matching->seen[next] = node;
            matching->paths[next]++;
        }
    }
}

static void match(struct matching *matching, size_t node_count)
{
    for (uint32_t node = 1; node < node_count; node++) {
        const struct smp_node *const at = &matching->nodes[node];
        if (smp_node_is_group(at))
            matching->reached[node] = counted_root(matching->profile, smp_node_group(at));
        if (matching->reached[node] != 0)
            match_children(matching, node);
    }
    /* A node that only inherited its parent's counted node corresponds to none. The loop runs
     * upwards, so that the parent's entry is still there. */
    for (uint32_t node = (uint32_t)node_count - 1; node > 0; node--) {
        const struct smp_node *const at = &matching->nodes[node];
        if (smp_node_is_group(at) || matching->reached[node] == matching->reached[at->parent])
            matching->reached[node] = 0;
    }
}

enum smp_status smp_row_calls_init(struct smp_row_calls *calls, struct smp_quota *quota,
                                   const struct smp_profile *profile)
{
    const size_t node_count = smp_tree_node_count(profile->tree);
    struct matching matching = { .profile = profile,
                                 .nodes = smp_tree_nodes(profile->tree),
                                 .siblings = smp_tree_next_siblings(profile->tree) };

    *calls = (struct smp_row_calls){ .quota = quota };
    if (!smp_thread_groups_has(profile->groups, SMP_GROUP_COUNTED))
        return SMP_OK;
    calls->counted = smp_alloc(quota, node_count * sizeof(*calls->counted));
    calls->paths = smp_alloc(quota, node_count * sizeof(*calls->paths));
    calls->claimed = smp_alloc(quota, node_count * sizeof(*calls->claimed));
    if (calls->counted == NULL || calls->paths == NULL || calls->claimed == NULL) {
        smp_row_calls_fini(calls);
        return SMP_ENOMEM;
    }
    matching.reached = calls->counted;
    matching.paths = calls->paths;
    matching.seen = calls->claimed;
    match(&matching, node_count);
    memset(calls->claimed, 0, node_count * sizeof(*calls->claimed));
    return SMP_OK;
}

void smp_row_calls_fini(struct smp_row_calls *calls)
{
    smp_free(calls->quota, calls->claimed);
    smp_free(calls->quota, calls->paths);
    smp_free(calls->quota, calls->counted);
    *calls = (struct smp_row_calls){ 0 };
}

void smp_row_calls_claim(struct smp_row_calls *calls, uint32_t above, uint32_t node)
{
    const uint32_t counted = smp_row_calls_node(calls, node);

    if (counted == 0)
        return;
    if (calls->claimed[counted] == above)
        calls->counted[node] = 0;
    calls->claimed[counted] = above;
}

static void choose_child(struct smp_row_calls *calls, const struct smp_node *nodes,
                         struct smp_column wall, uint32_t above, uint32_t child)
{
    const uint32_t counted = smp_row_calls_node(calls, child);
    const uint32_t chosen = calls->claimed[counted];

    if (counted != 0 && (chosen == 0 || nodes[chosen].parent != above ||
                         smp_column_at(wall, child) > smp_column_at(wall, chosen)))
        calls->claimed[counted] = child;
}

void smp_row_calls_choose(struct smp_row_calls *calls, const struct smp_profile *profile)
{
    const struct smp_node *const nodes = smp_tree_nodes(profile->tree);
    const uint32_t *const siblings = smp_tree_next_siblings(profile->tree);
    const struct smp_column wall = smp_tree_column(profile->tree, SMP_MEASURE_WALL);
    const size_t node_count = calls->counted == NULL ? 0 : smp_tree_node_count(profile->tree);

    for (uint32_t above = 1; above < node_count; above++) {
        for (uint32_t child = nodes[above].last_child; child != 0; child = siblings[child])
            choose_child(calls, nodes, wall, above, child);
        for (uint32_t child = nodes[above].last_child; child != 0; child = siblings[child]) {
            if (calls->claimed[smp_row_calls_node(calls, child)] != child)
                calls->counted[child] = 0;
        }
    }
}
