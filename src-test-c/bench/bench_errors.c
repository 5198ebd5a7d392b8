/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_errors.c - the cost of error bars: for each node by which two stacks differ, for an
 * unchanged stack, and in memory. Trees with and without error sums are measured in turn.
 *
 * Times depend on the machine and are only shown. The program fails if a node takes more than 12
 * bytes.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/random.h"
#include "model/tree.h"

enum {
    DEPTH = 40,
    PASSES = 15, /* the best pass counts, because other programs disturb the others */
    PAIRS = 20000,
    MOST_BYTES = 12,
    PART_BYTES = 256 * 1024 * 1024
};

#define MS INT64_C(1000000)

static struct smp_tree *make_tree(uint32_t measures, uint32_t leaves, uint32_t *nodes)
{
    struct smp_tree *tree = NULL;
    uint32_t locations[DEPTH];
    uint64_t random = 7;
    uint32_t root = 0;

    if (smp_tree_create(NULL, measures, PART_BYTES, &tree) != SMP_OK ||
        smp_tree_root(tree, 1, &root) != SMP_OK)
        abort();
    for (uint32_t i = 0; i < leaves; i++) {
        /* Outer frames are those of other stacks, for half of the depth. */
        for (uint32_t k = 0; k < DEPTH; k++)
            locations[DEPTH - 1 - k] =
                1 + (k < DEPTH / 2 ? k : k * 1000 + (uint32_t)(smp_random_next(&random) % 900));
        if (smp_tree_add(tree, root, locations, DEPTH, &nodes[i]) != SMP_OK)
            abort();
    }
    return tree;
}

/* Returns the number of nodes that are in only one of the two paths. */
static size_t differing(const struct smp_tree *tree, uint32_t from, uint32_t to)
{
    const struct smp_node *const nodes = smp_tree_nodes(tree);
    size_t count = 0;

    for (; from != to; count++) {
        if (from > to)
            from = nodes[from].parent;
        else
            to = nodes[to].parent;
    }
    return count;
}

/* Returns the nanoseconds for all pairs. */
static double time_pairs(struct smp_tree *tree, const uint32_t *pairs, bool is_equal)
{
    const int64_t since_ns = smp_clock_own_cpu_ns();

    for (uint32_t i = 0; i + 1 < PAIRS; i++) {
        const uint32_t to = is_equal ? pairs[i] : pairs[i + 1];
        if (pairs[i] != to) /* the same condition as in smp_attribution_moved */
            smp_tree_moved(tree, pairs[i], to, smp_error_change(20 * MS, i % 3 == 0 ? 0.1 : 1), i);
        else
            __asm__ volatile("" ::: "memory");
    }
    return (double)(smp_clock_own_cpu_ns() - since_ns);
}

static void keep_least(double *best, double ns)
{
    if (*best <= 0 || ns < *best)
        *best = ns;
}

static bool measure(uint32_t leaves)
{
    uint32_t *const nodes = calloc(leaves, sizeof(*nodes));
    uint32_t *const pairs = calloc(PAIRS, sizeof(*pairs));
    struct smp_tree *trees[2];
    double moved_ns[2] = { 0 };
    double same_ns = 0;
    uint64_t random = 3;
    size_t differ = 0;

    if (nodes == NULL || pairs == NULL)
        abort();
    trees[0] = make_tree(SMP_SAMPLED_MEASURES | SMP_STATE_MEASURES, leaves, nodes);
    trees[1] =
        make_tree(SMP_SAMPLED_MEASURES | SMP_STATE_MEASURES | SMP_WITH_ERRORS, leaves, nodes);
    for (uint32_t i = 0; i < PAIRS; i++)
        pairs[i] = nodes[smp_random_next(&random) % leaves];
    for (uint32_t i = 0; i + 1 < PAIRS; i++)
        differ += differing(trees[1], pairs[i], pairs[i + 1]);
    for (int pass = 0; pass < PASSES; pass++) {
        for (int with = 0; with < 2; with++)
            keep_least(&moved_ns[with], time_pairs(trees[with], pairs, false));
        keep_least(&same_ns, time_pairs(trees[1], pairs, true));
    }
    const double count = (double)smp_tree_node_count(trees[1]);
    const double bytes =
        ((double)smp_tree_bytes(trees[1]) - (double)smp_tree_bytes(trees[0])) / count;
    printf("%9.0f nodes  %5.1f differ  %6.2f ns each (without: %5.2f)  same stack %5.2f ns  "
           "%5.2f bytes a node, of %.1f\n",
           count, (double)differ / (PAIRS - 1), moved_ns[1] / (double)differ,
           moved_ns[0] / (double)differ, same_ns / PAIRS, bytes,
           (double)smp_tree_bytes(trees[1]) / count);
    smp_tree_destroy(trees[0]);
    smp_tree_destroy(trees[1]);
    free(pairs);
    free(nodes);
    return bytes <= MOST_BYTES + 65536 / count;
}

int main(void)
{
    bool is_small = true;

    printf("stacks of %d frames; wanted: at most 8 ns for each node that differs, nothing for the "
           "same stack, %d bytes\n",
           DEPTH, MOST_BYTES);
    for (uint32_t leaves = 30; leaves <= 30000; leaves *= 10)
        is_small = measure(leaves) && is_small;
    return is_small ? 0 : 1;
}
