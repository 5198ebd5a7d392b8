/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "counting/pool.h"

struct record {
    uint32_t first;
    uint64_t value;
};

static struct record *at(const struct smp_pool *pool, uint32_t index)
{
    return smp_pool_at(pool, index);
}

static void test_records_keep_their_index(void **state)
{
    struct smp_memory_budget budget = { .max_bytes = 1 << 20 };
    struct smp_pool pool;

    (void)state;
    smp_pool_init(&pool, &budget, sizeof(struct record), 1000);
    for (uint32_t i = 1; i <= 1000; i++) {
        assert_true(smp_pool_reserve(&pool, 1));
        assert_int_equal(smp_pool_take(&pool), i);
        assert_int_equal(at(&pool, i)->value, 0);
        at(&pool, i)->value = i;
    }
    assert_false(smp_pool_reserve(&pool, 1));
    for (uint32_t i = 1; i <= 1000; i++)
        assert_int_equal(at(&pool, i)->value, i);
    smp_pool_fini(&pool);
    assert_int_equal(budget.used_bytes, 0);
}

static void test_freed_records_are_reused_first_and_zeroed(void **state)
{
    struct smp_memory_budget budget = { .max_bytes = 1 << 20 };
    struct smp_pool pool;

    (void)state;
    smp_pool_init(&pool, &budget, sizeof(struct record), 1000);
    assert_true(smp_pool_reserve(&pool, 3));
    for (uint32_t i = 1; i <= 3; i++)
        at(&pool, smp_pool_take(&pool))->value = 7;
    smp_pool_give(&pool, 1);
    smp_pool_give(&pool, 3);
    assert_int_equal(pool.count, 1);
    assert_true(smp_pool_reserve(&pool, 3));
    assert_int_equal(smp_pool_take(&pool), 3);
    assert_int_equal(smp_pool_take(&pool), 1);
    assert_int_equal(smp_pool_take(&pool), 4);
    assert_int_equal(at(&pool, 1)->first, 0);
    assert_int_equal(at(&pool, 1)->value, 0);
    assert_int_equal(at(&pool, 2)->value, 7);
    smp_pool_fini(&pool);
}

static void test_no_memory_changes_nothing(void **state)
{
    struct smp_memory_budget budget = { .max_bytes = 64 * sizeof(struct record) };
    struct smp_pool pool;

    (void)state;
    smp_pool_init(&pool, &budget, sizeof(struct record), 1000);
    assert_true(smp_pool_reserve(&pool, 63)); /* 63 records and record 0 */
    for (uint32_t i = 1; i <= 63; i++)
        assert_int_equal(smp_pool_take(&pool), i);
    assert_false(smp_pool_reserve(&pool, 1));
    assert_int_equal(pool.count, 63);
    smp_pool_give(&pool, 5);
    assert_true(smp_pool_reserve(&pool, 1));
    assert_int_equal(smp_pool_take(&pool), 5);
    smp_pool_fini(&pool);
    assert_int_equal(budget.used_bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records_keep_their_index),
        cmocka_unit_test(test_freed_records_are_reused_first_and_zeroed),
        cmocka_unit_test(test_no_memory_changes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
