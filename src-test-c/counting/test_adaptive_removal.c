/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "counting/adaptive_removal.h"

/* The limit is 1 % of a core. At 10 ns a call that is a million calls per second, or a quarter of
 * that for roots. */
enum { LIMIT = 10, COST_NS = 10, ROOT_COST_NS = 40, SECOND_NS = 1000000000, MILLION = 1000000 };

static size_t judge(struct smp_removal *removal, const struct smp_call_rate *rates, size_t count,
                    int64_t *out)
{
    return smp_removal_judge(removal, rates, count, SECOND_NS, out);
}

static void test_below_the_limit_no_probe_is_removed(void **state)
{
    const struct smp_call_rate rates[] = { { .calls = MILLION, .self_ns = -1, .method = 1 } };
    struct smp_removal removal;
    int64_t out[SMP_REMOVAL_MOST];

    (void)state;
    smp_removal_init(&removal, LIMIT, COST_NS, ROOT_COST_NS);
    assert_false(smp_removal_is_over(&removal, rates, 1, SECOND_NS));
    assert_true(smp_removal_is_over(&removal, rates, 1, SECOND_NS - 1000));
    for (unsigned i = 0; i < 10; i++)
        assert_int_equal(judge(&removal, rates, 1, out), 0);
}

static void test_over_the_limit_for_long_the_most_called_method_loses_its_probe(void **state)
{
    const struct smp_call_rate rates[] = { { .calls = 600000, .self_ns = -1, .method = 1 },
                                           { .calls = 900000, .self_ns = 9000000, .method = 2 },
                                           { .calls = 1, .self_ns = 1, .method = 3 } };
    struct smp_removal removal;
    int64_t out[SMP_REMOVAL_MOST];

    (void)state;
    smp_removal_init(&removal, LIMIT, COST_NS, ROOT_COST_NS);
    for (unsigned i = 1; i < SMP_REMOVAL_PATIENCE; i++)
        assert_int_equal(judge(&removal, rates, 3, out), 0);
    assert_int_equal(judge(&removal, rates, 3, out), 1);
    assert_int_equal(out[0], 2);
    /* Then it waits again for the full period, whatever the rates are. */
    for (unsigned i = 1; i < 2 * SMP_REMOVAL_PATIENCE; i++)
        assert_int_equal(judge(&removal, rates, 3, out), 0);
    assert_int_equal(judge(&removal, rates, 3, out), 1);
}

static void test_with_the_highest_limit_no_probe_is_removed(void **state)
{
    /* Probes use ten cores. */
    const struct smp_call_rate rates[] = { { .calls = 1000u * MILLION, .method = 1 } };
    struct smp_removal removal;
    int64_t out[SMP_REMOVAL_MOST];

    (void)state;
    for (uint32_t limit = 999; limit <= 1000; limit++) {
        size_t dropped = 0;
        smp_removal_init(&removal, limit, COST_NS, ROOT_COST_NS);
        for (unsigned i = 0; i < 2 * SMP_REMOVAL_PATIENCE; i++)
            dropped += judge(&removal, rates, 1, out);
        assert_int_equal(dropped, limit == 999);
    }
}

static void test_a_moment_below_the_limit_restarts_the_waiting_time(void **state)
{
    const struct smp_call_rate high[] = { { .calls = 2 * MILLION, .self_ns = -1, .method = 1 } };
    const struct smp_call_rate low[] = { { .calls = 1, .self_ns = -1, .method = 1 } };
    struct smp_removal removal;
    int64_t out[SMP_REMOVAL_MOST];

    (void)state;
    smp_removal_init(&removal, LIMIT, COST_NS, ROOT_COST_NS);
    for (unsigned i = 0; i < 20; i++) {
        for (unsigned n = 1; n < SMP_REMOVAL_PATIENCE; n++)
            assert_int_equal(judge(&removal, high, 1, out), 0);
        assert_int_equal(judge(&removal, low, 1, out), 0);
    }
}

static size_t judge_patiently(struct smp_removal *removal, const struct smp_call_rate *rates,
                              size_t count, int64_t *out)
{
    for (unsigned i = 1; i < SMP_REMOVAL_PATIENCE; i++)
        assert_int_equal(judge(removal, rates, count, out), 0);
    return judge(removal, rates, count, out);
}

