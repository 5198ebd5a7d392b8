/* SPDX-License-Identifier: Apache-2.0 */
/* Readers of a whole session take intervals besides the reports, on a fake JVM and into a fake
 * outputer. The test controls the time. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/session/interval_queue.h"
#include "engine/session/session.h"
#include "engine/threads/throttle.h"
#include "support/failing_alloc.h"
#include "support/session_fixture.h"
#include "support/tree_amounts.h"

#define MS INT64_C(1000000)
#define STEP (10 * MS)

static unsigned open_one(struct session_fixture *f)
{
    unsigned reader = 0;

    assert_int_equal(smp_session_open_reader(f->session, &reader), SMP_OK);
    return reader;
}

static enum smp_status try_take(struct session_fixture *f, unsigned reader)
{
    struct smp_profile *taken = NULL;
    const enum smp_status status = smp_session_take_interval(f->session, reader, &taken);

    smp_profile_release(taken);
    return status;
}

static struct smp_profile *take(struct session_fixture *f, unsigned reader)
{
    struct smp_profile *taken = NULL;

    assert_int_equal(smp_session_take_interval(f->session, reader, &taken), SMP_OK);
    return taken;
}

static int64_t take_ms(struct session_fixture *f, unsigned reader)
{
    struct smp_profile *taken = take(f, reader);
    const int64_t wall_ns = smp_profile_total(taken, SMP_MEASURE_WALL);

    assert_int_equal(taken->elapsed_ns, wall_ns); /* of the only thread */
    smp_profile_release(taken);
    return wall_ns / MS;
}

/* --- readers --- */

static void readers_and_reports_do_not_affect_each_other(void **state)
{
    struct session_fixture *f = *state;

    assert_int_equal(session_fixture_create(f, SESSION_BY_HAND), SMP_OK);
    const unsigned early = open_one(f);
    assert_int_equal(smp_session_start(f->session), SMP_OK);
    fake_clock_advance(&f->clock, 100 * MS);
    const unsigned late = open_one(f);
    fake_clock_advance(&f->clock, 10 * MS);
    assert_int_equal(take_ms(f, late), 10);
    fake_clock_advance(&f->clock, 5 * MS);
    assert_int_equal(take_ms(f, early), 115);
    assert_int_equal(take_ms(f, late), 5);
    fake_clock_advance(&f->clock, 1 * MS);
    assert_int_equal(smp_session_report(f->session), SMP_OK);
    assert_int_equal(fake_outputer_sum_ms(f->outputer, "main"), 116);
    assert_int_equal(fake_outputer_get_counts(f->outputer).flushes, 1);
    assert_int_equal(take_ms(f, early), 1);
    fake_clock_advance(&f->clock, 2 * MS);
    assert_int_equal(smp_session_stop(f->session), SMP_OK);
    assert_int_equal(fake_outputer_sum_ms(f->outputer, "main"), 118);
    assert_int_equal(fake_outputer_get_counts(f->outputer).flushes, 2);
}

static void a_report_covers_many_takes(void **state)
{
    struct session_fixture *f = *state;

    session_fixture_start(f, SESSION_BY_HAND);
    const unsigned reader = open_one(f);
    for (int i = 0; i < 3 * SMP_MAX_WAITING; i++) {
        fake_clock_advance(&f->clock, 1 * MS);
        assert_int_equal(take_ms(f, reader), 1);
    }
    assert_int_equal(smp_session_report(f->session), SMP_OK);
    assert_int_equal(fake_outputer_sum_ms(f->outputer, "main"), 3 * SMP_MAX_WAITING);
    assert_int_equal(fake_outputer_get_counts(f->outputer).flushes, 1);
}

