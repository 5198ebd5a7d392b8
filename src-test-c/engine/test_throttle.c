/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of polls is kept to the limit, whatever a poll costs and whenever its cost is known. */
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
    struct smp_throttle throttle;
    int64_t now_ns;
    int64_t tick_ns; /* cost of a tick without polls */
    int64_t poll_ns; /* cost of a poll */
    bool is_late;    /* the cost of a poll becomes known at the next tick */
    int64_t late_ns;
    int64_t longest_gap_ns; /* between two ticks */
    uint64_t polls;
};

static int setup(void **state)
{
    static struct world world;

    world = (struct world){ .now_ns = SECOND };
    fake_clock_install(&world.clock);
    smp_throttle_init(&world.throttle, 10, MS, 1);
    *state = &world;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    fake_clock_remove();
    return 0;
}

/* Makes one tick for which this many polls would be made without a limit. At least one poll is
 * made, as for a thread that starts. */
static void tick(struct world *world, int64_t interval_ns, uint64_t wanted)
{
    struct smp_throttle *throttle = &world->throttle;
    int64_t gap_ns = smp_throttle_tick_gap_ns(throttle);

    if (gap_ns < interval_ns)
        gap_ns = interval_ns;
    if (gap_ns > world->longest_gap_ns)
        world->longest_gap_ns = gap_ns;
    world->now_ns += gap_ns;
    fake_clock_spend_cpu(&world->clock, world->tick_ns);
    smp_throttle_begin(throttle, world->now_ns);
    fake_clock_spend_cpu(&world->clock, world->late_ns);
    world->late_ns = 0;
    const uint64_t due = wanted * (uint64_t)throttle->share / SMP_THROTTLE_WHOLE;
    for (uint64_t i = 0; i < (due > 0 ? due : 1); i++) {
        if (smp_throttle_is_spent(throttle))
            break;
        world->polls++;
        if (world->is_late)
            world->late_ns += world->poll_ns;
        else
            fake_clock_spend_cpu(&world->clock, world->poll_ns);
    }
    smp_throttle_end(throttle);
}

/* Makes ticks for this time. Returns their share of CPU time. */
static double used_share(struct world *world, int64_t interval_ns, uint64_t wanted, int64_t ns)
{
    const int64_t before_ns = atomic_load(&world->clock.own_cpu_ns);
    const int64_t from_ns = world->now_ns;

    while (world->now_ns < from_ns + ns)
        tick(world, interval_ns, wanted);
    return (double)(atomic_load(&world->clock.own_cpu_ns) - before_ns) /
           (double)(world->now_ns - from_ns);
}

static void below_the_limit_all_polls_are_made(void **state)
{
    struct world *world = *state;

    world->poll_ns = 8 * US;
    assert_true(used_share(world, 20 * MS, 10, 20 * SECOND) < 0.0041);
    assert_int_equal(world->polls, 10 * 1000);
    assert_int_equal(world->throttle.share, SMP_THROTTLE_WHOLE);
}

/* A tick may use what it earns, which is more than the income of a second. */
static void at_long_intervals_all_polls_are_made_below_the_limit(void **state)
{
    static const int64_t seconds[] = { 2, 10, 60, 3600 };
    struct world *world = *state;

    world->poll_ns = 300 * US;
    for (size_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++) {
        const uint64_t wanted = (uint64_t)seconds[i] * 16; /* half of the allowed number */
        smp_throttle_init(&world->throttle, 10, seconds[i] * SECOND, 1);
        world->polls = 0;
        for (int ticks = 0; ticks < 20; ticks++)
            tick(world, seconds[i] * SECOND, wanted);
        assert_int_equal(world->polls, 20 * wanted);
    }
}

static void at_long_intervals_the_whole_limit_can_be_used(void **state)
{
    struct world *world = *state;

    smp_throttle_init(&world->throttle, 10, 4 * SECOND, 1);
    world->poll_ns = 100 * US;
    (void)used_share(world, 4 * SECOND, 1000, 6000 * SECOND);
    const double used = used_share(world, 4 * SECOND, 1000, 2000 * SECOND);
    assert_in_range((uint64_t)(used * 1e6), 9700, 10300);
}

