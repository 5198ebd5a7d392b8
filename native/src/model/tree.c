/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.c - the nodes are in an arena, which never moves. A node with siblings is found by open
 * addressing with linear probing, an only child through its parent.
 *
 * The slots double in place: commit as much again behind them, clear them, insert all nodes again.
 * There are never two tables at once, and a refused commit changes nothing.
 */
#include "model/tree.h"

#include <string.h>

#include "model/tree_parts.h"

enum {
    NODE_BYTES = 16,
    AMOUNT_BYTES = 8,
    SLOT_BYTES = 4,
    FIRST_SLOTS = SMP_ARENA_STEP / SLOT_BYTES, /* a multiple of every page size there is */
    FIRST_ROWS = 2,                            /* row 0, and the row of node 0 */
    MAX_NEW_HASHED = 2, /* the first node that an add appends, and the only child that was there */
};

/* An odd number without pattern: 2^64 divided by the golden ratio. */
#define MIX 0x9E3779B97F4A7C15u

_Static_assert(sizeof(struct smp_node) == NODE_BYTES, "nodes are one array");

/* --- the table --- */

/* Columns are in the order of the list of measures. */
static void lay_out(struct smp_tree *tree)
{
    uint32_t place = 0;

    for (int i = 0; i < SMP_TABLE_MEASURE_COUNT; i++) {
        if ((tree->measures & SMP_MEASURE_BIT(i)) != 0)
            tree->columns[i] = tree->table + place++;
    }
}

static size_t row_bytes(const struct smp_tree *tree)
{
    return (size_t)tree->width * AMOUNT_BYTES;
}

/* Returns whether the table holds just the first measures of the list. Then a row is the beginning
 * of a struct smp_amounts. */
static bool holds_first_measures(const struct smp_tree *tree)
{
    return (smp_tree_table_measures(tree) & (smp_tree_table_measures(tree) + 1)) == 0;
}

/* Returns the row that the node's amounts are added to. */
static uint32_t row_of(const struct smp_tree *tree, uint32_t node)
{
    while (tree->nodes[node].row == 0 && node != 0)
        node = tree->nodes[node].parent;
    return tree->nodes[node].row;
}

/* Returns the node's row, or the row of the nearest node below that has one. */
static uint32_t row_below(const struct smp_tree *tree, uint32_t node)
{
    while (tree->nodes[node].row == 0 && tree->nodes[node].last_child != 0)
        node = tree->nodes[node].last_child;
    return tree->nodes[node].row;
}

/* Memory must be reserved. The row begins with the error sums of the only child, which the node has
 * shared until now. */
static void give_row(struct smp_tree *tree, uint32_t node)
{
    const uint32_t below = row_below(tree, node);
    uint32_t row = tree->free_row;

    if (row == 0) {
        row = tree->row_count++;
    } else {
        tree->free_row = (uint32_t)smp_tree_row(tree, row)[0];
        tree->free_rows--;
    }
    /* A new row is zero, but a page that is read before it is written costs two page faults. */
    memset(smp_tree_row(tree, row), 0, row_bytes(tree));
    if (tree->has_errors)
        tree->errors[row] = tree->errors[below];
    tree->nodes[node].row = row;
}

void smp_tree_free_row(struct smp_tree *tree, uint32_t row)
{
    if (tree->has_states)
        smp_state_times_clear(&tree->states, row);
    smp_tree_row(tree, row)[0] = tree->free_row;
    tree->free_row = row;
    tree->free_rows++;
}

/* --- slots --- */

static uint32_t first_slot(const struct smp_tree *tree, uint32_t parent, uint32_t location)
{
    const uint64_t key = ((uint64_t)parent << 32) | location;

    /*
     * One multiplication is enough: parents and locations are small numbers in long runs, which it
     * spreads more evenly than chance would. Folding the key first made probes longer.
     */
    return (uint32_t)((key * MIX) >> tree->shift);
}