static void a_blocked_outputer_does_not_stop_readers(void **state)
{
    struct session_fixture *f = *state;

    session_fixture_start(f, SESSION_BY_HAND "reportOrder=BY_TIME\n");
    const unsigned reader = open_one(f);
    fake_outputer_shut(f->outputer);
    fake_clock_advance(&f->clock, 10 * MS);
    assert_int_equal(take_ms(f, reader), 10);
    assert_int_equal(smp_session_pause(f->session), SMP_OK);
    fake_clock_advance(&f->clock, 50 * MS);
    assert_int_equal(take_ms(f, reader), 0); /* paused time is not attributed */
    assert_int_equal(smp_session_resume(f->session), SMP_OK);
    fake_clock_advance(&f->clock, 3 * MS);
    assert_int_equal(take_ms(f, reader), 3);
    fake_outputer_open(f->outputer);
    assert_int_equal(smp_session_stop(f->session), SMP_OK);
    assert_int_equal(fake_outputer_sum_ms(f->outputer, "main"), 13);
}

static void the_last_interval_can_be_taken_after_stop(void **state)
{
    struct session_fixture *f = *state;

    session_fixture_start(f, SESSION_BY_HAND);
    const unsigned reader = open_one(f);
    fake_clock_advance(&f->clock, 7 * MS);
    assert_int_equal(smp_session_stop(f->session), SMP_OK);
    assert_int_equal(take_ms(f, reader), 7);
    assert_int_equal(try_take(f, reader), SMP_ESTOPPED);
    unsigned other = 0;
    assert_int_equal(smp_session_open_reader(f->session, &other), SMP_ESTOPPED);
}

static void a_snapshot_outlives_its_session(void **state)
{
    struct session_fixture *f = *state;

    session_fixture_start(f, SESSION_BY_HAND);
    const unsigned reader = open_one(f);
    fake_clock_advance(&f->clock, 7 * MS);
    struct smp_profile *taken = take(f, reader);
    assert_int_equal(taken->period_ns, 3600000 * MS);
    smp_session_destroy(f->session);
    f->session = NULL;
    assert_true(smp_quota_used(taken->quota) > 0);
    assert_int_equal(smp_profile_total(taken, SMP_MEASURE_WALL), 7 * MS);
    smp_profile_release(taken);
}

static uint32_t one_and_a_half(void *self)
{
    (void)self;
    return 1500;
}

static void a_snapshot_describes_the_process_and_its_limits(void **state)
{
    struct session_fixture *f = *state;

    f->quota_milli = one_and_a_half;
    session_fixture_start(f, SESSION_BY_HAND "mainPackages=com.acme.shop\n");
    const unsigned reader = open_one(f);
    fake_clock_advance(&f->clock, 7 * MS);
    struct smp_profile *taken = take(f, reader);
    assert_int_equal(taken->cpu_quota_milli, 1500);
    assert_true(taken->cpus > 0);
    assert_string_equal(taken->main_package, "com.acme.shop");
    smp_profile_release(taken);
}

static void a_take_that_is_not_allowed_fails(void **state)
{
    struct session_fixture *f = *state;

    assert_int_equal(session_fixture_create(f, SESSION_BY_HAND), SMP_OK);
    const unsigned reader = open_one(f);
    assert_int_equal(try_take(f, reader), SMP_ESTATE); /* not started yet */
    assert_int_equal(smp_session_start(f->session), SMP_OK);
    assert_int_equal(try_take(f, reader + 1), SMP_EINVAL);
    smp_session_close_reader(f->session, reader);
    assert_int_equal(try_take(f, reader), SMP_EINVAL);
    assert_null(smp_session_current_report(f->session));
}

struct observed {
    struct session_fixture *f;
    unsigned reader;
    int64_t wall_ns;
    enum smp_status taken;
    enum smp_status opened;
};

static void check_report(void *self)
{
    struct observed *observed = self;
    struct smp_profile *current = smp_session_current_report(observed->f->session);
    unsigned reader = 0;

    if (current != NULL)
        observed->wall_ns = smp_profile_total(current, SMP_MEASURE_WALL);
    smp_profile_release(current);
    observed->taken = try_take(observed->f, observed->reader);
    observed->opened = smp_session_open_reader(observed->f->session, &reader);
}

