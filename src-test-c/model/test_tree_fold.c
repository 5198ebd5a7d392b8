/* SPDX-License-Identifier: Apache-2.0 */
/* Folds compared with a naive copy of the tree: no amount is lost, and large subtrees stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/tree_fold.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "support/failing_alloc.h"
#include "support/rounds.h"

enum {
    MAX_BYTES = 2 * 1024 * 1024,
    QUOTA_BYTES = 4 * MAX_BYTES,
    MOST_NODES = MAX_BYTES / 16,
    GROUPS = 3,
    DEPTH = 12,
    FOLDED = 1000001, /* locations */
    OVER_LIMIT = 1000002,
    HOT = 1000003
};

#define ALL (SMP_ALL_MEASURES | SMP_WITH_ERRORS)

/* Own amounts and totals of each node. */
struct copy {
    size_t count;
    struct smp_node *nodes;
    struct smp_amounts *own;
    struct smp_amounts *totals;
    double *variances;
};

struct fixture {
    struct smp_quota quota;
    struct smp_tree *tree;
    uint32_t roots[GROUPS];
    uint64_t random;
    uint32_t tick;
    uint32_t *places; /* of the last fold */
    struct copy before;
    struct copy after;
};

static struct fixture fixture;

static void make_tree(struct fixture *f, uint32_t measures)
{
    assert_int_equal(smp_tree_create(&f->quota, measures, MAX_BYTES, &f->tree), SMP_OK);
    for (uint32_t i = 0; i < GROUPS; i++) {
        const uint32_t over = OVER_LIMIT;
        uint32_t node = 0;
        assert_int_equal(smp_tree_root(f->tree, i, &f->roots[i]), SMP_OK);
        assert_int_equal(smp_tree_add(f->tree, f->roots[i], &over, 1, &node), SMP_OK);
    }
}

static void make_copy(struct copy *copy)
{
    copy->nodes = test_calloc(MOST_NODES, sizeof(*copy->nodes));
    copy->own = test_calloc(MOST_NODES, sizeof(*copy->own));
    copy->totals = test_calloc(MOST_NODES, sizeof(*copy->totals));
    copy->variances = test_calloc(MOST_NODES, sizeof(*copy->variances));
}

static void free_copy(struct copy *copy)
{
    test_free(copy->nodes);
    test_free(copy->own);
    test_free(copy->totals);
    test_free(copy->variances);
}

static int setup(void **state)
{
    fixture = (struct fixture){ .random = 7 };
    smp_quota_init(&fixture.quota, QUOTA_BYTES);
    make_copy(&fixture.before);
    make_copy(&fixture.after);
    fixture.places = test_calloc(MOST_NODES, sizeof(*fixture.places));
    make_tree(&fixture, ALL);
    *state = &fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    smp_tree_destroy(f->tree);
    assert_int_equal(smp_quota_used(&f->quota), 0);
    free_copy(&f->before);
    free_copy(&f->after);
    test_free(f->places);
    return 0;
}

static uint32_t below(struct fixture *f, uint32_t limit)
{
    return (uint32_t)(smp_random_next(&f->random) % limit);
}

static void renumber(void *context, const uint32_t *places)
{
    struct fixture *f = context;

    memcpy(f->places, places, f->before.count * sizeof(*places));
    for (uint32_t i = 0; i < GROUPS; i++)
        f->roots[i] = places[f->roots[i]];
}

static void take_copy(struct copy *copy, const struct smp_tree *tree)
{
    copy->count = smp_tree_node_count(tree);
    memcpy(copy->nodes, smp_tree_nodes(tree), copy->count * sizeof(*copy->nodes));
    for (uint32_t node = 0; node < copy->count; node++) {
        copy->own[node] = smp_tree_self_all(tree, node);
        copy->totals[node] = copy->own[node];
        copy->variances[node] = smp_tree_variance(tree, node);
    }
    for (uint32_t node = (uint32_t)copy->count - 1; node > 0; node--)
        smp_amounts_add(&copy->totals[copy->nodes[node].parent], &copy->totals[node]);
}

static size_t fold(struct fixture *f)
{
    const struct smp_tree_folding folding = {
        .folded = FOLDED, .kept = OVER_LIMIT, .renumber = renumber, .context = f
    };
    size_t gone;

    take_copy(&f->before, f->tree);
    for (uint32_t node = 0; node < f->before.count; node++)
        f->places[node] = node;
    gone = smp_tree_fold(f->tree, &folding);
    take_copy(&f->after, f->tree);
    return gone;
}

/* --- stacks --- */

