/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/state_times.h"

#include <string.h>

#include "base/random.h"
#include "model/tree.h"
#include "support/failing_alloc.h"
#include "support/rounds.h"

enum {
    MAX_BYTES = 64 * 1024 * 1024,
    NODES = 2000, /* in the reference tree */
    ROUNDS = 200000
};

/* Each node's own time, by state. */
struct naive {
    uint32_t parent[NODES];
    int64_t self[NODES][SMP_THREAD_STATE_COUNT];
};

struct fixture {
    struct smp_quota quota;
    struct smp_tree *tree;
    struct naive naive;
    uint64_t random;
};

static struct fixture fixture;

static int setup(void **state)
{
    fixture = (struct fixture){ .random = 1 };
    smp_quota_init(&fixture.quota, MAX_BYTES);
    assert_int_equal(smp_tree_create(&fixture.quota, SMP_SAMPLED_MEASURES | SMP_STATE_MEASURES,
                                     MAX_BYTES, &fixture.tree),
                     SMP_OK);
    *state = &fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    smp_tree_destroy(f->tree);
    assert_int_equal(smp_quota_used(&f->quota), 0);
    return 0;
}

static uint32_t below(struct fixture *f, uint32_t limit)
{
    return (uint32_t)(smp_random_next(&f->random) % limit);
}

/* Adds a child to a random node. */
static void add_nodes(struct fixture *f, size_t count)
{
    uint32_t root = 0;

    assert_int_equal(smp_tree_root(f->tree, 0, &root), SMP_OK);
    while (smp_tree_node_count(f->tree) < count) {
        const uint32_t parent = root + below(f, (uint32_t)smp_tree_node_count(f->tree) - root);
        const uint32_t location = (uint32_t)smp_tree_node_count(f->tree);
        uint32_t node = 0;
        assert_int_equal(smp_tree_add(f->tree, parent, &location, 1, &node), SMP_OK);
        f->naive.parent[node] = parent;
    }
}

static int64_t sum_of(const int64_t states[SMP_THREAD_STATE_COUNT])
{
    int64_t sum = 0;

    for (int i = 0; i < SMP_THREAD_STATE_COUNT; i++)
        sum += states[i];
    return sum;
}

static void take_naively(int64_t states[SMP_THREAD_STATE_COUNT], enum smp_thread_state first,
                         int64_t ns)
{
    for (int i = 0; i <= SMP_THREAD_STATE_COUNT; i++) {
        const int at = i == 0 ? (int)first : SMP_THREAD_STATE_COUNT - i;
        const int64_t taken = ns < states[at] ? ns : states[at];
        states[at] -= taken;
        ns -= taken;
    }
}

/* Credits time, corrects it and changes states at random. */
static void change(struct fixture *f)
{
    const uint32_t node = 1 + below(f, (uint32_t)smp_tree_node_count(f->tree) - 1);
    const enum smp_thread_state state = (enum smp_thread_state)below(f, SMP_THREAD_STATE_COUNT);
    const enum smp_thread_state other = (enum smp_thread_state)below(f, SMP_THREAD_STATE_COUNT);
    int64_t *const naive = f->naive.self[node];
    const int64_t ns = below(f, 1000);
    const int64_t all = sum_of(naive);
    int64_t moved = 0;

    switch (below(f, 4)) {
    case 0:
        assert_int_equal(smp_tree_take_back_wall(f->tree, node, state, ns), ns < all ? ns : all);
        take_naively(naive, state, ns);
        break;
    case 1:
        moved = ns < naive[state] ? ns : naive[state];
        if (state == other)
            moved = 0;
        assert_int_equal(smp_tree_change_state(f->tree, node, state, other, ns), moved);
        naive[state] -= moved;
        naive[other] += moved;
        break;
    default:
        smp_tree_credit_wall(f->tree, node, state, ns);
        naive[state] += ns;
    }
}

static void assert_selves(struct fixture *f)
{
    for (uint32_t node = 1; node < smp_tree_node_count(f->tree); node++) {
        const struct smp_amounts self = smp_tree_self_all(f->tree, node);
        for (int i = 0; i < SMP_THREAD_STATE_COUNT; i++)
            assert_int_equal(self.of[smp_measure_of_state((enum smp_thread_state)i)],
                             f->naive.self[node][i]);
        assert_int_equal(self.of[SMP_MEASURE_WALL], sum_of(f->naive.self[node]));
    }
}

