/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.h - the calling-context trees of one interval, one per thread group, in one array of nodes.
 *
 *   node 0 ─┬─ root of group 1 ── Thread.run:840 ─┬─ Work.a:10 ── Work.b:12
 *           │                                     └─ Work.c:20
 *           └─ root of group 2 ── ...
 *
 * A child has a higher index than its parent, so totals take one reverse pass without recursion. A
 * stack is added by find-or-add steps from its root end. Each node remembers the child found last,
 * so repeated stacks are followed without hashing.
 *
 * A node is a place. Its amounts are in a table beside the nodes, with a column for each measure
 * that the tree holds. Most nodes only lead to the next one: their totals and error sums are those
 * of their only child. So only leaves returned by add, and nodes with several children, have a row.
 * Nodes without one refer to row 0, which stays zero. A row is 24 bytes for the three sampled
 * measures. Wall time is divided into states, which are kept sparsely (state_times.h); a tree holds
 * all of them or none.
 *
 * In an open tree amounts are a node's own. smp_tree_finish turns them into totals, with all
 * descendants, and gives nodes without a row the row of their child. last_child becomes the first
 * child, and the hash slots become the next siblings, so a finished tree takes no more memory than
 * an open one.
 *
 * A tree at its limit can be folded (tree_fold.h): its smallest subtrees become rows of their
 * parents.
 *
 * Owns     all nodes, until destroy.
 * Threads  one writer; readers only after finish.
 * Errors   SMP_EQUOTA at max_bytes, SMP_ENOMEM if the quota or the system refuses: no node and no
 *          amount has changed (memory taken for the call may stay). SMP_ESTATE: it is finished.
 *          Without memory for its state, credited wall time goes to another state of the node,
 *          which lost_states counts. Without memory for error sums the tree has none from then on,
 *          which lost_errors counts.
 * Cost     add: O(count), no string work. 20 bytes a node, with its hash slot or sibling link. A
 *          row: 8 bytes for each measure, 4 for states and 8 for each state beyond the first, 12
 *          for error sums. Nodes with siblings have hash slots of 4 bytes, with a load of 0.375 to
 *          0.75. Random stacks 40 deep take 24 bytes a node in all (bench_fold); if all nodes have
 *          rows and siblings it is at most 67. destroy: O(1).
 */
#ifndef SMP_MODEL_TREE_H
#define SMP_MODEL_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"
#include "model/error_sums.h"
#include "model/measure.h"
#include "model/node.h"
#include "model/state_times.h"

enum { SMP_MAX_NODES = 1 << 30 }; /* of one tree, whatever its max_bytes */

struct smp_tree;

/* measures: the set it holds, perhaps with SMP_WITH_ERRORS. max_bytes bounds all its memory.
 * Returns SMP_EQUOTA if not even the first pages fit. */
SMP_CHECKED enum smp_status smp_tree_create(struct smp_quota *quota, uint32_t measures,
                                            size_t max_bytes, struct smp_tree **out);
void smp_tree_destroy(struct smp_tree *tree);

/* Finds or adds the root of a group's tree. */
SMP_CHECKED enum smp_status smp_tree_root(struct smp_tree *tree, uint32_t group, uint32_t *root);

/*
 * Follows locations from the root end (locations[count - 1]) to the leaf (locations[0]) and adds
 * missing nodes; *leaf is the node of locations[0]. All missing nodes are added or none. count ==
 * 0: *leaf is root. No location is 0.
 */
SMP_CHECKED enum smp_status smp_tree_add(struct smp_tree *tree, uint32_t root,
                                         const uint32_t *locations, size_t count, uint32_t *leaf);
/* As add of one location, for a node that gets no own amounts unless another add returns it. */
SMP_CHECKED enum smp_status smp_tree_add_between(struct smp_tree *tree, uint32_t above,
                                                 uint32_t location, uint32_t *node);

/* Finds or adds the leaf of this counted node (SMP_LOCATION_CALL) below a stack's node. */
SMP_CHECKED enum smp_status smp_tree_add_call(struct smp_tree *tree, uint32_t node,
                                              uint32_t counted, uint32_t *leaf);

/* Adds to the node's own amount, up to its maximum. amount is not negative. Does nothing if the
 * tree is finished, does not hold the measure, or the measure is a state. add must have returned
 * the node; a credit to any other goes to the nearest node above it that has a row. */
void smp_tree_credit(struct smp_tree *tree, uint32_t node, enum smp_measure measure,
                     int64_t amount);

/* Credits wall time and, if the tree holds states, the state in which it was spent. */
void smp_tree_credit_wall(struct smp_tree *tree, uint32_t node, enum smp_thread_state state,
                          int64_t ns);

/* Credits all measures at once. The states are parts of the wall time; the rest of it is
 * RUNNING. */
void smp_tree_credit_all(struct smp_tree *tree, uint32_t node, const struct smp_amounts *amounts);

/* Subtracts up to amount from the node's own amount. Returns how much; 0 if finished. */
int64_t smp_tree_take_back(struct smp_tree *tree, uint32_t node, enum smp_measure measure,
                           int64_t amount);
