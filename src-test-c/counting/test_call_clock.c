/* SPDX-License-Identifier: Apache-2.0 */
/* The length of a tick of a counter with three ticks per nanosecond. */
#include "counting/call_clock.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define NS_PER_MS 1000000.0

enum { TICKS_PER_NS = 3, START_MS = 5000 };

struct fixture {
    struct smp_call_clock clock;
    struct smp_call_moment now;
};

static int setup(void **state)
{
    static struct fixture f;
    const int64_t start_ns = START_MS * (int64_t)NS_PER_MS;

    f = (struct fixture){ .now = { TICKS_PER_NS * start_ns, start_ns, start_ns } };
    f.clock.last = f.now;
    *state = &f;
    return 0;
}

/* Time passes differently on each of the three clocks. Returns the length of a million ticks in
 * ns. */
static long pass(struct fixture *f, double counter_ms, double ms, double boot_ms)
{
    f->now.ticks += (int64_t)(TICKS_PER_NS * counter_ms * NS_PER_MS);
    f->now.ns += (int64_t)(ms * NS_PER_MS);
    f->now.boot_ns += (int64_t)(boot_ms * NS_PER_MS);
    return lround(smp_call_clock_advance(&f->clock, f->now) * 1e6);
}

static void the_length_follows_the_last_two_reads(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(pass(f, 200, 200, 200), 333333);
    assert_int_equal(pass(f, 100, 100.1, 100.1), 333667);
    assert_int_equal(pass(f, 100, 100, 100), 333333);
}

static void a_suspension_is_dropped(void **state)
{
    struct fixture *f = *state;

    (void)pass(f, 200, 200, 200);
    assert_int_equal(pass(f, 900, 100, 900), 333333);
    assert_int_equal(pass(f, 102, 100, 102), 333333); /* similar, but still a suspension */
    assert_int_equal(pass(f, 100, 100, 100), 333333);
}

/* Both clocks stand still while a virtual machine is paused. */
static void a_pause_is_dropped(void **state)
{
    struct fixture *f = *state;

    (void)pass(f, 200, 200, 200);
    assert_int_equal(pass(f, 900, 100, 100), 333333);
    assert_int_equal(pass(f, 100, 100, 100), 333333);
    assert_int_equal(pass(f, 500, 100, 100), 333333);
}

static void a_counter_that_is_set_back_is_dropped(void **state)
{
    struct fixture *f = *state;

    (void)pass(f, 200, 200, 200);
    assert_int_equal(pass(f, -4000, 100, 100), 333333);
    assert_int_equal(pass(f, 0, 100, 100), 333333);
    assert_int_equal(pass(f, 100, 100, 100), 333333);
}

static void a_first_read_that_was_wrong_is_replaced(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(pass(f, 900, 100, 100), 37037);
    assert_int_equal(pass(f, 100, 100, 100), 37037);
    assert_int_equal(pass(f, 100, 100, 100), 333333);
}

static void before_the_first_good_read_the_wall_clock_is_used(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(pass(f, 900, 100, 900), 333333);
    assert_int_equal(pass(f, -900, 100, 100), 1000000);
    assert_int_equal(pass(f, 100, 100, 100), 333333);
}

/* Too short a time for a new length, unless there is none yet. */
static void a_short_time_adds_up(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(pass(f, 1, 1, 1), 333333);
    assert_int_equal(pass(f, 2, 1, 1), 222222);
    assert_int_equal(pass(f, 97, 98, 98), 333333);
    assert_int_equal(pass(f, 2, 1, 1), 333333);
    assert_int_equal(pass(f, 98, 99, 99), 333333);
}

static void ticks_are_converted_within_the_range_of_times(void **state)
{
    (void)state;
    assert_true(smp_call_clock_to_ns(3000, 1.0 / TICKS_PER_NS) == 1000);
    assert_true(smp_call_clock_to_ns(0, 1) == 0);
    assert_true(smp_call_clock_to_ns(-5, 1) == 0);
    assert_true(smp_call_clock_to_ns(INT64_MIN, 1) == 0);
    assert_true(smp_call_clock_to_ns(INT64_MAX, 1) == INT64_MAX);
    assert_true(smp_call_clock_to_ns(INT64_MAX, 8) == INT64_MAX);
}

static void the_clock_source_is_compared_by_its_whole_name(void **state)
{
    (void)state;
    assert_true(smp_call_clock_is_listed("tsc hpet acpi_pm \n"));
    assert_true(smp_call_clock_is_listed("kvm-clock tsc"));
    assert_true(smp_call_clock_is_listed("tsc-early tsc\n"));
    assert_false(smp_call_clock_is_listed("tsc-early hpet acpi_pm \n"));
    assert_false(smp_call_clock_is_listed("hyperv_clocksource_tsc_page acpi_pm\n"));
    assert_false(smp_call_clock_is_listed("ts tscx\n"));
    assert_false(smp_call_clock_is_listed(" \n"));
    assert_false(smp_call_clock_is_listed(""));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, setup)
    const struct CMUnitTest tests[] = {
        TEST(the_length_follows_the_last_two_reads),
        TEST(a_suspension_is_dropped),
        TEST(a_pause_is_dropped),
        TEST(a_counter_that_is_set_back_is_dropped),
        TEST(a_first_read_that_was_wrong_is_replaced),
        TEST(before_the_first_good_read_the_wall_clock_is_used),
        TEST(a_short_time_adds_up),
        TEST(ticks_are_converted_within_the_range_of_times),
        TEST(the_clock_source_is_compared_by_its_whole_name),
    };
#undef TEST
    return cmocka_run_group_tests_name("call_clock", tests, NULL, NULL);
}
