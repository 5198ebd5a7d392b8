/* SPDX-License-Identifier: Apache-2.0 */
/* Consecutive batches become less frequent; after a calm period they are frequent again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>

#include "jvm/calls/class_batches.h"

#define MS 1000000LL
#define SECOND 1000000000LL

/* Returns how many batches are possible until then if each takes took_ns. */
static int count_batches(struct smp_batch_pace *pace, int64_t from_ns, int64_t until_ns,
                         int64_t took_ns)
{
    int batches = 0;

    for (int64_t now_ns = from_ns; now_ns < until_ns; batches++) {
        const int64_t wait_ns = smp_batch_pace_wait_ns(pace, now_ns, now_ns + took_ns);

        assert_true(wait_ns >= SMP_BATCH_LEAST_PAUSE_NS);
        assert_true(wait_ns >= took_ns * SMP_BATCH_RUN_SHARE);
        now_ns += took_ns + wait_ns;
    }
    return batches;
}

static void test_some_twenty_batches_in_ten_seconds(void **state)
{
    struct smp_batch_pace pace = { 0 };

    (void)state;
    assert_in_range(count_batches(&pace, 7 * SECOND, 17 * SECOND, 0), 15, 22);
    pace = (struct smp_batch_pace){ 0 };
    assert_in_range(count_batches(&pace, 0, 10 * SECOND, 60 * MS), 15, 22);
    /* Then one per second. */
    assert_in_range(count_batches(&pace, 10 * SECOND, 110 * SECOND, 0), 99, 101);
}

static void test_the_program_runs_longer_than_it_is_stopped(void **state)
{
    struct smp_batch_pace pace = { 0 };

    (void)state;
    assert_int_equal(smp_batch_pace_wait_ns(&pace, 0, 10 * MS), SMP_BATCH_LEAST_PAUSE_NS);
    assert_int_equal(smp_batch_pace_wait_ns(&pace, 0, 100 * MS), 300 * MS);
    /* Longer than the longest pause. */
    assert_int_equal(smp_batch_pace_wait_ns(&pace, 60 * SECOND, 61 * SECOND), 3 * SECOND);
}

static void test_after_a_calm_period_batches_are_frequent(void **state)
{
    struct smp_batch_pace pace = { 0 };

    (void)state;
    (void)count_batches(&pace, 0, 20 * SECOND, 0);
    assert_int_equal(smp_batch_pace_wait_ns(&pace, pace.ended_ns + SMP_BATCH_CALM_NS,
                                            pace.ended_ns + 6 * SECOND),
                     3 * SECOND);
    const int64_t calm_ns = pace.ended_ns + SMP_BATCH_CALM_NS + 1;
    assert_int_equal(smp_batch_pace_wait_ns(&pace, calm_ns, calm_ns + 1), SMP_BATCH_LEAST_PAUSE_NS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_some_twenty_batches_in_ten_seconds),
        cmocka_unit_test(test_the_program_runs_longer_than_it_is_stopped),
        cmocka_unit_test(test_after_a_calm_period_batches_are_frequent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
