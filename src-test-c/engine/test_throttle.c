/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of polls is held to the limit, whatever a poll costs. */
#include "engine/threads/throttle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/fake_clock.h"

#define US INT64_C(1000)
#define MS INT64_C(1000000)
#define SECOND INT64_C(1000000000)

struct world {
    struct fake_clock clock;
    struct smp_throttle budget;
    int64_t now_ns;
    int64_t tick_ns; /* what a tick costs without polls */
    int64_t poll_ns; /* what a poll costs */
    int64_t left_out_ns;
    uint64_t polls;
    uint64_t put_off;
};

static int setup(void **state)
{
    static struct world world;

    world = (struct world){ .now_ns = SECOND };
    fake_clock_install(&world.clock);
    smp_throttle_init(&world.budget, 10, 1);
    *state = &world;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    fake_clock_remove();
    return 0;
}

/* Ticks with so many polls due at each, were there no limit. */
static double used_share(struct world *world, int64_t interval_ns, uint64_t wanted, int64_t ns)
{
    const int64_t before_ns = atomic_load(&world->clock.own_cpu_ns);
    const int64_t from_ns = world->now_ns;

    while (world->now_ns < from_ns + ns) {
        const int64_t gap_ns = smp_throttle_tick_gap_ns(&world->budget);
        if (gap_ns > interval_ns)
            world->left_out_ns += gap_ns - interval_ns;
        world->now_ns += gap_ns > interval_ns ? gap_ns : interval_ns;
        fake_clock_spend_cpu(&world->clock, world->tick_ns);
        smp_throttle_begin(&world->budget, world->now_ns);
        const uint64_t due = wanted * (uint64_t)world->budget.share / SMP_THROTTLE_WHOLE;
        for (uint64_t i = 0; i < (due > 0 ? due : 1); i++) {
            if (smp_throttle_is_spent(&world->budget)) {
                world->put_off++;
                continue;
            }
            world->polls++;
            fake_clock_spend_cpu(&world->clock, world->poll_ns);
        }
        smp_throttle_end(&world->budget);
    }
    return (double)(atomic_load(&world->clock.own_cpu_ns) - before_ns) / (double)ns;
}

static void enough_for_all_is_for_all(void **state)
{
    struct world *world = *state;

    world->poll_ns = 8 * US;
    assert_true(used_share(world, 20 * MS, 10, 20 * SECOND) < 0.0041);
    assert_int_equal(world->put_off, 0);
    assert_int_equal(world->polls, 10 * 1000);
    assert_int_equal(world->budget.share, SMP_THROTTLE_WHOLE);
}

static void too_many_polls_are_throttled_to_the_limit(void **state)
{
    static const struct {
        int64_t interval_ns;
        uint64_t wanted;
        int64_t poll_ns;
    } cases[] = {
        { 1 * MS, 4000, 10 * US },
        { 1 * MS, 100, 50 * US },
        { 20 * MS, 10000, 1 * US },
        { 50 * MS, 1000, 100 * US },
    };
    struct world *world = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        (void)setup(state);
        world->poll_ns = cases[i].poll_ns;
        (void)used_share(world, cases[i].interval_ns, cases[i].wanted, 10 * SECOND);
        assert_int_equal(world->budget.start_ns, 0);
        const double used = used_share(world, cases[i].interval_ns, cases[i].wanted, 30 * SECOND);
        assert_in_range((uint64_t)(used * 1e6), 7000, 13000);
        assert_true(world->budget.share < SMP_THROTTLE_WHOLE);
    }
}

/* One thread at 10 ms whose polls cost two and a half times what the limit allows, for a while: new
 * methods, new stacks. */
static void the_cost_of_a_start_postpones_no_poll(void **state)
{
    struct world *world = *state;

    world->tick_ns = 50 * US;
    world->poll_ns = 200 * US;
    const double used = used_share(world, 10 * MS, 1, 6 * SECOND);
    assert_int_equal(world->put_off, 0);
    assert_int_equal(world->left_out_ns, 0);
    assert_int_equal(world->polls, 600);
    assert_int_equal(world->budget.share, SMP_THROTTLE_WHOLE);
    assert_in_range((uint64_t)(used * 1e6), 24900, 25100);
    /* There is no second reserve. */
    (void)used_share(world, 10 * MS, 1, 2 * SECOND);
    assert_int_equal(world->budget.start_ns, 0);
    const double later = used_share(world, 10 * MS, 1, 30 * SECOND);
    assert_in_range((uint64_t)(later * 1e6), 7000, 13000);
    smp_throttle_restart(&world->budget);
    assert_int_equal(world->budget.start_ns, 0);
}