static uint32_t find_child(const struct smp_tree *tree, uint32_t parent, uint32_t location)
{
    const uint32_t mask = tree->slot_count - 1;
    uint32_t slot = first_slot(tree, parent, location);
    uint32_t child = tree->slots[slot];

    while (child != 0 &&
           (tree->nodes[child].parent != parent || tree->nodes[child].location != location)) {
        slot = (slot + 1) & mask;
        child = tree->slots[slot];
    }
    return child;
}

/* There must be a free slot. */
static void insert(struct smp_tree *tree, uint32_t node)
{
    const uint32_t mask = tree->slot_count - 1;
    uint32_t slot = first_slot(tree, tree->nodes[node].parent, tree->nodes[node].location);

    while (tree->slots[slot] != 0 && tree->slots[slot] != node)
        slot = (slot + 1) & mask;
    tree->hashed += tree->slots[slot] == 0;
    tree->slots[slot] = node;
}

/* Inserts all nodes that have siblings: their parent's last child is another node. */
static void insert_all(struct smp_tree *tree)
{
    memset(tree->slots, 0, (size_t)tree->slot_count * SLOT_BYTES);
    tree->hashed = 0;
    for (uint32_t node = 1; node < tree->node_count; node++) {
        const uint32_t last = tree->nodes[tree->nodes[node].parent].last_child;
        if (last == node)
            continue;
        insert(tree, node);
        insert(tree, last);
    }
}

void smp_tree_link(struct smp_tree *tree)
{
    tree->nodes[0].last_child = 0;
    for (uint32_t node = 1; node < tree->node_count; node++) {
        tree->nodes[node].last_child = 0;
        tree->nodes[tree->nodes[node].parent].last_child = node;
    }
    insert_all(tree);
}

/* Returns the number of slots for this many nodes, with a load of at most 3/4. */
static size_t slots_for(size_t nodes, size_t at_least)
{
    size_t slots = at_least;

    while (nodes > slots / 4 * 3)
        slots *= 2;
    return slots;
}

static void set_slot_count(struct smp_tree *tree, size_t slots)
{
    tree->slot_count = (uint32_t)slots;
    tree->shift = 64u - (unsigned)__builtin_ctzll(slots);
}

/* --- growing --- */

static size_t in_steps(size_t bytes)
{
    const size_t step = SMP_ARENA_STEP;

    return (bytes + step - 1) / step * step;
}

/* Returns the bytes of this many nodes and rows, the rows with their states and error sums. */
static size_t bytes_of(const struct smp_tree *tree, size_t nodes, size_t rows)
{
    size_t more = 0;

    if (tree->has_states)
        more =
            in_steps(rows * SMP_STATE_TIMES_NODE_BYTES) + smp_state_times_word_bytes(&tree->states);
    if (tree->has_errors)
        more += in_steps(rows * SMP_ERROR_SUM_BYTES);
    return in_steps(nodes * NODE_BYTES) + in_steps(rows * row_bytes(tree)) + more;
}

/* Later the slots become sibling links, one for each node. */
static size_t slot_bytes_for(size_t nodes, size_t slots)
{
    const size_t links = in_steps(nodes * SLOT_BYTES);

    return links > slots * SLOT_BYTES ? links : slots * SLOT_BYTES;
}

static bool fits_slots(const struct smp_tree *tree, size_t nodes, size_t rows, size_t slots)
{
    const size_t slot_bytes = slot_bytes_for(nodes, slots);

    return bytes_of(tree, nodes, rows) +
               (slot_bytes > tree->slot_bytes ? slot_bytes : tree->slot_bytes) <=
           tree->max_bytes;
}

bool smp_tree_fits(const struct smp_tree *tree, size_t nodes, size_t rows)
{
    const size_t free_rows = tree->free_rows < rows ? tree->free_rows : rows;

    return fits_slots(tree, tree->node_count + nodes, tree->row_count + rows - free_rows,
                      tree->slot_count);
}

static enum smp_status grow_slots(struct smp_tree *tree, size_t nodes, size_t slots)
{
    const size_t bytes = slot_bytes_for(nodes, slots);

