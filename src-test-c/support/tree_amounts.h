/* SPDX-License-Identifier: Apache-2.0 */
/* tree_amounts.h - a tree's amounts of the three measures that every profile holds. */
#ifndef SMP_TEST_TREE_AMOUNTS_H
#define SMP_TEST_TREE_AMOUNTS_H

#include "model/tree.h"

static inline void tree_credit(struct smp_tree *tree, uint32_t node, int64_t wall_ns,
                               int64_t cpu_ns, int64_t samples)
{
    smp_tree_credit(tree, node, SMP_MEASURE_WALL, wall_ns);
    smp_tree_credit(tree, node, SMP_MEASURE_CPU, cpu_ns);
    smp_tree_credit(tree, node, SMP_MEASURE_SAMPLES, samples);
}

/* While the tree is open: the node's own amount. Once it is finished: the total. */
static inline int64_t tree_wall(const struct smp_tree *tree, uint32_t node)
{
    return smp_column_at(smp_tree_column(tree, SMP_MEASURE_WALL), node);
}

static inline int64_t tree_cpu(const struct smp_tree *tree, uint32_t node)
{
    return smp_column_at(smp_tree_column(tree, SMP_MEASURE_CPU), node);
}

static inline uint64_t tree_own_samples(const struct smp_tree *tree, uint32_t node)
{
    return (uint64_t)smp_tree_self(tree, node, SMP_MEASURE_SAMPLES);
}

#endif
