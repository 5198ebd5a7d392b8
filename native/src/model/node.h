/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node.h - a node of a tree (tree.h): a frame below those that called it, or a group's root.
 *
 * Threads  plain data.
 */
#ifndef SMP_MODEL_NODE_H
#define SMP_MODEL_NODE_H

#include <stdbool.h>
#include <stdint.h>

/* Marks the location of a group's root; the other bits are the group's index. */
#define SMP_LOCATION_GROUP 0x80000000u

/*
 * Marks the location of a leaf below the node of its stack; the other bits are the counted node of
 * the same tree in which the thread was. The root of a counted group means that the thread was in a
 * probe. Only open trees have such leaves: finish folds them into the node of their stack.
 */
#define SMP_LOCATION_CALL 0x40000000u

struct smp_node {
    uint32_t parent;
    uint32_t location;
    uint32_t last_child; /* open: the child found last, 0 = no child. finished: the first child */
    uint32_t row;        /* of its amounts. open: 0 = they are zero, or those of its only child */
};

static inline bool smp_node_is_group(const struct smp_node *node)
{
    return (node->location & SMP_LOCATION_GROUP) != 0;
}

static inline bool smp_node_is_call(const struct smp_node *node)
{
    return (node->location & (SMP_LOCATION_CALL | SMP_LOCATION_GROUP)) == SMP_LOCATION_CALL;
}

/* Returns the group's index. node must be a group's root. */
static inline uint32_t smp_node_group(const struct smp_node *node)
{
    return node->location & ~SMP_LOCATION_GROUP;
}

/* Returns the root of the node's group. node is not 0. O(depth). */
static inline uint32_t smp_node_root(const struct smp_node *nodes, uint32_t node)
{
    while (!smp_node_is_group(&nodes[node]))
        node = nodes[node].parent;
    return node;
}

#endif
