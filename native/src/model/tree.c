/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.c - nodes in an arena that never moves, found through open addressing with linear probing.
 *
 * A slot holds the index of a node, 0 = empty (node 0 is no child, so it is in no slot). The
 * slots stand in a reserved address range and double in place: commit as much again behind them,
 * clear, insert every node anew from the node array. Old and new never stand side by side, and a
 * refused commit has changed nothing.
 */
#include "model/tree.h"

#include <string.h>

#include "base/arena.h"

enum {
    NODE_BYTES = 12,
    AMOUNT_BYTES = 8,
    SLOT_BYTES = 4,
    FIRST_SLOTS = SMP_ARENA_STEP / SLOT_BYTES, /* a multiple of every page size there is */
    PREFETCH = 128,                            /* nodes; half as many are too late for memory */
};

/* An odd number without pattern: 2^64 divided by the golden ratio. */
#define MIX 0x9E3779B97F4A7C15u

_Static_assert(sizeof(struct smp_node) == NODE_BYTES, "nodes are one array");

struct smp_tree {
    struct smp_node *nodes; /* the base of their arena */
    int64_t *table;         /* the base of its arena: width amounts a node */
    /* A measure's amount of node 0; those of the others follow width apart. NULL: not held. */
    int64_t *columns[SMP_MEASURE_COUNT];
    uint32_t *slots;     /* sealed: the next siblings */
    uint32_t node_count; /* including node 0 */
    uint32_t slot_count; /* a power of two */
    unsigned shift;      /* a hash shifted right by this is a slot */
    uint32_t width;      /* how many measures the table holds: all but the states */
    uint32_t measures;   /* which */
    bool has_states;
    bool has_errors;
    bool has_calls; /* leaves of smp_tree_add_call */
    bool sealed;
    size_t max_bytes;
    size_t reserved_bytes; /* address space of the slots */
    struct smp_arena *node_arena;
    struct smp_arena *table_arena;
    struct smp_state_times states;
    uint64_t lost_states;
    struct smp_error_sums errors;
    uint64_t lost_errors;
    struct smp_quota *quota;
};

/* --- the table --- */

/* Held measures stand in the list's order. */
static void lay_out(struct smp_tree *tree)
{
    uint32_t place = 0;

    for (int i = 0; i < SMP_TABLE_MEASURE_COUNT; i++) {
        if ((tree->measures & SMP_MEASURE_BIT(i)) != 0)
            tree->columns[i] = tree->table + place++;
    }
}

static int64_t *row_of(const struct smp_tree *tree, uint32_t node)
{
    return &tree->table[(size_t)node * tree->width];
}

static size_t row_bytes(const struct smp_tree *tree)
{
    return (size_t)tree->width * AMOUNT_BYTES;
}

/* The measures of the table. */
static uint32_t table_measures(const struct smp_tree *tree)
{
    return tree->measures & SMP_TABLE_MEASURES;
}

/* The table holds the first measures of the list and no others: a row of it is the beginning of a
 * struct smp_amounts. */
static bool holds_first_measures(const struct smp_tree *tree)
{
    return (table_measures(tree) & (table_measures(tree) + 1)) == 0;
}

/* NULL: not held. */
static int64_t *amount_at(const struct smp_tree *tree, uint32_t node, enum smp_measure measure)
{
    int64_t *const column = tree->columns[measure];

    return column == NULL ? NULL : column + (size_t)node * tree->width;
}

/* --- slots --- */