static void polls_are_throttled_to_the_limit(struct world *world, bool is_late)
{
    static const struct {
        int64_t interval_ns;
        uint64_t wanted;
        int64_t poll_ns;
    } cases[] = {
        { 1 * MS, 4000, 10 * US },   { 1 * MS, 100, 50 * US }, { 20 * MS, 10000, 1 * US },
        { 50 * MS, 1000, 100 * US }, { 50 * MS, 6, 100 * US },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        world->is_late = is_late;
        world->late_ns = 0;
        smp_throttle_init(&world->throttle, 10, cases[i].interval_ns, 1);
        world->poll_ns = cases[i].poll_ns;
        (void)used_share(world, cases[i].interval_ns, cases[i].wanted, 80 * SECOND);
        const double used = used_share(world, cases[i].interval_ns, cases[i].wanted, 30 * SECOND);
        assert_in_range((uint64_t)(used * 1e6), 9700, 10300);
        assert_true(world->throttle.share < SMP_THROTTLE_WHOLE);
    }
}

static void too_many_polls_are_throttled_to_the_limit(void **state)
{
    polls_are_throttled_to_the_limit(*state, false);
}

static void a_cost_known_at_the_next_tick_counts(void **state)
{
    polls_are_throttled_to_the_limit(*state, true);
}

/* One thread at 10 ms whose polls cost two and a half times the limit for a while: new methods,
 * new stacks. */
static void the_cost_of_a_start_postpones_no_poll(void **state)
{
    struct world *world = *state;

    world->tick_ns = 50 * US;
    world->poll_ns = 200 * US;
    const double used = used_share(world, 10 * MS, 1, 6 * SECOND);
    assert_int_equal(world->longest_gap_ns, 10 * MS);
    assert_int_equal(world->polls, 600);
    assert_int_equal(world->throttle.share, SMP_THROTTLE_WHOLE);
    assert_in_range((uint64_t)(used * 1e6), 24900, 25100);
    /* Extra credit is for one start only. */
    (void)used_share(world, 10 * MS, 1, 4 * SECOND);
    const double later = used_share(world, 10 * MS, 1, 30 * SECOND);
    assert_in_range((uint64_t)(later * 1e6), 7000, 13000);
    smp_throttle_restart(&world->throttle);
    const double again = used_share(world, 10 * MS, 1, 30 * SECOND);
    assert_in_range((uint64_t)(again * 1e6), 7000, 13000);
}

/* A low limit also allows little for the start. */
static void a_start_has_extra_credit(void **state)
{
    static const struct {
        int64_t per_mille;
        int64_t bucket_ms;
    } cases[] = { { 10, 10 + 100 }, { 1, 1 + 10 }, { 1000, 1000 + 100 } };
    struct world *world = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        smp_throttle_init(&world->throttle, cases[i].per_mille, MS, 1);
        assert_int_equal(world->throttle.bucket_ns, cases[i].bucket_ms * MS);
        /* No credit is added while the bucket is more than full. */
        smp_throttle_begin(&world->throttle, 1 * SECOND);
        smp_throttle_end(&world->throttle);
        smp_throttle_begin(&world->throttle, 100 * SECOND);
        assert_int_equal(world->throttle.bucket_ns, cases[i].bucket_ms * MS);
    }
}

/* After an idle period, half of the bucket may be used for a burst of whole polls, which is the
 * limit of one second. */
static void a_burst_may_use_half_of_the_bucket(void **state)
{
    struct world *world = *state;
    int64_t whole_ns = 0;

    world->poll_ns = 100 * US;
    (void)used_share(world, 20 * MS, 100, 10 * SECOND);
    world->poll_ns = 0;
    (void)used_share(world, 20 * MS, 100, 5 * SECOND);
    assert_int_equal(world->throttle.bucket_ns, 10 * MS);
    world->poll_ns = 10 * US;
    const int64_t from_ns = world->now_ns;
    for (tick(world, 20 * MS, 100); world->throttle.share == SMP_THROTTLE_WHOLE;
         tick(world, 20 * MS, 100))
        whole_ns += 100 * world->poll_ns;
    /* Half of the bucket and the income meanwhile, within one tick. */
    const int64_t most_ns = 5 * MS + (world->now_ns - from_ns) / 100;
    assert_in_range(whole_ns, most_ns - MS, most_ns + MS);
}

