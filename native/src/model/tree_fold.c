/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_fold.c - three passes over the nodes, without memory for each node:
 *
 *   forward    groups' totals                     slots[node]: its group, its least child's level
 *   backward   shares of subtrees                 last_child: the share, as a float
 *   forward    nodes that stay move down, the     slots[node]: its place
 *              others go to [folded] rows         last_child: its [folded] row, where it has moved
 *
 * A place is never higher than the node's number, so nodes move in place. Parents come before their
 * children.
 */
#include "model/tree_fold.h"

#include <string.h>

#include "model/tree_parts.h"

/* The level of a share is its exponent and two more bits, so that each level is about a fifth
 * larger than the one below. Levels of non-negative floats are in the order of the floats. */
enum {
    LEVEL_SHIFT = 21,
    LEVEL_BITS = 10,
    LEVELS = 1 << LEVEL_BITS,
    NO_LEVEL = LEVELS - 1, /* higher than any share's level */
    MAX_FOLD_GROUPS = 1 << (32 - LEVEL_BITS),
    MAX_VAIN_FOLDS = 10, /* the wait for the next fold doubles so often */
    /* The shares: one for each measure in the table; that of active time takes the place of
     * samples. */
    ACTIVE = SMP_MEASURE_SAMPLES,
    SHARES = SMP_TABLE_MEASURE_COUNT
};

/* Marks a place while nodes move: the top of the folded subtree has no row, so the variance comes
 * from a row below it. */
#define PLACE_PENDING 0x40000000u
#define PLACE_MASK (PLACE_PENDING - 1)

struct group_shares {
    /* First totals, then factors: the sum of the weighted amounts is the mean share */
    double of[SHARES];
};

struct fold {
    struct smp_tree *tree;
    const struct smp_tree_folding *folding;
    struct group_shares *groups;
    struct fold_levels *levels;
    uint32_t cut;    /* nodes of levels below this one are folded, */
    uint32_t budget; /* and this many nodes of this level */
    uint32_t count;  /* nodes that have their place */
    size_t gone;     /* nodes that were folded */
};

struct fold_levels {
    int32_t nodes[LEVELS]; /* nodes that can be folded */
    int32_t rows[LEVELS];  /* by cut: how many more [folded] rows than with the cut below */
};

bool smp_tree_is_full(const struct smp_tree *tree)
{
    const size_t least = tree->node_count / SMP_FOLD_PARTS;
    const size_t wanted = tree->wanted >> tree->vain_folds;

    return wanted >= SMP_FOLD_LEAST_NODES && wanted >= least &&
           (tree->was_refused || !smp_tree_fits(tree, least, tree->row_count / SMP_FOLD_PARTS));
}

/* --- shares --- */

static int64_t row_amount_of(const struct smp_tree *tree, uint32_t row, enum smp_measure measure)
{
    const int64_t *const at = smp_tree_amount_at(tree, row, measure);

    return at == NULL ? 0 : *at;
}

/* Most rows belong to nodes with several children, and have no own amounts. */
static bool has_own(const struct smp_tree *tree, uint32_t row)
{
    const int64_t *const amounts = smp_tree_row(tree, row);
    int64_t any = 0;

    for (uint32_t place = 0; place < tree->width; place++)
        any |= amounts[place];
    return row != 0 && any != 0;
}

static struct group_shares own_shares(const struct smp_tree *tree, uint32_t row)
{
    const int64_t wall_ns = row_amount_of(tree, row, SMP_MEASURE_WALL);
    struct group_shares shares;

    for (int i = 0; i < SHARES; i++)
        shares.of[i] = (double)row_amount_of(tree, row, (enum smp_measure)i);
    shares.of[ACTIVE] =
        tree->has_states
            ? (double)(wall_ns - smp_state_times_at(&tree->states, row, SMP_STATE_IDLE, wall_ns))
            : 0;
    return shares;
}