static uint32_t first_slot(const struct smp_tree *tree, uint32_t parent, uint32_t location)
{
    const uint64_t key = ((uint64_t)parent << 32) | location;

    /*
     * One multiplication is enough: parents and locations are small numbers in long runs, and it
     * spreads runs more evenly than chance would. Folding the key first made probes longer.
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

/* The node is in no slot yet, and there is a free one. */
static void insert(struct smp_tree *tree, uint32_t node)
{
    const uint32_t mask = tree->slot_count - 1;
    uint32_t slot = first_slot(tree, tree->nodes[node].parent, tree->nodes[node].location);

    while (tree->slots[slot] != 0)
        slot = (slot + 1) & mask;
    tree->slots[slot] = node;
}

/* How many slots hold so many nodes at a load of at most 3/4. */
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

/* Of nodes, table, states and error sums. */
static size_t bytes_of(const struct smp_tree *tree, size_t nodes)
{
    size_t more = 0;

    if (tree->has_states)
        more = in_steps(nodes * SMP_STATE_TIMES_NODE_BYTES) +
               smp_state_times_word_bytes(&tree->states);
    if (tree->has_errors)
        more += in_steps(nodes * SMP_ERROR_SUM_BYTES);
    return in_steps(nodes * NODE_BYTES) + in_steps(nodes * row_bytes(tree)) + more;
}

static size_t slot_bytes(const struct smp_tree *tree)
{
    return (size_t)tree->slot_count * SLOT_BYTES;
}

static enum smp_status grow_slots(struct smp_tree *tree, size_t slots)
{
    const size_t have = (size_t)tree->slot_count * SLOT_BYTES;
    const size_t more = slots * SLOT_BYTES - have;

    if (more == 0)
        return SMP_OK;
    if (!smp_map_commit(tree->quota, (char *)tree->slots + have, more))
        return SMP_ENOMEM;
    memset(tree->slots, 0, have);
    set_slot_count(tree, slots);
    for (uint32_t node = 1; node < tree->node_count; node++)
        insert(tree, node);
    return SMP_OK;
}

/* Figures are worth more than what is known of their errors. */
static void drop_errors(struct smp_tree *tree)
{
    smp_error_sums_fini(&tree->errors);
    tree->errors = (struct smp_error_sums){ 0 };
    tree->has_errors = false;
    tree->lost_errors++;
}

static enum smp_status grow_arrays(struct smp_tree *tree, size_t count)
{
    const size_t nodes_mark = smp_arena_mark(tree->node_arena);
    const size_t table_mark = tree->width > 0 ? smp_arena_mark(tree->table_arena) : 0;

    if (smp_arena_alloc(tree->node_arena, count * NODE_BYTES, _Alignof(struct smp_node)) == NULL)
        return SMP_ENOMEM;
    if (tree->width > 0 &&
        smp_arena_alloc(tree->table_arena, count * row_bytes(tree), AMOUNT_BYTES) == NULL) {
        smp_arena_rewind(tree->node_arena, nodes_mark);
        return SMP_ENOMEM;
    }
    if (tree->has_states && !smp_state_times_grow(&tree->states, count)) {
        smp_arena_rewind(tree->node_arena, nodes_mark);
        if (tree->width > 0)
            smp_arena_rewind(tree->table_arena, table_mark);
        return SMP_ENOMEM;
    }
    if (tree->has_errors && !smp_error_sums_grow(&tree->errors, count))
        drop_errors(tree);
    return SMP_OK;
}

/*
 * Memory for count nodes at once, zeroed: either for all of them or for none. Slots first: too
 * many of them do no harm, while nodes that are in no slot would have to be taken back.
 */
static enum smp_status grow_tree(struct smp_tree *tree, size_t count)
{
    size_t nodes;
    size_t slots;
    enum smp_status status;

    if (count > SMP_MAX_NODES - tree->node_count)
        return SMP_EQUOTA;
    nodes = tree->node_count + count;
    slots = slots_for(nodes, tree->slot_count);
    if (tree->has_errors && bytes_of(tree, nodes) + slots * SLOT_BYTES > tree->max_bytes)
        drop_errors(tree);
    if (bytes_of(tree, nodes) + slots * SLOT_BYTES > tree->max_bytes)
        return SMP_EQUOTA;
    status = grow_slots(tree, slots);
    if (status != SMP_OK)
        return status;
    return grow_arrays(tree, count);
}

/* --- stacks --- */

/*
 * Follows a stack as far as it is in the tree. Returns how many locations are left; *node is where
 * the path ends.
 *
 * Three guesses, cheapest first. A chain that was added at once lies in consecutive nodes, so the
 * next node is often the child: its address does not wait for a load, and the processor runs ahead.
 * Else the child found last. Else the slots.
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

/* Adds a chain of new nodes below parent, for which there is memory. Returns the last of them. */
static uint32_t append_chain(struct smp_tree *tree, uint32_t parent, const uint32_t *locations,
                             size_t count)
{
    uint32_t at = parent;

    /* They are zero, but the system gives a page that is read before it is written twice. */
    if (tree->width > 0)
        memset(row_of(tree, tree->node_count), 0, count * row_bytes(tree));
    while (count > 0) {
        const uint32_t child = tree->node_count++;
        tree->nodes[child].parent = at;
        tree->nodes[child].location = locations[--count];
        tree->nodes[at].last_child = child;
        insert(tree, child);
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

    if (tree->max_bytes < bytes_of(tree, 1) + FIRST_SLOTS * SLOT_BYTES)
        return SMP_EQUOTA;
    status = smp_arena_create(tree->quota, most * NODE_BYTES, &tree->node_arena);
    if (status == SMP_OK && tree->width > 0)
        status = smp_arena_create(tree->quota, most * row_bytes(tree), &tree->table_arena);
    if (status == SMP_OK && tree->has_states)
        status = smp_state_times_init(&tree->states, tree->quota, most);
    if (status != SMP_OK)
        return status;
    if (tree->has_errors && smp_error_sums_init(&tree->errors, tree->quota, most) != SMP_OK)
        drop_errors(tree);
    tree->reserved_bytes = slots_for(most, FIRST_SLOTS) * SLOT_BYTES;
    tree->slots = smp_map_reserve(tree->reserved_bytes);
    if (tree->slots == NULL)
        return SMP_ENOMEM;
    status = grow_slots(tree, FIRST_SLOTS);
    return status == SMP_OK ? grow_tree(tree, 1) : status;
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
    tree->has_errors = (measures & SMP_WITH_ERRORS) != 0;
    if (tree->has_states)
        tree->measures |= SMP_STATE_MEASURES | SMP_MEASURE_BIT(SMP_MEASURE_WALL);
    tree->width = (uint32_t)__builtin_popcount(table_measures(tree));
    tree->max_bytes = max_bytes;
    status = create_tree_parts(tree);
    if (status != SMP_OK) {
        smp_tree_destroy(tree);
        return status;
    }
    tree->nodes = smp_arena_base(tree->node_arena);
    if (tree->width > 0)
        tree->table = smp_arena_base(tree->table_arena);
    lay_out(tree);
    tree->node_count = 1;
    *out = tree;
    return SMP_OK;
}

void smp_tree_destroy(struct smp_tree *tree)
{
    if (tree == NULL)
        return;
    if (tree->slots != NULL)
        smp_map_release(tree->quota, tree->slots, tree->reserved_bytes, slot_bytes(tree));
    smp_error_sums_fini(&tree->errors);
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

enum smp_status smp_tree_add(struct smp_tree *tree, uint32_t root, const uint32_t *locations,
                             size_t count, uint32_t *leaf)
{
    uint32_t node = root;
    size_t missing;

    if (tree->sealed)
        return SMP_ESTATE;
    missing = follow(tree, locations, count, &node);
    if (missing > 0) {
        const enum smp_status status = grow_tree(tree, missing);
        if (status != SMP_OK)
            return status;
        node = append_chain(tree, node, locations, missing);
    }
    *leaf = node;
    return SMP_OK;
}

enum smp_status smp_tree_add_call(struct smp_tree *tree, uint32_t node, uint32_t counted,
                                  uint32_t *leaf)
{
    const uint32_t location = SMP_LOCATION_CALL | counted;
    const enum smp_status status = smp_tree_add(tree, node, &location, 1, leaf);

    tree->has_calls |= status == SMP_OK;
    return status;
}

/* Time that finds no memory for its state is another state's of the node: wall time is right. */
static void credit_state(struct smp_tree *tree, uint32_t node, enum smp_thread_state state,
                         int64_t ns)
{
    int64_t *const wall = amount_at(tree, node, SMP_MEASURE_WALL);

    if (ns <= 0)
        return;
    if (!smp_state_times_add(&tree->states, node, state, *wall, ns,
                             bytes_of(tree, tree->node_count) + slot_bytes(tree) < tree->max_bytes))
        tree->lost_states++;
    *wall = smp_add_clamped(*wall, ns);
}

void smp_tree_credit(struct smp_tree *tree, uint32_t node, enum smp_measure measure, int64_t amount)
{
    int64_t *at = amount_at(tree, node, measure);

    if (tree->sealed || at == NULL)
        return;
    if (measure == SMP_MEASURE_WALL && tree->has_states)
        credit_state(tree, node, SMP_STATE_RUNNING, amount);
    else
        *at = smp_add_clamped(*at, amount);
}

void smp_tree_credit_wall(struct smp_tree *tree, uint32_t node, enum smp_thread_state state,
                          int64_t ns)
{
    if (tree->has_states && !tree->sealed)
        credit_state(tree, node, state, ns);
    else
        smp_tree_credit(tree, node, SMP_MEASURE_WALL, ns);
}

/* Wall time of which no state is known counts as running. */
static void credit_node_states(struct smp_tree *tree, uint32_t node,
                               const struct smp_amounts *amounts)
{
    int64_t rest_ns = amounts->of[SMP_MEASURE_WALL];

    for (int i = 0; i < SMP_THREAD_STATE_COUNT; i++) {
        const int64_t ns = amounts->of[smp_measure_of_state((enum smp_thread_state)i)];
        credit_state(tree, node, (enum smp_thread_state)i, ns < rest_ns ? ns : rest_ns);
        rest_ns = smp_subtract_clamped(rest_ns, ns);
    }
    credit_state(tree, node, SMP_STATE_RUNNING, rest_ns);
}

void smp_tree_credit_all(struct smp_tree *tree, uint32_t node, const struct smp_amounts *amounts)
{
    struct smp_amounts others = *amounts;

    if (tree->sealed)
        return;
    if (tree->has_states) {
        credit_node_states(tree, node, amounts);
        others.of[SMP_MEASURE_WALL] = 0;
    }
    if (holds_first_measures(tree)) {
        smp_row_add(row_of(tree, node), others.of, tree->width);
        return;
    }
    for (int i = 0; i < SMP_TABLE_MEASURE_COUNT; i++) {
        if (others.of[i] != 0)
            smp_tree_credit(tree, node, (enum smp_measure)i, others.of[i]);
    }
}

static int64_t take_amount(int64_t *at, int64_t amount)
{
    const int64_t taken = amount < *at ? amount : *at;

    *at -= taken;
    return taken;
}

/* Of an open tree with states. */
static int64_t take_states(struct smp_tree *tree, uint32_t node, enum smp_thread_state state,
                           int64_t ns)
{
    int64_t *const wall = amount_at(tree, node, SMP_MEASURE_WALL);
    int64_t left_ns = ns;

    for (int i = 0; i <= SMP_THREAD_STATE_COUNT && left_ns > 0; i++) {
        const enum smp_thread_state from =
            i == 0 ? state : (enum smp_thread_state)(SMP_THREAD_STATE_COUNT - i);
        const int64_t taken_ns = smp_state_times_take(&tree->states, node, from, *wall, left_ns);
        *wall -= taken_ns;
        left_ns -= taken_ns;
    }
    if (*wall == 0)
        smp_state_times_clear(&tree->states, node);
    return ns - left_ns;
}

int64_t smp_tree_take_back(struct smp_tree *tree, uint32_t node, enum smp_measure measure,
                           int64_t amount)
{
    int64_t *const at = amount_at(tree, node, measure);

    if (tree->sealed || at == NULL)
        return 0;
    return measure == SMP_MEASURE_WALL && tree->has_states
               ? take_states(tree, node, SMP_STATE_RUNNING, amount)
               : take_amount(at, amount);
}

int64_t smp_tree_take_back_wall(struct smp_tree *tree, uint32_t node, enum smp_thread_state state,
                                int64_t ns)
{
    if (tree->sealed || !tree->has_states)
        return smp_tree_take_back(tree, node, SMP_MEASURE_WALL, ns);
    return take_states(tree, node, state, ns);
}

int64_t smp_tree_change_state(struct smp_tree *tree, uint32_t node, enum smp_thread_state from,
                              enum smp_thread_state to, int64_t ns)
{
    int64_t *const wall = amount_at(tree, node, SMP_MEASURE_WALL);
    int64_t taken_ns = 0;

    if (tree->sealed || !tree->has_states || from == to)
        return 0;
    taken_ns = smp_state_times_take(&tree->states, node, from, *wall, ns);
    *wall -= taken_ns;
    credit_state(tree, node, to, taken_ns);
    return taken_ns;
}

uint64_t smp_tree_lost_states(const struct smp_tree *tree)
{
    return tree->lost_states;
}

/* --- errors --- */

/* Children have higher numbers than their parents: the higher one is below the node that both paths
 * have in common. */
void smp_tree_moved(struct smp_tree *tree, uint32_t from, uint32_t to, float change, uint32_t tick)
{
    const struct smp_node *const nodes = tree->nodes;
    struct smp_error_sum *const sums = tree->errors.of;

    if (!tree->has_errors || tree->sealed)
        return;
    while (from != to) {
        if (to > from) {
            smp_error_sum_add(&sums[to], tick, change);
            to = nodes[to].parent;
        } else {
            smp_error_sum_add(&sums[from], tick, -change);
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
    return tree->has_errors ? smp_error_sum_variance(&tree->errors.of[node]) : -1;
}

void smp_tree_add_variance(struct smp_tree *tree, uint32_t node, double variance)
{
    if (tree->has_errors && !tree->sealed && variance > 0)
        tree->errors.of[node].variance += (float)variance;
}

uint64_t smp_tree_lost_errors(const struct smp_tree *tree)
{
    return tree->lost_errors;
}

/* --- spreading --- */

/* value * part / whole, rounded down; part <= whole. */
static int64_t share_of(int64_t value, int64_t part, int64_t whole)
{
    __extension__ typedef __int128 wide;

    return (int64_t)((wide)value * part / whole);
}

/* The node's group is in its last_child, which is a mere guess at other times. */
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
    const int64_t seen = *amount_at(tree, node, measure);
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

    if (tree->sealed || column.step == 0)
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
        if (smp_node_is_group(&nodes[i]))
            take_rest(tree, measure, of(context, smp_node_group(&nodes[i])));
    }
}

/* Puts the node in front of its siblings. Those already there have higher indices: a last_child
 * that is not higher is a guess of the open tree. */
static inline void link_sibling(struct smp_node *nodes, uint32_t *siblings, uint32_t node)
{
    struct smp_node *const parent = &nodes[nodes[node].parent];

    siblings[node] = parent->last_child > node ? parent->last_child : 0;
    parent->last_child = node;
}

/* Before the node's total is added to its parent's. */
static inline void add_up_states(struct smp_tree *tree, uint32_t node)
{
    const uint32_t parent = tree->nodes[node].parent;

    if (tree->has_states)
        smp_state_times_add_up(&tree->states, node, *amount_at(tree, node, SMP_MEASURE_WALL),
                               parent, *amount_at(tree, parent, SMP_MEASURE_WALL),
                               &tree->slots[parent]);
}

/*
 * Children before parents; the last one put in front is the one added first.
 *
 * Mostly a node's parent is the node before it: its total is still in registers then, and the next
 * addition does not wait for a store. Other parents are anywhere, in no cache: they are fetched
 * while PREFETCH nodes before are added up. Inlined for the widths there are, as constants.
 */
static inline __attribute__((always_inline)) void add_up_rows(struct smp_tree *tree, uint32_t width)
{
    int64_t *const table = tree->table;
    struct smp_node *const nodes = tree->nodes;
    uint32_t *const siblings = tree->slots;
    struct smp_amounts total = { 0 };
    uint32_t totalled = 0; /* the node whose total it is */

    for (uint32_t i = tree->node_count - 1; i > 0; i--) {
        const uint32_t parent = nodes[i].parent;
        const uint32_t soon = nodes[i > PREFETCH ? i - PREFETCH : 0].parent;
        int64_t *const above = &table[(size_t)parent * width];
        __builtin_prefetch(&table[(size_t)soon * width], 1);
        __builtin_prefetch(&nodes[soon], 1);
        if (totalled != i)
            smp_row_copy(total.of, &table[(size_t)i * width], width);
        add_up_states(tree, i);
        smp_row_add(total.of, above, width);
        smp_row_copy(above, total.of, width);
        totalled = parent;
        link_sibling(nodes, siblings, i);
    }
}

/* As add_up_rows, of any set of measures. */
static void add_up_some(struct smp_tree *tree)
{
    struct smp_node *const nodes = tree->nodes;

    for (uint32_t i = tree->node_count - 1; i > 0; i--) {
        int64_t *const total = row_of(tree, nodes[i].parent);
        const int64_t *const more = row_of(tree, i);
        add_up_states(tree, i);
        for (uint32_t place = 0; place < tree->width; place++)
            total[place] = smp_add_clamped(total[place], more[place]);
        link_sibling(nodes, tree->slots, i);
    }
}

/*
 * Plans the totals of states, and takes the memory for them. The plans stand in last_child, which
 * is a mere guess at other times, and afterwards in the slots, each until its node is linked.
 * False: no memory.
 */
static bool plan_states(struct smp_tree *tree)
{
    struct smp_node *const nodes = tree->nodes;
    size_t words = 0;
    bool has_memory;

    for (uint32_t i = 0; i < tree->node_count; i++)
        smp_state_times_plan(&tree->states, i, &nodes[i].last_child);
    for (uint32_t i = tree->node_count - 1; i > 0; i--)
        words += smp_state_times_plan_node(nodes[i].last_child, &nodes[nodes[i].parent].last_child);
    words += SMP_THREAD_STATE_COUNT; /* of node 0 */
    has_memory = smp_state_times_reserve(&tree->states, words);
    for (uint32_t i = 0; i < tree->node_count; i++) {
        if (has_memory)
            tree->slots[i] = nodes[i].last_child;
        nodes[i].last_child = 0;
    }
    return has_memory;
}

static void drop_states(struct smp_tree *tree)
{
    smp_state_times_fini(&tree->states);
    tree->states = (struct smp_state_times){ 0 };
    tree->has_states = false;
    tree->measures &= SMP_TABLE_MEASURES;
    tree->lost_states++;
}

/* What the leaf has is its stack's. It stays, unused, as a row of that place. */
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

void smp_tree_seal(struct smp_tree *tree)
{
    if (tree->sealed)
        return;
    fold_calls(tree);
    if (tree->has_states && !plan_states(tree))
        drop_states(tree);
    tree->sealed = true;
    if (table_measures(tree) == SMP_SAMPLED_MEASURES)
        add_up_rows(tree, SMP_SAMPLED_MEASURE_COUNT);
    else if (table_measures(tree) == SMP_TABLE_MEASURES)
        add_up_rows(tree, SMP_TABLE_MEASURE_COUNT);
    else
        add_up_some(tree);
    tree->slots[0] = 0;
}

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
    return tree->sealed ? tree->slots : NULL;
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
            .first = tree->columns[SMP_MEASURE_WALL],
            .step = tree->width,
            .states = &tree->states,
            .state = (enum smp_thread_state)((int)measure - SMP_TABLE_MEASURE_COUNT),
        };
    if (tree->columns[measure] == NULL)
        return (struct smp_column){ .first = &none };
    return (struct smp_column){ .first = tree->columns[measure], .step = tree->width };
}

int64_t smp_tree_self(const struct smp_tree *tree, uint32_t node, enum smp_measure measure)
{
    const struct smp_column column = smp_tree_column(tree, measure);

    return tree->sealed ? smp_column_self(column, tree->nodes, tree->slots, node)
                        : smp_column_at(column, node);
}

/* Of any set of measures of the table. */
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
    uint32_t child = tree->sealed ? tree->nodes[node].last_child : 0;
    struct smp_amounts self = { 0 };

    smp_row_copy(self.of, &tree->table[(size_t)node * width], width);
    for (; child != 0; child = tree->slots[child])
        smp_row_subtract(self.of, &tree->table[(size_t)child * width], width);
    return self;
}

