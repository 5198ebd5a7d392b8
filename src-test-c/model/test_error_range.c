/* SPDX-License-Identifier: Apache-2.0 */
/* Error sums of a tree, and the ranges that follow from them. */
#include "model/error_range.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/random.h"
#include "model/profile_diff.h"
#include "model/profile_merge.h"
#include "support/failing_alloc.h"
#include "support/rounds.h"

enum { PART_BYTES = 1 << 22, NODES = 400, MS = 1000000 };

#define WITH_ERRORS (SMP_SAMPLED_MEASURES | SMP_STATE_MEASURES | SMP_WITH_ERRORS)
#define MS2 1e12

static struct smp_tree *make_tree(uint32_t measures)
{
    struct smp_tree *tree = NULL;

    assert_int_equal(smp_tree_create(NULL, measures, PART_BYTES, &tree), SMP_OK);
    return tree;
}

static uint32_t add(struct smp_tree *tree, uint32_t parent, uint32_t location)
{
    uint32_t node = 0;

    assert_int_equal(smp_tree_add(tree, parent, &location, 1, &node), SMP_OK);
    return node;
}

static void assert_near(double actual, double expected)
{
    if (fabs(actual - expected) > 1e-4 * (fabs(expected) + 1e-9))
        fail_msg("%.9g, not %.9g", actual, expected);
}

/* --- error sums --- */

static void a_change_affects_the_nodes_of_its_path_only(void **state)
{
    struct smp_tree *tree = make_tree(WITH_ERRORS);
    const uint32_t root = add(tree, 0, SMP_LOCATION_GROUP);
    const uint32_t common = add(tree, root, 1);
    const uint32_t left = add(tree, common, 2);
    const uint32_t right = add(tree, common, 3);
    const uint32_t leaf = add(tree, right, 4);

    (void)state;
    smp_tree_moved(tree, left, leaf, 3, 7);
    smp_tree_moved(tree, leaf, leaf, 5, 8); /* the same stack again */
    smp_tree_moved(tree, leaf, right, 2, 9);
    assert_near(smp_tree_variance(tree, 0), 0);
    assert_near(smp_tree_variance(tree, root), 0);
    assert_near(smp_tree_variance(tree, common), 0);
    assert_near(smp_tree_variance(tree, left), 9);
    assert_near(smp_tree_variance(tree, right), 9);
    assert_near(smp_tree_variance(tree, leaf), 9 + 4);
    smp_tree_finish(tree);
    smp_tree_moved(tree, left, leaf, 3, 10);
    assert_near(smp_tree_variance(tree, leaf), 13);
    smp_tree_destroy(tree);
}

/* A node in a chain has no row of its own until it gets a second child. */
static void a_node_that_gets_a_row_keeps_its_variance(void **state)
{
    static const uint32_t chain[] = { 3, 2, 1 };
    struct smp_tree *tree = make_tree(WITH_ERRORS);
    const uint32_t root = add(tree, 0, SMP_LOCATION_GROUP);
    const uint32_t other = add(tree, root, 9);
    uint32_t leaf = 0;

    (void)state;
    assert_int_equal(smp_tree_add(tree, root, chain, 3, &leaf), SMP_OK);
    const uint32_t middle = smp_tree_nodes(tree)[leaf].parent;
    smp_tree_moved(tree, other, leaf, 3, 7);
    assert_near(smp_tree_variance(tree, middle), 9);
    (void)add(tree, middle, 4);
    assert_near(smp_tree_variance(tree, middle), 9);
    smp_tree_destroy(tree);
}

/* Two threads arrive and one leaves: the variance is the square of 3 + 3 - 1, not 9 + 9 + 1. */
static void changes_of_one_tick_are_summed_with_their_signs(void **state)
{
    struct smp_tree *tree = make_tree(WITH_ERRORS);
    const uint32_t root = add(tree, 0, SMP_LOCATION_GROUP);
    const uint32_t here = add(tree, root, 1);
    const uint32_t there = add(tree, root, 2);

    (void)state;
    smp_tree_moved(tree, there, here, 3, 1);
    smp_tree_moved(tree, there, here, 3, 1);
    smp_tree_moved(tree, here, there, 1, 1);
    assert_near(smp_tree_variance(tree, here), 25);
    smp_tree_moved(tree, here, there, 1, 2);
    assert_near(smp_tree_variance(tree, here), 26);
    assert_near(smp_tree_variance(tree, there), 26);
    smp_tree_destroy(tree);
}

