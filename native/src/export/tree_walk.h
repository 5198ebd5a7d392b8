/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_walk.h - visits every stack of one group with its frames: depth first, children in the order
 * they were added, without recursion.
 *
 *   smp_tree_walk_begin(&walk, root);
 *   while (smp_tree_walk_next(&walk))
 *           walk.path[0] is a root frame's node, walk.path[walk.depth - 1] the current one
 *
 * Unused nodes (tree.h) are skipped. A group's root is no frame, and has no own amount
 * (interval.h).
 *
 * Owns     the path.
 * Threads  one at a time; the tree must be sealed.
 * Errors   next: false, with status set, without memory for a deeper path.
 * Cost     next: a few loads.
 */
#ifndef SMP_EXPORT_TREE_WALK_H
#define SMP_EXPORT_TREE_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"
#include "model/tree.h"

/* Visible so that it can be a local variable; callers read only path, depth and status. */
struct smp_tree_walk {
    const struct smp_tree *tree;
    const struct smp_node *nodes;
    const uint32_t *siblings;
    struct smp_quota *quota;
    uint32_t *path; /* nodes */
    size_t depth;
    size_t capacity;
    uint32_t root;
    enum smp_status status;
};

void smp_tree_walk_init(struct smp_tree_walk *walk, struct smp_quota *quota,
                        const struct smp_tree *tree);
void smp_tree_walk_fini(struct smp_tree_walk *walk); /* all zero is fine */

/* root 0: a group without any stack. */
void smp_tree_walk_begin(struct smp_tree_walk *walk, uint32_t root);
bool smp_tree_walk_next(struct smp_tree_walk *walk);

static inline uint32_t smp_tree_walk_node(const struct smp_tree_walk *walk)
{
    return walk->path[walk->depth - 1];
}

/* The current node's own amount; totals: a column of the tree. */
static inline int64_t smp_tree_walk_self(const struct smp_tree_walk *walk, struct smp_column totals)
{
    return smp_column_self(totals, walk->nodes, walk->siblings, smp_tree_walk_node(walk));
}

#endif
