/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_fold.c - a million random stacks, 40 frames deep and all different, in a tree with the
 * default memory limit; and ten stacks, of which nine have a thousandth of the time each and one
 * has two hundredths.
 *
 * Shows the size of a node and a stack until the tree is full, the cost of a fold, and the final
 * tree. Times depend on the machine and are only shown. The program fails if a promise is broken
 * that does not depend on the machine: a node takes at most MAX_NODE_BYTES, no time is lost, and
 * each of the ten stacks has all its time at least since the first fold.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/random.h"
#include "model/tree_fold.h"
#include "support/must.h"

enum {
    STACKS = 1000000,
    DEPTH = 40,
    HOT = 10,
    SESSION_BYTES = 64 * 1024 * 1024,
    TREE_BYTES = SESSION_BYTES / 3,
    FOLDED = 1000001,
    OVER_LIMIT = 1000002,
    MAX_NODE_BYTES = 32,
    MS = 1000000
};

struct bench {
    struct smp_quota quota;
    struct smp_tree *tree;
    uint32_t root;
    uint64_t random;
    uint64_t hot_polls[HOT];
    size_t folds;
    size_t gone;
    int64_t fold_ns;
    int64_t longest_fold_ns;
    size_t refused;
};

static void renumber(void *context, const uint32_t *places)
{
    struct bench *bench = context;

    bench->root = places[bench->root];
}

static void fold(struct bench *bench)
{
    const struct smp_tree_folding folding = {
        .folded = FOLDED, .kept = OVER_LIMIT, .renumber = renumber, .context = bench
    };
    const int64_t since_ns = smp_clock_own_cpu_ns();

    bench->gone += smp_tree_fold(bench->tree, &folding);
    const int64_t took_ns = smp_clock_own_cpu_ns() - since_ns;
    bench->folds++;
    bench->fold_ns += took_ns;
    if (took_ns > bench->longest_fold_ns)
        bench->longest_fold_ns = took_ns;
}

/* There are two methods per frame, so after twenty frames hardly any two stacks are equal. */
static void make_stack(struct bench *bench, uint32_t *locations)
{
    const uint64_t bits = smp_random_next(&bench->random);

    for (uint32_t i = 0; i < DEPTH; i++)
        locations[i] = 1 + 2 * i + (uint32_t)(bits >> (i + 8) & 1);
}

static void credit(struct bench *bench, const uint32_t *locations, size_t count, uint32_t tick,
                   uint32_t *last)
{
    uint32_t leaf = 0;

    if (smp_tree_add(bench->tree, bench->root, locations, count, &leaf) != SMP_OK) {
        const uint32_t over = OVER_LIMIT;
        bench->refused++;
        must(smp_tree_add(bench->tree, bench->root, &over, 1, &leaf) == SMP_OK, "over limit");
    }
    smp_tree_credit_wall(bench->tree, leaf, SMP_STATE_RUNNING, MS);
    smp_tree_credit(bench->tree, leaf, SMP_MEASURE_CPU, MS);
    smp_tree_credit(bench->tree, leaf, SMP_MEASURE_SAMPLES, 1);
    smp_tree_moved(bench->tree, *last, leaf, 1, tick);
    *last = leaf;
}

/* Nine polls in a thousand find one of the nine stacks, and twenty find the last one. */
static void poll(struct bench *bench, uint32_t tick, uint32_t *last)
{
    uint32_t locations[DEPTH];
    const uint32_t pick = (uint32_t)(smp_random_next(&bench->random) % 1000);
    const uint32_t hot = pick < HOT - 1 ? pick : HOT - 1;

    if (pick < HOT - 1 + 20) {
        const uint32_t location = 1000 + hot;
        bench->hot_polls[hot]++;
        credit(bench, &location, 1, tick, last);
        return;
    }
    make_stack(bench, locations);
    credit(bench, locations, DEPTH, tick, last);
}

static void print_figure(const char *what, double figure, const char *unit)
{
    printf("%-44s %12.1f %s\n", what, figure, unit);
}