static size_t count_groups(const struct smp_tree *tree)
{
    size_t groups = 0;

    for (uint32_t node = 1; node < tree->node_count; node++)
        groups += smp_node_is_group(&tree->nodes[node]);
    return groups;
}

static struct group_shares *group_of_node(const struct fold *fold, uint32_t node)
{
    return &fold->groups[fold->tree->slots[node] >> LEVEL_BITS];
}

static void turn_into_factors(struct group_shares *totals)
{
    int held = 0;

    for (int i = 0; i < SHARES; i++)
        held += totals->of[i] > 0;
    for (int i = 0; i < SHARES; i++)
        totals->of[i] = totals->of[i] > 0 ? 1 / (totals->of[i] * held) : 0;
}

/* A node that is not below a group's root counts for the first group, which does no harm. */
static void add_groups(struct fold *fold)
{
    struct smp_tree *const tree = fold->tree;
    uint32_t groups = 0;

    tree->slots[0] = NO_LEVEL;
    for (uint32_t node = 1; node < tree->node_count; node++) {
        const uint32_t group = smp_node_is_group(&tree->nodes[node])
                                   ? groups++
                                   : tree->slots[tree->nodes[node].parent] >> LEVEL_BITS;
        tree->slots[node] = group << LEVEL_BITS | NO_LEVEL;
        tree->nodes[node].last_child = 0;
        if (!has_own(tree, tree->nodes[node].row))
            continue;
        const struct group_shares own = own_shares(tree, tree->nodes[node].row);
        for (int i = 0; i < SHARES; i++)
            fold->groups[group].of[i] += own.of[i];
    }
    for (uint32_t group = 0; group < groups; group++)
        turn_into_factors(&fold->groups[group]);
}

static float share_at(const struct smp_tree *tree, uint32_t node)
{
    float share;

    memcpy(&share, &tree->nodes[node].last_child, sizeof(share));
    return share;
}

static void add_share(struct smp_tree *tree, uint32_t node, float more)
{
    const float share = share_at(tree, node) + more;

    memcpy(&tree->nodes[node].last_child, &share, sizeof(share));
}

static uint32_t share_level(float share)
{
    uint32_t bits;

    memcpy(&bits, &share, sizeof(bits));
    return bits >> LEVEL_SHIFT;
}

static uint32_t level_at(const struct smp_tree *tree, uint32_t node)
{
    return tree->nodes[node].last_child >> LEVEL_SHIFT;
}

/* Returns whether the node stays as long as its parent. */
static bool is_fixed(const struct fold *fold, const struct smp_node *node)
{
    return smp_node_is_group(node) || smp_node_is_call(node) ||
           node->location == fold->folding->folded || node->location == fold->folding->kept;
}

/* The node's share and its smallest child's level are known. A cut above that child, but not above
 * the node itself, makes a [folded] row below the node. */
static void note_level(struct fold *fold, uint32_t node)
{
    struct smp_tree *const tree = fold->tree;
    const uint32_t level = level_at(tree, node);
    const uint32_t smallest = tree->slots[node] & NO_LEVEL;
    const bool is_group = smp_node_is_group(&tree->nodes[node]);
    uint32_t *const above = &tree->slots[tree->nodes[node].parent];

    if (smallest < level || (is_group && smallest < NO_LEVEL)) {
        fold->levels->rows[smallest + 1]++;
        fold->levels->rows[is_group ? NO_LEVEL : level + 1]--;
    }
    if (is_fixed(fold, &tree->nodes[node]))
        return;
    fold->levels->nodes[level]++;
    if (level < (*above & NO_LEVEL))
        *above = (*above & ~(uint32_t)NO_LEVEL) | level;
}

