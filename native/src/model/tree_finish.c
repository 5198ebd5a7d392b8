/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_finish.c - the end of an open tree: time that polls have not seen is spread over its nodes,
 * and own amounts become totals.
 */
#include "model/tree.h"
#include "model/tree_parts.h"

/* prefetch distance in nodes; half of it is too late */
enum { PREFETCH = 128 };

/* --- spreading --- */

/* Returns value * part / whole, rounded down; part <= whole. */
static int64_t share_of(int64_t value, int64_t part, int64_t whole)
{
    __extension__ typedef __int128 wide;

    return (int64_t)((wide)value * part / whole);
}

/* During a spread last_child holds the node's group. */
static struct smp_tree_unseen *
group_of(struct smp_tree *tree, uint32_t node,
         struct smp_tree_unseen *(*of)(void *context, uint32_t group), void *context)
{
    struct smp_node *at = &tree->nodes[node];
    const bool is_root = smp_node_is_group(at);

    at->last_child = is_root ? smp_node_group(at) : tree->nodes[at->parent].last_child;
    return of(context, at->last_child);
}

static void begin_spread(struct smp_tree_unseen *unseen, uint32_t root)
{
    if (unseen->fallback == 0)
        unseen->fallback = root;
    unseen->largest = unseen->fallback;
    unseen->seen = 0;
    unseen->left = unseen->amount;
}

static void see(struct smp_column column, struct smp_tree_unseen *unseen, uint32_t node)
{
    const int64_t amount = smp_column_at(column, node);

    if (amount == 0)
        return;
    if (unseen->seen == 0 || amount > smp_column_at(column, unseen->largest))
        unseen->largest = node;
    unseen->seen = smp_add_clamped(unseen->seen, amount);
}

static void take_share(struct smp_tree *tree, enum smp_measure measure,
                       struct smp_tree_unseen *unseen, uint32_t node)
{
    const int64_t seen = *smp_tree_amount_at(tree, tree->nodes[node].row, measure);
    int64_t share;

    if (seen == 0 || node == unseen->largest)
        return;
    share = share_of(unseen->amount, seen, unseen->seen);
    smp_tree_credit(tree, node, measure, share);
    unseen->left -= share;
}

static void take_rest(struct smp_tree *tree, enum smp_measure measure,
                      struct smp_tree_unseen *unseen)
{
    smp_tree_credit(tree, unseen->largest, measure, unseen->left);
    *unseen = (struct smp_tree_unseen){ .fallback = unseen->fallback, .seen = unseen->seen };
}

void smp_tree_spread(struct smp_tree *tree, enum smp_measure measure,
                     struct smp_tree_unseen *(*of)(void *context, uint32_t group), void *context)
{
    const struct smp_column column = smp_tree_column(tree, measure);
    struct smp_node *nodes = tree->nodes;

    if (tree->is_finished || column.step == 0)
        return;
    for (uint32_t i = 1; i < tree->node_count; i++) {
        struct smp_tree_unseen *unseen = group_of(tree, i, of, context);
        if (smp_node_is_group(&nodes[i]))
            begin_spread(unseen, i);
        see(column, unseen, i);
    }
    for (uint32_t i = 1; i < tree->node_count; i++)
        take_share(tree, measure, of(context, nodes[i].last_child), i);
    for (uint32_t i = 1; i < tree->node_count; i++) {
        nodes[i].last_child = 0;
        nodes[nodes[i].parent].last_child = i;
        if (smp_node_is_group(&nodes[i]))
            take_rest(tree, measure, of(context, smp_node_group(&nodes[i])));
    }
}

/* --- totals --- */

/* Puts the node in front of its siblings. Siblings linked so far have higher indices; a last_child
 * that is not higher is a left-over of the open tree. */
static inline void link_sibling(struct smp_node *nodes, uint32_t *siblings, uint32_t node)
{
    struct smp_node *const parent = &nodes[nodes[node].parent];

    siblings[node] = parent->last_child > node ? parent->last_child : 0;
    parent->last_child = node;
}

/* Called before the node's total is added to its parent's. */
static inline void add_up_states(struct smp_tree *tree, uint32_t row, uint32_t parent)
{
    const uint32_t above = tree->nodes[parent].row;

    if (tree->has_states)
        smp_state_times_add_up(&tree->states, row, *smp_tree_amount_at(tree, row, SMP_MEASURE_WALL),
                               above, *smp_tree_amount_at(tree, above, SMP_MEASURE_WALL),
                               &tree->slots[parent]);
}

/*
 * Adds up children before parents, and links siblings so that the one added first comes first. A
 * node without a row shares that of its only child.
 *
 * Parents may be anywhere, in no cache, so they are prefetched PREFETCH nodes ahead, and their rows
 * half as many. Inlined with constant widths.
 */