    if (bytes > tree->slot_bytes) {
        if (!smp_map_commit(tree->quota, (char *)tree->slots + tree->slot_bytes,
                            bytes - tree->slot_bytes))
            return SMP_ENOMEM;
        tree->slot_bytes = bytes;
    }
    if (slots > tree->slot_count) {
        set_slot_count(tree, slots);
        insert_all(tree);
    }
    return SMP_OK;
}

/* Amounts matter more than their errors. */
static void drop_errors(struct smp_tree *tree)
{
    smp_arena_destroy(tree->error_arena);
    tree->error_arena = NULL;
    tree->errors = NULL;
    tree->has_errors = false;
    tree->lost_errors++;
}

static enum smp_status grow_arrays(struct smp_tree *tree, size_t nodes, size_t rows)
{
    const size_t nodes_mark = smp_arena_used(tree->node_arena);
    const size_t table_mark = tree->width > 0 ? smp_arena_used(tree->table_arena) : 0;

    if (nodes > 0 &&
        smp_arena_alloc(tree->node_arena, nodes * NODE_BYTES, _Alignof(struct smp_node)) == NULL)
        return SMP_ENOMEM;
    if (rows == 0)
        return SMP_OK;
    if (smp_arena_alloc(tree->table_arena, rows * row_bytes(tree), AMOUNT_BYTES) == NULL) {
        smp_arena_rewind(tree->node_arena, nodes_mark);
        return SMP_ENOMEM;
    }
    if (tree->has_states && !smp_state_times_grow(&tree->states, rows)) {
        smp_arena_rewind(tree->node_arena, nodes_mark);
        smp_arena_rewind(tree->table_arena, table_mark);
        return SMP_ENOMEM;
    }
    if (tree->has_errors && smp_arena_alloc(tree->error_arena, rows * sizeof(*tree->errors),
                                            _Alignof(struct smp_error_sum)) == NULL)
        drop_errors(tree);
    return SMP_OK;
}

/*
 * Allocates zeroed memory for all these nodes and rows, or for none. Slots come first: too many of
 * them do no harm, but nodes without a slot would have to be removed again.
 */
static enum smp_status grow_tree(struct smp_tree *tree, size_t nodes, size_t rows)
{
    const size_t new_rows = rows > tree->free_rows ? rows - tree->free_rows : 0;
    const size_t slots = slots_for((size_t)tree->hashed + MAX_NEW_HASHED, tree->slot_count);
    enum smp_status status;

    if (nodes > SMP_MAX_NODES - tree->node_count ||
        !fits_slots(tree, tree->node_count + nodes, tree->row_count + new_rows, slots))
        return SMP_EQUOTA;
    status = grow_slots(tree, tree->node_count + nodes, slots);
    return status == SMP_OK ? grow_arrays(tree, nodes, new_rows) : status;
}

/* --- stacks --- */

/*
 * Follows a stack as far as it is in the tree. Returns how many locations are left; *node is the
 * last node of the path.
 *
 * There are three ways, the cheapest first. A chain that was added at once has consecutive nodes,
 * so the next node is often the child; its address does not depend on a load, and the processor
 * runs ahead. The second guess is the child found last. The third way is the hash table.
 */
static size_t follow(struct smp_tree *tree, const uint32_t *locations, size_t count, uint32_t *node)
{
    struct smp_node *nodes = tree->nodes;
    uint32_t at = *node;

    while (count > 0) {
        const uint32_t location = locations[count - 1];
        uint32_t child = at + 1;
        if (child >= tree->node_count || nodes[child].location != location ||
            nodes[child].parent != at) {
            child = nodes[at].last_child;
            if (child == 0 || nodes[child].location != location) {
                child = find_child(tree, at, location);
                if (child == 0)
                    break;
                nodes[at].last_child = child;
            }
        }
        at = child;
        count--;
    }
    *node = at;
    return count;
}

