/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.h - the calling-context trees of one interval, one per thread group, in one array of nodes.
 *
 *   node 0 ─┬─ root of group 1 ── Thread.run:840 ─┬─ Work.a:10 ── Work.b:12
 *           │                                     └─ Work.c:20
 *           └─ root of group 2 ── ...
 *
 * A child always has a higher index than its parent: totals are one reverse pass, and nothing here
 * recurses. A stack is added leaf first as a chain of find-or-add from the root end. Each node
 * remembers the child it found last, so a program that repeats itself is followed without hashing.
 *
 * A node is a place. What was measured there stands in a table beside the nodes, with a column for
 * each measure that the tree holds. Most nodes of a stack only lead to the next one: their totals
 * and error sums are those of their only child. So only these nodes have a row of their own: the
 * leaves that add has returned, and nodes with several children. Row 0 is that of nodes without
 * one, and stays zero. A row is 24 bytes for the three sampled measures. The states, into which
 * wall time is divided, are kept sparsely (state_times.h); a tree holds all of them or none.
 *
 * While open, amounts are SELF figures. smp_tree_seal turns them into TOTALS (self and all
 * descendants): a node without a row gets that of its child. last_child becomes the first child,
 * and the hash slots become the next siblings: a sealed tree takes no more memory than an open one.
 *
 * At its limit a tree is folded (tree_fold.h): its smallest subtrees become rows of their parents.
 *
 * Owns     every node; a node lives until destroy.
 * Threads  one writer; readers only after seal.
 * Errors   SMP_EQUOTA at max_bytes, SMP_ENOMEM where the quota or the system refuses: no node and
 *          no amount has changed (memory taken for the call may stay). SMP_ESTATE: it is sealed.
 *          Without memory for its state, credited wall time is another state's of the node, and
 *          counted (lost_states). Without memory for error sums it has none from then on, which is
 *          counted as well (lost_errors).
 * Cost     add: O(count), no string work. 20 bytes a node, with its hash slot or sibling link. A
 *          row: 8 bytes for each measure, 4 for states and 8 for each state beyond the first, 12
 *          for error sums. Hash slots of 4 bytes at a load of 0.375 to 0.75 for nodes that have
 *          siblings. Random stacks 40 deep take 24 bytes a node in all (bench_fold), a tree whose
 *          nodes all have rows and siblings at most 67. destroy: O(1).
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

/* measures: the set it holds, perhaps with SMP_WITH_ERRORS. max_bytes bounds all of it together;
 * SMP_EQUOTA where not even the first pages fit. */
SMP_CHECKED enum smp_status smp_tree_create(struct smp_quota *quota, uint32_t measures,
                                            size_t max_bytes, struct smp_tree **out);
void smp_tree_destroy(struct smp_tree *tree);

/* The root of a group's tree, made when new. */
SMP_CHECKED enum smp_status smp_tree_root(struct smp_tree *tree, uint32_t group, uint32_t *root);

/*
 * Follows locations from the root end (locations[count - 1]) to the leaf (locations[0]), adding
 * what is missing; *leaf is the node of locations[0]. Either the whole stack is in the tree
 * afterwards or nothing of it that was not there. count == 0: *leaf is root. No location is 0.
 */
SMP_CHECKED enum smp_status smp_tree_add(struct smp_tree *tree, uint32_t root,
                                         const uint32_t *locations, size_t count, uint32_t *leaf);
/* As add of one location, for a node that gets no amounts of its own but by another add. */
SMP_CHECKED enum smp_status smp_tree_add_between(struct smp_tree *tree, uint32_t above,
                                                 uint32_t location, uint32_t *node);

/* The leaf below a stack's node that names this counted node (SMP_LOCATION_CALL). */
SMP_CHECKED enum smp_status smp_tree_add_call(struct smp_tree *tree, uint32_t node,
                                              uint32_t counted, uint32_t *leaf);

/* Adds to what the node has itself, which sticks at its maximum. amount is not negative. Sealed, a
 * measure that the tree does not hold, or a state: does nothing. The node is one that add has
 * returned; what others are credited with goes to the nearest node above them that has a row. */
void smp_tree_credit(struct smp_tree *tree, uint32_t node, enum smp_measure measure,
                     int64_t amount);

/* Wall time, and where the tree holds states, the state it was spent in. */
void smp_tree_credit_wall(struct smp_tree *tree, uint32_t node, enum smp_thread_state state,
                          int64_t ns);

/* The same of all measures at once. The states are parts of the wall time; what is left of it is
 * RUNNING. */
void smp_tree_credit_all(struct smp_tree *tree, uint32_t node, const struct smp_amounts *amounts);

/* Takes back from what the node has itself, as far as there is any. Returns how much. Sealed:
 * nothing. */
int64_t smp_tree_take_back(struct smp_tree *tree, uint32_t node, enum smp_measure measure,
                           int64_t amount);
/* The same of wall time: first of that in this state, then of any. */
int64_t smp_tree_take_back_wall(struct smp_tree *tree, uint32_t node, enum smp_thread_state state,
                                int64_t ns);
/* Wall time of the node itself that was credited to one state is another's, as far as there is any.
 * Returns how much. */