/* A gap, and then the time in which the bucket fills to half from an overdraft of one bucket. */
static void when_polls_become_cheaper_all_are_made_at_once(void **state)
{
    struct world *world = *state;

    for (uint64_t wanted = 100; wanted <= 100000; wanted *= 10) {
        world->poll_ns = 100 * US;
        (void)used_share(world, 20 * MS, wanted, 20 * SECOND);
        assert_true(world->throttle.share < SMP_THROTTLE_WHOLE / 2);
        world->poll_ns = 0;
        const int64_t from_ns = world->now_ns;
        while (world->throttle.share < SMP_THROTTLE_WHOLE)
            tick(world, 20 * MS, wanted);
        assert_true(world->now_ns - from_ns <=
                    (SMP_THROTTLE_BUCKET_MS * 3 / 2 + SMP_THROTTLE_MOST_GAP_MS) * MS * 11 / 10);
        world->longest_gap_ns = 0;
        (void)used_share(world, 20 * MS, wanted, SECOND);
        assert_int_equal(world->longest_gap_ns, 20 * MS);
    }
}

/* A tick costs more than the limit allows for it, even without polls. */
static void expensive_ticks_take_a_quarter_of_the_budget(void **state)
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
        /* If all polls are made at fewer ticks, some CPU time is left over. */
        assert_in_range((uint64_t)(used * 1e6), 7000, 11500);
        /* At least a third of the limit is spent on polls. */
        assert_true(world->polls * (uint64_t)(10 * US) > (uint64_t)(30 * SECOND / 300));
    }
}

/* The end of an interval with many threads costs much at once. */
static void other_costs_are_paid_gradually(void **state)
{
    struct world *world = *state;

    world->tick_ns = 10 * US;
    world->poll_ns = 10 * US;
    (void)used_share(world, 20 * MS, 15, 10 * SECOND);
    assert_int_equal(world->throttle.share, SMP_THROTTLE_WHOLE);
    fake_clock_spend_cpu(&world->clock, 40 * MS);
    for (int second = 0; second < 8; second++) {
        world->polls = 0;
        (void)used_share(world, 20 * MS, 15, 1 * SECOND);
        assert_in_range(world->polls, 15 * 50 / 4, 15 * 50);
    }
    /* Afterwards everything is as before. */
    (void)used_share(world, 20 * MS, 15, 10 * SECOND);
    assert_int_equal(world->throttle.share, SMP_THROTTLE_WHOLE);
    const double used = used_share(world, 20 * MS, 15, 10 * SECOND);
    assert_in_range((uint64_t)(used * 1e6), 7900, 8100);
}

static void a_quarter_of_the_income_pays_other_costs(void **state)
{
    struct world *world = *state;

    tick(world, 20 * MS, 0);
    world->throttle.bucket_ns = -5 * MS;
    world->throttle.deferred_ns = 4 * MS;
    for (int i = 0; i < 10; i++) {
        smp_throttle_begin(&world->throttle, world->now_ns += 100 * MS);
        smp_throttle_end(&world->throttle);
    }
    assert_int_equal(world->throttle.deferred_ns, 4 * MS - 2500 * US);
    assert_int_equal(world->throttle.bucket_ns, 10 * MS - 5 * MS - 2500 * US);
    smp_throttle_begin(&world->throttle, world->now_ns += SECOND);
    assert_int_equal(world->throttle.deferred_ns, 0);
    assert_int_equal(world->throttle.bucket_ns, 10 * MS);
}

/* Threads must be polled again soon, however much one tick has cost. */
static void an_overdraft_is_one_bucket_at_most(void **state)
{
    struct world *world = *state;

    world->poll_ns = SECOND;
    tick(world, 20 * MS, 1);
    smp_throttle_begin(&world->throttle, world->now_ns += 20 * MS);
    assert_int_equal(world->throttle.bucket_ns, -10 * MS);
}

static void affordable_ticks_are_never_skipped(void **state)
{
    struct world *world = *state;

    world->tick_ns = 60 * US;
    world->poll_ns = 1 * US;
    (void)used_share(world, 10 * MS, 10, 20 * SECOND);
    assert_int_equal(world->longest_gap_ns, 10 * MS);
}

/* A tick uses at most a full bucket and one batch of polls, even if a start has extra credit. */
static void polls_beyond_a_full_bucket_wait(void **state)
{
    struct world *world = *state;

    world->poll_ns = 10 * US;
    tick(world, 20 * MS, 4000);
    assert_in_range(world->polls, 1000, 1000 + SMP_THROTTLE_BATCH);
    /* So many polls would use up the credit of the start at once. */
    tick(world, 20 * MS, 4000);
    assert_true(world->throttle.bucket_ns <= 0);
    assert_int_equal(world->throttle.share, SMP_THROTTLE_LEAST);
}