static void add_shares(struct fold *fold)
{
    struct smp_tree *const tree = fold->tree;

    for (uint32_t node = tree->node_count - 1; node > 0; node--) {
        if (has_own(tree, tree->nodes[node].row)) {
            const struct group_shares own = own_shares(tree, tree->nodes[node].row);
            const struct group_shares *const group = group_of_node(fold, node);
            double share = 0;
            for (int i = 0; i < SHARES; i++)
                share += own.of[i] * group->of[i];
            add_share(tree, node, (float)share);
        }
        note_level(fold, node);
        add_share(tree, tree->nodes[node].parent, share_at(tree, node));
    }
}

/* Finds the lowest cut that frees half of the nodes, or the highest cut allowed. Returns false if
 * that cut frees none. */
static bool choose_cut(struct fold *fold)
{
    const uint32_t most = share_level(SMP_FOLD_MOST_SHARE);
    const int64_t wanted = fold->tree->node_count / 2;
    int64_t rows = 0;
    int64_t nodes = 0;
    int64_t freed = 0;

    for (fold->cut = 0; fold->cut < most; fold->cut++) {
        const int64_t before = freed;
        const int64_t more = fold->levels->nodes[fold->cut];
        rows += fold->levels->rows[fold->cut + 1];
        nodes += more;
        freed = nodes - rows;
        if (freed >= wanted) { /* fold only as many of this level as are needed */
            fold->budget = (uint32_t)(more * (wanted - before) / (freed - before) + 1);
            return true;
        }
    }
    return freed > 0;
}

/* --- moving --- */

/* Adds the row of a folded node. is_top: its variance is that of the whole subtree. */
static void fold_row(struct fold *fold, uint32_t to, uint32_t row, bool is_top)
{
    struct smp_tree *const tree = fold->tree;
    struct smp_node *const folded = &tree->nodes[to];
    const float variance =
        is_top && tree->has_errors ? (float)smp_error_sum_variance(&tree->errors[row]) : 0;

    if (folded->row == 0) {
        folded->row = row;
        if (tree->has_errors)
            tree->errors[row] = (struct smp_error_sum){ .variance = variance };
        return;
    }
    if (tree->has_errors)
        tree->errors[folded->row].variance += variance;
    const struct smp_amounts amounts = smp_tree_row_amounts(tree, row);
    smp_tree_free_row(tree, row);
    smp_tree_credit_row(tree, folded->row, &amounts, true);
}

static uint32_t place_node(struct fold *fold, uint32_t parent, uint32_t location, uint32_t row)
{
    const uint32_t place = fold->count++;

    fold->tree->nodes[place] =
        (struct smp_node){ .parent = parent, .location = location, .row = row };
    return place;
}

/* Finds or places the [folded] row below a node that has moved. */
static uint32_t folded_row_of(struct fold *fold, uint32_t parent)
{
    if (fold->tree->nodes[parent].last_child == 0)
        fold->tree->nodes[parent].last_child = place_node(fold, parent, fold->folding->folded, 0);
    return fold->tree->nodes[parent].last_child;
}

/* Returns whether the node, whose parent stays, is folded. */
static bool is_to_go(struct fold *fold, const struct smp_node *node)
{
    const uint32_t level = node->last_child >> LEVEL_SHIFT;

    return !is_fixed(fold, node) && (level < fold->cut || (level == fold->cut && fold->budget > 0));
}

/* Folds a node with its parent, or as the top of a subtree. */
static uint32_t fold_node(struct fold *fold, const struct smp_node *node, uint32_t above)
{
    const bool is_top = (above & SMP_PLACE_FOLDED) == 0 || (above & PLACE_PENDING) != 0;
    const uint32_t to = (above & SMP_PLACE_FOLDED) != 0 ? above & PLACE_MASK
                                                        : folded_row_of(fold, above & PLACE_MASK);

    if (node->last_child >> LEVEL_SHIFT == fold->cut && fold->budget > 0)
        fold->budget--;
    if (node->row != 0)
        fold_row(fold, to, node->row, is_top);
    fold->gone++;
    return to | SMP_PLACE_FOLDED | (is_top && node->row == 0 ? PLACE_PENDING : 0);
}