static void a_weight_counts_less_if_its_poll_was_likely(void **state)
{
    (void)state;
    assert_near(smp_error_change(20 * MS, 1), 20 * sqrt(0.5));
    assert_near(smp_error_change(20 * MS, 0.5), 20 * sqrt(0.75));
    assert_near(smp_error_change(20 * MS, 0), 20);
    assert_near(smp_error_change(0, 1), 0);
}

/* Compared with one number for each node and tick. */
static void random_changes_match_a_naive_sum(void **state)
{
    struct smp_tree *tree = make_tree(WITH_ERRORS);
    uint32_t nodes[NODES] = { add(tree, 0, SMP_LOCATION_GROUP) };
    static double change[NODES];
    static double variance[NODES];
    uint64_t random = 1;

    (void)state;
    for (uint32_t i = 1; i < NODES; i++)
        nodes[i] = add(tree, nodes[smp_random_next(&random) % i], i);
    for (uint32_t tick = 1; tick < 500; tick++) {
        for (int thread = 0; thread < 4; thread++) {
            const uint32_t from = nodes[smp_random_next(&random) % NODES];
            const uint32_t to = nodes[smp_random_next(&random) % NODES];
            const float weight = (float)(smp_random_next(&random) % 100);
            for (uint32_t at = from; at != 0; at = smp_tree_nodes(tree)[at].parent)
                change[at - 1] -= (double)weight;
            for (uint32_t at = to; at != 0; at = smp_tree_nodes(tree)[at].parent)
                change[at - 1] += (double)weight;
            smp_tree_moved(tree, from, to, weight, tick);
        }
        for (int i = 0; i < NODES; i++) {
            variance[i] += change[i] * change[i];
            change[i] = 0;
        }
    }
    for (int i = 0; i < NODES; i++)
        assert_near(smp_tree_variance(tree, nodes[i]), variance[nodes[i] - 1]);
    smp_tree_destroy(tree);
}

static void error_sums_take_twelve_bytes_per_node(void **state)
{
    enum { MANY = 200000 };
    struct smp_tree *trees[2] = { NULL };

    (void)state;
    for (int i = 0; i < 2; i++) {
        uint32_t node = 0;
        assert_int_equal(smp_tree_create(NULL,
                                         i == 0 ? WITH_ERRORS & ~SMP_WITH_ERRORS : WITH_ERRORS,
                                         (size_t)1 << 28, &trees[i]),
                         SMP_OK);
        for (uint32_t n = 1; n < MANY; n++)
            node = add(trees[i], n % 100 == 0 ? 0 : node, n);
    }
    const size_t more = smp_tree_bytes(trees[1]) - smp_tree_bytes(trees[0]);
    assert_in_range(more, 12 * (MANY - 1), 12 * MANY + (1 << 16));
    assert_int_equal(smp_tree_node_bytes(WITH_ERRORS),
                     smp_tree_node_bytes(WITH_ERRORS & ~SMP_WITH_ERRORS) + 12);
    smp_tree_destroy(trees[0]);
    smp_tree_destroy(trees[1]);
}

/* --- without memory --- */

static bool has_lost;

/* Nodes are added even though the errors find no memory. */
static enum smp_status grow_and_move(void *self)
{
    struct smp_tree *tree = NULL;
    enum smp_status status = smp_tree_create(self, WITH_ERRORS, PART_BYTES, &tree);
    uint32_t last = 0;

    for (uint32_t i = 1; i < 9000 && status == SMP_OK; i++) {
        const uint32_t location = i;
        uint32_t node = 0;
        status = smp_tree_add(tree, 0, &location, 1, &node);
        if (status == SMP_OK)
            smp_tree_moved(tree, last, node, 1, i);
        last = node;
    }
    if (status == SMP_OK && smp_tree_lost_errors(tree) > 0) {
        has_lost = true;
        assert_int_equal(smp_tree_lost_errors(tree), 1);
        assert_false(smp_tree_has_errors(tree));
        assert_true(smp_tree_variance(tree, last) < 0);
    }
    smp_tree_destroy(tree);
    return status;
}