/* If parent has children already, its total is no longer the total of one child. */
static void append_sibling(struct smp_tree *tree, uint32_t parent, uint32_t child)
{
    const uint32_t last = tree->nodes[parent].last_child;

    if (last == 0)
        return;
    if (tree->nodes[parent].row == 0 && tree->width > 0)
        give_row(tree, parent);
    insert(tree, last);
    insert(tree, child);
}

/* Appends a chain of new nodes below parent. Memory must be reserved. Returns the last one. */
static uint32_t append_chain(struct smp_tree *tree, uint32_t parent, const uint32_t *locations,
                             size_t count)
{
    uint32_t at = parent;

    while (count > 0) {
        const uint32_t child = tree->node_count++;
        tree->nodes[child] = (struct smp_node){ .parent = at, .location = locations[--count] };
        append_sibling(tree, at, child);
        tree->nodes[at].last_child = child;
        at = child;
    }
    return at;
}

/* --- public --- */

static enum smp_status create_tree_parts(struct smp_tree *tree)
{
    const size_t fit = tree->max_bytes / NODE_BYTES;
    const size_t most = fit < SMP_MAX_NODES ? fit : (size_t)SMP_MAX_NODES;
    enum smp_status status;

    if (tree->max_bytes < bytes_of(tree, 1, FIRST_ROWS) + FIRST_SLOTS * SLOT_BYTES)
        return SMP_EQUOTA;
    status = smp_arena_create(tree->quota, most * NODE_BYTES, &tree->node_arena);
    if (status == SMP_OK && tree->width > 0)
        status = smp_arena_create(tree->quota, most * row_bytes(tree), &tree->table_arena);
    if (status == SMP_OK && tree->has_states)
        status = smp_state_times_init(&tree->states, tree->quota, most);
    if (status != SMP_OK)
        return status;
    if (tree->has_errors &&
        smp_arena_create(tree->quota, most * sizeof(*tree->errors), &tree->error_arena) != SMP_OK)
        drop_errors(tree);
    tree->reserved_bytes = slots_for(most, FIRST_SLOTS) * SLOT_BYTES;
    tree->slots = smp_map_reserve(tree->reserved_bytes);
    if (tree->slots == NULL)
        return SMP_ENOMEM;
    status = grow_slots(tree, 1, FIRST_SLOTS);
    return status == SMP_OK ? grow_arrays(tree, 1, tree->width > 0 ? FIRST_ROWS : 0) : status;
}

enum smp_status smp_tree_create(struct smp_quota *quota, uint32_t measures, size_t max_bytes,
                                struct smp_tree **out)
{
    struct smp_tree *tree = smp_alloc(quota, sizeof(*tree));
    enum smp_status status;

    if (tree == NULL)
        return SMP_ENOMEM;
    tree->quota = quota;
    tree->measures = measures & ~SMP_WITH_ERRORS;
    tree->has_states = (measures & SMP_STATE_MEASURES) != 0;
    if (tree->has_states)
        tree->measures |= SMP_STATE_MEASURES | SMP_MEASURE_BIT(SMP_MEASURE_WALL);
    tree->width = (uint32_t)__builtin_popcount(smp_tree_table_measures(tree));
    tree->has_errors = (measures & SMP_WITH_ERRORS) != 0 && tree->width > 0;
    tree->max_bytes = max_bytes;
    status = create_tree_parts(tree);
    if (status != SMP_OK) {
        smp_tree_destroy(tree);
        return status;
    }
    tree->nodes = smp_arena_base(tree->node_arena);
    if (tree->width > 0)
        tree->table = smp_arena_base(tree->table_arena);
    if (tree->has_errors)
        tree->errors = smp_arena_base(tree->error_arena);
    lay_out(tree);
    tree->node_count = 1;
    tree->row_count = FIRST_ROWS;
    tree->nodes[0].row = tree->width > 0 ? 1 : 0;
    *out = tree;
    return SMP_OK;
}

void smp_tree_destroy(struct smp_tree *tree)
{
    if (tree == NULL)
        return;
    if (tree->slots != NULL)
        smp_map_release(tree->quota, tree->slots, tree->reserved_bytes, tree->slot_bytes);
    smp_arena_destroy(tree->error_arena);
    smp_state_times_fini(&tree->states);
    smp_arena_destroy(tree->table_arena);
    smp_arena_destroy(tree->node_arena);
    smp_free(tree->quota, tree);
}