static void test_kept_roots_and_long_methods_keep_their_probes(void **state)
{
    const struct smp_call_rate rates[] = {
        { .calls = 9 * MILLION,
          .method = 1,
          .ended = 1,
          .ended_ns = 1,
          .is_root = true,
          .is_kept = true },
        { .calls = 8 * MILLION, .self_ns = (int64_t)8 * MILLION * 500, .method = 2 },
        { .calls = 7 * MILLION, .self_ns = (int64_t)7 * MILLION * 500 - 1, .method = 3 },
        { .calls = 0, .self_ns = 0, .method = 4 }
    };
    struct smp_removal removal;
    int64_t out[SMP_REMOVAL_MOST];

    (void)state;
    smp_removal_init(&removal, LIMIT, COST_NS, ROOT_COST_NS);
    assert_int_equal(judge_patiently(&removal, rates, 4, out), 1);
    assert_int_equal(out[0], 3);
    /* No other probe can be removed, so it does not wait either. */
    smp_removal_init(&removal, LIMIT, COST_NS, ROOT_COST_NS);
    assert_int_equal(judge_patiently(&removal, rates, 2, out), 0);
    assert_int_equal(removal.waits, 0);
    assert_int_equal(judge_patiently(&removal, rates, 0, out), 0);
}

/* The cost of a kept root does not cause the removal of other probes, nor would it help to remove
 * rarely called methods. */
static void test_a_kept_root_removes_no_other_probe(void **state)
{
    struct smp_call_rate rates[] = { { .calls = 9 * MILLION,
                                       .method = 1,
                                       .ended = 1,
                                       .ended_ns = 1,
                                       .is_root = true,
                                       .is_kept = true },
                                     { .calls = MILLION, .self_ns = -1, .method = 2 },
                                     { .calls = 999, .self_ns = -1, .method = 3 } };
    struct smp_removal removal;
    int64_t out[SMP_REMOVAL_MOST];

    (void)state;
    rates[1].calls = MILLION - rates[2].calls;
    smp_removal_init(&removal, LIMIT, COST_NS, ROOT_COST_NS);
    for (unsigned i = 0; i < 10; i++)
        assert_int_equal(judge(&removal, rates, 3, out), 0);
    /* These exceed the limit by themselves; a long one makes removal useless. */
    rates[1].self_ns = (int64_t)rates[1].calls * COST_NS * SMP_REMOVAL_SHORT_PROBES;
    rates[1].calls++;
    rates[1].self_ns += COST_NS * SMP_REMOVAL_SHORT_PROBES;
    assert_int_equal(judge_patiently(&removal, rates, 3, out), 0);
    rates[2].calls = 1000;
    assert_int_equal(judge_patiently(&removal, rates, 3, out), 1);
    assert_int_equal(out[0], 3);
}

/* A root is judged by its whole time, because none of it is counted without the root. */
static void test_short_roots_are_removed_and_long_ones_kept(void **state)
{
    enum { BOUND_NS = ROOT_COST_NS * SMP_REMOVAL_SHORT_PROBES };
    const struct smp_call_rate rates[] = {
        { .calls = MILLION, .method = 1, .ended = 4, .ended_ns = 4 * BOUND_NS, .is_root = true },
        { .calls = MILLION,
          .method = 2,
          .ended = 4,
          .ended_ns = 4 * BOUND_NS - 1,
          .is_root = true },
        { .calls = MILLION, .method = 3, .is_root = true }, /* none of its calls has ended */
        { .calls = 3 * MILLION, .self_ns = -1, .method = 4 }
    };
    struct smp_removal removal;
    int64_t out[SMP_REMOVAL_MOST];

    (void)state;
    smp_removal_init(&removal, LIMIT, COST_NS, ROOT_COST_NS);
    /* It costs more than another method that is called three times as often. */
    assert_int_equal(judge_patiently(&removal, rates, 4, out), 2);
    assert_int_equal(out[0], 2);
    assert_int_equal(out[1], 4);
}

static void test_a_root_counts_with_its_cost_for_the_limit(void **state)
{
    struct smp_call_rate rate = {
        .calls = MILLION / 4, .method = 1, .ended = 1, .ended_ns = 1, .is_root = true
    };
    struct smp_removal removal;
    int64_t out[SMP_REMOVAL_MOST];

    (void)state;
    smp_removal_init(&removal, LIMIT, COST_NS, ROOT_COST_NS);
    for (unsigned i = 0; i < 10; i++)
        assert_int_equal(judge(&removal, &rate, 1, out), 0);
    rate.calls++;
    assert_int_equal(judge_patiently(&removal, &rate, 1, out), 1);
}