static void without_memory_nodes_are_kept_and_errors_dropped(void **state)
{
    struct smp_quota quota;

    (void)state;
    smp_quota_init(&quota, PART_BYTES);
    assert_true(failing_alloc_each_step(grow_and_move, &quota).survived > 0);
    assert_true(has_lost);
}

/* --- ranges --- */

static struct smp_error_range range_of(double amount_ms, double all_ms, double variance_ms2)
{
    return smp_error_range_of((int64_t)(amount_ms * MS), (int64_t)(all_ms * MS),
                              (struct smp_error){ .variance = variance_ms2 * MS2 });
}

static void the_range_of_many_finds_is_nearly_normal(void **state)
{
    const struct smp_error_range range = range_of(10000, -1, 100 * 100);

    (void)state;
    assert_in_range(range.lower / MS, 10000 - 197, 10000 - 192);
    assert_in_range(range.upper / MS, 10000 + 196, 10000 + 201);
}

/* The exact quantiles of the gamma distribution for 3 finds are 0.619 and 8.767. */
static void the_range_of_few_finds_is_longer_upwards(void **state)
{
    const struct smp_error_range range = range_of(300, -1, 3 * 100 * 100);

    (void)state;
    assert_in_range(range.lower / MS, 60, 64);
    assert_in_range(range.upper / MS, 872, 881);
}

static void a_row_with_most_of_the_time_has_the_range_of_the_other_rows(void **state)
{
    const struct smp_error_range rest = range_of(300, 1000, 3 * 100 * 100);
    const struct smp_error_range part = range_of(700, 1000, 3 * 100 * 100);

    (void)state;
    assert_int_equal(part.lower, 1000 * (int64_t)MS - rest.upper);
    assert_int_equal(part.upper, 1000 * (int64_t)MS - rest.lower);
    assert_int_equal(range_of(950, 1000, 300 * 300).upper, 1000 * (int64_t)MS);
    assert_int_equal(range_of(400, 1000, 400 * 400).upper, 1000 * (int64_t)MS); /* a single find */
}

static void a_range_contains_its_amount_and_is_not_negative(void **state)
{
    uint64_t random = 3;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        const int64_t amount = (int64_t)(smp_random_next(&random) >> (8 + i % 50));
        const int64_t all =
            i % 3 == 0 ? -1 : amount / 2 + (int64_t)(smp_random_next(&random) >> (9 + i % 40));
        const struct smp_error error = { .variance = (double)(smp_random_next(&random) >> 1) *
                                                     (double)(i % 7),
                                         .find_ns = i % 5 == 0 ? 1e8 : 0 };
        const struct smp_error_range range =
            smp_error_range_of(amount, all < amount && all >= 0 ? amount : all, error);
        assert_true(0 <= range.lower && range.lower <= amount && amount <= range.upper);
    }
    assert_int_equal(range_of(5, 5, 0).lower, 5 * MS);
    assert_int_equal(range_of(5, 9, 0).upper, 5 * MS);
}

static void a_sum_adds_variances_and_keeps_the_largest_find(void **state)
{
    struct smp_error sum = { .variance = 3, .find_ns = 1 };

    (void)state;
    smp_error_add(&sum, (struct smp_error){ .variance = 4, .find_ns = 2 });
    smp_error_add(&sum, (struct smp_error){ .find_ns = 1 });
    assert_near(sum.variance, 7);
    assert_near(sum.find_ns, 2);
    smp_error_add(&sum, (struct smp_error){ .variance = -1 });
    assert_true(sum.variance < 0);
}

/* --- of a profile --- */

/* Group "g": [work] with two rows beside [wait]; 900 ms waiting, 60 and 40 ms running. */
struct made {
    struct smp_methods *methods;
    struct smp_profile *profile;
    uint32_t root;
    uint32_t top;
    uint32_t wait;
    uint32_t work;
    uint32_t often;
    uint32_t seldom;
    uint32_t gone; /* found by one poll only, and has no time left */
};