/* The node's own states: its set, less nothing. A child's states are among those of the node. */
static void put_self_states(const struct smp_tree *tree, uint32_t node, struct smp_amounts *self)
{
    const uint32_t set = smp_state_times_set(&tree->states, node);

    for (int i = 0; i < SMP_THREAD_STATE_COUNT; i++) {
        const enum smp_measure measure = smp_measure_of_state((enum smp_thread_state)i);
        if ((set >> i & 1) != 0)
            self->of[measure] = smp_tree_self(tree, node, measure);
    }
}

struct smp_amounts smp_tree_self_all(const struct smp_tree *tree, uint32_t node)
{
    struct smp_amounts self;

    if (table_measures(tree) == SMP_SAMPLED_MEASURES)
        self = self_of_rows(tree, node, SMP_SAMPLED_MEASURE_COUNT);
    else if (table_measures(tree) == SMP_TABLE_MEASURES)
        self = self_of_rows(tree, node, SMP_TABLE_MEASURE_COUNT);
    else
        self = self_of_some(tree, node);
    if (tree->has_states && self.of[SMP_MEASURE_WALL] > 0)
        put_self_states(tree, node, &self);
    return self;
}

/* Where no total has stuck, a location has what its nodes have, less what their children have. */
static inline __attribute__((always_inline)) void sum_rows(const struct smp_tree *tree,
                                                           const uint32_t *numbers,
                                                           struct smp_amounts *sums, uint32_t width)
{
    const struct smp_node *const nodes = tree->nodes;
    const int64_t *row = tree->table;

