/* SPDX-License-Identifier: Apache-2.0 */
#include "export/tree_walk.h"

#include "base/sort.h"

enum { FIRST_DEPTH = 256 };

void smp_tree_walk_init(struct smp_tree_walk *walk, struct smp_quota *quota,
                        const struct smp_tree *tree)
{
    *walk = (struct smp_tree_walk){ .tree = tree,
                                    .nodes = smp_tree_nodes(tree),
                                    .siblings = smp_tree_next_siblings(tree),
                                    .quota = quota };
}

void smp_tree_walk_fini(struct smp_tree_walk *walk)
{
    smp_free(walk->quota, walk->path);
    *walk = (struct smp_tree_walk){ 0 };
}

void smp_tree_walk_begin(struct smp_tree_walk *walk, uint32_t root)
{
    walk->root = root;
    walk->depth = 0;
}

/* Returns the first used node among node and its next siblings. */
static uint32_t first_used(const struct smp_tree_walk *walk, uint32_t node)
{
    while (node != 0 && walk->nodes[node].last_child == 0 && smp_tree_is_unused(walk->tree, node))
        node = walk->siblings[node];
    return node;
}

static bool push(struct smp_tree_walk *walk, uint32_t node)
{
    if (walk->depth == walk->capacity) {
        const size_t capacity = walk->capacity == 0 ? FIRST_DEPTH : 2 * walk->capacity;
        uint32_t *const path = smp_realloc(walk->quota, walk->path, capacity * sizeof(*path));
        if (path == NULL) {
            walk->status = SMP_ENOMEM;
            return false;
        }
        walk->path = path;
        walk->capacity = capacity;
    }
    walk->path[walk->depth++] = node;
    return true;
}

/* Moves to the first child or, without one, to the next sibling of the node or of the nearest node
 * above that has one. */
bool smp_tree_walk_next(struct smp_tree_walk *walk)
{
    const uint32_t at = walk->depth == 0 ? walk->root : smp_tree_walk_node(walk);
    uint32_t next = at == 0 ? 0 : first_used(walk, walk->nodes[at].last_child);

    while (next == 0 && walk->depth > 0) {
        next = first_used(walk, walk->siblings[smp_tree_walk_node(walk)]);
        walk->depth--;
    }
    if (next == 0) {
        walk->root = 0; /* later calls also return false */
        return false;
    }
    return push(walk, next);
}

/* --- the children of one node --- */

static bool is_hotter_child(const void *context, uint32_t a, uint32_t b)
{
    const struct smp_column wall = smp_tree_column(context, SMP_MEASURE_WALL);

    return smp_column_at(wall, a) > smp_column_at(wall, b);
}

static size_t count_used(const struct smp_tree *tree, uint32_t first)
{
    const uint32_t *const siblings = smp_tree_next_siblings(tree);
    size_t count = 0;

    for (uint32_t child = first; child != 0; child = siblings[child])
        count += smp_tree_is_unused(tree, child) ? 0 : 1;
    return count;
}

enum smp_status smp_children_init(struct smp_children *children, struct smp_quota *quota,
                                  const struct smp_tree *tree, uint64_t node)
{
    const uint32_t *const siblings = smp_tree_next_siblings(tree);
    uint32_t first = 0;
    size_t count = 0;

    *children = (struct smp_children){ .quota = quota };
    /* The children of node 0 are groups, not frames. */
    if (node == 0 || node >= smp_tree_node_count(tree))
        return SMP_EINVAL;
    first = smp_tree_nodes(tree)[node].last_child;
    count = count_used(tree, first);
    /* The second half is scratch memory; one more, because 0 bytes cannot be allocated. */
    children->nodes = smp_alloc(quota, (2 * count + 1) * sizeof(*children->nodes));
    if (children->nodes == NULL)
        return SMP_ENOMEM;
    for (uint32_t child = first; child != 0; child = siblings[child]) {
        if (!smp_tree_is_unused(tree, child))
            children->nodes[children->count++] = child;
    }
    smp_sort(children->nodes, children->nodes + count, count, is_hotter_child, tree);
    return SMP_OK;
}

void smp_children_fini(struct smp_children *children)
{
    smp_free(children->quota, children->nodes);
    *children = (struct smp_children){ 0 };
}