static void the_outputer_sees_the_report_without_taking_it(void **state)
{
    struct session_fixture *f = *state;
    struct observed observed = { .f = f };

    session_fixture_start(f, SESSION_BY_HAND);
    observed.reader = open_one(f);
    fake_clock_advance(&f->clock, 4 * MS);
    smp_profile_release(take(f, observed.reader));
    fake_clock_advance(&f->clock, 5 * MS);
    fake_outputer_on_title(f->outputer, check_report, &observed);
    assert_int_equal(smp_session_report(f->session), SMP_OK);
    assert_int_equal(observed.wall_ns, 9 * MS);
    assert_int_equal(observed.taken, SMP_ESELF);
    assert_int_equal(observed.opened, SMP_ESELF);
}

/* --- memory --- */

static enum smp_status life_with_intervals(void *self)
{
    struct session_fixture *f = self;
    struct smp_profile *taken = NULL;
    unsigned reader = 0;
    enum smp_status status = session_fixture_create(f, SESSION_BY_HAND);

    if (status != SMP_OK)
        return status;
    status = smp_session_start(f->session);
    if (status == SMP_OK)
        status = smp_session_open_reader(f->session, &reader);
    for (int i = 0; i < 2 && status == SMP_OK; i++) {
        fake_clock_advance(&f->clock, 10 * MS);
        status = smp_session_report(f->session);
    }
    if (status == SMP_OK)
        status = smp_session_take_interval(f->session, reader, &taken);
    smp_session_destroy(f->session);
    f->session = NULL;
    smp_profile_release(taken);
    return status;
}

static void no_refused_allocation_leaks(void **state)
{
    assert_true(failing_alloc_each_step(life_with_intervals, *state).refused > 30);
}

/* One reader never takes, with new stacks all the time and the smallest memory limit. */
static void a_reader_that_never_takes_does_not_disturb_others(void **state)
{
    struct session_fixture *f = *state;
    char stack[64];

    session_fixture_start(f, SESSION_BY_HAND "memoryLimitBytes=4194304\n");
    (void)open_one(f);
    const unsigned quick = open_one(f);
    int64_t taken_ms = 0;
    for (int i = 0; i < 300; i++) {
        (void)snprintf(stack, sizeof(stack), "app.Main.main|app.Work.loop%c%c%c", 'a' + i / 26 % 26,
                       'a' + i % 26, 'a' + i % 7);
        fake_jvm_run(f->vm, f->main, stack);
        fake_clock_advance(&f->clock, 1 * MS);
        taken_ms += take_ms(f, quick);
    }
    assert_int_equal(taken_ms, 300);
    assert_int_equal(smp_session_report(f->session), SMP_OK);
    assert_int_equal(smp_session_stop(f->session), SMP_OK);
    assert_true(fake_outputer_sum_ms(f->outputer, "main") <= 300);
}

enum { CHUNK_BYTES = 64 };

static size_t take_all_memory(struct smp_quota *quota)
{
    size_t taken = 0;

    while (smp_quota_take(quota, CHUNK_BYTES))
        taken += CHUNK_BYTES;
    return taken;
}

static uint64_t dropped_intervals(struct session_fixture *f)
{
    struct smp_statistics statistics;

    smp_session_get_statistics(f->session, &statistics);
    return statistics.ticker.sampler.total_counters[SMP_COUNTER_DROPPED_INTERVALS];
}