    for (uint32_t i = 1; i < tree->node_count; i++) {
        const uint32_t above = nodes[nodes[i].parent].location;
        row += width;
        if (smp_node_is_group(&nodes[i]))
            continue;
        smp_row_add_wrapping(sums[numbers[nodes[i].location]].of, row, width);
        if ((above & SMP_LOCATION_GROUP) == 0)
            smp_row_subtract_wrapping(sums[numbers[above]].of, row, width);
    }
}

static void sum_selves(const struct smp_tree *tree, const uint32_t *numbers,
                       struct smp_amounts *sums)
{
    for (uint32_t i = 1; i < tree->node_count; i++) {
        const struct smp_amounts self = smp_tree_self_all(tree, i);
        if (!smp_node_is_group(&tree->nodes[i]))
            smp_amounts_add(&sums[numbers[tree->nodes[i].location]], &self);
    }
}

/* No total is larger than that of node 0. */
static bool has_stuck_total(const struct smp_tree *tree)
{
    bool has_stuck = false;

    for (uint32_t i = 0; i < tree->width && !has_stuck; i++)
        has_stuck = tree->table[i] == INT64_MAX;
    return has_stuck;
}

void smp_tree_sum_by_location(const struct smp_tree *tree, const uint32_t *numbers,
                              struct smp_amounts *sums)
{
    const bool has_states = tree->has_states;