/* A few locations are frequent, most are rare, so no two of thousands of stacks are equal. */
static uint32_t random_location(struct fixture *f)
{
    const uint32_t limit = below(f, 4) == 0 ? 2000 : 3;

    return 1 + below(f, limit);
}

static uint32_t add_random(struct fixture *f, uint32_t group)
{
    const size_t depth = 1 + below(f, DEPTH);
    uint32_t locations[DEPTH];
    uint32_t leaf = 0;

    for (size_t i = 0; i < depth; i++)
        locations[i] = random_location(f);
    return smp_tree_add(f->tree, f->roots[group], locations, depth, &leaf) == SMP_OK ? leaf : 0;
}

static uint32_t add_hot(struct fixture *f, uint32_t group)
{
    const uint32_t hot = HOT;
    uint32_t leaf = 0;

    assert_int_equal(smp_tree_add(f->tree, f->roots[group], &hot, 1, &leaf), SMP_OK);
    return leaf;
}

static void credit(struct fixture *f, uint32_t node, int64_t most)
{
    smp_tree_credit_wall(f->tree, node, (enum smp_thread_state)below(f, SMP_THREAD_STATE_COUNT),
                         1 + below(f, (uint32_t)most));
    smp_tree_credit(f->tree, node, SMP_MEASURE_CPU, below(f, 100));
    smp_tree_credit(f->tree, node, SMP_MEASURE_SAMPLES, 1);
    smp_tree_credit(f->tree, node, SMP_MEASURE_CALLS, below(f, 5));
}

/* Fills the tree. Each group has one stack with a twentieth of its time. */
static void fill(struct fixture *f)
{
    uint32_t last[GROUPS];

    memcpy(last, f->roots, sizeof(last));
    for (uint32_t round = 0; !smp_tree_is_full(f->tree); round++) {
        const uint32_t group = round % GROUPS;
        const uint32_t node = round % 20 < GROUPS ? add_hot(f, group) : add_random(f, group);
        if (node == 0)
            continue;
        credit(f, node, 1000);
        smp_tree_moved(f->tree, last[group], node, (float)below(f, 10), ++f->tick);
        last[group] = node;
    }
}

/* --- properties that must hold --- */

static uint32_t place_of(const struct fixture *f, uint32_t node)
{
    return f->places[node] & ~SMP_PLACE_FOLDED;
}

static bool has_gone(const struct fixture *f, uint32_t node)
{
    return (f->places[node] & SMP_PLACE_FOLDED) != 0;
}

/* Each place has the sum of the nodes that moved there, for each measure. */
static void assert_no_amount_is_lost(struct fixture *f)
{
    struct smp_amounts *const sums = test_calloc(f->after.count, sizeof(*sums));

    for (uint32_t node = 0; node < f->before.count; node++)
        smp_amounts_add(&sums[place_of(f, node)], &f->before.own[node]);
    for (uint32_t node = 0; smp_tree_lost_states(f->tree) > 0 && node < f->after.count; node++) {
        smp_amounts_keep(&sums[node], SMP_TABLE_MEASURES);
        smp_amounts_keep(&f->after.own[node], SMP_TABLE_MEASURES);
    }
    assert_memory_equal(sums, f->after.own, f->after.count * sizeof(*sums));
    test_free(sums);
    for (uint32_t node = 0; smp_tree_lost_states(f->tree) == 0 && node < f->before.count; node++) {
        if (!has_gone(f, node) && f->before.nodes[node].location != FOLDED)
            assert_memory_equal(&f->after.totals[place_of(f, node)], &f->before.totals[node],
                                sizeof(struct smp_amounts));
    }
}

/* Remaining nodes have the same parents as before; folded ones are in the row of their parent. */
static void assert_paths_stay(const struct fixture *f)
{
    size_t rows = 0;

    for (uint32_t node = 1; node < f->before.count; node++) {
        const struct smp_node *const was = &f->before.nodes[node];
        const struct smp_node *const is = &f->after.nodes[place_of(f, node)];
        assert_true(place_of(f, node) <= node);
        assert_true(is->parent < place_of(f, node));
        if (!has_gone(f, node))
            assert_int_equal(is->location, was->location);
        else
            assert_int_equal(is->location, FOLDED);
        if (has_gone(f, was->parent)) {
            assert_true(has_gone(f, node));
            assert_int_equal(place_of(f, node), place_of(f, was->parent));
        } else {
            assert_int_equal(is->parent, place_of(f, was->parent));
        }
    }
    for (uint32_t node = 1; node < f->after.count; node++) {
        rows += f->after.nodes[node].location == FOLDED;
        for (uint32_t other = node + 1; other < node + 20 && other < f->after.count; other++)
            assert_false(f->after.nodes[node].parent == f->after.nodes[other].parent &&
                         f->after.nodes[node].location == f->after.nodes[other].location);
    }
    assert_true(rows > 0);
}

