/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_fold.h - makes room in an open tree that is full: its smallest subtrees become rows of their
 * parents.
 *
 *   Pool.run ─┬─ Shop.load ── Db.query   41 %         Pool.run ─┬─ Shop.load ── Db.query   41 %
 *             ├─ Shop.find ── ...         0.01 %  ──►           └─ [folded]                 0.02 %
 *             └─ Shop.list ── ...         0.01 %
 *
 * The size of a subtree is the mean of its shares of its group's wall time, active time, CPU time
 * and other measures but samples. The smallest go first, of equal ones the oldest, until half of
 * the nodes are free; none that has SMP_FOLD_MOST_SHARE. All amounts, states and
 * variances of a subtree go to its [folded] row, so no sum of a group or of a node that stays
 * changes. Two subtrees that act together may add up to more variance than they have.
 *
 * Nodes get other numbers, which renumber gets. Groups' roots stay, and so do
 * leaves of the locations folded and kept, and those of smp_tree_add_call, as long as the node
 * above them.
 *
 * Threads  the tree's writer.
 * Errors   Without memory for the groups' totals nothing is folded. States for which there is no
 *          memory are counted as in tree.h.
 * Cost     O(nodes), about 60 ns each; beside the tree 12 KiB, and 40 bytes a group. Memory of the
 *          nodes goes back to the quota. is_full allows one in SMP_FOLD_LEAST_NODES new nodes at
 *          most, and in an eighth of the nodes there are.
 */
#ifndef SMP_MODEL_TREE_FOLD_H
#define SMP_MODEL_TREE_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/tree.h"

#define SMP_FOLD_MOST_SHARE 0.001F

enum {
    SMP_FOLD_LEAST_NODES = 1024, /* new ones since the last fold, with those that were refused, */
    SMP_FOLD_PARTS = 8           /* and one for so many that there are */
};

/* In a place: the node has gone, and its amounts are in the [folded] row of this number. */
#define SMP_PLACE_FOLDED 0x80000000u

struct smp_tree_folding {
    uint32_t folded; /* location of the rows */
    uint32_t kept;   /* location of leaves that stay */
    /* places[node]: the number of each node from now on. May not use the tree. */
    void (*renumber)(void *context, const uint32_t *places);
    void *context;
};

/* Is there an eighth of it left, or less, or was an add refused? And have there been enough new
 * nodes since the last fold? */
bool smp_tree_is_full(const struct smp_tree *tree);
/* Returns how many nodes have gone; 0: nothing has changed. Not sealed. */
size_t smp_tree_fold(struct smp_tree *tree, const struct smp_tree_folding *folding);

#endif