    if (!has_states && table_measures(tree) == SMP_SAMPLED_MEASURES && !has_stuck_total(tree))
        sum_rows(tree, numbers, sums, SMP_SAMPLED_MEASURE_COUNT);
    else if (!has_states && table_measures(tree) == SMP_TABLE_MEASURES && !has_stuck_total(tree))
        sum_rows(tree, numbers, sums, SMP_TABLE_MEASURE_COUNT);
    else
        sum_selves(tree, numbers, sums);
}

bool smp_tree_has_any(const struct smp_tree *tree, uint32_t node)
{
    const int64_t *const row = row_of(tree, node);
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
           (tree->has_errors ? smp_error_sums_bytes(&tree->errors) : 0) + slot_bytes(tree);
}

size_t smp_tree_node_bytes(uint32_t measures)
{
    const size_t states =
        (measures & SMP_STATE_MEASURES) != 0 ? (size_t)SMP_STATE_TIMES_MOST_BYTES : 0;
    const size_t errors = (measures & SMP_WITH_ERRORS) != 0 ? (size_t)SMP_ERROR_SUM_BYTES : 0;

    return NODE_BYTES + (size_t)__builtin_popcount(measures & SMP_TABLE_MEASURES) * AMOUNT_BYTES +
           states + errors + 3 * SLOT_BYTES;
}