/* Where little is allowed, little is for the start. */
static void the_reserve_goes_with_the_limit(void **state)
{
    struct world *world = *state;

    assert_int_equal(world->budget.start_ns, 100 * MS);
    smp_throttle_init(&world->budget, 1, 1);
    assert_int_equal(world->budget.start_ns, 10 * MS);
    smp_throttle_init(&world->budget, 1000, 1);
    assert_int_equal(world->budget.start_ns, 100 * MS);
}

/* It would be gone with a tick or two. */
static void a_crowd_gets_no_reserve(void **state)
{
    struct world *world = *state;

    world->poll_ns = 10 * US;
    (void)used_share(world, 20 * MS, 4000, 100 * MS);
    assert_int_equal(world->budget.start_ns, 0);
}

static void where_polls_get_cheaper_all_are_made_again(void **state)
{
    struct world *world = *state;

    world->poll_ns = 100 * US;
    (void)used_share(world, 20 * MS, 100, 10 * SECOND);
    assert_true(world->budget.share < SMP_THROTTLE_WHOLE / 2);
    world->poll_ns = 1 * US;
    (void)used_share(world, 20 * MS, 100, 20 * SECOND);
    assert_int_equal(world->budget.share, SMP_THROTTLE_WHOLE);
}

/* A tick costs more than the limit allows for it, even without polls. */
static void ticks_take_a_quarter_of_a_short_budget(void **state)
{
    static const int64_t costs_us[] = { 8, 25, 200 };
    struct world *world = *state;

    for (size_t i = 0; i < sizeof(costs_us) / sizeof(costs_us[0]); i++) {
        (void)setup(state);
        world->tick_ns = costs_us[i] * US;
        world->poll_ns = 10 * US;
        (void)used_share(world, 1 * MS, 40, 10 * SECOND);
        world->polls = 0;
        const double used = used_share(world, 1 * MS, 40, 30 * SECOND);
        /* Where all polls are made at rarer ticks, some is left over. */
        assert_in_range((uint64_t)(used * 1e6), 7000, 11500);
        /* A third of the limit at least is spent on polls. */
        assert_true(world->polls * (uint64_t)(10 * US) > (uint64_t)(30 * SECOND / 300));
    }
}

/* As the end of an interval is, of many threads. */
static void what_else_was_spent_is_paid_little_by_little(void **state)
{
    struct world *world = *state;

    world->tick_ns = 10 * US;
    world->poll_ns = 10 * US;
    (void)used_share(world, 20 * MS, 15, 10 * SECOND);
    assert_int_equal(world->budget.share, SMP_THROTTLE_WHOLE);
    fake_clock_spend_cpu(&world->clock, 40 * MS);
    for (int second = 0; second < 8; second++) {
        world->polls = 0;
        (void)used_share(world, 20 * MS, 15, 1 * SECOND);
        assert_in_range(world->polls, 15 * 50 / 4, 15 * 50);
    }
    /* And then all is as before. */
    (void)used_share(world, 20 * MS, 15, 10 * SECOND);
    assert_int_equal(world->budget.share, SMP_THROTTLE_WHOLE);
    const double used = used_share(world, 20 * MS, 15, 10 * SECOND);
    assert_in_range((uint64_t)(used * 1e6), 7900, 8100);
}

static void ticks_that_can_be_paid_are_never_left_out(void **state)
{
    struct world *world = *state;

    world->tick_ns = 60 * US;
    world->poll_ns = 1 * US;
    (void)used_share(world, 10 * MS, 10, 20 * SECOND);
    assert_int_equal(world->left_out_ns, 0);
}

static void no_thread_starves(void **state)
{
    struct world *world = *state;

    /* A single batch of polls is more than the limit. */
    world->poll_ns = 20 * MS;
    (void)used_share(world, 20 * MS, 10, 10 * SECOND);
    const uint64_t before = world->polls;
    (void)used_share(world, 20 * MS, 10, 10 * SECOND);
    assert_true(world->polls > before + 9);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(enough_for_all_is_for_all),
        TEST(too_many_polls_are_throttled_to_the_limit),
        TEST(the_cost_of_a_start_postpones_no_poll),
        TEST(the_reserve_goes_with_the_limit),
        TEST(a_crowd_gets_no_reserve),
        TEST(where_polls_get_cheaper_all_are_made_again),
        TEST(ticks_take_a_quarter_of_a_short_budget),
        TEST(what_else_was_spent_is_paid_little_by_little),
        TEST(ticks_that_can_be_paid_are_never_left_out),
        TEST(no_thread_starves),
    };
#undef TEST
    return cmocka_run_group_tests_name("throttle", tests, NULL, NULL);
}