enum smp_status smp_tree_root(struct smp_tree *tree, uint32_t group, uint32_t *root)
{
    const uint32_t location = SMP_LOCATION_GROUP | group;

    return smp_tree_add(tree, 0, &location, 1, root);
}

/* has_row: the leaf gets a row. */
static enum smp_status add_path(struct smp_tree *tree, uint32_t root, const uint32_t *locations,
                                size_t count, bool has_row, uint32_t *leaf)
{
    uint32_t node = root;
    enum smp_status status = SMP_OK;
    size_t missing;
    size_t rows;

    if (tree->is_finished)
        return SMP_ESTATE;
    missing = follow(tree, locations, count, &node);
    has_row = has_row && tree->width > 0 && (missing > 0 || tree->nodes[node].row == 0);
    rows = has_row;
    if (missing > 0 && tree->nodes[node].last_child != 0 && tree->nodes[node].row == 0)
        rows += tree->width > 0;
    if (missing + rows > 0)
        status = grow_tree(tree, missing, rows);
    tree->wanted += missing;
    tree->was_refused |= status != SMP_OK;
    if (status != SMP_OK)
        return status;
    node = append_chain(tree, node, locations, missing);
    if (has_row)
        give_row(tree, node);
    *leaf = node;
    return SMP_OK;
}

enum smp_status smp_tree_add(struct smp_tree *tree, uint32_t root, const uint32_t *locations,
                             size_t count, uint32_t *leaf)
{
    return add_path(tree, root, locations, count, true, leaf);
}

enum smp_status smp_tree_add_between(struct smp_tree *tree, uint32_t above, uint32_t location,
                                     uint32_t *node)
{
    return add_path(tree, above, &location, 1, false, node);
}

enum smp_status smp_tree_add_call(struct smp_tree *tree, uint32_t node, uint32_t counted,
                                  uint32_t *leaf)
{
    const uint32_t location = SMP_LOCATION_CALL | counted;
    const enum smp_status status = smp_tree_add(tree, node, &location, 1, leaf);

    tree->has_calls |= status == SMP_OK;
    return status;
}

/* Returns whether there is room for the times of one more state. */
static bool has_state_room(const struct smp_tree *tree)
{
    return bytes_of(tree, tree->node_count, tree->row_count) + tree->slot_bytes < tree->max_bytes;
}

/* Without memory for its state, time goes to another state of the row: wall time stays right. */
static void credit_state(struct smp_tree *tree, uint32_t row, enum smp_thread_state state,
                         int64_t ns, bool may_grow)
{
    int64_t *const wall = smp_tree_amount_at(tree, row, SMP_MEASURE_WALL);

    if (ns <= 0)
        return;
    if (!smp_state_times_add(&tree->states, row, state, *wall, ns, may_grow))
        tree->lost_states++;
    *wall = smp_add_clamped(*wall, ns);
}

void smp_tree_credit(struct smp_tree *tree, uint32_t node, enum smp_measure measure, int64_t amount)
{
    const uint32_t row = row_of(tree, node);
    int64_t *at = smp_tree_amount_at(tree, row, measure);

    if (tree->is_finished || at == NULL)
        return;
    if (measure == SMP_MEASURE_WALL && tree->has_states)
        credit_state(tree, row, SMP_STATE_RUNNING, amount, has_state_room(tree));
    else
        *at = smp_add_clamped(*at, amount);
}

void smp_tree_credit_wall(struct smp_tree *tree, uint32_t node, enum smp_thread_state state,
                          int64_t ns)
{
    if (tree->has_states && !tree->is_finished)
        credit_state(tree, row_of(tree, node), state, ns, has_state_room(tree));
    else
        smp_tree_credit(tree, node, SMP_MEASURE_WALL, ns);
}