/* comes_and_goes: one thread of the group was not there from the start. */
static void make_tree_of(struct made *made, struct smp_tree *tree, struct smp_group_info *info,
                         bool comes_and_goes)
{
    made->root = info->root;
    made->top = add(tree, made->root, smp_methods_pseudo(made->methods, "[top]"));
    made->wait = add(tree, made->top, smp_methods_pseudo(made->methods, "[wait]"));
    made->work = add(tree, made->top, smp_methods_pseudo(made->methods, "[work]"));
    made->often = add(tree, made->work, smp_methods_pseudo(made->methods, "[often]"));
    made->seldom = add(tree, made->work, smp_methods_pseudo(made->methods, "[seldom]"));
    smp_tree_credit_wall(tree, made->wait, SMP_STATE_IDLE, 900 * MS);
    smp_tree_credit_wall(tree, made->often, SMP_STATE_RUNNING, 60 * MS);
    smp_tree_credit_wall(tree, made->seldom, SMP_STATE_RUNNING, 40 * MS);
    smp_tree_credit(tree, made->often, SMP_MEASURE_CPU, 30 * MS);
    smp_tree_credit(tree, made->seldom, SMP_MEASURE_CPU, 20 * MS);
    smp_tree_credit(tree, made->often, SMP_MEASURE_SAMPLES, 7);
    smp_tree_moved(tree, made->wait, made->often, 40, 1);
    smp_tree_moved(tree, made->often, made->seldom, 5, 2);
    smp_tree_moved(tree, made->seldom, made->wait, 5, 3);
    if (comes_and_goes) {
        made->gone = add(tree, made->top, smp_methods_pseudo(made->methods, "[gone]"));
        smp_tree_moved(tree, 0, made->gone, 30, 4);
    }
    info->unseen.seen = 100 * MS;
    smp_error_sum_add(&info->running, 1, 40);
    smp_error_sum_add(&info->running, 3, -5);
}

static struct smp_profile *make_profile(struct made *made, uint32_t measures, bool comes_and_goes)
{
    struct smp_thread_groups *groups = NULL;
    struct smp_tree *tree = make_tree(measures);

    assert_int_equal(smp_thread_groups_create(NULL, PART_BYTES, &groups), SMP_OK);
    const struct smp_group group =
        smp_thread_groups_find(groups, (struct smp_group_key){ .name = "g" });
    struct smp_group_info *const info = smp_thread_groups_info(groups, group);
    assert_int_equal(smp_tree_root(tree, group.index, &info->root), SMP_OK);
    make_tree_of(made, tree, info, comes_and_goes);
    made->profile = NULL;
    assert_int_equal(smp_profile_create(NULL, tree, groups, made->methods, &made->profile), SMP_OK);
    return made->profile;
}

static struct made make_one(uint32_t measures, bool comes_and_goes)
{
    struct made made = { .methods = NULL };

    assert_int_equal(smp_methods_create(NULL, PART_BYTES, NULL, &made.methods), SMP_OK);
    (void)make_profile(&made, measures, comes_and_goes);
    return made;
}

static struct made make(uint32_t measures)
{
    return make_one(measures, false);
}

static void unmake(struct made *made)
{
    smp_profile_release(made->profile);
    smp_methods_release(made->methods);
    assert_int_equal(smp_alloc_live_bytes(), 0);
}

static struct smp_error total(const struct made *made, uint32_t node, enum smp_measure measure)
{
    const struct smp_group_errors errors = smp_group_errors_of(made->profile, made->root);

    return smp_group_errors_total(&errors, node, measure);
}

static void a_row_has_the_variance_of_its_finds_or_a_share_of_the_total(void **state)
{
    struct made made = make(WITH_ERRORS);
    const double running = 40 * 40 + 5 * 5;

    (void)state;
    assert_near(total(&made, made.top, SMP_MEASURE_WALL).variance, 0);
    assert_near(total(&made, made.wait, SMP_MEASURE_WALL).variance, running * MS2);
    assert_near(total(&made, made.often, SMP_MEASURE_WALL).variance, running * MS2);
    /* Found by polls of small weight only; it has 40 % of the running time. */
    assert_near(total(&made, made.seldom, SMP_MEASURE_WALL).variance, 0.4 * running * MS2);
    /* Half of the running time is CPU time: a quarter of the variance, less the exact part. */
    assert_near(total(&made, made.seldom, SMP_MEASURE_CPU).variance,
                (0.4 - 0.16) * running / 4 * MS2);
    assert_near(total(&made, made.top, SMP_MEASURE_CPU).variance, 0);
    assert_near(total(&made, made.top, SMP_MEASURE_CPU).find_ns, 0);
    assert_true(total(&made, made.wait, SMP_MEASURE_CPU).variance < 0);
    unmake(&made);
}

