/* SPDX-License-Identifier: Apache-2.0 */
/* Rows with late probes, and the number of calls that their callers had made before the probe. */
#include "model/profile_counts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/tree_fold.h"
#include "support/failing_alloc.h"

enum { ROOT_LOCATION = 7, CALLS = 40 };

struct table {
    struct smp_tree *tree;
    struct smp_caller_calls *calls;
};

static int begin_table(void **state)
{
    static struct table table;

    const uint32_t measures = SMP_SAMPLED_MEASURES | SMP_MEASURE_BIT(SMP_MEASURE_CALLS);

    assert_int_equal(smp_tree_create(NULL, measures, 1 << 20, &table.tree), SMP_OK);
    assert_int_equal(smp_caller_calls_create(NULL, &table.calls), SMP_OK);
    *state = &table;
    return 0;
}

static int end_table(void **state)
{
    struct table *const table = *state;

    smp_caller_calls_destroy(table->calls);
    smp_tree_destroy(table->tree);
    return 0;
}

static uint32_t add_row(struct table *table, uint32_t parent, uint32_t location, int64_t calls)
{
    uint32_t node = 0;

    assert_int_equal(smp_tree_add(table->tree, parent, &location, 1, &node), SMP_OK);
    smp_tree_credit(table->tree, node, SMP_MEASURE_CALLS, calls);
    return node;
}

/* Without a mark, all calls that the caller has at the end of the read may be older than the
 * probe. */
static void a_late_row_gets_its_callers_calls_at_the_end_of_the_read(void **state)
{
    struct table *const table = *state;
    const uint32_t caller = add_row(table, 0, ROOT_LOCATION, CALLS);
    const uint32_t late = add_row(table, caller, ROOT_LOCATION + 1, 3);

    assert_int_equal(smp_caller_calls_add_late(table->calls, late, caller, 5), SMP_OK);
    assert_int_equal(smp_caller_calls_find(table->calls, late), 0);
    smp_tree_credit(table->tree, caller, SMP_MEASURE_CALLS, 2);
    smp_caller_calls_settle(table->calls, table->tree);
    assert_int_equal(smp_caller_calls_find(table->calls, late), CALLS + 2);
    smp_tree_credit(table->tree, caller, SMP_MEASURE_CALLS, 100);
    smp_caller_calls_settle(table->calls, table->tree);
    assert_int_equal(smp_caller_calls_find(table->calls, late), CALLS + 2);
    assert_int_equal(smp_caller_calls_find(table->calls, caller), 0);
}

/* With a probe from before the mark, later calls of the caller have met the probe. */
static void calls_before_a_mark_are_known_for_late_rows(void **state)
{
    struct table *const table = *state;
    const uint32_t caller = add_row(table, 0, ROOT_LOCATION, CALLS);

    smp_caller_calls_mark(table->calls, table->tree, 10);
    smp_tree_credit(table->tree, caller, SMP_MEASURE_CALLS, 500);
    const uint32_t before = add_row(table, caller, ROOT_LOCATION + 1, 3);
    const uint32_t after = add_row(table, caller, ROOT_LOCATION + 2, 3);
    const uint32_t below = add_row(table, before, ROOT_LOCATION + 3, 3);
    assert_int_equal(smp_caller_calls_add_late(table->calls, after, caller, 11), SMP_OK);
    assert_int_equal(smp_caller_calls_add_late(table->calls, before, caller, 10), SMP_OK);
    assert_int_equal(smp_caller_calls_add_late(table->calls, below, before, 10), SMP_OK);
    smp_caller_calls_settle(table->calls, table->tree);
    assert_int_equal(smp_caller_calls_find(table->calls, before), CALLS);
    assert_int_equal(smp_caller_calls_find(table->calls, after), CALLS + 500);
    assert_int_equal(smp_caller_calls_find(table->calls, below), 3);
    smp_caller_calls_drop_mark(table->calls);
    assert_int_equal(smp_caller_calls_count(table->calls), 3);
    assert_int_equal(smp_caller_calls_at(table->calls, 0)->node, after);
}

