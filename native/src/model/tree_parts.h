/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_parts.h - the parts of a tree, for the files that implement it: tree.c, tree_finish.c and
 * tree_fold.c.
 *
 * A slot has the index of a node; 0 = empty (node 0 is not a child, so it is in no slot). Only
 * nodes with siblings are in slots: an only child is its parent's last_child. The slots are in a
 * reserved address range, of which as much is committed as the slots, or the sibling links of all
 * nodes, need.
 *
 * Threads  as tree.h.
 */
#ifndef SMP_MODEL_TREE_PARTS_H
#define SMP_MODEL_TREE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "model/error_sums.h"
#include "model/measure.h"
#include "model/node.h"
#include "model/state_times.h"

struct smp_tree {
    struct smp_node *nodes; /* the base of their arena */
    int64_t *table;         /* the base of its arena: width amounts a row */
    /* A measure's amount in row 0; those of other rows follow width apart. NULL: not held. */
    int64_t *columns[SMP_MEASURE_COUNT];
    uint32_t *slots;     /* finished: the next siblings */
    uint32_t node_count; /* including node 0 */
    uint32_t row_count;  /* including row 0 */
    uint32_t free_row;   /* first free row; its first amount is the next one; 0: none */
    uint32_t free_rows;
    uint32_t hashed;     /* nodes in slots */
    uint32_t slot_count; /* a power of two */
    unsigned shift;      /* a hash shifted right by this is a slot */
    uint32_t width;      /* measures in the table, all but the states; 0: no rows */
    uint32_t measures;   /* the set of measures held, states included */
    bool has_states;
    bool has_errors;
    bool has_calls; /* it has leaves of smp_tree_add_call */
    bool is_finished;
    bool was_refused;    /* an add was refused since the last fold */
    size_t wanted;       /* new nodes since the last fold, including those refused */
    unsigned vain_folds; /* number of latest consecutive folds that freed little */
    size_t max_bytes;
    size_t slot_bytes;     /* committed */
    size_t reserved_bytes; /* address space of the slots */
    struct smp_arena *node_arena;
    struct smp_arena *table_arena;
    struct smp_state_times states; /* by row */
    uint64_t lost_states;
    struct smp_arena *error_arena;
    struct smp_error_sum *errors; /* by row: the base of their arena; NULL: none */
    uint64_t lost_errors;
    struct smp_quota *quota;
};

static inline int64_t *smp_tree_row(const struct smp_tree *tree, uint32_t row)
{
    return &tree->table[(size_t)row * tree->width];
}

/* Returns the amount of a row, or NULL if the tree does not hold the measure. */
static inline int64_t *smp_tree_amount_at(const struct smp_tree *tree, uint32_t row,
                                          enum smp_measure measure)
{
    int64_t *const column = tree->columns[measure];

    return column == NULL ? NULL : column + (size_t)row * tree->width;
}

/* Returns the measures of the table: all but the states. */
static inline uint32_t smp_tree_table_measures(const struct smp_tree *tree)
{
    return tree->measures & SMP_TABLE_MEASURES;
}

/* Returns whether this many more nodes and rows fit into max_bytes. */
bool smp_tree_fits(const struct smp_tree *tree, size_t nodes, size_t rows);

/* Returns the amounts of a row of an open tree. */
struct smp_amounts smp_tree_row_amounts(const struct smp_tree *tree, uint32_t row);
/* Adds to a row. may_grow: states may take more memory. */
void smp_tree_credit_row(struct smp_tree *tree, uint32_t row, const struct smp_amounts *amounts,
                         bool may_grow);
void smp_tree_free_row(struct smp_tree *tree, uint32_t row);
/* Rebuilds last_child and the slots from the nodes. */
void smp_tree_link(struct smp_tree *tree);

#endif