/* Wall time without a known state counts as running. */
static void credit_row_states(struct smp_tree *tree, uint32_t row,
                              const struct smp_amounts *amounts, bool may_grow)
{
    int64_t rest_ns = amounts->of[SMP_MEASURE_WALL];

    for (int i = 0; i < SMP_THREAD_STATE_COUNT; i++) {
        const int64_t ns = amounts->of[smp_measure_of_state((enum smp_thread_state)i)];
        credit_state(tree, row, (enum smp_thread_state)i, ns < rest_ns ? ns : rest_ns, may_grow);
        rest_ns = smp_subtract_clamped(rest_ns, ns);
    }
    credit_state(tree, row, SMP_STATE_RUNNING, rest_ns, may_grow);
}

void smp_tree_credit_row(struct smp_tree *tree, uint32_t row, const struct smp_amounts *amounts,
                         bool may_grow)
{
    struct smp_amounts others = *amounts;

    if (tree->has_states) {
        credit_row_states(tree, row, amounts, may_grow);
        others.of[SMP_MEASURE_WALL] = 0;
    }
    if (holds_first_measures(tree)) {
        smp_row_add(smp_tree_row(tree, row), others.of, tree->width);
        return;
    }
    for (int i = 0; i < SMP_TABLE_MEASURE_COUNT; i++) {
        int64_t *const at = smp_tree_amount_at(tree, row, (enum smp_measure)i);
        if (at != NULL)
            *at = smp_add_clamped(*at, others.of[i]);
    }
}

void smp_tree_credit_all(struct smp_tree *tree, uint32_t node, const struct smp_amounts *amounts)
{
    if (!tree->is_finished && tree->width > 0)
        smp_tree_credit_row(tree, row_of(tree, node), amounts, has_state_room(tree));
}

static int64_t take_amount(int64_t *at, int64_t amount)
{
    const int64_t taken = amount < *at ? amount : *at;

    *at -= taken;
    return taken;
}

/* The tree must be open and have states. */
static int64_t take_states(struct smp_tree *tree, uint32_t row, enum smp_thread_state state,
                           int64_t ns)
{
    int64_t *const wall = smp_tree_amount_at(tree, row, SMP_MEASURE_WALL);
    int64_t left_ns = ns;

    for (int i = 0; i <= SMP_THREAD_STATE_COUNT && left_ns > 0; i++) {
        const enum smp_thread_state from =
            i == 0 ? state : (enum smp_thread_state)(SMP_THREAD_STATE_COUNT - i);
        const int64_t taken_ns = smp_state_times_take(&tree->states, row, from, *wall, left_ns);
        *wall -= taken_ns;
        left_ns -= taken_ns;
    }
    if (*wall == 0)
        smp_state_times_clear(&tree->states, row);
    return ns - left_ns;
}

int64_t smp_tree_take_back(struct smp_tree *tree, uint32_t node, enum smp_measure measure,
                           int64_t amount)
{
    const uint32_t row = tree->nodes[node].row;
    int64_t *const at = smp_tree_amount_at(tree, row, measure);

    if (tree->is_finished || at == NULL)
        return 0;
    return measure == SMP_MEASURE_WALL && tree->has_states
               ? take_states(tree, row, SMP_STATE_RUNNING, amount)
               : take_amount(at, amount);
}

int64_t smp_tree_take_back_wall(struct smp_tree *tree, uint32_t node, enum smp_thread_state state,
                                int64_t ns)
{
    if (tree->is_finished || !tree->has_states)
        return smp_tree_take_back(tree, node, SMP_MEASURE_WALL, ns);
    return take_states(tree, tree->nodes[node].row, state, ns);
}

int64_t smp_tree_change_state(struct smp_tree *tree, uint32_t node, enum smp_thread_state from,
                              enum smp_thread_state to, int64_t ns)
{
    const uint32_t row = tree->nodes[node].row;
    int64_t *const wall = smp_tree_amount_at(tree, row, SMP_MEASURE_WALL);
    int64_t taken_ns = 0;

