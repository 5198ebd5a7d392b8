/* SPDX-License-Identifier: Apache-2.0 */
#include "model/second_times.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/failing_alloc.h"

#define MS INT64_C(1000000)
#define SECOND (1000 * MS)
#define BEGIN INT64_C(1700000001) /* odd: the first slot of two seconds is half empty */

enum { RANDOM_ROUNDS = 3000, RANDOM_SECONDS = 50 };

static struct smp_second_times *make_times(int64_t from)
{
    const struct smp_second_range range = { .from = from, .till = from + 1, .width = 1 };
    struct smp_second_times *times = NULL;

    assert_int_equal(smp_second_times_create(NULL, range, &times), SMP_OK);
    return times;
}

static void add(struct smp_second_times *times, uint32_t row, int64_t from_ms, int64_t till_ms,
                int64_t ms)
{
    smp_second_times_add(times, row, SMP_STATE_RUNNING,
                         (struct smp_span){ .from_ns = BEGIN * SECOND + from_ms * MS,
                                            .till_ns = BEGIN * SECOND + till_ms * MS },
                         ms * MS);
}

static void take(struct smp_second_times *times, uint32_t row, int64_t till_ms, int64_t ms)
{
    smp_second_times_take(times, row, SMP_STATE_RUNNING, BEGIN * SECOND + till_ms * MS, ms * MS);
}

static uint32_t at(const struct smp_second_times *times, uint32_t row, size_t slot)
{
    size_t count = 0;
    const uint32_t *const slots = smp_second_times_slots(times, row, SMP_STATE_RUNNING, &count);

    return slot < count ? slots[slot] : 0;
}

static uint64_t sum(const struct smp_second_times *times, uint32_t row)
{
    size_t count = 0;
    const uint32_t *const slots = smp_second_times_slots(times, row, SMP_STATE_RUNNING, &count);
    uint64_t all = 0;

    for (size_t i = 0; i < count; i++)
        all += slots[i];
    return all;
}

static void time_is_spread_over_its_seconds(void **state)
{
    struct smp_second_times *times = make_times(BEGIN);
    const uint32_t row = smp_second_times_new_row(times, 7);

    (void)state;
    add(times, row, 500, 3250, 2750);
    assert_int_equal(at(times, row, 0), 500);
    assert_int_equal(at(times, row, 1), 1000);
    assert_int_equal(at(times, row, 2), 1000);
    assert_int_equal(at(times, row, 3), 250);
    add(times, row, 1000, 3000, 20000); /* ten threads */
    assert_int_equal(at(times, row, 1), 11000);
    assert_int_equal(at(times, row, 2), 11000);
    add(times, row, -5000, -4000, 7); /* time before the first slot is added to the first slot */
    assert_int_equal(at(times, row, 0), 507);
    assert_int_equal(sum(times, row), 2750 + 20000 + 7);
    assert_int_equal(smp_second_times_group(times, row), 7);
    assert_int_equal(smp_second_times_range(times).from, BEGIN);
    assert_int_equal(smp_second_times_range(times).till, BEGIN + 4);
    smp_second_times_destroy(times);
    smp_second_times_destroy(NULL);
    assert_int_equal(smp_second_times_lost(NULL), 0);
    assert_int_equal(smp_alloc_live_bytes(), 0);
}

static void corrections_take_the_latest_time_first(void **state)
{
    struct smp_second_times *times = make_times(BEGIN);

    (void)state;
    add(times, 0, 0, 3000, 3000);
    take(times, 0, 2500, 1200);
    assert_int_equal(at(times, 0, 0), 1000);
    assert_int_equal(at(times, 0, 1), 800);
    assert_int_equal(at(times, 0, 2), 0);
    take(times, 0, 1000, 1200); /* 200 more than the slot has */
    assert_int_equal(at(times, 0, 0), 0);
    add(times, 0, 3000, 4000, 1000);
    assert_int_equal(sum(times, 0), 1600);
    smp_second_times_destroy(times);
}

static void slots_become_wider(void **state)
{
    struct smp_second_times *times = make_times(BEGIN);
    struct smp_second_range range;

    (void)state;
    for (int64_t i = 0; i < 3 * SMP_MAX_SECOND_SLOTS; i++)
        add(times, 0, 1000 * i, 1000 * i + 1000, 1000);
    range = smp_second_times_range(times);
    assert_int_equal(range.width, 4);
    assert_int_equal(range.from % 4, 0);
    assert_true(range.from <= BEGIN && range.from > BEGIN - 4);
    assert_true((range.till - range.from) / 4 <= SMP_MAX_SECOND_SLOTS);
    assert_int_equal(at(times, 0, 0), 1000 * (range.from + 4 - BEGIN));
    assert_int_equal(at(times, 0, 1), 4000);
    assert_int_equal(sum(times, 0), 3000 * (uint64_t)SMP_MAX_SECOND_SLOTS);
    add(times, 0, INT64_C(90000000000), INT64_C(90000001000), 1000); /* years later */
    assert_int_equal(sum(times, 0), 3000 * (uint64_t)SMP_MAX_SECOND_SLOTS + 1000);
    assert_int_equal(smp_second_times_lost(times), 0);
    smp_second_times_destroy(times);
}

static void groups_beyond_the_limit_share_a_row(void **state)
{
    struct smp_second_times *times = make_times(BEGIN);

    (void)state;
    for (uint32_t i = 1; i <= SMP_MAX_SECOND_GROUPS; i++)
        assert_int_equal(smp_second_times_new_row(times, i), i);
    assert_int_equal(smp_second_times_new_row(times, 100), 0);
    assert_int_equal(smp_second_times_rows(times), 1 + SMP_MAX_SECOND_GROUPS);
    smp_second_times_destroy(times);
}

