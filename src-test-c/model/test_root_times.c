/* SPDX-License-Identifier: Apache-2.0 */
/* Random calls of random nodes, in one table and in two merged tables, compared with a plain
 * array. */
#include "model/profile_counts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/tree_fold.h"
#include "support/failing_alloc.h"
#include "support/next_random.h"

enum { NODES = 300, ROUNDS = 5000 };

static struct smp_root_times *make_times(void)
{
    struct smp_root_times *times = NULL;

    assert_int_equal(smp_root_times_create(NULL, &times), SMP_OK);
    return times;
}

/* --- the naive version --- */

static void add_plain(struct smp_root_time plain[NODES], const struct smp_root_time *time)
{
    struct smp_root_time *const at = &plain[time->node];

    if (time->calls == 0)
        return;
    if (at->calls == 0) {
        *at = *time;
        return;
    }
    at->calls += time->calls;
    at->total_ns += time->total_ns;
    at->min_ns = time->min_ns < at->min_ns ? time->min_ns : at->min_ns;
    at->max_ns = time->max_ns > at->max_ns ? time->max_ns : at->max_ns;
}

static void assert_same(const struct smp_root_times *times, const struct smp_root_time plain[NODES])
{
    size_t at = 0;

    for (uint32_t node = 0; node < NODES; node++) {
        const struct smp_root_time *const found = smp_root_times_find(times, node);
        if (plain[node].calls == 0) {
            assert_null(found);
            continue;
        }
        at++;
        assert_int_equal(found->node, node);
        assert_int_equal(found->calls, plain[node].calls);
        assert_int_equal(found->total_ns, plain[node].total_ns);
        assert_int_equal(found->min_ns, plain[node].min_ns);
        assert_int_equal(found->max_ns, plain[node].max_ns);
    }
    assert_int_equal(smp_root_times_count(times), at);
    for (size_t i = 0; i < at; i++) {
        const struct smp_root_time *const row = smp_root_times_at(times, i);
        assert_ptr_equal(row, smp_root_times_find(times, row->node));
    }
}

static struct smp_root_time random_time(unsigned *seed)
{
    const int64_t min_ns = next_random(seed) % 1000;

    return (struct smp_root_time){ .node = next_random(seed) % NODES,
                                   .calls = next_random(seed) % 5,
                                   .total_ns = next_random(seed),
                                   .min_ns = min_ns,
                                   .max_ns = min_ns + next_random(seed) % 1000 };
}

static void each_node_has_the_sum_of_its_calls(void **state)
{
    struct smp_root_time plain[NODES] = { 0 };
    struct smp_root_times *times = make_times();
    unsigned seed = 3;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        const struct smp_root_time time = random_time(&seed);
        assert_int_equal(smp_root_times_add(times, &time), SMP_OK);
        add_plain(plain, &time);
        if (round % 500 == 0)
            assert_same(times, plain);
    }
    assert_same(times, plain);
    smp_root_times_destroy(times);
}

static void sums_saturate_at_their_maximum(void **state)
{
    struct smp_root_times *times = make_times();
    const struct smp_root_time time = {
        .node = 7, .calls = INT64_MAX, .total_ns = INT64_MAX - 1, .min_ns = 1, .max_ns = 2
    };

    (void)state;
    assert_int_equal(smp_root_times_add(times, &time), SMP_OK);
    assert_int_equal(smp_root_times_add(times, &time), SMP_OK);
    assert_int_equal(smp_root_times_find(times, 7)->calls, INT64_MAX);
    assert_int_equal(smp_root_times_find(times, 7)->total_ns, INT64_MAX);
    smp_root_times_destroy(times);
}

static void at_the_maximum_known_nodes_are_still_updated(void **state)
{
    struct smp_root_times *times = make_times();
    struct smp_root_time time = { .calls = 1, .total_ns = 5, .min_ns = 5, .max_ns = 5 };

    (void)state;
    /* In descending order: the order of the nodes does not matter. */
    for (uint32_t i = SMP_MAX_ROOT_TIMES; i > 0; i--) {
        time.node = 2 * i;
        assert_int_equal(smp_root_times_add(times, &time), SMP_OK);
    }
    time.node = 3;
    assert_int_equal(smp_root_times_add(times, &time), SMP_EQUOTA);
    assert_null(smp_root_times_find(times, 3));
    time.node = 4;
    assert_int_equal(smp_root_times_add(times, &time), SMP_OK);
    assert_int_equal(smp_root_times_find(times, 4)->calls, 2);
    assert_int_equal(smp_root_times_count(times), SMP_MAX_ROOT_TIMES);
    smp_root_times_destroy(times);
}

static void a_missing_table_has_no_times(void **state)
{
    (void)state;
    assert_null(smp_root_times_find(NULL, 1));
    assert_int_equal(smp_root_times_count(NULL), 0);
    smp_root_times_destroy(NULL);
}

static enum smp_status fill(void *self)
{
    struct smp_root_times *times = NULL;
    enum smp_status status = smp_root_times_create(NULL, &times);

    (void)self;
    for (uint32_t i = 0; i < 100 && status == SMP_OK; i++) {
        const struct smp_root_time time = { .node = i, .calls = 1, .max_ns = i };
        status = smp_root_times_add(times, &time);
        assert_int_equal(smp_root_times_count(times), status == SMP_OK ? i + 1 : i);
    }
    smp_root_times_destroy(times);
    return status;
}

static void without_memory_the_table_is_unchanged(void **state)
{
    (void)state;
    assert_int_equal(failing_alloc_each_step(fill, NULL).refused, 9);
}

static void rows_of_a_folded_tree_refer_to_their_new_nodes(void **state)
{
    static const uint32_t places[] = { 0, 1, 2 | SMP_PLACE_FOLDED, 2 | SMP_PLACE_FOLDED, 3, 4 };
    struct smp_root_times *const times = make_times();

    (void)state;
    for (uint32_t node = 5; node >= 2; node--) {
        const struct smp_root_time time = { .node = node, .calls = node, .max_ns = node };
        assert_int_equal(smp_root_times_add(times, &time), SMP_OK);
    }
    smp_root_times_renumber(times, places);
    assert_int_equal(smp_root_times_count(times), 2);
    assert_null(smp_root_times_find(times, 2));
    assert_null(smp_root_times_find(times, 5));
    assert_int_equal(smp_root_times_find(times, 3)->calls, 4);
    assert_int_equal(smp_root_times_find(times, 4)->calls, 5);
    assert_int_equal(
        smp_root_times_add(times, &(struct smp_root_time){ .node = 3, .calls = 1, .max_ns = 1 }),
        SMP_OK);
    assert_int_equal(smp_root_times_find(times, 3)->calls, 5);
    smp_root_times_destroy(times);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_node_has_the_sum_of_its_calls),
        cmocka_unit_test(sums_saturate_at_their_maximum),
        cmocka_unit_test(at_the_maximum_known_nodes_are_still_updated),
        cmocka_unit_test(a_missing_table_has_no_times),
        cmocka_unit_test(rows_of_a_folded_tree_refer_to_their_new_nodes),
        cmocka_unit_test(without_memory_the_table_is_unchanged),
    };
    return cmocka_run_group_tests_name("root_times", tests, NULL, NULL);
}