static double share_of_node(const struct fixture *f, uint32_t node)
{
    const struct smp_amounts *const all = &f->before.totals[smp_node_root(f->before.nodes, node)];
    const struct smp_amounts *const has = &f->before.totals[node];
    const int64_t active = all->of[SMP_MEASURE_WALL] - all->of[SMP_MEASURE_IDLE];
    double sum = 0;
    int count = 0;

    for (int i = 0; i < SMP_TABLE_MEASURE_COUNT; i++) {
        if (i == SMP_MEASURE_SAMPLES || all->of[i] == 0)
            continue;
        sum += (double)has->of[i] / (double)all->of[i];
        count++;
    }
    if (active > 0) {
        sum += (double)(has->of[SMP_MEASURE_WALL] - has->of[SMP_MEASURE_IDLE]) / (double)active;
        count++;
    }
    return count == 0 ? 0 : sum / count;
}

/* Each level is at most a quarter larger than the one below. */
static void assert_the_largest_stay(const struct fixture *f)
{
    double largest = 0;
    double smallest = 1;

    for (uint32_t node = 1; node < f->before.count; node++) {
        const uint32_t location = f->before.nodes[node].location;
        if (smp_node_is_group(&f->before.nodes[node]) || location == FOLDED ||
            location == OVER_LIMIT)
            continue;
        const double share = share_of_node(f, node);
        if (has_gone(f, node))
            largest = share > largest ? share : largest;
        else
            smallest = share < smallest ? share : smallest;
        if (share >= (double)SMP_FOLD_MOST_SHARE * 1.001)
            assert_false(has_gone(f, node));
    }
    assert_true(largest <= smallest * 1.26 || smallest == 0);
}

static void assert_variances_stay(const struct fixture *f)
{
    double *const rows = test_calloc(f->after.count, sizeof(*rows));

    for (uint32_t node = 1; node < f->before.count; node++) {
        const struct smp_node *const was = &f->before.nodes[node];
        if (has_gone(f, node) ? !has_gone(f, was->parent) : was->location == FOLDED)
            rows[place_of(f, node)] += f->before.variances[node];
        else if (!has_gone(f, node))
            rows[place_of(f, node)] = f->before.variances[node];
    }
    for (uint32_t node = 1; node < f->after.count; node++)
        assert_true(fabs(rows[node] - f->after.variances[node]) <= 1e-3 * rows[node] + 1e-6);
    test_free(rows);
}

/* The tree finds all its nodes and adds only missing ones. */
static void assert_finds_all(struct fixture *f)
{
    for (uint32_t node = 1; node < f->after.count; node++) {
        const struct smp_node *const at = &f->after.nodes[node];
        uint32_t found = 0;
        assert_int_equal(smp_tree_add_between(f->tree, at->parent, at->location, &found), SMP_OK);
        assert_int_equal(found, node);
    }
    assert_int_equal(smp_tree_node_count(f->tree), f->after.count);
}

static void assert_totals_when_finished(struct fixture *f)
{
    take_copy(&f->before, f->tree);
    smp_tree_finish(f->tree);
    for (uint32_t node = 0; node < f->before.count; node++) {
        for (int i = 0; i < SMP_MEASURE_COUNT; i++)
            assert_int_equal(smp_column_at(smp_tree_column(f->tree, (enum smp_measure)i), node),
                             f->before.totals[node].of[i]);
    }
}

/* --- tests --- */

static void folded_amounts_are_in_rows_of_their_parents(void **state)
{
    struct fixture *f = *state;

    for (int round = 0; round < 12; round++) {
        fill(f);
        const size_t before = smp_tree_node_count(f->tree);
        const size_t bytes = smp_quota_used(&f->quota);
        assert_true(fold(f) > before / 4);
        assert_in_range(f->after.count, before / 3, before * 2 / 3);
        assert_true(smp_quota_used(&f->quota) < bytes);
        assert_no_amount_is_lost(f);
        assert_paths_stay(f);
        assert_the_largest_stay(f);
        assert_variances_stay(f);
        assert_finds_all(f);
    }
    for (uint32_t i = 0; i < GROUPS; i++)
        assert_true(smp_tree_self(f->tree, add_hot(f, i), SMP_MEASURE_WALL) > 0);
    assert_int_equal(smp_tree_lost_states(f->tree), 0);
    assert_int_equal(smp_tree_lost_errors(f->tree), 0);
    assert_totals_when_finished(f);
}