/* A single poll exceeds the limit of a second: then the limit is exceeded. */
static void on_average_there_is_at_least_one_tick_per_second(void **state)
{
    struct world *world = *state;

    world->poll_ns = 20 * MS;
    (void)used_share(world, 20 * MS, 10, 60 * SECOND);
    assert_true(world->longest_gap_ns > SMP_THROTTLE_MOST_GAP_MS * MS);
    assert_true(world->longest_gap_ns <= SMP_THROTTLE_MOST_GAP_MS * MS * 3 / 2);
    assert_true(world->throttle.share == SMP_THROTTLE_LEAST);
}

static void a_raised_limit_applies_at_once(void **state)
{
    struct world *world = *state;

    world->poll_ns = 100 * US;
    (void)used_share(world, 20 * MS, 100, 20 * SECOND);
    smp_throttle_set(&world->throttle, 10, MS); /* the same limit again */
    tick(world, 20 * MS, 100);
    assert_true(world->throttle.share < SMP_THROTTLE_WHOLE);
    smp_throttle_set(&world->throttle, 1000, MS);
    tick(world, 20 * MS, 100);
    assert_int_equal(world->throttle.share, SMP_THROTTLE_WHOLE);
}

/* A client that requests something every 0.4 s uses none of the credit, whether or not a tick
 * comes in between. */
static void excused_costs_do_not_throttle(void **state)
{
    enum { TICKS = 3000, BETWEEN = 40, COST_MS = 20 };
    struct world *world = *state;

    world->tick_ns = 5 * US;
    world->poll_ns = 10 * US;
    for (int i = 0; i < TICKS; i++) {
        tick(world, 10 * MS, 5);
        if (i % BETWEEN != 0)
            continue;
        if (i % 2 == 0)
            smp_throttle_begin(&world->throttle, world->now_ns);
        fake_clock_spend_cpu(&world->clock, COST_MS * MS);
        if (i % 2 == 0)
            smp_throttle_end(&world->throttle);
        smp_throttle_excuse(&world->throttle, COST_MS * MS);
        assert_int_equal(world->throttle.share, SMP_THROTTLE_WHOLE);
    }
    assert_int_equal(world->polls, TICKS * 5);
    assert_int_equal(world->longest_gap_ns, 10 * MS);
    assert_true(world->throttle.tick_ns <= world->tick_ns);
}

/* CPU time used before a request is charged, however many requests there are. */
static void requests_excuse_no_other_costs(void **state)
{
    enum { TICKS = 3000, WANTED = 100 };
    struct world *world = *state;

    world->tick_ns = 5 * US;
    world->poll_ns = 10 * US;
    for (int i = 0; i < TICKS; i++) {
        tick(world, 10 * MS, WANTED);
        fake_clock_spend_cpu(&world->clock, US);
        smp_throttle_excuse(&world->throttle, US);
    }
    assert_in_range(world->polls, 1, TICKS * WANTED / 4);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(below_the_limit_all_polls_are_made),
        TEST(at_long_intervals_all_polls_are_made_below_the_limit),
        TEST(at_long_intervals_the_whole_limit_can_be_used),
        TEST(too_many_polls_are_throttled_to_the_limit),
        TEST(a_cost_known_at_the_next_tick_counts),
        TEST(the_cost_of_a_start_postpones_no_poll),
        TEST(a_start_has_extra_credit),
        TEST(a_burst_may_use_half_of_the_bucket),
        TEST(when_polls_become_cheaper_all_are_made_at_once),
        TEST(expensive_ticks_take_a_quarter_of_the_budget),
        TEST(other_costs_are_paid_gradually),
        TEST(a_quarter_of_the_income_pays_other_costs),
        TEST(an_overdraft_is_one_bucket_at_most),
        TEST(affordable_ticks_are_never_skipped),
        TEST(polls_beyond_a_full_bucket_wait),
        TEST(on_average_there_is_at_least_one_tick_per_second),
        TEST(a_raised_limit_applies_at_once),
        TEST(excused_costs_do_not_throttle),
        TEST(requests_excuse_no_other_costs),
    };
#undef TEST
    return cmocka_run_group_tests_name("throttle", tests, NULL, NULL);
}