static inline __attribute__((always_inline)) void add_up_rows(struct smp_tree *tree, uint32_t width)
{
    int64_t *const table = tree->table;
    struct smp_node *const nodes = tree->nodes;

    for (uint32_t i = tree->node_count - 1; i > 0; i--) {
        const uint32_t parent = nodes[i].parent;
        const uint32_t row = nodes[i].row;
        const uint32_t soon = nodes[i > PREFETCH / 2 ? i - PREFETCH / 2 : 0].parent;
        __builtin_prefetch(&nodes[nodes[i > PREFETCH ? i - PREFETCH : 0].parent], 1);
        __builtin_prefetch(&table[(size_t)nodes[soon].row * width], 1);
        if (nodes[parent].row == 0) {
            nodes[parent].row = row;
        } else if (row != 0) {
            add_up_states(tree, row, parent);
            smp_row_add(&table[(size_t)nodes[parent].row * width], &table[(size_t)row * width],
                        width);
        }
        link_sibling(nodes, tree->slots, i);
    }
}

/* As add_up_rows, for any set of measures. */
static void add_up_some(struct smp_tree *tree)
{
    struct smp_node *const nodes = tree->nodes;

    for (uint32_t i = tree->node_count - 1; i > 0; i--) {
        const uint32_t row = nodes[i].row;
        struct smp_node *const parent = &nodes[nodes[i].parent];
        if (parent->row == 0) {
            parent->row = row;
        } else if (row != 0) {
            int64_t *const total = smp_tree_row(tree, parent->row);
            add_up_states(tree, row, nodes[i].parent);
            for (uint32_t place = 0; place < tree->width; place++)
                total[place] = smp_add_clamped(total[place], smp_tree_row(tree, row)[place]);
        }
        link_sibling(nodes, tree->slots, i);
    }
}

/* Adds the finished plan of a node to that of its parent. Returns how many words the node's row
 * takes. */
static size_t plan_parent(struct smp_node *nodes, uint32_t node)
{
    struct smp_node *const parent = &nodes[nodes[node].parent];
    uint32_t plan = parent->last_child;
    const size_t words = smp_state_times_plan_node(nodes[node].last_child, &plan);

    /* A node without a row shares that of its only child. */
    parent->last_child = parent->row == 0 ? nodes[node].last_child : plan;
    return nodes[node].row == 0 ? 0 : words;
}

/*
 * Plans the totals of states and reserves memory for them. The plans are first in last_child, then
 * in the slots, each until its node is linked. Returns false without memory.
 */
static bool plan_states(struct smp_tree *tree)
{
    struct smp_node *const nodes = tree->nodes;
    size_t words = 0;
    bool has_memory;

    for (uint32_t i = 0; i < tree->node_count; i++)
        smp_state_times_plan(&tree->states, nodes[i].row, &nodes[i].last_child);
    for (uint32_t i = tree->node_count - 1; i > 0; i--)
        words += plan_parent(nodes, i);
    words += SMP_THREAD_STATE_COUNT; /* of node 0 */
    has_memory = smp_state_times_reserve(&tree->states, words);
    for (uint32_t i = 0; i < tree->node_count; i++) {
        if (has_memory)
            tree->slots[i] = nodes[i].last_child;
        nodes[i].last_child = 0;
    }
    return has_memory;
}

/* Called if there is no memory for the totals of states. */
static void drop_states(struct smp_tree *tree)
{
    smp_state_times_fini(&tree->states);
    tree->states = (struct smp_state_times){ 0 };
    tree->has_states = false;
    tree->measures &= SMP_TABLE_MEASURES;
    tree->lost_states++;
}

/* --- leaves that name a counted node --- */

/* Moves the leaf's amounts to its stack's node. The leaf stays, unused, with the location of that
 * node. */
static void fold_call(struct smp_tree *tree, uint32_t leaf)
{
    const uint32_t parent = tree->nodes[leaf].parent;
    const struct smp_amounts own = smp_tree_self_all(tree, leaf);

    smp_tree_credit_all(tree, parent, &own);
    (void)smp_tree_take_back_wall(tree, leaf, SMP_STATE_RUNNING, INT64_MAX);
    for (int i = 0; i < SMP_TABLE_MEASURE_COUNT; i++)
        (void)smp_tree_take_back(tree, leaf, (enum smp_measure)i, INT64_MAX);
    tree->nodes[leaf].location = tree->nodes[parent].location;
}

static void fold_calls(struct smp_tree *tree)
{
    for (uint32_t node = 1; tree->has_calls && node < tree->node_count; node++) {
        if (smp_node_is_call(&tree->nodes[node]))
            fold_call(tree, node);
    }
}

/* --- all of it --- */

void smp_tree_finish(struct smp_tree *tree)
{
    if (tree->is_finished)
        return;
    fold_calls(tree);
    if (tree->has_states && !plan_states(tree))
        drop_states(tree);
    tree->is_finished = true;
    if (smp_tree_table_measures(tree) == SMP_SAMPLED_MEASURES)
        add_up_rows(tree, SMP_SAMPLED_MEASURE_COUNT);
    else if (smp_tree_table_measures(tree) == SMP_TABLE_MEASURES)
        add_up_rows(tree, SMP_TABLE_MEASURE_COUNT);
    else
        add_up_some(tree);
    tree->slots[0] = 0;
}
