/* SPDX-License-Identifier: Apache-2.0 */
/* The times of ticks and reports, on a clock that the test sets. */
#include "engine/session/schedule.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS INT64_C(1000000)
#define START (1000 * MS)

static struct smp_schedule started(int64_t interval_ns, int64_t period_ns)
{
    struct smp_schedule schedule;

    smp_schedule_init(&schedule, interval_ns, period_ns, START, 42);
    return schedule;
}

static void gaps_are_a_half_to_one_and_a_half_intervals(void **state)
{
    struct smp_schedule schedule = started(50 * MS, 0);
    const int rounds = 100000;
    int64_t least = INT64_MAX;
    int64_t most = 0;

    (void)state;
    for (int i = 0; i < rounds; i++) {
        const int64_t due = schedule.due_ns;
        assert_false(smp_schedule_begin_tick(&schedule, due));
        const int64_t gap = schedule.due_ns - due;
        least = gap < least ? gap : least;
        most = gap > most ? gap : most;
    }
    assert_in_range(least, 25 * MS, 25 * MS + MS / 10);
    assert_in_range(most, 75 * MS - MS / 10, 75 * MS);
    /* The mean is the interval, within four standard deviations of this many gaps. */
    assert_in_range(schedule.due_ns - START, rounds * (50 * MS - MS / 5),
                    rounds * (50 * MS + MS / 5));
}

/* A program is in its first half for 10 of each 20 ms. Ticks credit wall time: the state that a
 * tick finds gets the time since the previous tick. Returns the time credited to the first half in
 * 30 s. */
static double first_half_ms(struct smp_schedule *schedule)
{
    const int64_t loop_ns = 20 * MS;
    const int64_t begin_ns = schedule->due_ns;
    int64_t half_ns = 0;

    for (int64_t before = begin_ns; before - begin_ns < 30000 * MS; before = schedule->due_ns) {
        (void)smp_schedule_begin_tick(schedule, before);
        if (schedule->due_ns % loop_ns < loop_ns / 2)
            half_ns += schedule->due_ns - before;
    }
    return (double)half_ns / (double)MS;
}

/* With gaps of 0.9 to 1.1 intervals the standard deviation was 1,840 ms, which is 6.1 % of the
 * time. */
static void a_loop_of_one_interval_is_sampled_in_all_its_phases(void **state)
{
    const int runs = 500;
    double sum = 0;
    double squares = 0;

    (void)state;
    for (int run = 0; run < runs; run++) {
        struct smp_schedule schedule;
        smp_schedule_init(&schedule, 20 * MS, 0, START + run * MS / 7, (uint64_t)run * 7919 + 1);
        const double half_ms = first_half_ms(&schedule);
        sum += half_ms;
        squares += half_ms * half_ms;
    }
    const double mean_ms = sum / runs;
    const double variance = squares / runs - mean_ms * mean_ms;
    print_message("mean %.0f ms, standard deviation %.0f ms\n", mean_ms, sqrt(variance));
    assert_true(mean_ms > 14900 && mean_ms < 15100);
    assert_true(variance < 450.0 * 450.0);
}

static void a_tick_comes_at_its_time(void **state)
{
    struct smp_schedule schedule = started(50 * MS, 0);

    (void)state;
    assert_false(smp_schedule_tick_is_due(&schedule, schedule.due_ns - 1));
    assert_true(smp_schedule_tick_is_due(&schedule, schedule.due_ns));
    assert_int_equal(smp_schedule_next_ns(&schedule, true), schedule.due_ns);
    assert_int_equal(smp_schedule_next_ns(&schedule, false), INT64_MAX);
}

static void small_delays_do_not_add_up(void **state)
{
    struct smp_schedule schedule = started(50 * MS, 0);
    const int rounds = 10000;

    (void)state;
    for (int i = 0; i < rounds; i++)
        assert_false(smp_schedule_begin_tick(&schedule, schedule.due_ns + 20 * MS));
    assert_in_range(schedule.due_ns - START, rounds * (50 * MS - MS), rounds * (50 * MS + MS));
}

static void a_tick_is_late_after_half_an_interval(void **state)
{
    struct smp_schedule schedule = started(50 * MS, 0);

    (void)state;
    assert_false(smp_schedule_begin_tick(&schedule, schedule.due_ns + 25 * MS));
    assert_true(smp_schedule_begin_tick(&schedule, schedule.due_ns + 25 * MS + 1));
}

static void missed_ticks_are_not_repeated(void **state)
{
    struct smp_schedule schedule = started(50 * MS, 0);
    const int64_t now = schedule.due_ns + 10000 * MS;

    (void)state;
    assert_true(smp_schedule_begin_tick(&schedule, now));
    assert_false(smp_schedule_tick_is_due(&schedule, now));
    assert_in_range(schedule.due_ns - now, 25 * MS, 75 * MS);
}

static void reports_keep_their_period(void **state)
{
    struct smp_schedule schedule = started(50 * MS, 1000 * MS);

    (void)state;
    assert_false(smp_schedule_report_is_due(&schedule, START + 1000 * MS - 1));
    assert_true(smp_schedule_report_is_due(&schedule, START + 1000 * MS));
    smp_schedule_begin_report(&schedule, START + 1400 * MS);
    assert_int_equal(schedule.report_due_ns, START + 2000 * MS);
    /* Several were missed: one report follows, then reports come again at a whole number of
     * periods. */
    smp_schedule_begin_report(&schedule, START + 5300 * MS);
    assert_int_equal(schedule.report_due_ns, START + 6000 * MS);
    smp_schedule_begin_report(&schedule, START + 6000 * MS);
    assert_int_equal(schedule.report_due_ns, START + 7000 * MS);
}