/* The last report needs memory, and only the intervals of a slow reader can be dropped for it. */
static void intervals_dropped_for_the_last_report_are_counted(void **state)
{
    struct session_fixture *f = *state;
    struct smp_quota *quota = NULL;

    /* With the CPU clock there are no times by second, which would be dropped first. */
    session_fixture_start(f, SESSION_BY_HAND "clock=CPU\nmemoryLimitBytes=4194304\n");
    const unsigned slow = open_one(f);
    const unsigned quick = open_one(f);
    /* So few intervals that the reporter thread does not merge any in between. */
    for (int i = 0; i < 2; i++) {
        fake_clock_advance(&f->clock, 10 * MS);
        struct smp_profile *taken = take(f, quick);
        quota = taken->quota; /* the session holds it, too */
        smp_profile_release(taken);
    }
    assert_int_equal(smp_session_pause(f->session), SMP_OK);
    const size_t taken = take_all_memory(quota);
    assert_int_equal(smp_session_stop(f->session), SMP_OK);
    smp_quota_give(quota, taken);
    const uint64_t dropped = dropped_intervals(f);
    assert_in_range(dropped, 1, 3);
    assert_true(fake_outputer_has(f->outputer, "intervals dropped for lack of memory"));
    smp_session_close_reader(f->session, slow);
    smp_session_close_reader(f->session, quick);
}

/* --- all at once --- */

struct taker {
    pthread_t thread;
    struct smp_session *session;
    int64_t taken_ns;
    unsigned failed;
    _Atomic bool has_taken; /* it has taken, or cannot take */
};

/* Without assertions of cmocka, which work only on the test's own thread. */
static void *take_until_stopped(void *self)
{
    struct taker *taker = self;
    unsigned reader = 0;
    enum smp_status status = smp_session_open_reader(taker->session, &reader);

    while (status == SMP_OK) {
        struct smp_profile *taken = NULL;
        status = smp_session_take_interval(taker->session, reader, &taken);
        if (taken != NULL)
            taker->taken_ns += smp_profile_total(taken, SMP_MEASURE_WALL);
        smp_profile_release(taken);
        if (taker->taken_ns > 0)
            atomic_store(&taker->has_taken, true);
    }
    atomic_store(&taker->has_taken, true);
    taker->failed += status != SMP_ESTOPPED;
    smp_session_close_reader(taker->session, reader);
    return NULL;
}

static void readers_may_take_from_many_threads(void **state)
{
    struct session_fixture *f = *state;
    struct taker takers[3];
    struct smp_statistics statistics;

    atomic_store(&f->clock.step_ns, STEP);
    session_fixture_start(f, SESSION_FAST);
    for (int i = 0; i < 3; i++) {
        takers[i] = (struct taker){ .session = f->session };
        assert_int_equal(pthread_create(&takers[i].thread, NULL, take_until_stopped, &takers[i]),
                         0);
    }
    for (int i = 0; i < 50; i++)
        assert_int_equal(smp_session_report(f->session), SMP_OK);
    for (int i = 0; i < 3; i++) {
        while (!atomic_load(&takers[i].has_taken))
            sched_yield();
    }
    assert_int_equal(smp_session_stop(f->session), SMP_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_join(takers[i].thread, NULL), 0);
        assert_int_equal(takers[i].failed, 0);
    }
    smp_session_get_statistics(f->session, &statistics);
    for (int i = 0; i < 3; i++)
        assert_true(takers[i].taken_ns > 0 && takers[i].taken_ns <= statistics.ticker.elapsed_ns);
    assert_int_equal(fake_outputer_sum_ms(f->outputer, "main"), statistics.ticker.elapsed_ns / MS);
    assert_int_equal(statistics.ticker.sampler.total_counters[SMP_COUNTER_DROPPED_INTERVALS], 0);
}

/* --- windows --- */

#define SECOND (1000 * MS)

static int64_t window_ms(struct session_fixture *f, enum smp_window window)
{
    struct smp_profile *taken = NULL;

    assert_int_equal(smp_session_take_window(f->session, window, &taken), SMP_OK);
    const int64_t wall_ns = smp_profile_total(taken, SMP_MEASURE_WALL);
    assert_int_equal(taken->elapsed_ns, wall_ns); /* of the only thread */
    smp_profile_release(taken);
    return wall_ns / MS;
}

static enum smp_status try_window(struct session_fixture *f)
{
    struct smp_profile *taken = NULL;
    const enum smp_status status = smp_session_take_window(f->session, SMP_WINDOW_START, &taken);

    smp_profile_release(taken);
    return status;
}