static uint64_t cost_of(const struct smp_call_rate *rate)
{
    return rate->calls * (rate->is_root ? ROOT_COST_NS : COST_NS);
}

static int by_cost(const void *a, const void *b)
{
    const struct smp_call_rate *const one = a;
    const struct smp_call_rate *const other = b;

    if (cost_of(one) != cost_of(other))
        return cost_of(one) < cost_of(other) ? 1 : -1;
    return one->method < other->method ? -1 : 1;
}

/* Compared with sorting all rates. */
static void test_random_rates_match_a_sort(void **state)
{
    enum { METHODS = 200 };
    uint64_t random = 5;

    (void)state;
    for (unsigned round = 0; round < 200; round++) {
        struct smp_call_rate rates[METHODS];
        struct smp_call_rate sorted[METHODS];
        struct smp_removal removal;
        int64_t out[SMP_REMOVAL_MOST];
        uint64_t cost_ns = 0;
        size_t expected = 0;

        for (int32_t i = 0; i < METHODS; i++) {
            rates[i] = (struct smp_call_rate){ .calls = smp_random_next(&random) % 20000,
                                               .self_ns = -1,
                                               .method = i,
                                               .ended = 1,
                                               .is_root = smp_random_next(&random) % 10 == 0 };
            rates[i].is_kept = rates[i].is_root && smp_random_next(&random) % 2 == 0;
            cost_ns += rates[i].is_kept ? 0 : cost_of(&rates[i]);
        }
        memcpy(sorted, rates, sizeof(sorted));
        qsort(sorted, METHODS, sizeof(sorted[0]), by_cost);
        smp_removal_init(&removal, LIMIT, COST_NS, ROOT_COST_NS);

        const size_t dropped = judge_patiently(&removal, rates, METHODS, out);
        const bool is_over = cost_ns > MILLION * COST_NS;

        for (size_t i = 0; is_over && i < METHODS; i++) {
            if (sorted[i].is_kept || cost_of(&sorted[i]) < LIMIT * MILLION / SMP_REMOVAL_OFTEN)
                continue;
            if (expected == SMP_REMOVAL_MOST || cost_ns <= 750000 * COST_NS)
                break;
            assert_true(expected < dropped);
            assert_int_equal(out[expected++], sorted[i].method);
            cost_ns -= cost_of(&sorted[i]);
        }
        assert_int_equal(dropped, expected);
    }
}

static void test_very_large_figures_do_not_overflow(void **state)
{
    const struct smp_call_rate rates[] = {
        { .calls = UINT64_MAX, .self_ns = INT64_MAX, .method = 1 },
        { .calls = UINT64_MAX, .self_ns = -1, .method = 2 }
    };
    struct smp_removal removal;
    int64_t out[SMP_REMOVAL_MOST];

    (void)state;
    smp_removal_init(&removal, 999, 1, 1);
    assert_true(smp_removal_is_over(&removal, rates, 2, INT64_MAX));
    assert_false(smp_removal_is_over(&removal, rates, 0, 1));
    for (unsigned i = 1; i < SMP_REMOVAL_PATIENCE; i++)
        assert_int_equal(smp_removal_judge(&removal, rates, 2, INT64_MAX, out), 0);
    assert_int_equal(smp_removal_judge(&removal, rates, 2, INT64_MAX, out), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_below_the_limit_no_probe_is_removed),
        cmocka_unit_test(test_over_the_limit_for_long_the_most_called_method_loses_its_probe),
        cmocka_unit_test(test_with_the_highest_limit_no_probe_is_removed),
        cmocka_unit_test(test_a_moment_below_the_limit_restarts_the_waiting_time),
        cmocka_unit_test(test_kept_roots_and_long_methods_keep_their_probes),
        cmocka_unit_test(test_a_kept_root_removes_no_other_probe),
        cmocka_unit_test(test_short_roots_are_removed_and_long_ones_kept),
        cmocka_unit_test(test_a_root_counts_with_its_cost_for_the_limit),
        cmocka_unit_test(test_random_rates_match_a_sort),
        cmocka_unit_test(test_very_large_figures_do_not_overflow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