/* As above for wall time: first from this state, then from any. */
int64_t smp_tree_take_back_wall(struct smp_tree *tree, uint32_t node, enum smp_thread_state state,
                                int64_t ns);
/* Moves up to ns of the node's own wall time from one state to another. Returns how much. */
int64_t smp_tree_change_state(struct smp_tree *tree, uint32_t node, enum smp_thread_state from,
                              enum smp_thread_state to, int64_t ns);
/* Returns how often a state found no memory. */
uint64_t smp_tree_lost_states(const struct smp_tree *tree);

/*
 * Records the error of a poll: a thread was found at from before, and is found at to now. Each node
 * that is on only one of the two paths has changed by change (smp_error_change). Not called if from
 * is not known. tick: differs from the numbers of the previous and the next tick.
 */
void smp_tree_moved(struct smp_tree *tree, uint32_t from, uint32_t to, float change, uint32_t tick);
bool smp_tree_has_errors(const struct smp_tree *tree);
/* Returns the variance of the node's total time, in square milliseconds; below 0 without error
 * sums. Open: O(nodes down to the next one with a row). */
double smp_tree_variance(const struct smp_tree *tree, uint32_t node);
/* Adds the variance of time that is credited to the node or below it, and is independent of earlier
 * time. Does nothing for a node without a row, which shares its child's variance. */
void smp_tree_add_variance(struct smp_tree *tree, uint32_t node, double variance);
/* Returns how often error sums found no memory: once at most. */
uint64_t smp_tree_lost_errors(const struct smp_tree *tree);

/* An amount of a group that belongs to no node yet. */
struct smp_tree_unseen {
    int64_t amount;
    uint32_t
        fallback; /* its node if no node of the group has any of the measure; 0 = group's root */
    /* Used by spread. */
    uint32_t largest;
    int64_t seen; /* stays afterwards: the sum over the group's nodes before the spread */
    int64_t left;
};

/*
 * Spreads the amount that of returns for each group over the group's nodes, in proportion to their
 * own amounts. The rest of the division goes to the node with the most, so the sum is exact. The
 * amount is 0 afterwards. For open trees that hold the measure only. O(nodes).
 */
void smp_tree_spread(struct smp_tree *tree, enum smp_measure measure,
                     struct smp_tree_unseen *(*of)(void *context, uint32_t group), void *context);

/* Makes the tree immutable, to be read by any thread. Without memory for the totals of states it
 * drops all states, which lost_states counts. */
void smp_tree_finish(struct smp_tree *tree);

const struct smp_node *smp_tree_nodes(const struct smp_tree *tree);
size_t smp_tree_node_count(const struct smp_tree *tree); /* including node 0 */
/* Finished: next_siblings[node], 0 = none; in the order they were added. First children:
 * nodes[node].last_child. Open: NULL. */
const uint32_t *smp_tree_next_siblings(const struct smp_tree *tree);

/* Returns the set of measures that the tree holds. */
uint32_t smp_tree_measures(const struct smp_tree *tree);

/* One measure of all nodes. Visible so that reading can be inlined. */
struct smp_column {
    const struct smp_node *nodes;
    const int64_t *first;                 /* of row 0 */
    size_t step;                          /* 0: the tree does not hold it, so all are 0 */
    const struct smp_state_times *states; /* not NULL: a state, and first is wall time */
    enum smp_thread_state state;
};

/* Valid until the next add; finished: as long as the tree. */
struct smp_column smp_tree_column(const struct smp_tree *tree, enum smp_measure measure);

/* Returns the node's own amount in an open tree, its total in a finished one. */
static inline int64_t smp_column_at(struct smp_column column, uint32_t node)
{
    const uint32_t row = column.nodes[node].row;
    const int64_t amount = column.first[row * column.step];

    return column.states == NULL ? amount
                                 : smp_state_times_at(column.states, row, column.state, amount);
}

/* As self, for readers of many nodes of a finished tree. totals: a column. */
static inline int64_t smp_column_self(struct smp_column totals, const struct smp_node *nodes,
                                      const uint32_t *next_siblings, uint32_t node)
{
    int64_t self = smp_column_at(totals, node);

    for (uint32_t child = nodes[node].last_child; child != 0; child = next_siblings[child])
        self = smp_subtract_clamped(self, smp_column_at(totals, child));
    return self;
}

/* Returns the node's own amount. Finished: O(children). */
int64_t smp_tree_self(const struct smp_tree *tree, uint32_t node, enum smp_measure measure);
struct smp_amounts smp_tree_self_all(const struct smp_tree *tree, uint32_t node);
/* Returns whether the node has an amount of any measure; in a finished tree also one below it. */
bool smp_tree_has_any(const struct smp_tree *tree, uint32_t node);
/* Returns whether the node has no amount, of its own or below it: it was prepared and never used.
 * Finished trees only. */
bool smp_tree_is_unused(const struct smp_tree *tree, uint32_t node);
size_t smp_tree_bytes(const struct smp_tree *tree);
/* Returns the most bytes that a node of a tree with these measures takes, with its row, slots and
 * states. */
size_t smp_tree_node_bytes(uint32_t measures);

#endif