static size_t count_leaves(const struct smp_tree *tree)
{
    const struct smp_node *const nodes = smp_tree_nodes(tree);
    size_t leaves = 0;

    for (uint32_t node = 1; node < smp_tree_node_count(tree); node++)
        leaves += nodes[node].last_child == 0 && nodes[node].location != FOLDED &&
                  nodes[node].location != OVER_LIMIT;
    return leaves;
}

static void print_full(const struct bench *bench, uint32_t polls)
{
    const double bytes = (double)smp_tree_bytes(bench->tree);
    const double nodes = (double)smp_tree_node_count(bench->tree);

    print_figure("full after", polls, "polls");
    print_figure("stacks then", (double)count_leaves(bench->tree), "");
    print_figure("nodes then", nodes, "");
    print_figure("a node", bytes / nodes, "bytes");
    print_figure("a stack", bytes / (double)count_leaves(bench->tree), "bytes");
    must(bytes / nodes <= MAX_NODE_BYTES, "a node takes more than it may");
}

/* Each of the ten stacks is a separate node below the root. */
static void check_hot(const struct bench *bench)
{
    const struct smp_node *const nodes = smp_tree_nodes(bench->tree);

    for (uint32_t node = 1; node < smp_tree_node_count(bench->tree); node++) {
        const uint32_t hot = nodes[node].location - 1000;
        if (nodes[node].parent != bench->root || hot >= HOT)
            continue;
        const int64_t has = smp_tree_self(bench->tree, node, SMP_MEASURE_SAMPLES);
        printf("hot stack %u: %" PRId64 " of %" PRIu64 " samples\n", hot, has,
               bench->hot_polls[hot]);
        must(has * 100 >= (int64_t)bench->hot_polls[hot] * 95, "a hot stack has lost its time");
    }
}

int main(void)
{
    static struct bench bench;
    uint32_t last = 0;
    int64_t since_ns;

    bench.random = 42;
    smp_quota_init(&bench.quota, SESSION_BYTES);
    must(smp_tree_create(&bench.quota, SMP_SAMPLED_MEASURES | SMP_STATE_MEASURES | SMP_WITH_ERRORS,
                         TREE_BYTES, &bench.tree) == SMP_OK &&
             smp_tree_root(bench.tree, 0, &bench.root) == SMP_OK,
         "create");
    const uint32_t over = OVER_LIMIT;
    must(smp_tree_add(bench.tree, bench.root, &over, 1, &last) == SMP_OK, "create");
    since_ns = smp_clock_own_cpu_ns();
    for (uint32_t i = 0; i < STACKS; i++) {
        poll(&bench, i + 1, &last);
        if (!smp_tree_is_full(bench.tree))
            continue;
        if (bench.folds == 0)
            print_full(&bench, i + 1);
        fold(&bench);
        last = bench.root;
    }
    const double all_ns = (double)(smp_clock_own_cpu_ns() - since_ns);
    print_figure("a poll, with its part of the folds", all_ns / STACKS, "ns");
    print_figure("folds", (double)bench.folds, "");
    print_figure("a fold",
                 (double)bench.fold_ns / (double)(bench.folds > 0 ? bench.folds : 1) / 1e6, "ms");
    print_figure("the longest", (double)bench.longest_fold_ns / 1e6, "ms");
    print_figure("their part of the time", 100 * (double)bench.fold_ns / all_ns, "%");
    print_figure("nodes folded", (double)bench.gone, "");
    print_figure("stacks in the end", (double)count_leaves(bench.tree), "");
    print_figure("polls over the limit", (double)bench.refused, "");
    check_hot(&bench);
    smp_tree_finish(bench.tree);
    must(smp_column_at(smp_tree_column(bench.tree, SMP_MEASURE_WALL), bench.root) ==
             (int64_t)STACKS * MS,
         "time is lost");
    must(bench.refused == 0, "an add was refused");
    smp_tree_destroy(bench.tree);
    return 0;
}