static void trees_of_any_measures_are_folded(void **state)
{
    static const uint32_t sets[] = { SMP_SAMPLED_MEASURES, SMP_MEASURE_BIT(SMP_MEASURE_WALL),
                                     SMP_TABLE_MEASURES,
                                     SMP_MEASURE_BIT(SMP_MEASURE_CALLS) | SMP_WITH_ERRORS };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
        smp_tree_destroy(f->tree);
        make_tree(f, sets[i]);
        for (int round = 0; round < 3; round++) {
            fill(f);
            assert_true(fold(f) > 0);
            assert_no_amount_is_lost(f);
            assert_paths_stay(f);
            assert_finds_all(f);
        }
        assert_totals_when_finished(f);
    }
}

/* Among stacks of the same size the older half is folded. */
static void the_newest_half_of_equal_stacks_stays(void **state)
{
    struct fixture *f = *state;
    size_t stays = 0;
    uint32_t stacks = 0;

    for (; !smp_tree_is_full(f->tree); stacks++) {
        const uint32_t stack[] = { 1, 2, 3, 4, 100 + stacks };
        uint32_t leaf = 0;
        assert_int_equal(smp_tree_add(f->tree, f->roots[0], stack, 5, &leaf), SMP_OK);
        smp_tree_credit_wall(f->tree, leaf, SMP_STATE_RUNNING, 1000);
    }
    assert_true(fold(f) > 0);
    for (uint32_t node = 1; node < f->after.count; node++)
        stays += f->after.nodes[node].location == 1;
    assert_in_range(stays, stacks * 45 / 100, stacks * 55 / 100);
    assert_true(has_gone(f, 10));
    assert_false(has_gone(f, (uint32_t)f->before.count - 1));
    assert_no_amount_is_lost(f);
}

/* A thousand stacks of equal size: each has at least 0.1 % of its group. */
static void large_stacks_are_not_folded(void **state)
{
    struct fixture *f = *state;

    for (uint32_t i = 0; i < 990; i++) {
        const uint32_t stack[] = { 1, 2, 3, 100 + i };
        uint32_t leaf = 0;
        assert_int_equal(smp_tree_add(f->tree, f->roots[0], stack, 4, &leaf), SMP_OK);
        smp_tree_credit_wall(f->tree, leaf, SMP_STATE_RUNNING, 1000);
    }
    assert_int_equal(fold(f), 0);
    assert_int_equal(f->after.count, f->before.count);
    assert_finds_all(f);
    assert_totals_when_finished(f);
}

/* Replacing a single node by a row would free no memory. */
static void single_leaves_are_not_folded(void **state)
{
    struct fixture *f = *state;

    for (uint32_t i = 0; i < 900; i++) {
        const uint32_t stack[] = { 1, 100 + i };
        uint32_t leaf = 0;
        assert_int_equal(smp_tree_add(f->tree, f->roots[0], stack + 1, 1, &leaf), SMP_OK);
        smp_tree_credit_wall(f->tree, leaf, SMP_STATE_RUNNING, 100000);
        assert_int_equal(smp_tree_add(f->tree, f->roots[0], stack, 2, &leaf), SMP_OK);
        smp_tree_credit_wall(f->tree, leaf, SMP_STATE_RUNNING, 1);
    }
    assert_int_equal(fold(f), 0);
}

/* A leaf that refers to a counted node is folded only together with its stack, and gets the node's
 * new number. */
static void call_leaves_refer_to_the_same_nodes_after_a_fold(void **state)
{
    struct fixture *f = *state;
    const uint32_t counted = add_hot(f, 1);
    const uint32_t stack = add_hot(f, 0);
    uint32_t leaf = 0;

    smp_tree_credit(f->tree, counted, SMP_MEASURE_CALLS, 1000000);
    assert_int_equal(smp_tree_add_call(f->tree, stack, counted, &leaf), SMP_OK);
    smp_tree_credit_wall(f->tree, leaf, SMP_STATE_RUNNING, 1);
    smp_tree_credit_wall(f->tree, stack, SMP_STATE_RUNNING, 1000000);
    fill(f);
    assert_true(fold(f) > 0);
    assert_false(has_gone(f, leaf));
    assert_false(has_gone(f, counted));
    assert_int_equal(f->after.nodes[place_of(f, leaf)].location,
                     SMP_LOCATION_CALL | place_of(f, counted));
    assert_no_amount_is_lost(f);
}