static uint64_t counter(struct session_fixture *f, enum smp_counter counter)
{
    struct smp_statistics statistics;

    smp_session_get_statistics(f->session, &statistics);
    return statistics.ticker.sampler.total_counters[counter];
}

static void a_window_begins_with_the_session_and_takes_nothing(void **state)
{
    struct session_fixture *f = *state;

    assert_int_equal(session_fixture_create(f, SESSION_BY_HAND), SMP_OK);
    assert_int_equal(smp_session_keep_windows(f->session), SMP_OK);
    assert_int_equal(try_window(f), SMP_ESTATE);
    assert_int_equal(smp_session_start(f->session), SMP_OK);
    const unsigned reader = open_one(f);
    fake_clock_advance(&f->clock, 2 * SECOND);
    assert_int_equal(window_ms(f, SMP_WINDOW_START), 2000);
    fake_clock_advance(&f->clock, 2 * SECOND);
    assert_int_equal(window_ms(f, SMP_WINDOW_1_MINUTE), 4000);
    assert_int_equal(take_ms(f, reader), 4000);
    assert_int_equal(smp_session_report(f->session), SMP_OK);
    assert_int_equal(fake_outputer_sum_ms(f->outputer, "main"), 4000);
    fake_clock_advance(&f->clock, 2 * SECOND);
    assert_int_equal(window_ms(f, SMP_WINDOW_15_MINUTES), 6000);
    smp_session_forget_windows(f->session);
    assert_int_equal(try_window(f), SMP_ESTATE);
    assert_int_equal(smp_session_stop(f->session), SMP_OK);
    assert_int_equal(try_window(f), SMP_ESTOPPED);
}

static void a_window_requested_too_soon_repeats_the_last_one(void **state)
{
    struct session_fixture *f = *state;

    session_fixture_start(f, SESSION_BY_HAND);
    assert_int_equal(smp_session_keep_windows(f->session), SMP_OK);
    fake_clock_advance(&f->clock, 400 * MS);
    assert_int_equal(window_ms(f, SMP_WINDOW_START), 400);
    for (int i = 0; i < 2; i++) {
        fake_clock_advance(&f->clock, 400 * MS);
        assert_int_equal(window_ms(f, SMP_WINDOW_START), 400);
    }
    fake_clock_advance(&f->clock, 200 * MS);
    assert_int_equal(window_ms(f, SMP_WINDOW_START), 1400);
    assert_int_equal(counter(f, SMP_COUNTER_REPEATED_WINDOWS), 2);
}

/* The first window is never too soon, because there is none to repeat. */
static void windows_are_available_as_soon_as_they_are_kept(void **state)
{
    struct session_fixture *f = *state;

    session_fixture_start(f, SESSION_BY_HAND);
    assert_int_equal(smp_session_keep_windows(f->session), SMP_OK);
    fake_clock_advance(&f->clock, 2 * SECOND);
    assert_int_equal(window_ms(f, SMP_WINDOW_START), 2000);
    smp_session_forget_windows(f->session);
    assert_int_equal(smp_session_keep_windows(f->session), SMP_OK);
    fake_clock_advance(&f->clock, 3 * MS);
    assert_int_equal(window_ms(f, SMP_WINDOW_START), 3);
}

/* Waits for the report thread to merge, which may come late on a busy machine. */
static void await_merges(struct session_fixture *f)
{
    struct smp_statistics statistics;

    do {
        (void)sched_yield();
        smp_session_get_statistics(f->session, &statistics);
    } while (statistics.intervals.waiting > SMP_MAX_WAITING * 3 / 4);
}