static void the_range_of_own_time_depends_on_the_node_and_its_children(void **state)
{
    struct made made = make(WITH_ERRORS);
    const struct smp_group_errors errors = smp_group_errors_of(made.profile, made.root);

    (void)state;
    assert_near(smp_group_errors_own(&errors, made.often, SMP_MEASURE_WALL).variance,
                total(&made, made.often, SMP_MEASURE_WALL).variance);
    assert_near(smp_group_errors_own(&errors, made.top, SMP_MEASURE_WALL).variance,
                2 * (40 * 40 + 5 * 5) * MS2);
    unmake(&made);
}

static void own_time_has_at_most_the_variance_of_its_finds(void **state)
{
    struct made made = make(WITH_ERRORS);

    (void)state;
    made.profile->period_ns = 20 * MS;
    const struct smp_group_errors errors = smp_group_errors_of(made.profile, made.root);
    assert_near(smp_group_errors_own(&errors, made.work, SMP_MEASURE_WALL).variance, 0);
    assert_true(total(&made, made.work, SMP_MEASURE_WALL).variance > 0);
    unmake(&made);
}

static void a_group_whose_threads_come_and_go_is_not_exact(void **state)
{
    struct made made = make_one(WITH_ERRORS, true);
    const struct smp_group_errors errors = smp_group_errors_of(made.profile, made.root);
    struct smp_error_range range;

    (void)state;
    assert_true(smp_group_errors_range(&errors, made.top, SMP_MEASURE_WALL, &range));
    assert_true(range.lower < 1000 * (int64_t)MS && range.upper > 1000 * (int64_t)MS);
    unmake(&made);
}

static void a_row_without_time_has_no_range(void **state)
{
    struct made made = make_one(WITH_ERRORS, true);
    const struct smp_group_errors errors = smp_group_errors_of(made.profile, made.root);
    struct smp_error_range range;

    (void)state;
    assert_false(smp_group_errors_range(&errors, made.gone, SMP_MEASURE_WALL, &range));
    unmake(&made);
}

static bool has_range(const struct made *made, uint32_t node, enum smp_measure measure,
                      bool *is_exact)
{
    const struct smp_group_errors errors = smp_group_errors_of(made->profile, made->root);
    struct smp_error_range range;
    const bool is_known = smp_group_errors_range(&errors, node, measure, &range);

    *is_exact = is_known && range.lower == range.upper;
    return is_known;
}

static void counts_and_constant_rows_are_exact(void **state)
{
    struct made made = make(WITH_ERRORS);
    bool is_exact = false;

    (void)state;
    assert_true(has_range(&made, made.top, SMP_MEASURE_WALL, &is_exact) && is_exact);
    assert_true(has_range(&made, made.often, SMP_MEASURE_SAMPLES, &is_exact) && is_exact);
    assert_true(has_range(&made, made.often, SMP_MEASURE_WALL, &is_exact) && !is_exact);
    assert_true(has_range(&made, made.wait, SMP_MEASURE_IDLE, &is_exact) && !is_exact);
    assert_false(has_range(&made, made.top, SMP_MEASURE_IDLE, &is_exact));
    assert_false(has_range(&made, made.wait, SMP_MEASURE_CPU, &is_exact));
    unmake(&made);
}

static void without_error_sums_only_counts_have_a_range(void **state)
{
    struct made made = make(WITH_ERRORS & ~SMP_WITH_ERRORS);
    bool is_exact = false;

    (void)state;
    assert_true(has_range(&made, made.often, SMP_MEASURE_SAMPLES, &is_exact) && is_exact);
    assert_false(has_range(&made, made.often, SMP_MEASURE_WALL, &is_exact));
    assert_false(has_range(&made, made.top, SMP_MEASURE_CPU, &is_exact));
    unmake(&made);
}

/* --- merged, compared --- */

static void variances_of_merged_profiles_add_up(void **state)
{
    struct made made = make(WITH_ERRORS);
    struct smp_profile *first = smp_profile_hold(made.profile);
    struct smp_profile *merged = NULL;

    (void)state;
    assert_int_equal(smp_profile_merge(NULL, first, first, &merged), SMP_OK);
    smp_profile_release(made.profile);
    made.profile = merged;
    /* Nodes of one names table are in the same order. */
    assert_near(total(&made, made.often, SMP_MEASURE_WALL).variance, 2 * (40 * 40 + 5 * 5) * MS2);
    assert_near(total(&made, made.seldom, SMP_MEASURE_WALL).variance,
                2 * 0.4 * (40 * 40 + 5 * 5) * MS2);
    assert_int_equal(merged->counters[SMP_COUNTER_LOST_ERRORS], 0);
    smp_profile_release(first);
    unmake(&made);
}

