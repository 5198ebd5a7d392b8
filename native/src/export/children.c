/* SPDX-License-Identifier: Apache-2.0 */
#include "export/children.h"

#include "base/sort.h"

static bool is_hotter_child(const void *context, uint32_t a, uint32_t b)
{
    const struct smp_profile *const profile = context;
    const struct smp_column wall = smp_tree_column(profile->tree, SMP_MEASURE_WALL);

    return smp_column_at(wall, a) > smp_column_at(wall, b);
}

static size_t count_used(const struct smp_profile *profile, uint32_t first)
{
    const uint32_t *const siblings = smp_tree_next_siblings(profile->tree);
    size_t count = 0;

    for (uint32_t child = first; child != 0; child = siblings[child])
        count += smp_tree_is_unused(profile->tree, child) ? 0 : 1;
    return count;
}

enum smp_status smp_children_init(struct smp_children *children, struct smp_quota *quota,
                                  const struct smp_profile *profile, uint64_t node)
{
    const uint32_t *const siblings = smp_tree_next_siblings(profile->tree);
    uint32_t first = 0;
    size_t count = 0;

    *children = (struct smp_children){ .quota = quota };
    /* The children of node 0 are groups, not frames. */
    if (node == 0 || node >= smp_tree_node_count(profile->tree))
        return SMP_EINVAL;
    first = smp_tree_nodes(profile->tree)[node].last_child;
    count = count_used(profile, first);
    /* The second half is scratch memory; one more, because 0 bytes cannot be allocated. */
    children->nodes = smp_alloc(quota, (2 * count + 1) * sizeof(*children->nodes));
    if (children->nodes == NULL)
        return SMP_ENOMEM;
    for (uint32_t child = first; child != 0; child = siblings[child]) {
        if (!smp_tree_is_unused(profile->tree, child))
            children->nodes[children->count++] = child;
    }
    smp_sort(children->nodes, children->nodes + count, count, is_hotter_child, profile);
    return SMP_OK;
}

void smp_children_fini(struct smp_children *children)
{
    smp_free(children->quota, children->nodes);
    *children = (struct smp_children){ 0 };
}
