/* SPDX-License-Identifier: Apache-2.0 */
#include "model/lock_times.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/failing_alloc.h"

enum { OTHER = 7, MANY = 200 };

static struct smp_lock_times *make_times(void)
{
    struct smp_lock_times *times = NULL;

    assert_int_equal(smp_lock_times_create(NULL, OTHER, &times), SMP_OK);
    return times;
}

static enum smp_status add_time(struct smp_lock_times *times, uint32_t lock, uint32_t waiting,
                                uint32_t holding, int64_t ns)
{
    const struct smp_lock_time time = {
        .lock = lock, .waiting = waiting, .holding = holding, .ns = ns
    };

    return smp_lock_times_add(times, &time);
}

static void equal_lines_are_one_row(void **state)
{
    struct smp_lock_times *times = make_times();

    (void)state;
    assert_int_equal(smp_lock_times_count(NULL), 0);
    assert_int_equal(add_time(times, 1, 2, 3, 10), SMP_OK);
    assert_int_equal(add_time(times, 1, 2, 4, 20), SMP_OK);
    assert_int_equal(add_time(times, 1, 3, 3, 30), SMP_OK);
    assert_int_equal(add_time(times, 2, 2, 3, 40), SMP_OK);
    assert_int_equal(add_time(times, 1, 2, 3, 100), SMP_OK);
    assert_int_equal(add_time(times, 1, 3, 3, -50), SMP_OK); /* a correction */
    assert_int_equal(smp_lock_times_count(times), 4);
    assert_int_equal(smp_lock_times_at(times, 0)->ns, 110);
    assert_int_equal(smp_lock_times_at(times, 1)->holding, 4);
    assert_int_equal(smp_lock_times_at(times, 2)->ns, -20);
    assert_int_equal(add_time(times, 2, 2, 3, INT64_MAX), SMP_OK);
    assert_int_equal(smp_lock_times_at(times, 3)->ns, INT64_MAX);
    smp_lock_times_destroy(times);
    smp_lock_times_destroy(NULL);
    assert_int_equal(smp_alloc_live_bytes(), 0);
}

static void beyond_the_limit_locks_share_the_row_other(void **state)
{
    struct smp_lock_times *times = make_times();
    int64_t sum = 0;

    (void)state;
    for (uint32_t i = 0; i < 3 * SMP_MAX_LOCK_TIMES; i++)
        assert_int_equal(add_time(times, 10 + i, 10 + i, 10 + i, 1), SMP_OK);
    assert_int_equal(smp_lock_times_count(times), SMP_MAX_LOCK_TIMES);
    for (size_t i = 0; i < SMP_MAX_LOCK_TIMES; i++)
        sum += smp_lock_times_at(times, i)->ns;
    assert_int_equal(sum, 3 * SMP_MAX_LOCK_TIMES);
    assert_int_equal(smp_lock_times_at(times, SMP_MAX_LOCK_TIMES - 1)->lock, OTHER);
    assert_int_equal(add_time(times, 10, 10, 10, 1), SMP_OK); /* its row exists already */
    assert_int_equal(smp_lock_times_at(times, 0)->ns, 2);
    smp_lock_times_destroy(times);
}

static enum smp_status add_many(void *self)
{
    struct smp_lock_times *times = NULL;
    enum smp_status status = smp_lock_times_create(NULL, OTHER, &times);
    int64_t added = 0;
    int64_t sum = 0;

    (void)self;
    for (uint32_t i = 0; i < MANY && times != NULL; i++) {
        const enum smp_status added_status = add_time(times, i % 50, 1, 1, 1);
        added += added_status == SMP_OK;
        if (added_status != SMP_OK)
            status = added_status;
    }
    for (size_t i = 0; i < smp_lock_times_count(times); i++)
        sum += smp_lock_times_at(times, i)->ns;
    assert_int_equal(sum, added);
    smp_lock_times_destroy(times);
    return status;
}

static void without_memory_existing_rows_are_kept(void **state)
{
    (void)state;
    assert_int_equal(failing_alloc_each_step(add_many, NULL).survived, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_lines_are_one_row),
        cmocka_unit_test(beyond_the_limit_locks_share_the_row_other),
        cmocka_unit_test(without_memory_existing_rows_are_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