static void period_zero_means_no_reports(void **state)
{
    struct smp_schedule schedule = started(50 * MS, 0);

    (void)state;
    assert_false(smp_schedule_report_is_due(&schedule, INT64_MAX));
}

static void the_nearest_deadline_is_next(void **state)
{
    struct smp_schedule schedule = started(50 * MS, 10 * MS);

    (void)state;
    assert_int_equal(smp_schedule_next_ns(&schedule, true), START + 10 * MS);
    smp_schedule_begin_report(&schedule, START + 95 * MS);
    assert_int_equal(smp_schedule_next_ns(&schedule, true), schedule.due_ns);
    assert_int_equal(smp_schedule_next_ns(&schedule, false), START + 100 * MS);
}

static void only_a_changed_period_moves_its_deadline(void **state)
{
    struct smp_schedule schedule = started(50 * MS, 1000 * MS);
    const int64_t due = schedule.due_ns;

    (void)state;
    smp_schedule_set(&schedule, 50 * MS, 1000 * MS, START + 10 * MS);
    assert_int_equal(schedule.due_ns, due);
    assert_int_equal(schedule.report_due_ns, START + 1000 * MS);
    smp_schedule_set(&schedule, 50 * MS, 200 * MS, START + 10 * MS);
    assert_int_equal(schedule.due_ns, due);
    assert_int_equal(schedule.report_due_ns, START + 210 * MS);
    smp_schedule_set(&schedule, 10 * MS, 200 * MS, START + 20 * MS);
    assert_in_range(schedule.due_ns, START + 25 * MS, START + 35 * MS);
    assert_int_equal(schedule.report_due_ns, START + 210 * MS);
}

static void extreme_times_do_not_overflow(void **state)
{
    struct smp_schedule shortest = started(MS, 1000 * MS);
    struct smp_schedule longest = started(3600000 * MS, INT64_C(31536000) * 1000 * MS);

    (void)state;
    assert_in_range(shortest.due_ns - START, 500000, 1500000);
    assert_in_range(longest.due_ns - START, 1800000 * MS, 5400000 * MS);
    assert_true(longest.report_due_ns > START);
}

static void holding_a_tick_skips_the_ticks_before_it(void **state)
{
    struct smp_schedule schedule = started(50 * MS, 0);
    const int64_t due = schedule.due_ns;

    (void)state;
    assert_int_equal(smp_schedule_hold_tick(&schedule, due), 0);
    assert_int_equal(schedule.due_ns, due);
    /* Later, but no tick is skipped. */
    assert_int_equal(smp_schedule_hold_tick(&schedule, due + 20 * MS), 0);
    assert_int_equal(schedule.due_ns, due + 20 * MS);
    assert_in_range(smp_schedule_hold_tick(&schedule, due + 1020 * MS), 13, 27);
    assert_in_range(schedule.due_ns, due + 1020 * MS, due + 1095 * MS);
    /* The tick is not late because of that. */
    assert_false(smp_schedule_begin_tick(&schedule, schedule.due_ns));
}

static void skipped_ticks_do_not_change_later_ticks(void **state)
{
    struct smp_schedule every = started(50 * MS, 0);
    struct smp_schedule some = started(50 * MS, 0);
    uint64_t passed = 0;

    (void)state;
    assert_int_equal(smp_schedule_skip_ticks(&some, some.due_ns, UINT64_MAX), 0);
    assert_int_equal(smp_schedule_skip_ticks(&some, INT64_MAX, 0), 0);
    for (int round = 0; round < 1000; round++) {
        const int64_t at = some.due_ns + round * MS;
        /* In two steps: at most this many, then the remaining ones. */
        uint64_t skipped = smp_schedule_skip_ticks(&some, at, (uint64_t)round % 7);
        assert_true(skipped <= (uint64_t)round % 7);
        skipped += smp_schedule_skip_ticks(&some, at, UINT64_MAX);
        for (; every.due_ns < at; passed++)
            (void)smp_schedule_begin_tick(&every, every.due_ns);
        assert_int_equal(some.due_ns, every.due_ns);
        assert_true(some.due_ns >= at);
        assert_int_equal(skipped, passed);
        passed = 0;
        assert_false(smp_schedule_begin_tick(&some, some.due_ns));
        (void)smp_schedule_begin_tick(&every, every.due_ns);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaps_are_a_half_to_one_and_a_half_intervals),
        cmocka_unit_test(a_loop_of_one_interval_is_sampled_in_all_its_phases),
        cmocka_unit_test(a_tick_comes_at_its_time),
        cmocka_unit_test(small_delays_do_not_add_up),
        cmocka_unit_test(a_tick_is_late_after_half_an_interval),
        cmocka_unit_test(missed_ticks_are_not_repeated),
        cmocka_unit_test(reports_keep_their_period),
        cmocka_unit_test(period_zero_means_no_reports),
        cmocka_unit_test(the_nearest_deadline_is_next),
        cmocka_unit_test(only_a_changed_period_moves_its_deadline),
        cmocka_unit_test(extreme_times_do_not_overflow),
        cmocka_unit_test(holding_a_tick_skips_the_ticks_before_it),
        cmocka_unit_test(skipped_ticks_do_not_change_later_ticks),
    };
    return cmocka_run_group_tests_name("schedule", tests, NULL, NULL);
}
