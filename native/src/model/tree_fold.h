/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_fold.h - makes room in a full open tree: its smallest subtrees become rows of their parents.
 *
 *   Pool.run ─┬─ Shop.load ── Db.query   41 %         Pool.run ─┬─ Shop.load ── Db.query   41 %
 *             ├─ Shop.find ── ...         0.01 %  ──►           └─ [folded]                 0.02 %
 *             └─ Shop.list ── ...         0.01 %
 *
 * The size of a subtree is its mean share of its group's wall time, active time, CPU time and other
 * measures except samples. The smallest subtrees are folded first, the oldest of equal ones, until
 * half of the nodes are free; none with SMP_FOLD_MOST_SHARE or more. All amounts, states and
 * variances of a subtree go to its [folded] row, so no sum of a group or of a remaining node
 * changes. The variance of two subtrees that act together may become larger than it is.
 *
 * Nodes get new numbers, which are passed to renumber. Groups' roots stay. Leaves with the
 * locations folded and kept, and those of smp_tree_add_call, stay as long as the node above them.
 *
 * Threads  the tree's writer.
 * Errors   Without memory for the groups' totals nothing is folded. States without memory are
 *          counted as in tree.h.
 * Cost     O(nodes), about 60 ns each; 12 KiB and 40 bytes a group of working memory. Memory of
 *          folded nodes goes back to the quota. is_full allows at most one fold in
 *          SMP_FOLD_LEAST_NODES new nodes, and in an eighth of the nodes there are. After a fold
 *          that frees less than such an eighth the next one takes twice as many.
 */
#ifndef SMP_MODEL_TREE_FOLD_H
#define SMP_MODEL_TREE_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/tree.h"

#define SMP_FOLD_MOST_SHARE 0.001F

enum {
    /* A fold needs this many new nodes since the last one, refused ones included, */
    SMP_FOLD_LEAST_NODES = 1024,
    SMP_FOLD_PARTS = 8 /* and one for this many nodes of the tree */
};

/* Marks a place: the node was folded, and its amounts are in the [folded] row of this number. */
#define SMP_PLACE_FOLDED 0x80000000u

struct smp_tree_folding {
    uint32_t folded; /* location of the rows */
    uint32_t kept;   /* location of leaves that must stay */
    /* places[node]: the new number of each node. Must not use the tree. */
    void (*renumber)(void *context, const uint32_t *places);
    void *context;
};

/* Returns whether at most an eighth of the room is left, or an add was refused, and there have been
 * enough new nodes since the last fold. */
bool smp_tree_is_full(const struct smp_tree *tree);
/* Returns how many nodes were folded; 0 if nothing has changed. The tree must be open. */
size_t smp_tree_fold(struct smp_tree *tree, const struct smp_tree_folding *folding);

#endif
