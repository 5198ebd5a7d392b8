/* SPDX-License-Identifier: Apache-2.0 */
/* Polls that were drawn while the throttle's share was different. */
#include "engine/sources/poll_schedule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { NOW_TICK = 1000 };

#define HALF (SMP_THROTTLE_WHOLE / 2)
#define EIGHTH (SMP_THROTTLE_WHOLE / 8)

static struct smp_throttle throttle;
static struct smp_options options;
static struct smp_poll_schedule schedule;
static struct smp_wall_thread thread;

/* A busy thread whose poll in this tick was drawn with that share. */
static int setup(void **state)
{
    (void)state;
    throttle = (struct smp_throttle){ .share = EIGHTH, .random = 7 };
    options = (struct smp_options){ .sampling_frequency_millis = 20, .idle_lookback_millis = 1000 };
    schedule = (struct smp_poll_schedule){
        .throttle = &throttle,
        .options = &options,
        .tick = NOW_TICK,
        .least_share = SMP_THROTTLE_WHOLE,
    };
    thread = (struct smp_wall_thread){
        .record = { .was_polled = true, .deadline = { .at = NOW_TICK } },
        .plan = { .cpu_share = SMP_WHOLE_CPU },
    };
    return 0;
}

static void draw_with(int64_t share)
{
    thread.plan.share = share;
    thread.plan.is_throttled = share < SMP_THROTTLE_WHOLE;
    thread.plan.odds = SMP_CERTAIN / SMP_THROTTLE_WHOLE * share;
    thread.record.deadline.at = NOW_TICK;
}

static void only_a_large_rise_redraws_and_not_in_this_tick(void **state)
{
    static const struct {
        int64_t share;
        uint64_t at;
        bool is_redrawn;
    } cases[] = {
        { EIGHTH, NOW_TICK + 500, true },
        { EIGHTH, NOW_TICK, false },
        { HALF, NOW_TICK + 500, false },
        { EIGHTH * 2, NOW_TICK + 1, true },
    };

    (void)state;
    throttle.share = SMP_THROTTLE_WHOLE;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        draw_with(cases[i].share);
        smp_timer_wheel_put(&schedule.wheel, &thread.record.deadline, cases[i].at);
        smp_poll_schedule_redraw(&schedule, &thread, 1);
        assert_int_equal(thread.plan.is_throttled, !cases[i].is_redrawn);
        assert_int_equal(thread.record.deadline.at,
                         cases[i].is_redrawn ? NOW_TICK + 1 : cases[i].at);
        smp_timer_wheel_remove(&schedule.wheel, &thread.record.deadline);
    }
}

/* All threads are visited once for a rise, and again only for the threads that were left. */
static void a_rise_is_reported_once(void **state)
{
    (void)state;
    assert_false(smp_poll_schedule_share_rose(&schedule));
    smp_poll_schedule_next(&schedule, &thread, 1);
    assert_int_equal(thread.plan.share, EIGHTH);
    throttle.share = 2 * EIGHTH;
    assert_false(smp_poll_schedule_share_rose(&schedule));
    throttle.share = 4 * EIGHTH;
    assert_true(smp_poll_schedule_share_rose(&schedule));
    assert_false(smp_poll_schedule_share_rose(&schedule));
    /* It was left because its poll comes in this tick. */
    thread.record.deadline.at = NOW_TICK;
    smp_poll_schedule_redraw(&schedule, &thread, 1);
    assert_int_equal(thread.plan.share, EIGHTH);
    assert_true(smp_poll_schedule_share_rose(&schedule));
    smp_timer_wheel_remove(&schedule.wheel, &thread.record.deadline);
}

/* A tick much longer than its interval was a stop, which must not multiply the weight of a poll. */
static void a_poll_after_a_long_stop_has_a_limited_weight(void **state)
{
    static const struct {
        int64_t interval_ms;
        int64_t tick_ms;
        int64_t counted_ms;
    } cases[] = {
        { 20, 30, 30 },          { 20, 3900, 3900 },       { 20, 300000, 4000 },
        { 10000, 11000, 11000 }, { 10000, 300000, 20000 }, { 3600000, 3700000, 3700000 }
    };
    const int64_t ns_per_ms = 1000000;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        options.sampling_frequency_millis = cases[i].interval_ms;
        schedule.tick_ns = cases[i].tick_ms * ns_per_ms;
        thread.plan.odds = SMP_CERTAIN / 4;
        assert_int_equal(smp_poll_schedule_weight_ns(&schedule, &thread),
                         4 * cases[i].counted_ms * ns_per_ms);
        thread.plan.odds = SMP_CERTAIN;
        assert_int_equal(smp_poll_schedule_weight_ns(&schedule, &thread), schedule.tick_ns);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, setup)
    const struct CMUnitTest tests[] = {
        TEST(only_a_large_rise_redraws_and_not_in_this_tick),
        TEST(a_rise_is_reported_once),
        TEST(a_poll_after_a_long_stop_has_a_limited_weight),
    };
#undef TEST
    return cmocka_run_group_tests_name("poll_schedule", tests, NULL, NULL);
}
