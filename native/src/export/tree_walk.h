/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_walk.h - visits every stack of one group with its frames: depth first, children in the order
 * they were added, without recursion.
 *
 *   smp_tree_walk_begin(&walk, root);
 *   while (smp_tree_walk_next(&walk))
 *           walk.path[0] is a root frame's node, walk.path[walk.depth - 1] the current one
 *
 * And the children of one node, for readers that descend a tree step by step: in descending order
 * of wall time, equal ones in the order they were added.
 *
 * Unused nodes (tree.h) are skipped. A group's root is not a frame, and has no own amount
 * (interval.h).
 *
 * Owns     the path; the array of children.
 * Threads  a walk: one at a time. Children are immutable after init. The tree must be finished.
 * Errors   next: false, with status set, without memory for a deeper path. init of children:
 *          SMP_ENOMEM, SMP_EQUOTA, and there is nothing to fini; SMP_EINVAL: no such node.
 * Cost     next: a few loads. Children: one sort of them; 8 bytes for each.
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

/* Returns the current node's own amount. totals: a column of the tree. */
static inline int64_t smp_tree_walk_self(const struct smp_tree_walk *walk, struct smp_column totals)
{
    return smp_column_self(totals, walk->nodes, walk->siblings, smp_tree_walk_node(walk));
}

struct smp_children {
    struct smp_quota *quota;
    uint32_t *nodes;
    size_t count;
};

/* node: a group's root or a frame. It comes from Java and may be any number. */
SMP_CHECKED enum smp_status smp_children_init(struct smp_children *children,
                                              struct smp_quota *quota, const struct smp_tree *tree,
                                              uint64_t node);
void smp_children_fini(struct smp_children *children); /* all zero is fine */

#endif