static void states_match_a_naive_tree(void **state)
{
    struct fixture *f = *state;
    static int64_t totals[NODES][SMP_THREAD_STATE_COUNT];
    const size_t count = NODES;

    add_nodes(f, count);
    for (long round = 0; round < test_rounds(ROUNDS); round++)
        change(f);
    assert_selves(f);
    smp_tree_finish(f->tree);
    assert_selves(f);
    memcpy(totals, f->naive.self, sizeof(totals));
    for (uint32_t node = (uint32_t)count - 1; node > 0; node--) {
        for (int i = 0; i < SMP_THREAD_STATE_COUNT; i++)
            totals[f->naive.parent[node]][i] += totals[node][i];
    }
    for (uint32_t node = 1; node < count; node++) {
        for (int i = 0; i < SMP_THREAD_STATE_COUNT; i++) {
            const struct smp_column column =
                smp_tree_column(f->tree, smp_measure_of_state((enum smp_thread_state)i));
            assert_int_equal(smp_column_at(column, node), totals[node][i]);
        }
        assert_int_equal(smp_column_at(smp_tree_column(f->tree, SMP_MEASURE_WALL), node),
                         sum_of(totals[node]));
    }
}

/* Wall time without a known state counts as running, so that states always add up. */
static void wall_time_without_a_state_counts_as_running(void **state)
{
    struct fixture *f = *state;
    const struct smp_amounts amounts = {
        .of = { [SMP_MEASURE_WALL] = 10, [SMP_MEASURE_BLOCKED] = 4, [SMP_MEASURE_CPU] = 1 },
    };
    uint32_t root = 0;
    struct smp_amounts self;

    assert_int_equal(smp_tree_root(f->tree, 0, &root), SMP_OK);
    smp_tree_credit_all(f->tree, root, &amounts);
    self = smp_tree_self_all(f->tree, root);
    assert_int_equal(self.of[SMP_MEASURE_WALL], 10);
    assert_int_equal(self.of[SMP_MEASURE_RUNNING], 6);
    assert_int_equal(self.of[SMP_MEASURE_BLOCKED], 4);
    assert_int_equal(self.of[SMP_MEASURE_CPU], 1);
}

enum { LEAVES = 20000, DEPTH = 8 };

/* Realistic stacks: chains of DEPTH nodes that branch at random. Each leaf has one state, every
 * fourth has two. */
static void add_stacks(struct fixture *f, struct smp_tree *tree)
{
    uint32_t root = 0;

    assert_int_equal(smp_tree_root(tree, 0, &root), SMP_OK);
    for (uint32_t i = 0; i < LEAVES; i++) {
        const uint32_t under = root + below(f, (uint32_t)smp_tree_node_count(tree) - root);
        uint32_t stack[DEPTH];
        uint32_t leaf = 0;
        for (uint32_t at = 0; at < DEPTH; at++)
            stack[at] = 1 + i * DEPTH + at;
        assert_int_equal(smp_tree_add(tree, under, stack, DEPTH, &leaf), SMP_OK);
        smp_tree_credit_wall(tree, leaf, (enum smp_thread_state)below(f, SMP_THREAD_STATE_COUNT),
                             1000);
        if (i % 4 == 0)
            smp_tree_credit_wall(tree, leaf, SMP_STATE_RUNNABLE, 10);
    }
}

static void a_node_takes_at_most_40_bytes_with_all_states(void **state)
{
    struct fixture *f = *state;

    add_stacks(f, f->tree);
    smp_tree_finish(f->tree);
    const double node_bytes =
        (double)smp_tree_bytes(f->tree) / (double)smp_tree_node_count(f->tree);
    print_message("%.1f bytes a node\n", node_bytes);
    assert_true(node_bytes <= 40);
    assert_int_equal(smp_tree_lost_states(f->tree), 0);
}