/* Moves the row of an earlier fold. There may be a new one below the same parent already. */
static uint32_t place_folded(struct fold *fold, const struct smp_node *node, uint32_t parent)
{
    const uint32_t there = fold->tree->nodes[parent].last_child;

    if (there == 0) {
        const uint32_t place = place_node(fold, parent, node->location, node->row);
        fold->tree->nodes[parent].last_child = place;
        return place;
    }
    if (node->row != 0)
        fold_row(fold, there, node->row, true);
    return there;
}

static void move_nodes(struct fold *fold)
{
    struct smp_tree *const tree = fold->tree;
    uint32_t *const places = tree->slots;

    places[0] = 0;
    tree->nodes[0].last_child = 0;
    fold->count = 1;
    for (uint32_t i = 1; i < tree->node_count; i++) {
        const struct smp_node node = tree->nodes[i];
        const uint32_t above = places[node.parent];
        if ((above & SMP_PLACE_FOLDED) != 0 || is_to_go(fold, &node))
            places[i] = fold_node(fold, &node, above);
        else if (node.location == fold->folding->folded)
            places[i] = place_folded(fold, &node, above);
        else
            places[i] = place_node(fold, above, node.location, node.row);
    }
    for (uint32_t i = 1; i < tree->node_count; i++)
        places[i] &= ~PLACE_PENDING;
}

/* Updates the leaves with the location of a counted node. */
static void rename_calls(struct fold *fold)
{
    struct smp_tree *const tree = fold->tree;

    for (uint32_t i = 1; tree->has_calls && i < fold->count; i++) {
        uint32_t *const location = &tree->nodes[i].location;
        if (smp_node_is_call(&tree->nodes[i]))
            *location =
                SMP_LOCATION_CALL | (tree->slots[*location & ~SMP_LOCATION_CALL] & PLACE_MASK);
    }
}

static void finish_fold(struct fold *fold)
{
    struct smp_tree *const tree = fold->tree;

    rename_calls(fold);
    fold->folding->renumber(fold->folding->context, tree->slots);
    tree->node_count = fold->count;
    smp_tree_link(tree);
    smp_arena_rewind(tree->node_arena, (size_t)tree->node_count * sizeof(*tree->nodes));
    smp_arena_give_back(tree->node_arena);
}

static void find_and_fold(struct fold *fold)
{
    add_groups(fold);
    add_shares(fold);
    if (!choose_cut(fold)) {
        smp_tree_link(fold->tree); /* slots and last children were used as working memory */
        return;
    }
    move_nodes(fold);
    finish_fold(fold);
}

static void count_vain_folds(struct smp_tree *tree, uint32_t nodes_before)
{
    if (nodes_before - tree->node_count >= nodes_before / SMP_FOLD_PARTS)
        tree->vain_folds = 0;
    else if (tree->vain_folds < MAX_VAIN_FOLDS)
        tree->vain_folds++;
}

size_t smp_tree_fold(struct smp_tree *tree, const struct smp_tree_folding *folding)
{
    struct fold fold = { .tree = tree, .folding = folding };
    const size_t groups = count_groups(tree);
    const uint32_t before = tree->node_count;

    tree->wanted = 0;
    tree->was_refused = false;
    if (tree->is_finished || tree->width == 0 || groups == 0 || groups > MAX_FOLD_GROUPS)
        return 0;
    fold.groups = smp_alloc(tree->quota, groups * sizeof(*fold.groups));
    fold.levels = smp_alloc(tree->quota, sizeof(*fold.levels));
    if (fold.groups != NULL && fold.levels != NULL) {
        find_and_fold(&fold);
        count_vain_folds(tree, before);
    }
    smp_free(tree->quota, fold.groups);
    smp_free(tree->quota, fold.levels);
    return fold.gone;
}