    if (tree->is_finished || !tree->has_states || from == to)
        return 0;
    taken_ns = smp_state_times_take(&tree->states, row, from, *wall, ns);
    *wall -= taken_ns;
    credit_state(tree, row, to, taken_ns, has_state_room(tree));
    return taken_ns;
}

uint64_t smp_tree_lost_states(const struct smp_tree *tree)
{
    return tree->lost_states;
}

/* --- errors --- */

/* A node without a row shares the sums of its only child, which is on the same path. */
static void add_change(struct smp_tree *tree, uint32_t node, float change, uint32_t tick)
{
    const uint32_t row = tree->nodes[node].row;

    if (row != 0)
        smp_error_sum_add(&tree->errors[row], tick, change);
}

/* Children have higher numbers than their parents, so the node with the higher number is below the
 * node where the paths meet. */
void smp_tree_moved(struct smp_tree *tree, uint32_t from, uint32_t to, float change, uint32_t tick)
{
    const struct smp_node *const nodes = tree->nodes;

    if (!tree->has_errors || tree->is_finished)
        return;
    while (from != to) {
        if (to > from) {
            add_change(tree, to, change, tick);
            to = nodes[to].parent;
        } else {
            add_change(tree, from, -change, tick);
            from = nodes[from].parent;
        }
    }
}

bool smp_tree_has_errors(const struct smp_tree *tree)
{
    return tree->has_errors;
}

double smp_tree_variance(const struct smp_tree *tree, uint32_t node)
{
    const uint32_t row = tree->is_finished ? tree->nodes[node].row : row_below(tree, node);

    return tree->has_errors ? smp_error_sum_variance(&tree->errors[row]) : -1;
}

void smp_tree_add_variance(struct smp_tree *tree, uint32_t node, double variance)
{
    const uint32_t row = tree->nodes[node].row;

    if (tree->has_errors && !tree->is_finished && row != 0 && variance > 0)
        tree->errors[row].variance += (float)variance;
}

uint64_t smp_tree_lost_errors(const struct smp_tree *tree)
{
    return tree->lost_errors;
}

/* --- reading --- */

const struct smp_node *smp_tree_nodes(const struct smp_tree *tree)
{
    return tree->nodes;
}

size_t smp_tree_node_count(const struct smp_tree *tree)
{
    return tree->node_count;
}

const uint32_t *smp_tree_next_siblings(const struct smp_tree *tree)
{
    return tree->is_finished ? tree->slots : NULL;
}

uint32_t smp_tree_measures(const struct smp_tree *tree)
{
    return tree->measures;
}

struct smp_column smp_tree_column(const struct smp_tree *tree, enum smp_measure measure)
{
    static const int64_t none = 0;

    if ((int)measure >= SMP_TABLE_MEASURE_COUNT && (tree->measures & SMP_MEASURE_BIT(measure)) != 0)
        return (struct smp_column){
            .nodes = tree->nodes,
            .first = tree->columns[SMP_MEASURE_WALL],
            .step = tree->width,
            .states = &tree->states,
            .state = (enum smp_thread_state)((int)measure - SMP_TABLE_MEASURE_COUNT),
        };
    if (tree->columns[measure] == NULL)
        return (struct smp_column){ .nodes = tree->nodes, .first = &none };
    return (struct smp_column){ .nodes = tree->nodes,
                                .first = tree->columns[measure],
                                .step = tree->width };
}

int64_t smp_tree_self(const struct smp_tree *tree, uint32_t node, enum smp_measure measure)
{
    const struct smp_column column = smp_tree_column(tree, measure);

    return tree->is_finished ? smp_column_self(column, tree->nodes, tree->slots, node)
                             : smp_column_at(column, node);
}

/* For any set of measures. */
static struct smp_amounts self_of_some(const struct smp_tree *tree, uint32_t node)
{
    struct smp_amounts self = { 0 };

    for (int i = 0; i < SMP_TABLE_MEASURE_COUNT; i++) {
        if (tree->columns[i] != NULL)
            self.of[i] = smp_tree_self(tree, node, (enum smp_measure)i);
    }
    return self;
}