/* After a fold, the next one needs this many new nodes, however often an add is refused. */
static void folds_are_rare(void **state)
{
    struct fixture *f = *state;
    size_t wanted = 0;

    assert_false(smp_tree_is_full(f->tree));
    fill(f);
    assert_true(fold(f) > 0);
    assert_false(smp_tree_is_full(f->tree));
    fill(f);
    assert_true(smp_tree_node_count(f->tree) - f->after.count >=
                smp_tree_node_count(f->tree) / SMP_FOLD_PARTS);
    /* If memory is short, refused nodes count, too. */
    assert_true(fold(f) > 0);
    const size_t left = QUOTA_BYTES - smp_quota_used(&f->quota);
    assert_true(smp_quota_take(&f->quota, left));
    while (!smp_tree_is_full(f->tree)) {
        (void)add_random(f, 0);
        wanted++;
    }
    assert_true(wanted * DEPTH >= SMP_FOLD_LEAST_NODES);
    smp_quota_give(&f->quota, left);
}

/* No row is small enough to be folded, so each fold frees nothing and each add is refused. */
static void folds_that_free_nothing_become_rarer(void **state)
{
    enum { LEAVES = 900, TOO_MANY = 10000, ADDS = 2000, SMALL_BYTES = 6 * SMP_ARENA_STEP };
    static uint32_t deep[TOO_MANY];
    struct fixture *f = *state;
    uint32_t folds = 0;
    uint32_t leaf = 0;

    smp_tree_destroy(f->tree);
    assert_int_equal(smp_tree_create(&f->quota, ALL, SMALL_BYTES, &f->tree), SMP_OK);
    assert_int_equal(smp_tree_root(f->tree, 0, &f->roots[0]), SMP_OK);
    for (uint32_t i = 0; i < LEAVES; i++) {
        const uint32_t location = 100 + i;
        assert_int_equal(smp_tree_add(f->tree, f->roots[0], &location, 1, &leaf), SMP_OK);
        smp_tree_credit_wall(f->tree, leaf, SMP_STATE_RUNNING, 1000);
    }
    for (uint32_t i = 0; i < TOO_MANY; i++)
        deep[i] = HOT + i;
    for (uint32_t i = 0; i < ADDS; i++) {
        assert_int_equal(smp_tree_add(f->tree, f->roots[0], deep, TOO_MANY, &leaf), SMP_EQUOTA);
        if (smp_tree_is_full(f->tree)) {
            assert_int_equal(fold(f), 0);
            folds++;
        }
    }
    assert_in_range(folds, 2, 40);
}

/* --- without memory --- */

static enum smp_status fill_and_fold(void *self)
{
    struct fixture *f = self;
    enum smp_status status = SMP_OK;
    size_t gone;

    f->random = 11;
    if (smp_tree_create(&f->quota, ALL, MAX_BYTES / 2, &f->tree) != SMP_OK)
        return SMP_ENOMEM;
    for (uint32_t i = 0; i < GROUPS && status == SMP_OK; i++)
        status = smp_tree_root(f->tree, i, &f->roots[i]);
    for (int round = 0; round < 2 && status == SMP_OK; round++) {
        const uint32_t hot = HOT;
        uint32_t leaf = 0;
        for (uint32_t i = 0; i < GROUPS && status == SMP_OK; i++)
            status = smp_tree_add(f->tree, f->roots[i], &hot, 1, &leaf);
        if (status != SMP_OK)
            break;
        fill(f);
        gone = fold(f);
        assert_no_amount_is_lost(f);
        if (gone == 0)
            status = SMP_ENOMEM;
        else
            assert_paths_stay(f);
    }
    if (status == SMP_OK &&
        (smp_tree_lost_states(f->tree) > 0 || smp_tree_lost_errors(f->tree) > 0))
        status = SMP_ENOMEM;
    smp_tree_destroy(f->tree);
    f->tree = NULL;
    return status;
}

static void without_memory_nothing_is_folded_and_nothing_lost(void **state)
{
    struct fixture *f = *state;

    smp_tree_destroy(f->tree);
    f->tree = NULL;
    assert_true(failing_alloc_each_step(fill_and_fold, f).refused > 10);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(folded_amounts_are_in_rows_of_their_parents),
        TEST(trees_of_any_measures_are_folded),
        TEST(the_newest_half_of_equal_stacks_stays),
        TEST(large_stacks_are_not_folded),
        TEST(single_leaves_are_not_folded),
        TEST(call_leaves_refer_to_the_same_nodes_after_a_fold),
        TEST(folds_are_rare),
        TEST(folds_that_free_nothing_become_rarer),
        TEST(without_memory_nothing_is_folded_and_nothing_lost),
    };
#undef TEST
    return cmocka_run_group_tests_name("tree_fold", tests, NULL, NULL);
}
