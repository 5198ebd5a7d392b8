/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.c - nodes in an arena that never moves, found through open addressing with linear probing.
 *
 * A slot holds the index of a node, 0 = empty (node 0 is nobody's child, so it is in no slot). The
 * slots stand in a reserved address range and double in place: commit as much again behind them,
 * clear, insert every node anew from the node array. Old and new never stand side by side, and a
 * refused commit has changed nothing.
 */
#include "model/tree.h"

#include <stdbool.h>
#include <string.h>

#include "base/arena.h"

enum {
    NODE_BYTES = 32,
    SLOT_BYTES = 4,
    FIRST_SLOTS = SMP_ARENA_STEP / SLOT_BYTES, /* a multiple of every page size there is */
};

/* An odd number without pattern: 2^64 divided by the golden ratio. */
#define MIX 0x9E3779B97F4A7C15u

_Static_assert(sizeof(struct smp_node) == NODE_BYTES, "a node is half a cache line");
_Static_assert(SMP_ARENA_STEP % NODE_BYTES == 0, "nodes are one array");

struct smp_tree {
    struct smp_node *nodes; /* the arena's base */
    uint32_t *slots;        /* sealed: the next siblings */
    uint32_t node_count;    /* including node 0 */
    uint32_t slot_count;    /* a power of two */
    unsigned shift;         /* a hash shifted right by this is a slot */
    bool sealed;
    size_t max_bytes;
    size_t reserved_bytes; /* address space of the slots */
    struct smp_arena *arena;
    struct smp_quota *quota;
};

/* --- slots --- */

static uint32_t first_slot(const struct smp_tree *tree, uint32_t parent, uint32_t location)
{
    const uint64_t key = ((uint64_t)parent << 32) | location;

    /*
     * Nothing more: parents and locations are small numbers in long runs, and one multiplication
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

/* The node is in no slot yet, and there is room. */
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

/* --- room --- */

static size_t node_bytes(size_t nodes)
{
    const size_t step = SMP_ARENA_STEP;

    return (nodes * NODE_BYTES + step - 1) / step * step;
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

/*
 * Adds room for count nodes at once, zeroed: either all of them or none. Slots first, because a
 * table with too many slots is still a good table, while nodes that are in no slot would have to
 * be taken back.
 */
static enum smp_status make_room(struct smp_tree *tree, size_t count)
{
    size_t nodes;
    size_t slots;
    enum smp_status status;

    if (count > SMP_MAX_NODES - tree->node_count)
        return SMP_EQUOTA;
    nodes = tree->node_count + count;
    slots = slots_for(nodes, tree->slot_count);
    if (node_bytes(nodes) + slots * SLOT_BYTES > tree->max_bytes)
        return SMP_EQUOTA;
    status = grow_slots(tree, slots);
    if (status != SMP_OK)
        return status;
    if (smp_arena_alloc(tree->arena, count * NODE_BYTES, NODE_BYTES) == NULL)
        return SMP_ENOMEM;
    return SMP_OK;
}

/* --- stacks --- */

/*
 * Follows a stack as far as it is in the tree. Returns how many locations are left; *node is where
 * the path ends.
 *
 * Three guesses, cheapest first. A chain that came in one piece lies in one piece, so the next node
 * is often the child: its address does not wait for a load, and the processor runs ahead. Else the
 * child found last. Else the slots.
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

/* Hangs a chain of new nodes below parent; there is room for it. Returns the last of them. */
static uint32_t append(struct smp_tree *tree, uint32_t parent, const uint32_t *locations,
                       size_t count)
{
    uint32_t at = parent;

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

/*
 * Times are never negative, and stick at their maximum: a thousand threads reach 2^63 ns in four
 * months, and an interval may be that long.
 */
static int64_t add_clamped(int64_t a, int64_t b)
{
    int64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* Below zero only where a total has stuck. */
static int64_t subtract_clamped(int64_t a, int64_t b)
{
    return a > b ? a - b : 0;
}

/* --- public --- */

enum smp_status smp_tree_create(struct smp_quota *quota, size_t max_bytes, struct smp_tree **out)
{
    const size_t most =
        max_bytes / NODE_BYTES < SMP_MAX_NODES ? max_bytes / NODE_BYTES : (size_t)SMP_MAX_NODES;
    enum smp_status status;
    struct smp_tree *tree = NULL;

    if (max_bytes < node_bytes(1) + FIRST_SLOTS * SLOT_BYTES)
        return SMP_EQUOTA;
    tree = smp_alloc(quota, sizeof(*tree));
    if (tree == NULL)
        return SMP_ENOMEM;
    tree->quota = quota;
    tree->max_bytes = max_bytes;
    status = smp_arena_create(quota, most * NODE_BYTES, &tree->arena);
    if (status != SMP_OK)
        goto done;
    tree->reserved_bytes = slots_for(most, FIRST_SLOTS) * SLOT_BYTES;
    tree->slots = smp_map_reserve(tree->reserved_bytes);
    if (tree->slots == NULL) {
        status = SMP_ENOMEM;
        goto done;
    }
    status = grow_slots(tree, FIRST_SLOTS);
    if (status != SMP_OK)
        goto done;
    status = make_room(tree, 1);
    if (status != SMP_OK)
        goto done;
    tree->nodes = smp_arena_base(tree->arena);
    tree->node_count = 1;
    *out = tree;
    tree = NULL;
done:
    smp_tree_destroy(tree);
    return status;
}

void smp_tree_destroy(struct smp_tree *tree)
{
    if (tree == NULL)
        return;
    if (tree->slots != NULL)
        smp_map_release(tree->quota, tree->slots, tree->reserved_bytes,
                        (size_t)tree->slot_count * SLOT_BYTES);
    smp_arena_destroy(tree->arena);
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
        const enum smp_status status = make_room(tree, missing);
        if (status != SMP_OK)
            return status;
        node = append(tree, node, locations, missing);
    }
    *leaf = node;
    return SMP_OK;
}

void smp_tree_credit(struct smp_tree *tree, uint32_t node, int64_t wall_ns, int64_t cpu_ns,
                     uint32_t samples)
{
    struct smp_node *at = &tree->nodes[node];

    if (tree->sealed)
        return;
    at->wall_ns = add_clamped(at->wall_ns, wall_ns);
    at->cpu_ns = add_clamped(at->cpu_ns, cpu_ns);
    at->samples = samples > UINT32_MAX - at->samples ? UINT32_MAX : at->samples + samples;
}

int64_t smp_tree_take_back(struct smp_tree *tree, uint32_t node, int64_t wall_ns)
{
    struct smp_node *at = &tree->nodes[node];
    const int64_t taken_ns = wall_ns < at->wall_ns ? wall_ns : at->wall_ns;

    if (tree->sealed)
        return 0;
    at->wall_ns -= taken_ns;
    return taken_ns;
}

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
    const bool is_root = (at->location & SMP_LOCATION_GROUP) != 0;

    at->last_child =
        is_root ? at->location & ~SMP_LOCATION_GROUP : tree->nodes[at->parent].last_child;
    return of(context, at->last_child);
}

static void begin_spread(struct smp_tree_unseen *unseen, uint32_t root)
{
    if (unseen->fallback == 0)
        unseen->fallback = root;
    unseen->largest = unseen->fallback;
    unseen->seen_ns = 0;
    unseen->left_ns = unseen->cpu_ns;
}

static void see(struct smp_tree *tree, struct smp_tree_unseen *unseen, uint32_t node)
{
    const struct smp_node *nodes = tree->nodes;

    if (nodes[node].cpu_ns == 0)
        return;
    if (unseen->seen_ns == 0 || nodes[node].cpu_ns > nodes[unseen->largest].cpu_ns)
        unseen->largest = node;
    unseen->seen_ns = add_clamped(unseen->seen_ns, nodes[node].cpu_ns);
}

static void take_share(struct smp_tree *tree, struct smp_tree_unseen *unseen, uint32_t node)
{
    const int64_t seen_ns = tree->nodes[node].cpu_ns;
    int64_t cpu_ns;

    if (seen_ns == 0 || node == unseen->largest)
        return;
    cpu_ns = share_of(unseen->cpu_ns, seen_ns, unseen->seen_ns);
    smp_tree_credit(tree, node, 0, cpu_ns, 0);
    unseen->left_ns -= cpu_ns;
}

static void take_rest(struct smp_tree *tree, struct smp_tree_unseen *unseen)
{
    smp_tree_credit(tree, unseen->largest, 0, unseen->left_ns, 0);
    *unseen = (struct smp_tree_unseen){ .fallback = unseen->fallback };
}

void smp_tree_spread(struct smp_tree *tree,
                     struct smp_tree_unseen *(*of)(void *context, uint32_t group), void *context)
{
    struct smp_node *nodes = tree->nodes;

    if (tree->sealed)
        return;
    for (uint32_t i = 1; i < tree->node_count; i++) {
        struct smp_tree_unseen *unseen = group_of(tree, i, of, context);
        if ((nodes[i].location & SMP_LOCATION_GROUP) != 0)
            begin_spread(unseen, i);
        see(tree, unseen, i);
    }
    for (uint32_t i = 1; i < tree->node_count; i++)
        take_share(tree, of(context, nodes[i].last_child), i);
    for (uint32_t i = 1; i < tree->node_count; i++) {
        nodes[i].last_child = 0;
        if ((nodes[i].location & SMP_LOCATION_GROUP) != 0)
            take_rest(tree, of(context, nodes[i].location & ~SMP_LOCATION_GROUP));
    }
}

void smp_tree_seal(struct smp_tree *tree)
{
    struct smp_node *nodes = tree->nodes;
    uint32_t *siblings = tree->slots;

    if (tree->sealed)
        return;
    tree->sealed = true;
    for (uint32_t i = 0; i < tree->node_count; i++)
        nodes[i].last_child = 0;
    /* Children before parents; the last one put in front is the one added first. */
    for (uint32_t i = tree->node_count - 1; i > 0; i--) {
        struct smp_node *parent = &nodes[nodes[i].parent];
        parent->wall_ns = add_clamped(parent->wall_ns, nodes[i].wall_ns);
        parent->cpu_ns = add_clamped(parent->cpu_ns, nodes[i].cpu_ns);
        siblings[i] = parent->last_child;
        parent->last_child = i;
    }
    siblings[0] = 0;
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

void smp_tree_self(const struct smp_tree *tree, uint32_t node, int64_t *wall_ns, int64_t *cpu_ns)
{
    const struct smp_node *nodes = tree->nodes;
    uint32_t child = tree->sealed ? nodes[node].last_child : 0;
    int64_t wall = nodes[node].wall_ns;
    int64_t cpu = nodes[node].cpu_ns;

    for (; child != 0; child = tree->slots[child]) {
        wall = subtract_clamped(wall, nodes[child].wall_ns);
        cpu = subtract_clamped(cpu, nodes[child].cpu_ns);
    }
    *wall_ns = wall;
    *cpu_ns = cpu;
}

size_t smp_tree_bytes(const struct smp_tree *tree)
{
    return sizeof(*tree) + smp_arena_committed(tree->arena) + (size_t)tree->slot_count * SLOT_BYTES;
}