static void a_merge_with_a_profile_without_errors_has_none_and_says_so(void **state)
{
    struct made made = make(WITH_ERRORS);
    struct smp_profile *first = smp_profile_hold(made.profile);
    struct smp_profile *merged = NULL;
    bool is_exact = false;

    (void)state;
    smp_profile_release(made.profile);
    (void)make_profile(&made, WITH_ERRORS & ~SMP_WITH_ERRORS, false);
    assert_int_equal(smp_profile_merge(NULL, first, made.profile, &merged), SMP_OK);
    smp_profile_release(made.profile);
    made.profile = merged;
    assert_false(has_range(&made, made.often, SMP_MEASURE_WALL, &is_exact));
    assert_int_equal(merged->counters[SMP_COUNTER_LOST_ERRORS], 1);
    smp_profile_release(first);
    unmake(&made);
}

static void each_side_of_a_difference_has_error_bars(void **state)
{
    struct made made = make(WITH_ERRORS);
    const struct smp_profile *const sides[] = { made.profile, NULL };
    struct smp_profile_diff *diff = NULL;
    int64_t halves[16];

    (void)state;
    assert_int_equal(smp_profile_diff_create(NULL, sides, true, &diff), SMP_OK);
    assert_true(smp_profile_diff_count(diff) <= sizeof(halves) / sizeof(halves[0]));
    smp_profile_diff_errors(diff, SMP_DIFF_BEFORE, SMP_MEASURE_WALL, halves);
    assert_int_equal(halves[smp_profile_diff_place(diff, SMP_DIFF_BEFORE, made.top)], 0);
    assert_true(halves[smp_profile_diff_place(diff, SMP_DIFF_BEFORE, made.often)] > 40 * MS);
    smp_profile_diff_errors(diff, SMP_DIFF_AFTER, SMP_MEASURE_WALL, halves);
    assert_int_equal(halves[smp_profile_diff_place(diff, SMP_DIFF_BEFORE, made.often)], 0);
    smp_profile_diff_destroy(diff);
    unmake(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_affects_the_nodes_of_its_path_only),
        cmocka_unit_test(a_node_that_gets_a_row_keeps_its_variance),
        cmocka_unit_test(changes_of_one_tick_are_summed_with_their_signs),
        cmocka_unit_test(a_weight_counts_less_if_its_poll_was_likely),
        cmocka_unit_test(random_changes_match_a_naive_sum),
        cmocka_unit_test(error_sums_take_twelve_bytes_per_node),
        cmocka_unit_test(without_memory_nodes_are_kept_and_errors_dropped),
        cmocka_unit_test(the_range_of_many_finds_is_nearly_normal),
        cmocka_unit_test(the_range_of_few_finds_is_longer_upwards),
        cmocka_unit_test(a_row_with_most_of_the_time_has_the_range_of_the_other_rows),
        cmocka_unit_test(a_range_contains_its_amount_and_is_not_negative),
        cmocka_unit_test(a_sum_adds_variances_and_keeps_the_largest_find),
        cmocka_unit_test(a_row_has_the_variance_of_its_finds_or_a_share_of_the_total),
        cmocka_unit_test(the_range_of_own_time_depends_on_the_node_and_its_children),
        cmocka_unit_test(own_time_has_at_most_the_variance_of_its_finds),
        cmocka_unit_test(a_group_whose_threads_come_and_go_is_not_exact),
        cmocka_unit_test(a_row_without_time_has_no_range),
        cmocka_unit_test(counts_and_constant_rows_are_exact),
        cmocka_unit_test(without_error_sums_only_counts_have_a_range),
        cmocka_unit_test(variances_of_merged_profiles_add_up),
        cmocka_unit_test(a_merge_with_a_profile_without_errors_has_none_and_says_so),
        cmocka_unit_test(each_side_of_a_difference_has_error_bars),
    };
    return cmocka_run_group_tests_name("error range", tests, NULL, NULL);
}