static inline __attribute__((always_inline)) struct smp_amounts
self_of_rows(const struct smp_tree *tree, uint32_t node, uint32_t width)
{
    uint32_t child = tree->is_finished ? tree->nodes[node].last_child : 0;
    struct smp_amounts self = { 0 };

    smp_row_copy(self.of, &tree->table[(size_t)tree->nodes[node].row * width], width);
    for (; child != 0; child = tree->slots[child])
        smp_row_subtract(self.of, &tree->table[(size_t)tree->nodes[child].row * width], width);
    return self;
}

/* Only states of the node's set can be its own: the set includes those of its children. */
static void put_self_states(const struct smp_tree *tree, uint32_t node, struct smp_amounts *self)
{
    const uint32_t set = smp_state_times_set(&tree->states, tree->nodes[node].row);

    for (int i = 0; i < SMP_THREAD_STATE_COUNT; i++) {
        const enum smp_measure measure = smp_measure_of_state((enum smp_thread_state)i);
        if ((set >> i & 1) != 0)
            self->of[measure] = smp_tree_self(tree, node, measure);
    }
}

struct smp_amounts smp_tree_self_all(const struct smp_tree *tree, uint32_t node)
{
    struct smp_amounts self;

    if (smp_tree_table_measures(tree) == SMP_SAMPLED_MEASURES)
        self = self_of_rows(tree, node, SMP_SAMPLED_MEASURE_COUNT);
    else if (smp_tree_table_measures(tree) == SMP_TABLE_MEASURES)
        self = self_of_rows(tree, node, SMP_TABLE_MEASURE_COUNT);
    else
        self = self_of_some(tree, node);
    if (tree->has_states && self.of[SMP_MEASURE_WALL] > 0)
        put_self_states(tree, node, &self);
    return self;
}

struct smp_amounts smp_tree_row_amounts(const struct smp_tree *tree, uint32_t row)
{
    struct smp_amounts amounts = { 0 };

    for (int i = 0; i < SMP_TABLE_MEASURE_COUNT; i++) {
        const int64_t *const at = smp_tree_amount_at(tree, row, (enum smp_measure)i);
        if (at != NULL)
            amounts.of[i] = *at;
    }
    for (int i = 0; i < SMP_THREAD_STATE_COUNT && tree->has_states; i++)
        amounts.of[smp_measure_of_state((enum smp_thread_state)i)] = smp_state_times_at(
            &tree->states, row, (enum smp_thread_state)i, amounts.of[SMP_MEASURE_WALL]);
    return amounts;
}

bool smp_tree_has_any(const struct smp_tree *tree, uint32_t node)
{
    const int64_t *const row = smp_tree_row(tree, tree->nodes[node].row);
    bool has_any = false;

    for (uint32_t i = 0; i < tree->width && !has_any; i++)
        has_any = row[i] != 0;
    return has_any;
}

bool smp_tree_is_unused(const struct smp_tree *tree, uint32_t node)
{
    return tree->nodes[node].last_child == 0 && !smp_tree_has_any(tree, node);
}

size_t smp_tree_bytes(const struct smp_tree *tree)
{
    return sizeof(*tree) + smp_arena_committed(tree->node_arena) +
           (tree->width > 0 ? smp_arena_committed(tree->table_arena) : 0) +
           (tree->has_states ? smp_state_times_bytes(&tree->states) : 0) +
           (tree->has_errors ? smp_arena_committed(tree->error_arena) : 0) + tree->slot_bytes;
}

size_t smp_tree_node_bytes(uint32_t measures)
{
    const size_t states =
        (measures & SMP_STATE_MEASURES) != 0 ? (size_t)SMP_STATE_TIMES_MOST_BYTES : 0;
    const size_t errors = (measures & SMP_WITH_ERRORS) != 0 ? (size_t)SMP_ERROR_SUM_BYTES : 0;

    return NODE_BYTES + (size_t)__builtin_popcount(measures & SMP_TABLE_MEASURES) * AMOUNT_BYTES +
           states + errors + 3 * SLOT_BYTES;
}
