/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to a ticker whose thread does not run, so that nothing happens between two requests;
 * and the work of the thread without requests. */
#include "engine/session/ticker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/session/interval_queue.h"
#include "support/option_text.h"
#include "support/session_fixture.h"

struct fixture {
    struct fake_clock clock;
    struct fake_jvm *vm;
    struct fake_outputer *outputer;
    struct smp_jvm jvm;
    struct smp_attach attach;
    struct smp_outputer to;
    struct smp_quota quota;
    struct smp_log *log;
    struct smp_lifecycle lifecycle;
    struct smp_interval_queue *intervals;
    struct smp_reporter *reporter;
    struct smp_ticker *ticker;
    size_t live_before;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    struct smp_options options = { 0 };

    assert_non_null(f);
    f->live_before = smp_alloc_live_bytes();
    fake_clock_install(&f->clock);
    f->vm = fake_jvm_create();
    f->outputer = fake_outputer_create();
    f->jvm = fake_jvm_interface(f->vm);
    f->attach = fake_jvm_attach(f->vm);
    f->to = fake_outputer_interface(f->outputer);
    smp_quota_init(&f->quota, (size_t)1 << 30);
    option_text_read(&f->quota, SESSION_BY_HAND, &options);
    assert_int_equal(smp_log_create(&f->quota, &f->log), SMP_OK);
    assert_int_equal(smp_lifecycle_init(&f->lifecycle), SMP_OK);
    assert_int_equal(smp_interval_queue_create(&f->quota, &f->intervals), SMP_OK);
    assert_int_equal(
        smp_reporter_create(&f->quota, f->log, f->intervals, &f->attach, &f->to, &f->reporter),
        SMP_OK);
    const struct smp_ticker_setup parts = {
        .quota = &f->quota,
        .log = f->log,
        .lifecycle = &f->lifecycle,
        .vm = &f->jvm,
        .attach = &f->attach,
        .intervals = f->intervals,
        .reporter = f->reporter,
        .options = &options,
    };
    assert_int_equal(smp_ticker_create(&parts, &f->ticker), SMP_OK);
    smp_options_fini(&options);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    smp_ticker_destroy(f->ticker);
    smp_reporter_destroy(f->reporter);
    smp_interval_queue_destroy(f->intervals);
    smp_lifecycle_fini(&f->lifecycle);
    smp_log_destroy(f->log);
    fake_outputer_destroy(f->outputer);
    fake_jvm_destroy(f->vm);
    fake_clock_remove();
    assert_int_equal(smp_quota_used(&f->quota), 0);
    assert_int_equal(smp_alloc_live_bytes(), f->live_before);
    free(f);
    return 0;
}

static enum smp_status end_interval(struct fixture *f, bool *is_full)
{
    struct smp_request request = { .kind = SMP_REQUEST_END_INTERVAL };
    const enum smp_status status = smp_ticker_do(f->ticker, &request, true);

    *is_full = request.is_full;
    return status;
}

static size_t waiting(struct fixture *f)
{
    struct smp_interval_queue_figures intervals;

    smp_interval_queue_get_figures(f->intervals, &intervals);
    return intervals.waiting;
}

/* Many callers may want a snapshot at once: a caller whose interval has no room merges some
 * intervals and tries again. */
static void with_too_many_waiting_intervals_none_ends(void **state)
{
    struct fixture *f = *state;
    bool is_full = false;

    for (int i = 0; i < SMP_MAX_WAITING; i++) {
        assert_int_equal(end_interval(f, &is_full), SMP_OK);
        assert_false(is_full);
    }
    assert_int_equal(waiting(f), SMP_MAX_WAITING);
    assert_int_equal(end_interval(f, &is_full), SMP_EQUOTA);
    assert_true(is_full);
    assert_int_equal(waiting(f), SMP_MAX_WAITING);
    struct smp_request reader = { .kind = SMP_REQUEST_OPEN_READER };
    assert_int_equal(smp_ticker_do(f->ticker, &reader, true), SMP_EQUOTA);
    assert_true(reader.is_full);
    assert_true(smp_interval_queue_evict(f->intervals));
    assert_int_equal(end_interval(f, &is_full), SMP_OK);
    assert_false(is_full);
}

static void start_ticker(struct fixture *f)
{
    assert_int_equal(smp_lifecycle_begin_start(&f->lifecycle), SMP_OK);
    assert_int_equal(smp_ticker_start(f->ticker), SMP_OK);
    smp_lifecycle_end_start(&f->lifecycle, true, smp_ticker_do, f->ticker);
}

static void stop_ticker(struct fixture *f)
{
    assert_true(smp_lifecycle_begin_stop(&f->lifecycle, false));
    assert_int_equal(smp_ticker_join(f->ticker), SMP_OK);
    smp_lifecycle_end_stop(&f->lifecycle);
}

/* A paused ticker makes no tick that would notice their end. */
static void a_paused_ticker_releases_ended_threads(void **state)
{
    struct fixture *f = *state;
    struct fake_thread *ends = fake_jvm_start(f->vm, "ends");
    struct smp_request pause = { .kind = SMP_REQUEST_PAUSE };

    (void)fake_jvm_start(f->vm, "stays");
    start_ticker(f);
    assert_int_equal(fake_jvm_threads_held(f->vm), 2);
    for (int i = 0; i < 2; i++)
        assert_int_equal(smp_lifecycle_request(&f->lifecycle, &pause, smp_ticker_do, f->ticker),
                         SMP_OK);
    fake_jvm_end(f->vm, ends);
    fake_clock_advance(&f->clock, 3600 * INT64_C(1000000000));
    smp_event_call(&f->lifecycle.event); /* its sleep is in real time */
    while (fake_jvm_threads_held(f->vm) != 1)
        usleep(1000);
    stop_ticker(f);
}

static uint64_t counted(struct fixture *f, enum smp_counter counter)
{
    struct smp_ticker_figures figures;

    smp_ticker_get_figures(f->ticker, &figures);
    return figures.sampler.total_counters[counter];
}

/* If the time passes before it sleeps, it makes a tick and has not overslept. */
static void oversleeping_means_that_the_process_was_stopped(void **state)
{
    struct fixture *f = *state;

    (void)fake_jvm_start(f->vm, "idle");
    atomic_store(&f->clock.is_process_idle, true);
    start_ticker(f);
    while (counted(f, SMP_COUNTER_STOPPED_MILLIS) == 0) {
        const uint64_t ticks = counted(f, SMP_COUNTER_TICKS);
        fake_clock_advance(&f->clock, 3 * 3600 * INT64_C(1000000000));
        smp_event_call(&f->lifecycle.event); /* its sleep is in real time */
        while (counted(f, SMP_COUNTER_TICKS) == ticks)
            usleep(1000);
    }
    assert_in_range(counted(f, SMP_COUNTER_STOPPED_MILLIS), 1, 3 * 3600 * 1000);
    stop_ticker(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(oversleeping_means_that_the_process_was_stopped, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_paused_ticker_releases_ended_threads, setup, teardown),
        cmocka_unit_test_setup_teardown(with_too_many_waiting_intervals_none_ends, setup, teardown),
    };
    return cmocka_run_group_tests_name("ticker", tests, NULL, NULL);
}
