/* SPDX-License-Identifier: Apache-2.0 */
/* What reports on demand may cost. */
#include "engine/session/demand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MS INT64_C(1000000)
#define SECOND (1000 * MS)

static const int64_t begin_ns = 500 * SECOND;

static void a_window_is_new_once_a_second(void **state)
{
    struct smp_demand demand;

    (void)state;
    smp_demand_init(&demand, begin_ns);
    assert_true(smp_demand_allows(&demand, begin_ns));
    smp_demand_renewed(&demand, begin_ns);
    assert_false(smp_demand_allows(&demand, begin_ns + SECOND - 1));
    assert_true(smp_demand_allows(&demand, begin_ns + SECOND));
}

static void what_costs_much_comes_rarely(void **state)
{
    enum { SECONDS = 1000, COST_MS = 50 };
    struct smp_demand demand;
    int64_t spent_ns = 0;

    (void)state;
    smp_demand_init(&demand, begin_ns);
    for (int i = 0; i < SECONDS; i++) {
        const int64_t now_ns = begin_ns + i * SECOND;
        if (!smp_demand_allows(&demand, now_ns))
            continue;
        smp_demand_renewed(&demand, now_ns);
        smp_demand_pay(&demand, now_ns, COST_MS * MS);
        spent_ns += COST_MS * MS;
    }
    /* A hundredth of the time, and what was there at the begin. */
    assert_in_range(spent_ns / MS, SECONDS * SMP_DEMAND_PER_MILLE,
                    SECONDS * SMP_DEMAND_PER_MILLE + SMP_DEMAND_FULL_MS / 100 + COST_MS);
}

static void debts_are_forgiven_in_time(void **state)
{
    struct smp_demand demand;

    (void)state;
    smp_demand_init(&demand, begin_ns);
    smp_demand_pay(&demand, begin_ns, 3600 * SECOND);
    assert_false(smp_demand_allows(&demand, begin_ns + (SMP_DEMAND_MOST_DEBT_MS - 1) * MS));
    assert_true(smp_demand_allows(&demand, begin_ns + SMP_DEMAND_MOST_DEBT_MS * MS));
}

static void long_silence_fills_the_balance_once(void **state)
{
    struct smp_demand demand;
    int64_t now_ns = begin_ns;
    int windows = 0;

    (void)state;
    smp_demand_init(&demand, begin_ns);
    now_ns += 3600 * SECOND;
    for (; smp_demand_allows(&demand, now_ns); windows++)
        smp_demand_pay(&demand, now_ns, 10 * MS);
    assert_int_equal(windows, 11); /* 100 ms, and one more below zero */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_window_is_new_once_a_second),
        cmocka_unit_test(what_costs_much_comes_rarely),
        cmocka_unit_test(debts_are_forgiven_in_time),
        cmocka_unit_test(long_silence_fills_the_balance_once),
    };
    return cmocka_run_group_tests_name("demand", tests, NULL, NULL);
}