static void a_slot_has_a_maximum(void **state)
{
    struct smp_second_times *times = make_times(BEGIN);

    (void)state;
    add(times, 0, 0, 1000, UINT32_MAX);
    assert_int_equal(smp_second_times_lost(times), 0);
    add(times, 0, 0, 1000, 1);
    assert_int_equal(smp_second_times_lost(times), 1);
    assert_int_equal(at(times, 0, 0), UINT32_MAX);
    /* no effect, because some time was lost */
    smp_second_times_fit(times, 0, SMP_STATE_RUNNING, 5 * MS);
    assert_int_equal(at(times, 0, 0), UINT32_MAX);
    smp_second_times_destroy(times);
}

static void fit_makes_the_sum_exact(void **state)
{
    struct smp_second_times *times = make_times(BEGIN);

    (void)state;
    add(times, 0, 0, 3000, 3000);
    smp_second_times_fit(times, 0, SMP_STATE_RUNNING, 1000 * MS + 999);
    assert_int_equal(sum(times, 0), 1000);
    assert_in_range(at(times, 0, 1), 333, 334);
    smp_second_times_fit(times, 0, SMP_STATE_RUNNING, 70001 * MS);
    assert_int_equal(sum(times, 0), 70001);
    smp_second_times_fit(times, 0, SMP_STATE_RUNNING, 0);
    assert_int_equal(sum(times, 0), 0);
    smp_second_times_fit(times, 0, SMP_STATE_RUNNING, 301 * MS); /* spread evenly */
    assert_int_equal(sum(times, 0), 301);
    assert_in_range(at(times, 0, 0), 100, 101);
    smp_second_times_destroy(times);
}

static void merging_adds_profiles_second_by_second(void **state)
{
    struct smp_second_times *a = make_times(BEGIN);
    struct smp_second_times *b = make_times(BEGIN + 5);
    struct smp_second_times *all = NULL;
    const struct smp_second_range range = { .from = BEGIN, .till = BEGIN + 7, .width = 2 };

    (void)state;
    add(a, 0, 0, 6000, 6000);
    add(b, 0, 5000, 7000, 200);
    assert_int_equal(smp_second_times_create(NULL, range, &all), SMP_OK);
    smp_second_times_add_row(all, 0, a, 0);
    smp_second_times_add_row(all, 0, b, 0);
    assert_int_equal(smp_second_times_range(all).from, BEGIN - 1);
    assert_int_equal(at(all, 0, 0), 1000);
    assert_int_equal(at(all, 0, 1), 2000);
    assert_int_equal(at(all, 0, 2), 2000);
    assert_int_equal(at(all, 0, 3), 1200);
    smp_second_times_shift(a, -3600);
    assert_int_equal(smp_second_times_range(a).from, BEGIN - 3600);
    smp_second_times_destroy(a);
    smp_second_times_destroy(b);
    smp_second_times_destroy(all);
}

/* The reference implementation: a double for each second. */
static void equals_the_naive_version(void **state)
{
    struct smp_second_times *times = make_times(BEGIN);
    double naive[RANDOM_SECONDS] = { 0 };
    double carried[RANDOM_SECONDS] = { 0 }; /* less than a millisecond each time */

    (void)state;
    srand(7);
    for (int round = 0; round < RANDOM_ROUNDS; round++) {
        const int64_t from = rand() % ((RANDOM_SECONDS - 10) * 1000);
        const int64_t till = from + 1 + rand() % 9000;
        const int64_t ms = (till - from) * (1 + rand() % 3);
        add(times, 0, from, till, ms);
        for (int64_t second = 0; second < RANDOM_SECONDS; second++) {
            const int64_t begin = from > 1000 * second ? from : 1000 * second;
            const int64_t end = till < 1000 * (second + 1) ? till : 1000 * (second + 1);
            if (end <= begin)
                continue;
            naive[second] += (double)ms * (double)(end - begin) / (double)(till - from);
            carried[second]++;
        }
    }
    for (size_t second = 0; second < RANDOM_SECONDS; second++)
        assert_true(at(times, 0, second) <= naive[second] + carried[second] &&
                    at(times, 0, second) >= naive[second] - carried[second]);
    smp_second_times_destroy(times);
}

/* Whichever allocation fails, the lost time is counted and all other time is right. */
static enum smp_status add_many(void *self)
{
    const struct smp_second_range range = { .from = BEGIN, .till = BEGIN + 1, .width = 1 };
    struct smp_second_times *times = NULL;
    const enum smp_status status = smp_second_times_create(NULL, range, &times);
    uint64_t lost = 0;

    (void)self;
    if (status != SMP_OK)
        return status;
    for (int64_t i = 0; i < 300; i++)
        add(times, 0, 1000 * i, 1000 * i + 1000, 1000);
    lost = smp_second_times_lost(times);
    assert_int_equal(sum(times, 0), 1000 * (300 - lost));
    smp_second_times_destroy(times);
    return lost == 0 ? SMP_OK : SMP_ENOMEM;
}

static void survives_any_failing_allocation(void **state)
{
    (void)state;
    (void)failing_alloc_each_step(add_many, NULL);
    assert_int_equal(smp_alloc_live_bytes(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_is_spread_over_its_seconds),
        cmocka_unit_test(corrections_take_the_latest_time_first),
        cmocka_unit_test(slots_become_wider),
        cmocka_unit_test(groups_beyond_the_limit_share_a_row),
        cmocka_unit_test(a_slot_has_a_maximum),
        cmocka_unit_test(fit_makes_the_sum_exact),
        cmocka_unit_test(merging_adds_profiles_second_by_second),
        cmocka_unit_test(equals_the_naive_version),
        cmocka_unit_test(survives_any_failing_allocation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