int64_t smp_tree_change_state(struct smp_tree *tree, uint32_t node, enum smp_thread_state from,
                              enum smp_thread_state to, int64_t ns);
/* How often there was no memory for a state. */
uint64_t smp_tree_lost_states(const struct smp_tree *tree);

/*
 * A thread was found at from, and now at to: each node of one of both paths only has changed by so
 * much (smp_error_change). Where from was found is not known: no call. tick: a number that differs
 * from that of the ticks before and after.
 */
void smp_tree_moved(struct smp_tree *tree, uint32_t from, uint32_t to, float change, uint32_t tick);
bool smp_tree_has_errors(const struct smp_tree *tree);
/* Of the time of the node and all below it, in square milliseconds; below 0: not known, because the
 * tree has no error sums. Open: O(nodes down to the next one with a row). */
double smp_tree_variance(const struct smp_tree *tree, uint32_t node);
/* Adds the variance of time that is credited to the node or below it. That time is independent of
 * what is there already. A node without a row has what its child has: nothing is done. */
void smp_tree_add_variance(struct smp_tree *tree, uint32_t node, double variance);
/* How often there was no memory for error sums: once at most. */
uint64_t smp_tree_lost_errors(const struct smp_tree *tree);

/* An amount of a group that belongs to no node yet. */
struct smp_tree_unseen {
    int64_t amount;
    uint32_t
        fallback; /* its node while none of the group has any of the measure; 0 = group's root */
    /* For the call of spread. */
    uint32_t largest;
    int64_t seen; /* stays: what the group's nodes had, before amount was spread */
    int64_t left;
};

/*
 * Spreads what of reports for each group over the group's nodes, in proportion to what they have of
 * the measure themselves: exactly all of it, what does not divide goes to the node with the most.
 * of's amount is 0 afterwards. Open trees that hold the measure only. O(nodes).
 */
void smp_tree_spread(struct smp_tree *tree, enum smp_measure measure,
                     struct smp_tree_unseen *(*of)(void *context, uint32_t group), void *context);

/* After this the tree is immutable and may be read by any thread it is handed to. Without memory
 * for the totals of states it holds none from now on, which counts as lost_states. */
void smp_tree_seal(struct smp_tree *tree);

const struct smp_node *smp_tree_nodes(const struct smp_tree *tree);
size_t smp_tree_node_count(const struct smp_tree *tree); /* including node 0 */
/* Sealed: next_siblings[node], 0 = none; in the order they were added. First children:
 * nodes[node].last_child. Open: NULL. */
const uint32_t *smp_tree_next_siblings(const struct smp_tree *tree);

/* The set of measures it holds. */
uint32_t smp_tree_measures(const struct smp_tree *tree);

/* A measure of all nodes; visible so that reading can be inlined. */
struct smp_column {
    const struct smp_node *nodes;
    const int64_t *first;                 /* of row 0 */
    size_t step;                          /* 0: the tree does not hold it, all are 0 */
    const struct smp_state_times *states; /* not NULL: a state; the above is wall time then */
    enum smp_thread_state state;
};

/* Valid until the next add; sealed: as long as the tree. */
struct smp_column smp_tree_column(const struct smp_tree *tree, enum smp_measure measure);

/* Open: the node's own. Sealed: the total. */
static inline int64_t smp_column_at(struct smp_column column, uint32_t node)
{
    const uint32_t row = column.nodes[node].row;
    const int64_t amount = column.first[row * column.step];

    return column.states == NULL ? amount
                                 : smp_state_times_at(column.states, row, column.state, amount);
}

/* What a node of a sealed tree has itself, of totals: a column. For readers of many nodes. */
static inline int64_t smp_column_self(struct smp_column totals, const struct smp_node *nodes,
                                      const uint32_t *next_siblings, uint32_t node)
{
    int64_t self = smp_column_at(totals, node);

    for (uint32_t child = nodes[node].last_child; child != 0; child = next_siblings[child])
        self = smp_subtract_clamped(self, smp_column_at(totals, child));
    return self;
}

/* What a node has itself. Sealed: O(children). */
int64_t smp_tree_self(const struct smp_tree *tree, uint32_t node, enum smp_measure measure);
struct smp_amounts smp_tree_self_all(const struct smp_tree *tree, uint32_t node);
/*
 * Adds what each node has itself to sums[numbers[location of the node]]; groups' roots are left
 * out. Sealed trees only. One pass that looks for no children.
 */
void smp_tree_sum_by_location(const struct smp_tree *tree, const uint32_t *numbers,
                              struct smp_amounts *sums);
/* Has the node an amount of any measure? Sealed: of its own or below it. */
bool smp_tree_has_any(const struct smp_tree *tree, uint32_t node);
/* A node without any amount, of its own or below it: it was kept ready for what never came. Sealed
 * trees only. */
bool smp_tree_is_unused(const struct smp_tree *tree, uint32_t node);
size_t smp_tree_bytes(const struct smp_tree *tree);
/* What a node of a tree with these measures takes at most, with its row, slots and states. */
size_t smp_tree_node_bytes(uint32_t measures);

#endif
