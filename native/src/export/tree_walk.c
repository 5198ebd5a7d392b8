/* SPDX-License-Identifier: Apache-2.0 */
#include "export/tree_walk.h"

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

/* Moves to the first child, else to the next sibling, else to the next sibling of the nearest node
 * above. */
bool smp_tree_walk_next(struct smp_tree_walk *walk)
{
    const uint32_t at = walk->depth == 0 ? walk->root : smp_tree_walk_node(walk);
    uint32_t next = at == 0 ? 0 : first_used(walk, walk->nodes[at].last_child);

    while (next == 0 && walk->depth > 0) {
        next = first_used(walk, walk->siblings[smp_tree_walk_node(walk)]);
        walk->depth--;
    }
    if (next == 0) {
        walk->root = 0; /* later calls return false, too */
        return false;
    }
    return push(walk, next);
}