/* A mark belongs to a node, whereas settle looks for callers. */
static void late_rows_of_a_folded_tree_refer_to_their_new_nodes(void **state)
{
    static const uint32_t places[] = { 0, 1, 2 | SMP_PLACE_FOLDED, 2 | SMP_PLACE_FOLDED, 3 };
    struct table *const table = *state;

    smp_caller_calls_mark(table->calls, table->tree, 10);
    for (uint32_t node = 1; node <= 4; node++) {
        const struct smp_caller_call call = { .node = node,
                                              .calls = node == 2 ? -1 : 10 + (int64_t)node };
        assert_int_equal(smp_caller_calls_add(table->calls, &call), SMP_OK);
    }
    smp_caller_calls_renumber(table->calls, places);
    assert_int_equal(smp_caller_calls_count(table->calls), 2);
    assert_int_equal(smp_caller_calls_find(table->calls, 1), 11);
    assert_int_equal(smp_caller_calls_find(table->calls, 3), 14);
    smp_caller_calls_settle(table->calls, table->tree); /* the removed row needs no settling */
    const uint32_t late = add_row(table, 0, ROOT_LOCATION, CALLS);
    assert_int_equal(smp_caller_calls_add_late(table->calls, late + 4, late, 5), SMP_OK);
    assert_int_equal(smp_caller_calls_find(table->calls, late + 4), 0); /* no mark */
}

static void calls_of_one_row_add_up(void **state)
{
    struct table *const table = *state;
    const struct smp_caller_call call = { .node = 4, .calls = INT64_MAX - 3 };
    const struct smp_caller_call more = { .node = 4, .calls = 5 };

    assert_int_equal(smp_caller_calls_add(table->calls, &call), SMP_OK);
    assert_int_equal(smp_caller_calls_add(table->calls, &more), SMP_OK);
    assert_int_equal(smp_caller_calls_find(table->calls, 4), INT64_MAX);
    assert_int_equal(smp_caller_calls_find(NULL, 4), 0);
    assert_int_equal(smp_caller_calls_count(NULL), 0);
}

static void rows_beyond_the_maximum_are_refused(void **state)
{
    struct table *const table = *state;

    for (uint32_t node = 1; node <= SMP_MAX_CALLER_CALLS; node++)
        assert_int_equal(smp_caller_calls_add(table->calls, &(struct smp_caller_call){ node, 1 }),
                         SMP_OK);
    assert_int_equal(smp_caller_calls_add(table->calls, &(struct smp_caller_call){ UINT32_MAX, 1 }),
                     SMP_EQUOTA);
    assert_int_equal(smp_caller_calls_add(table->calls, &(struct smp_caller_call){ 1, 1 }), SMP_OK);
    assert_int_equal(smp_caller_calls_find(table->calls, 1), 2);
}

static enum smp_status fill_table(void *self)
{
    const struct table *const table = self;
    struct smp_caller_calls *calls = NULL;
    enum smp_status status = smp_caller_calls_create(NULL, &calls);

    if (status != SMP_OK)
        return status;
    smp_caller_calls_mark(calls, table->tree, 10);
    for (uint32_t node = 1; node <= 100 && status == SMP_OK; node++)
        status = smp_caller_calls_add(calls, &(struct smp_caller_call){ node, 1 });
    smp_caller_calls_destroy(calls);
    return status;
}

static void each_allocation_may_be_refused(void **state)
{
    assert_true(failing_alloc_each_step(fill_table, *state).refused >= 3);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_table, end_table)
    const struct CMUnitTest tests[] = {
        TEST(a_late_row_gets_its_callers_calls_at_the_end_of_the_read),
        TEST(calls_before_a_mark_are_known_for_late_rows),
        TEST(late_rows_of_a_folded_tree_refer_to_their_new_nodes),
        TEST(calls_of_one_row_add_up),
        TEST(rows_beyond_the_maximum_are_refused),
        TEST(each_allocation_may_be_refused),
    };
#undef TEST
    return cmocka_run_group_tests_name("caller_calls", tests, NULL, NULL);
}
