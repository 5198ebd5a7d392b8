/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU time that reports on demand may cost. */
#include "engine/session/demand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MS INT64_C(1000000)
#define SECOND (1000 * MS)

static const int64_t begin_ns = 500 * SECOND;

static void a_report_is_renewed_once_a_second(void **state)
{
    struct smp_demand demand;

    (void)state;
    smp_demand_init(&demand, begin_ns);
    assert_true(smp_demand_allows(&demand, begin_ns));
    smp_demand_renewed(&demand, begin_ns);
    assert_false(smp_demand_allows(&demand, begin_ns + SECOND - 1));
    assert_true(smp_demand_allows(&demand, begin_ns + SECOND));
}

static void expensive_reports_are_rare(void **state)
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
    /* A hundredth of the time, and the initial credit. */
    assert_in_range(spent_ns / MS, SECONDS * SMP_DEMAND_PER_MILLE,
                    SECONDS * SMP_DEMAND_PER_MILLE + SMP_DEMAND_FULL_MS / 100 + COST_MS);
}

static void an_overdraft_is_limited(void **state)
{
    struct smp_demand demand;

    (void)state;
    smp_demand_init(&demand, begin_ns);
    smp_demand_pay(&demand, begin_ns, 3600 * SECOND);
    assert_false(smp_demand_allows(&demand, begin_ns + (SMP_DEMAND_MOST_DEBT_MS - 1) * MS));
    assert_true(smp_demand_allows(&demand, begin_ns + SMP_DEMAND_MOST_DEBT_MS * MS));
}

static void unused_credit_is_limited(void **state)
{
    struct smp_demand demand;
    int64_t now_ns = begin_ns;
    int windows = 0;

    (void)state;
    smp_demand_init(&demand, begin_ns);
    now_ns += 3600 * SECOND;
    for (; smp_demand_allows(&demand, now_ns); windows++)
        smp_demand_pay(&demand, now_ns, 10 * MS);
    assert_int_equal(windows, 11); /* 100 ms, and one more that overdraws the credit */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_report_is_renewed_once_a_second),
        cmocka_unit_test(expensive_reports_are_rare),
        cmocka_unit_test(an_overdraft_is_limited),
        cmocka_unit_test(unused_credit_is_limited),
    };
    return cmocka_run_group_tests_name("demand", tests, NULL, NULL);
}