/* Nothing is read, so that the last minute is not the whole hour. */
static void windows_are_separated_as_time_passes(void **state)
{
    enum { TICK_SECONDS = 5, TICKS = 360 };
    struct session_fixture *f = *state;

    session_fixture_start(f, "samplingFrequencyMillis=1000\nreportFrequencySeconds=0\n");
    assert_int_equal(smp_session_keep_windows(f->session), SMP_OK);
    for (int i = 0; i < TICKS; i++) {
        fake_clock_advance(&f->clock, TICK_SECONDS * SECOND);
        assert_int_equal(smp_session_resume(f->session), SMP_OK); /* wakes up the sampler */
        /* after everything that was scheduled before */
        assert_int_equal(smp_session_resume(f->session), SMP_OK);
        await_merges(f);
    }
    assert_in_range(window_ms(f, SMP_WINDOW_1_MINUTE), 60000, 60000 + 20000);
    assert_in_range(window_ms(f, SMP_WINDOW_5_MINUTES), 300000, 300000 + 65000);
    assert_in_range(window_ms(f, SMP_WINDOW_15_MINUTES), 900000, 900000 + 65000);
    assert_int_equal(window_ms(f, SMP_WINDOW_START), TICKS * TICK_SECONDS * 1000);
}

static void spend_cpu(void *self)
{
    fake_clock_spend_cpu(self, 50 * SECOND);
}

/* Each read costs so much that a few would empty the bucket of the overhead limit, which is large
 * if an interval of sampling is an hour. */
static void the_cost_of_readers_does_not_reduce_sampling(void **state)
{
    enum { SECONDS = 30 };
    struct session_fixture *f = *state;
    struct smp_statistics statistics;

    session_fixture_start(f, SESSION_BY_HAND "overheadLimitPerMille=10\n");
    const unsigned reader = open_one(f);
    fake_jvm_on_walk(f->vm, spend_cpu, &f->clock);
    for (int i = 0; i < SECONDS; i++) {
        fake_clock_advance(&f->clock, SECOND);
        assert_int_equal(take_ms(f, reader), 1000);
    }
    smp_session_get_statistics(f->session, &statistics);
    assert_int_equal(statistics.ticker.sampler.throttle.share, SMP_THROTTLE_WHOLE);
    assert_int_equal(statistics.ticker.sampler.throttle.deferred_ns, 0);
    assert_in_range(counter(f, SMP_COUNTER_DEMAND_CPU_US), (SECONDS - 1) * 50000000,
                    SECONDS * 50000000);
    /* The budget is the same: a window has to wait, and the available one is returned. */
    assert_int_equal(smp_session_keep_windows(f->session), SMP_OK);
    fake_clock_advance(&f->clock, 2 * SECOND);
    assert_int_equal(window_ms(f, SMP_WINDOW_START), 2000); /* the first one */
    fake_clock_advance(&f->clock, 2 * SECOND);
    assert_int_equal(window_ms(f, SMP_WINDOW_START), 2000);
    fake_clock_advance(&f->clock, 20 * SECOND);
    assert_int_equal(window_ms(f, SMP_WINDOW_START), 24000);
    fake_jvm_on_walk(f->vm, NULL, NULL);
}

int main(void)
{
#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, session_fixture_setup, session_fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(readers_and_reports_do_not_affect_each_other),
        TEST(a_report_covers_many_takes),
        TEST(a_blocked_outputer_does_not_stop_readers),
        TEST(the_last_interval_can_be_taken_after_stop),
        TEST(a_snapshot_outlives_its_session),
        TEST(a_snapshot_describes_the_process_and_its_limits),
        TEST(a_take_that_is_not_allowed_fails),
        TEST(the_outputer_sees_the_report_without_taking_it),
        TEST(no_refused_allocation_leaks),
        TEST(a_reader_that_never_takes_does_not_disturb_others),
        TEST(intervals_dropped_for_the_last_report_are_counted),
        TEST(readers_may_take_from_many_threads),
        TEST(a_window_begins_with_the_session_and_takes_nothing),
        TEST(a_window_requested_too_soon_repeats_the_last_one),
        TEST(windows_are_available_as_soon_as_they_are_kept),
        TEST(windows_are_separated_as_time_passes),
        TEST(the_cost_of_readers_does_not_reduce_sampling),
    };
#undef TEST
    return cmocka_run_group_tests_name("session_intervals", tests, NULL, NULL);
}
