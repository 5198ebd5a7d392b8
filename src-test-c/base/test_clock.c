/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "base/thread.h"
#include "support/fake_clock.h"

static int64_t read_ns(clockid_t id)
{
    struct timespec now;

    assert_int_equal(clock_gettime(id, &now), 0);
    return (int64_t)now.tv_sec * 1000000000 + (int64_t)now.tv_nsec;
}

static void real_clocks_match_the_system_clocks(void **state)
{
    (void)state;
    const int64_t before = read_ns(CLOCK_MONOTONIC);
    const int64_t now = smp_clock_ns();
    assert_in_range(now, before, read_ns(CLOCK_MONOTONIC));

    const int64_t wall_before = read_ns(CLOCK_REALTIME) / 1000000;
    const int64_t wall = smp_clock_wall_ms();
    assert_in_range(wall, wall_before, read_ns(CLOCK_REALTIME) / 1000000);

    const int64_t cpu_before = read_ns(CLOCK_THREAD_CPUTIME_ID);
    const int64_t cpu = smp_clock_own_cpu_ns();
    assert_in_range(cpu, cpu_before, read_ns(CLOCK_THREAD_CPUTIME_ID));
}

static void sleeping_uses_no_cpu_time(void **state)
{
    const struct timespec pause = { .tv_nsec = 20 * 1000000 };
    const int64_t start = smp_clock_ns();
    const int64_t cpu_start = smp_clock_own_cpu_ns();

    (void)state;
    (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
    const int64_t elapsed = smp_clock_ns() - start;
    assert_true(elapsed >= pause.tv_nsec);
    assert_true(smp_clock_own_cpu_ns() - cpu_start < elapsed);
}

/* The thread gives up its CPU and gets one again. */
static void a_thread_that_sleeps_runs_again(void **state)
{
    const struct timespec pause = { .tv_nsec = 1000000 };
    uint64_t before = 0;
    uint64_t after = 0;

    (void)state;
    assert_false(smp_clock_thread_runs(0, &before));
    if (!smp_clock_thread_runs(smp_thread_own_tid(), &before))
        skip(); /* this kernel does not count context switches */
    (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
    assert_true(smp_clock_thread_runs(smp_thread_own_tid(), &after));
    assert_true(after > before);
}

static int64_t seven(void *self)
{
    return *(int64_t *)self;
}

static void a_fake_replaces_the_members_it_has(void **state)
{
    int64_t value = 7;
    const struct smp_clock_fake fake = { .wall_ms = seven, .self = &value };

    (void)state;
    smp_clock_set_fake(&fake);
    const int64_t wall = smp_clock_wall_ms();
    const int64_t before = read_ns(CLOCK_MONOTONIC);
    const int64_t now = smp_clock_ns();
    smp_clock_set_fake(NULL);

    assert_int_equal(wall, 7);
    assert_in_range(now, before, read_ns(CLOCK_MONOTONIC));
    assert_true(smp_clock_wall_ms() > 7);
}

static void the_fake_clock_advances_by_hand_only(void **state)
{
    struct fake_clock clock;

    (void)state;
    fake_clock_install(&clock);
    const int64_t start = smp_clock_ns();
    const int64_t wall = smp_clock_wall_ms();
    assert_int_equal(smp_clock_ns(), start);

    fake_clock_advance(&clock, 5000000);
    assert_int_equal(smp_clock_ns(), start + 5000000);
    assert_int_equal(smp_clock_wall_ms(), wall + 5);
    assert_int_equal(smp_clock_own_cpu_ns(), 0);

    fake_clock_step_wall(&clock, -3600000);
    assert_int_equal(smp_clock_ns(), start + 5000000);
    assert_int_equal(smp_clock_wall_ms(), wall + 5 - 3600000);

    fake_clock_spend_cpu(&clock, 42);
    assert_int_equal(smp_clock_own_cpu_ns(), 42);
    assert_int_equal(smp_clock_ns(), start + 5000000);

    atomic_store(&clock.step_ns, 10);
    assert_int_equal(smp_clock_ns(), start + 5000010);
    assert_int_equal(smp_clock_ns(), start + 5000020);
    fake_clock_remove();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_clocks_match_the_system_clocks),
        cmocka_unit_test(sleeping_uses_no_cpu_time),
        cmocka_unit_test(a_thread_that_sleeps_runs_again),
        cmocka_unit_test(a_fake_replaces_the_members_it_has),
        cmocka_unit_test(the_fake_clock_advances_by_hand_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