/* Hundreds of intervals may be in the queue, each with its own address space. */
static void states_of_a_small_tree_take_little_address_space(void **state)
{
    struct smp_state_times times = { 0 };
    struct smp_quota quota;

    (void)state;
    smp_quota_init(&quota, MAX_BYTES);
    assert_int_equal(smp_state_times_init(&times, &quota, 1000), SMP_OK);
    assert_true(smp_state_times_reserve(&times, 1000 * SMP_STATE_TIMES_NODE_WORDS +
                                                    SMP_STATE_TIMES_STEP_WORDS - 1));
    assert_false(smp_state_times_reserve(&times, 1000 * SMP_STATE_TIMES_NODE_WORDS +
                                                     2 * SMP_STATE_TIMES_STEP_WORDS));
    smp_state_times_fini(&times);
    assert_int_equal(smp_quota_used(&quota), 0);
}

/* Without memory time goes to another state, or the finished tree has no states. Time is never
 * lost. */
static enum smp_status grow_and_finish(void *self)
{
    struct smp_quota *quota = self;
    struct smp_tree *tree = NULL;
    uint32_t root = 0;
    int kept = 0;
    enum smp_status status =
        smp_tree_create(quota, SMP_SAMPLED_MEASURES | SMP_STATE_MEASURES, MAX_BYTES, &tree);

    if (status == SMP_OK)
        status = smp_tree_root(tree, 0, &root);
    if (status == SMP_OK) {
        for (int i = 0; i < SMP_THREAD_STATE_COUNT; i++)
            smp_tree_credit_wall(tree, root, (enum smp_thread_state)i, 1);
        for (int i = 0; i < SMP_THREAD_STATE_COUNT; i++) {
            const enum smp_measure measure = smp_measure_of_state((enum smp_thread_state)i);
            kept += smp_column_at(smp_tree_column(tree, measure), root) == 1;
        }
        assert_true((smp_tree_lost_states(tree) > 0) == (kept < SMP_THREAD_STATE_COUNT));
        assert_int_equal(smp_column_at(smp_tree_column(tree, SMP_MEASURE_WALL), root),
                         SMP_THREAD_STATE_COUNT);
        smp_tree_finish(tree);
        assert_int_equal(smp_column_at(smp_tree_column(tree, SMP_MEASURE_WALL), root),
                         SMP_THREAD_STATE_COUNT);
        if (smp_tree_lost_states(tree) > 0)
            status = SMP_ENOMEM;
    }
    smp_tree_destroy(tree);
    return status;
}

static void a_state_that_finds_no_memory_is_counted(void **state)
{
    struct smp_quota quota;

    (void)state;
    smp_quota_init(&quota, MAX_BYTES);
    assert_true(failing_alloc_each_step(grow_and_finish, &quota).refused > 5);
    assert_int_equal(smp_quota_used(&quota), 0);
}

/* The totals of states need more memory than is left after the own times. */
static void a_tree_finished_without_memory_has_no_states(void **state)
{
    enum { CHAIN = 8000 };
    struct fixture *f = *state;
    struct failing_alloc failing;
    uint32_t node = 0;

    for (uint32_t i = 1; i <= CHAIN; i++) { /* each node has one state, below nodes with others */
        assert_int_equal(smp_tree_add(f->tree, node, &i, 1, &node), SMP_OK);
        smp_tree_credit_wall(f->tree, node, (enum smp_thread_state)(i % SMP_THREAD_STATE_COUNT), 1);
    }
    assert_int_equal(smp_tree_lost_states(f->tree), 0);
    failing_alloc_arm(&failing, 1, SIZE_MAX);
    smp_tree_finish(f->tree);
    assert_true(failing_alloc_disarm(&failing) > 0);
    assert_int_equal(smp_tree_lost_states(f->tree), 1);
    assert_int_equal(smp_tree_measures(f->tree) & SMP_STATE_MEASURES, 0);
    assert_int_equal(smp_column_at(smp_tree_column(f->tree, SMP_MEASURE_WALL), 0), CHAIN);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(states_match_a_naive_tree),
        TEST(wall_time_without_a_state_counts_as_running),
        TEST(a_node_takes_at_most_40_bytes_with_all_states),
        TEST(states_of_a_small_tree_take_little_address_space),
        TEST(a_state_that_finds_no_memory_is_counted),
        TEST(a_tree_finished_without_memory_has_no_states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
