/* SPDX-License-Identifier: Apache-2.0 */
/* A whole session with its two threads, on a fake JVM and into a fake outputer. The test controls
 * the time: a tick is made on request, or each reading of the clock advances it. Tests wait on
 * conditions only. */
#include "engine/session/session.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/event.h"
#include "base/task_file.h"
#include "base/thread.h"
#include "support/failing_alloc.h"
#include "support/fake_counter.h"
#include "support/option_text.h"
#include "support/session_fixture.h"
#include "support/tally_sum.h"

#define MS INT64_C(1000000)
#define STEP (10 * MS)

static enum smp_status configure_fast(struct smp_session *session)
{
    struct smp_options options = { 0 };
    enum smp_status status;

    option_text_read(NULL, SESSION_FAST, &options);
    status = smp_session_configure(session, &options, NULL);
    smp_options_fini(&options);
    return status;
}

static enum smp_status configure(struct session_fixture *f, const char *options, char *message)
{
    struct smp_options read = { 0 };
    enum smp_status status = option_text_try(NULL, options, &read, message);

    if (status != SMP_OK)
        return status;
    status = smp_session_configure(f->session, &read, message);
    smp_options_fini(&read);
    return status;
}

/* Returns when the options have taken effect: after a request, which changes nothing in a session
 * that is not paused. */
static enum smp_status configure_now(struct session_fixture *f, const char *options)
{
    const enum smp_status status = configure(f, options, NULL);

    return status == SMP_OK ? smp_session_resume(f->session) : status;
}

static struct smp_statistics statistics(struct session_fixture *f)
{
    struct smp_statistics statistics;

    smp_session_get_statistics(f->session, &statistics);
    return statistics;
}

static uint64_t counted(struct session_fixture *f, enum smp_counter counter)
{
    return statistics(f).ticker.sampler.total_counters[counter];
}

/* --- a thread of the test that is inside a call --- */

struct caller {
    pthread_t thread;
    struct smp_session *session;
    enum smp_status (*call)(struct smp_session *session);
    enum smp_status status;
};

static void *run_caller(void *argument)
{
    struct caller *caller = argument;

    caller->status = caller->call(caller->session);
    return NULL;
}

static void call(struct caller *caller, struct session_fixture *f,
                 enum smp_status (*function)(struct smp_session *session))
{
    *caller = (struct caller){ .session = f->session, .call = function };
    assert_int_equal(pthread_create(&caller->thread, NULL, run_caller, caller), 0);
}

static enum smp_status returned(struct caller *caller)
{
    pthread_join(caller->thread, NULL);
    return caller->status;
}

/* --- time --- */

static void all_time_from_start_to_stop_is_reported(void **state)
{
    struct session_fixture *f = *state;

    session_fixture_start(f, SESSION_BY_HAND);
    fake_clock_advance(&f->clock, 1234 * MS);
    assert_int_equal(smp_session_stop(f->session), SMP_OK);
    assert_int_equal(fake_outputer_sum_ms(f->outputer, "main"), 1234);
    assert_int_equal(fake_outputer_get_counts(f->outputer).flushes, 1);
    assert_true(fake_outputer_has(f->outputer, "Sampler account."));
    assert_false(
        /* room for it is reserved, but it is no row */
        fake_outputer_has(f->outputer, "[over memory limit]"));
    assert_int_equal(statistics(f).reports_written, 1);
    assert_int_equal(statistics(f).ticker.elapsed_ns, 1234 * MS);
}

static void a_requested_report_is_written_when_the_call_returns(void **state)
{
    struct session_fixture *f = *state;

    session_fixture_start(f, SESSION_BY_HAND);
    for (unsigned i = 1; i <= 3; i++) {
        fake_clock_advance(&f->clock, 500 * MS);
        assert_int_equal(smp_session_report(f->session), SMP_OK);
        assert_int_equal(fake_outputer_get_counts(f->outputer).flushes, i);
        assert_int_equal(fake_outputer_sum_ms(f->outputer, "main"), 500 * i);
    }
    assert_int_equal(smp_session_stop(f->session), SMP_OK);
    /* No thread was sampled since, so there is no second report. */
    assert_int_equal(fake_outputer_get_counts(f->outputer).titles, 3);
    assert_int_equal(statistics(f).reports_written, 3);
}

static void paused_time_is_not_reported(void **state)
{
    struct session_fixture *f = *state;
    int64_t from_ms;
    int64_t till_ms;

    session_fixture_start(f, SESSION_BY_HAND);
    fake_clock_advance(&f->clock, 100 * MS);
    assert_int_equal(smp_session_pause(f->session), SMP_OK);
    assert_int_equal(smp_session_pause(f->session), SMP_OK);
    fake_clock_advance(&f->clock, 5000 * MS);
    assert_int_equal(smp_session_report(f->session), SMP_OK);
    assert_int_equal(fake_outputer_sum_ms(f->outputer, "main"), 100);
    fake_outputer_last_title(f->outputer, &from_ms, &till_ms);
    assert_int_equal(from_ms, FAKE_CLOCK_START_WALL_MS);
    assert_int_equal(till_ms, FAKE_CLOCK_START_WALL_MS + 100);
    assert_int_equal(smp_session_resume(f->session), SMP_OK);
    fake_clock_advance(&f->clock, 30 * MS);
    assert_int_equal(smp_session_stop(f->session), SMP_OK);
    assert_int_equal(fake_outputer_sum_ms(f->outputer, "main"), 130);
    fake_outputer_last_title(f->outputer, &from_ms, &till_ms);
    assert_int_equal(from_ms, FAKE_CLOCK_START_WALL_MS + 5100);
    assert_int_equal(till_ms, FAKE_CLOCK_START_WALL_MS + 5130);
    assert_int_equal(statistics(f).ticker.elapsed_ns, 130 * MS);
}

static void an_inactive_session_is_like_a_paused_one(void **state)
{
    struct session_fixture *f = *state;

    session_fixture_start(f, SESSION_BY_HAND "active=false\n");
    fake_clock_advance(&f->clock, 1000 * MS);
    assert_int_equal(configure_now(f, SESSION_BY_HAND), SMP_OK);
    fake_clock_advance(&f->clock, 70 * MS);
    assert_int_equal(configure_now(f, SESSION_BY_HAND "active=false\n"), SMP_OK);
    fake_clock_advance(&f->clock, 1000 * MS);
    assert_int_equal(smp_session_pause(f->session), SMP_OK);
    assert_int_equal(configure(f, SESSION_BY_HAND, NULL), SMP_OK);
    fake_clock_advance(&f->clock, 1000 * MS);
    assert_int_equal(smp_session_stop(f->session), SMP_OK);
    assert_int_equal(fake_outputer_sum_ms(f->outputer, "main"), 70);
}

static void a_session_paused_before_start_starts_paused(void **state)
{
    struct session_fixture *f = *state;

    assert_int_equal(session_fixture_create(f, SESSION_BY_HAND), SMP_OK);
    assert_int_equal(smp_session_pause(f->session), SMP_OK);
    assert_int_equal(smp_session_start(f->session), SMP_OK);
    fake_clock_advance(&f->clock, 1000 * MS);
    assert_int_equal(smp_session_resume(f->session), SMP_OK);
    fake_clock_advance(&f->clock, 20 * MS);
    assert_int_equal(smp_session_stop(f->session), SMP_OK);
    assert_int_equal(fake_outputer_sum_ms(f->outputer, "main"), 20);
}

static void sampling_once_needs_a_paused_session(void **state)
{
    struct session_fixture *f = *state;

    session_fixture_start(f, "samplingFrequencyMillis=50000\nreportFrequencySeconds=0\n");
    assert_int_equal(smp_session_sample_once(f->session), SMP_ESTATE);
    assert_int_equal(smp_session_pause(f->session), SMP_OK);
    fake_clock_advance(&f->clock, 7 * MS);
    assert_int_equal(smp_session_sample_once(f->session), SMP_OK);
    assert_int_equal(fake_outputer_get_counts(f->outputer).flushes, 1);
    assert_int_equal(fake_outputer_sum_ms(f->outputer, "main"), 50000);
}

static void ticks_and_reports_come_without_requests(void **state)
{
    struct session_fixture *f = *state;

    atomic_store(&f->clock.step_ns, STEP);
    session_fixture_start(f, SESSION_FAST);
    fake_outputer_wait_reports(f->outputer, 3);
    assert_int_equal(smp_session_stop(f->session), SMP_OK);
    assert_true(counted(f, SMP_COUNTER_TICKS) > 10);
    /* Each report rounds down once. */
    const int64_t elapsed_ms = statistics(f).ticker.elapsed_ns / MS;
    const unsigned reports = fake_outputer_get_counts(f->outputer).flushes;
    assert_in_range(fake_outputer_sum_ms(f->outputer, "main"), elapsed_ms - reports, elapsed_ms);
}

static bool stands_still(void *self, int32_t tid, int64_t *out)
{
    (void)self;
    (void)tid;
    *out = 0;
    return true;
}

/* The longest time between two ticks. */
#define LONGEST_GAP (30 * MS)
#define SKIPS_TICKS \
    "samplingFrequencyMillis=20\nreportFrequencySeconds=0\noverheadLimitPerMille=1000\n"

enum { EXPENSIVE_TICKS = 4 };

/* Makes ticks so expensive that polls of a few idle threads are not worth a tick each. 120 ms
 * after the start, the sampler skips ticks. Each tick ends before the next one is scheduled. */
static void make_ticks_expensive(struct session_fixture *f)
{
    for (uint64_t tick = 1; tick <= EXPENSIVE_TICKS; tick++) {
        while (counted(f, SMP_COUNTER_TICKS) < tick)
            sched_yield();
        if (tick == 2)
            fake_clock_spend_cpu(&f->clock, 2 * MS);
        fake_clock_advance(&f->clock, LONGEST_GAP);
    }
}

static void wait_until_it_skips_ticks(struct session_fixture *f)
{
    make_ticks_expensive(f);
    while (fake_jvm_get_counts(f->vm).listeners == 0)
        sched_yield();
}

/* A thread that has not run since its last walk is scheduled long after the next tick. */
static void a_thread_start_ends_skipping_of_ticks(void **state)
{
    struct session_fixture *f = *state;

    f->clock.seam.thread_cpu_ns = stands_still;
    fake_jvm_identify(f->main, 1);
    session_fixture_start(f, SKIPS_TICKS);
    wait_until_it_skips_ticks(f);
    /* Three ticks would have come in this time. */
    fake_clock_advance(&f->clock, 70 * MS);
    const struct fake_jvm_counts before = fake_jvm_get_counts(f->vm);
    fake_jvm_run(f->vm, fake_jvm_start(f->vm, "started"), SESSION_MAIN_LOOP);
    while (fake_jvm_get_counts(f->vm).unwatches == before.unwatches)
        sched_yield();
    fake_clock_advance(&f->clock, LONGEST_GAP);
    while (fake_jvm_get_counts(f->vm).walks == before.walks)
        sched_yield();
    assert_int_equal(smp_session_stop(f->session), SMP_OK);
    assert_in_range(counted(f, SMP_COUNTER_IDLE_TICKS), 2, 8);
    assert_int_equal(fake_outputer_sum_ms(f->outputer, "main"), 220);
    assert_int_equal(fake_outputer_sum_ms(f->outputer, "started"), 30);
}

/* The sampler's first sleep after start_thread. */
static struct {
    _Atomic int32_t tid; /* of the sampler; 0: no thread was started yet */
    bool is_missed;      /* the thread start would not end the sleep */
    atomic_bool has_come;
} sleep_after_start;

static void start_thread(void *self)
{
    struct session_fixture *const f = self;
    struct fake_thread *const thread = fake_jvm_start(f->vm, "started");

    fake_jvm_identify(thread, 2);
    fake_jvm_run(f->vm, thread, SESSION_MAIN_LOOP);
    atomic_store(&sleep_after_start.tid, smp_thread_own_tid());
}

/* The linker puts this in front of smp_event_sleep. */
void __real_smp_event_sleep(struct smp_event *event, uint32_t seen, int64_t most_ns);
void __wrap_smp_event_sleep(struct smp_event *event, uint32_t seen, int64_t most_ns);

void __wrap_smp_event_sleep(struct smp_event *event, uint32_t seen, int64_t most_ns)
{
    if (atomic_load(&sleep_after_start.tid) == smp_thread_own_tid() &&
        !atomic_load(&sleep_after_start.has_come)) {
        sleep_after_start.is_missed = seen == smp_event_calls(event);
        atomic_store(&sleep_after_start.has_come, true);
    }
    __real_smp_event_sleep(event, seen, most_ns);
}

/* A thread starts between the sampler's decision to skip ticks and its sleep. */
static void a_thread_start_just_before_the_sleep_is_not_missed(void **state)
{
    struct session_fixture *f = *state;

    f->clock.seam.thread_cpu_ns = stands_still;
    fake_jvm_identify(f->main, 1);
    fake_jvm_on_listen(f->vm, start_thread, f);
    session_fixture_start(f, SKIPS_TICKS);
    make_ticks_expensive(f);
    while (!atomic_load(&sleep_after_start.has_come))
        sched_yield();
    assert_false(sleep_after_start.is_missed);
}

static enum smp_status select_only(struct session_fixture *f, struct fake_thread **thread)
{
    return smp_session_select(f->session,
                              fake_jvm_filter(f->vm, thread, 1, &f->selections_destroyed), true);
}

static void a_filter_set_while_ticks_are_skipped_applies_at_once(void **state)
{
    struct session_fixture *f = *state;
    struct fake_thread *other = fake_jvm_start(f->vm, "other");

    f->clock.seam.thread_cpu_ns = stands_still;
    fake_jvm_identify(f->main, 1);
    fake_jvm_identify(other, 2);
    fake_jvm_run(f->vm, other, SESSION_MAIN_LOOP);
    assert_int_equal(session_fixture_create(f, SKIPS_TICKS), SMP_OK);
    assert_int_equal(select_only(f, &f->main), SMP_OK);
    assert_int_equal(smp_session_start(f->session), SMP_OK);
    wait_until_it_skips_ticks(f);
    fake_clock_advance(&f->clock, 100 * MS);
    assert_int_equal(select_only(f, &other), SMP_OK);
    fake_clock_advance(&f->clock, 30 * MS);
    assert_int_equal(smp_session_stop(f->session), SMP_OK);
    assert_int_equal(fake_outputer_sum_ms(f->outputer, "main"), 220);
    assert_int_equal(fake_outputer_sum_ms(f->outputer, "other"), 30);
    smp_session_destroy(f->session); /* before the threads of its filter */
    f->session = NULL;
    assert_int_equal(f->selections_destroyed, 2);
}

static void options_set_while_ticks_are_skipped_apply_at_once(void **state)
{
    struct session_fixture *f = *state;
    struct fake_thread *daemon = fake_jvm_start_as(f->vm, "daemon", true, false);

    f->clock.seam.thread_cpu_ns = stands_still;
    fake_jvm_identify(f->main, 1);
    fake_jvm_identify(daemon, 2);
    fake_jvm_run(f->vm, daemon, SESSION_MAIN_LOOP);
    session_fixture_start(f, SKIPS_TICKS);
    wait_until_it_skips_ticks(f);
    fake_clock_advance(&f->clock, 100 * MS);
    assert_int_equal(configure(f, SKIPS_TICKS "skipDaemonThreads=true\n", NULL), SMP_OK);
    /* a request that comes after the options */
    assert_int_equal(smp_session_resume(f->session), SMP_OK);
    fake_clock_advance(&f->clock, 30 * MS);
    assert_int_equal(smp_session_stop(f->session), SMP_OK);
    assert_int_equal(fake_outputer_sum_ms(f->outputer, "main"), 250);
    assert_int_equal(fake_outputer_sum_ms(f->outputer, "daemon"), 220);
}

static void late_ticks_are_counted(void **state)
{
    struct session_fixture *f = *state;

    atomic_store(&f->clock.step_ns, 100 * MS);
    session_fixture_start(f, SESSION_FAST);
    fake_outputer_wait_reports(f->outputer, 1);
    assert_int_equal(smp_session_stop(f->session), SMP_OK);
    assert_true(fake_outputer_has(f->outputer, "late ticks"));
}

static void a_new_interval_length_applies_at_once(void **state)
{
    struct session_fixture *f = *state;

    session_fixture_start(f, SESSION_BY_HAND);
    atomic_store(&f->clock.step_ns, STEP);
    assert_int_equal(configure(f, SESSION_FAST, NULL), SMP_OK);
    fake_outputer_wait_reports(f->outputer, 2);
}

static void own_cpu_time_is_published(void **state)
{
    struct session_fixture *f = *state;

    session_fixture_start(f, SESSION_BY_HAND);
    fake_clock_advance(&f->clock, 1000 * MS);
    fake_clock_spend_cpu(&f->clock, 5 * MS); /* in both threads */
    assert_int_equal(smp_session_report(f->session), SMP_OK);
    assert_true(fake_outputer_has(f->outputer, "sampler's own CPU: 5 ms, 0.50 %"));
    assert_int_equal(statistics(f).own_cpu_ns, 10 * MS);
    /* The CPU time of the first report is part of the second one. */
    fake_clock_advance(&f->clock, 1000 * MS);
    fake_clock_spend_cpu(&f->clock, 20 * MS);
    assert_int_equal(smp_session_report(f->session), SMP_OK);
    assert_true(fake_outputer_has(f->outputer, "sampler's own CPU: 25 ms, 2.50 %"));
}

static void own_cpu_time_includes_the_counters_thread(void **state)
{
    struct session_fixture *f = *state;
    struct fake_counter *counter = fake_counter_create();

    f->calls = fake_counter_interface(counter);
    counter->figures.own_cpu_ns = 3 * MS; /* used by its start */
    session_fixture_start(f, SESSION_BY_HAND "rootMethods=app.Main.main\n");
    assert_int_equal(statistics(f).own_cpu_ns, 3 * MS);
    counter->figures.own_cpu_ns = 7 * MS;
    fake_clock_advance(&f->clock, 1000 * MS);
    fake_clock_spend_cpu(&f->clock, 5 * MS); /* used by the session's two threads */
    assert_int_equal(smp_session_report(f->session), SMP_OK);
    assert_true(fake_outputer_has(f->outputer, "sampler's own CPU: 12 ms, 1.20 %"));
    assert_int_equal(statistics(f).own_cpu_ns, 17 * MS);
    /* The last report has the time used until then, including that of the reporter's first
     * report. */
    counter->figures.own_cpu_ns = 8 * MS;
    fake_clock_advance(&f->clock, 1000 * MS);
    assert_int_equal(smp_session_stop(f->session), SMP_OK);
    assert_true(fake_outputer_has(f->outputer, "sampler's own CPU: 6 ms, 0.60 %"));
    assert_int_equal(statistics(f).own_cpu_ns, 18 * MS);
    smp_session_destroy(f->session);
    f->session = NULL;
    fake_counter_destroy(counter);
}

/* --- the outputer --- */

static void a_failed_report_is_counted_and_the_next_one_is_tried(void **state)
{
    struct session_fixture *f = *state;

    session_fixture_start(f, SESSION_BY_HAND);
    fake_outputer_fail_titles(f->outputer, 1);
    fake_clock_advance(&f->clock, 10 * MS);
    assert_int_equal(smp_session_report(f->session), SMP_EIO);
    fake_outputer_fail_flushes(f->outputer, 1);
    fake_clock_advance(&f->clock, 20 * MS);
    assert_int_equal(smp_session_report(f->session), SMP_EIO);
    assert_int_equal(counted(f, SMP_COUNTER_FAILED_REPORTS), 2);
    fake_clock_advance(&f->clock, 40 * MS);
    assert_int_equal(smp_session_report(f->session), SMP_OK);
    assert_true(fake_outputer_has(f->outputer, "reports that failed: 1"));
    assert_int_equal(statistics(f).reports_written, 1);
    fake_outputer_fail_titles(f->outputer, 1);
    fake_clock_advance(&f->clock, 80 * MS);
    assert_int_equal(smp_session_stop(f->session), SMP_OK);
    assert_int_equal(counted(f, SMP_COUNTER_FAILED_REPORTS), 3);
}

static void wait_for_walks(struct session_fixture *f, size_t more)
{
    const size_t until = fake_jvm_get_counts(f->vm).walks + more;

    while (fake_jvm_get_counts(f->vm).walks < until)
        sched_yield();
}

static void a_slow_outputer_costs_reports_but_no_time(void **state)
{
    struct session_fixture *f = *state;
    struct caller stopping;

    fake_outputer_shut(f->outputer);
    atomic_store(&f->clock.step_ns, STEP);
    session_fixture_start(f, SESSION_FAST);
    fake_outputer_wait_inside(f->outputer);
    /* One report is being written, four are waiting, the others are merged; and ticks continue. */
    while (counted(f, SMP_COUNTER_MERGED_REPORTS) < 3)
        sched_yield();
    wait_for_walks(f, 10);
    /* No more reports become due, so it does not matter how soon stop takes effect. The options
     * must apply before there is room again; otherwise a report that is already due would follow
     * those that wait. */
    assert_int_equal(configure_now(f, "samplingFrequencyMillis=20\nreportFrequencySeconds=0\n"),
                     SMP_OK);
    call(&stopping, f, smp_session_stop);
    fake_outputer_open(f->outputer);
    assert_int_equal(returned(&stopping), SMP_OK);
    assert_int_equal(fake_outputer_get_counts(f->outputer).flushes,
                     1 + SMP_MAX_QUEUED_SNAPSHOTS + 1);
    const int64_t elapsed_ms = statistics(f).ticker.elapsed_ns / MS;
    assert_in_range(fake_outputer_sum_ms(f->outputer, "main"), elapsed_ms - 6, elapsed_ms);
    assert_true(
        fake_outputer_has(f->outputer, "reports merged with the next because output was slow"));
}

static void requested_reports_wait_for_earlier_reports(void **state)
{
    enum { CALLERS = SMP_MAX_QUEUED_SNAPSHOTS + 4 };
    struct session_fixture *f = *state;
    struct caller callers[CALLERS];

    session_fixture_start(f, SESSION_BY_HAND);
    fake_clock_advance(&f->clock, 10 * MS);
    fake_outputer_shut(f->outputer);
    for (int i = 0; i < CALLERS; i++) {
        call(&callers[i], f, smp_session_report);
        fake_clock_advance(&f->clock, 10 * MS);
    }
    fake_outputer_wait_inside(f->outputer);
    fake_outputer_open(f->outputer);
    for (int i = 0; i < CALLERS; i++)
        assert_int_equal(returned(&callers[i]), SMP_OK);
    assert_int_equal(smp_session_stop(f->session), SMP_OK);
    assert_int_equal(fake_outputer_sum_ms(f->outputer, "main"), 10 + CALLERS * 10);
}

static void messages_do_not_wait_for_a_report(void **state)
{
    struct session_fixture *f = *state;
    char name[64];

    session_fixture_start(f, SESSION_BY_HAND "memoryLimitBytes=4194304\n");
    for (unsigned i = 0; i < 3000; i++) {
        (void)snprintf(name, sizeof(name), "%c%c%c", 'a' + (int)(i % 26), 'a' + (int)(i / 26 % 26),
                       'a' + (int)(i / 676));
        fake_jvm_run(f->vm, fake_jvm_start(f->vm, name), SESSION_MAIN_LOOP);
    }
    struct smp_frame frames[900];
    for (unsigned i = 0; i < 900; i++)
        frames[i] = (struct smp_frame){ .method = fake_jvm_method(f->vm, "app.Deep", "m"),
                                        .bci = (int64_t)(i % 7) };
    for (unsigned i = 0; !fake_outputer_has(f->outputer, "memory limit of") && i < 1000; i++) {
        frames[899 - i % 100].bci = (int64_t)(i / 100 % 8);
        fake_jvm_run_frames(f->vm, f->main, frames, 900);
        fake_clock_advance(&f->clock, 10 * MS);
        assert_int_equal(smp_session_pause(f->session), SMP_OK); /* makes a tick */
        assert_int_equal(smp_session_resume(f->session), SMP_OK);
    }
    fake_outputer_wait_messages(f->outputer, 1);
    assert_true(fake_outputer_has(f->outputer, "memory limit of"));
    assert_int_equal(fake_outputer_get_counts(f->outputer).titles, 0);
}

/* --- calls from the session's own threads --- */

struct calling_back {
    struct session_fixture *f;
    enum smp_status statuses[8];
    bool is_done;
};

static void call_everything(void *self)
{
    struct calling_back *back = self;
    struct session_fixture *f = back->f;

    if (back->is_done)
        return;
    back->is_done = true;
    back->statuses[0] = smp_session_stop(f->session);
    back->statuses[1] = smp_session_pause(f->session);
    back->statuses[2] = smp_session_resume(f->session);
    back->statuses[3] = smp_session_report(f->session);
    back->statuses[4] = smp_session_sample_once(f->session);
    back->statuses[5] = SMP_ESELF;
    back->statuses[6] = smp_session_select(
        f->session, fake_jvm_filter(f->vm, &f->main, 1, &f->selections_destroyed), true);
    back->statuses[7] = SMP_ESELF;
    /* These calls wait for nothing. */
    assert_int_equal(configure(f, SESSION_BY_HAND "reportCpuTime=true\n", NULL), SMP_OK);
    (void)statistics(f);
}

static void check_called_back(const struct calling_back *back)
{
    assert_true(back->is_done);
    for (int i = 0; i < 8; i++)
        assert_int_equal(back->statuses[i], SMP_ESELF);
    assert_int_equal(back->f->selections_destroyed, 1);
}

static void an_outputer_that_calls_back_is_refused(void **state)
{
    struct session_fixture *f = *state;
    struct calling_back back = { .f = f };

    session_fixture_start(f, SESSION_BY_HAND);
    fake_outputer_on_title(f->outputer, call_everything, &back);
    fake_clock_advance(&f->clock, 10 * MS);
    assert_int_equal(smp_session_report(f->session), SMP_OK);
    check_called_back(&back);
}

static void a_rule_that_calls_back_is_refused(void **state)
{
    struct session_fixture *f = *state;
    struct calling_back back = { .f = f };

    session_fixture_start(f, SESSION_BY_HAND);
    fake_jvm_on_walk(f->vm, call_everything, &back);
    fake_clock_advance(&f->clock, 10 * MS);
    assert_int_equal(smp_session_report(f->session), SMP_OK);
    check_called_back(&back);
}

/* --- lifecycle --- */

static void stop_is_final_and_may_be_repeated(void **state)
{
    struct session_fixture *f = *state;
    struct caller callers[4];

    assert_int_equal(session_fixture_create(f, SESSION_BY_HAND), SMP_OK);
    assert_int_equal(smp_session_stop(f->session), SMP_OK); /* no report to write yet */
    assert_int_equal(smp_session_start(f->session), SMP_OK);
    assert_int_equal(smp_session_start(f->session), SMP_ESTATE);
    fake_clock_advance(&f->clock, 10 * MS);
    for (int i = 0; i < 4; i++)
        call(&callers[i], f, smp_session_stop);
    for (int i = 0; i < 4; i++)
        assert_int_equal(returned(&callers[i]), SMP_OK);
    assert_int_equal(smp_session_stop(f->session), SMP_OK);
    assert_int_equal(fake_outputer_get_counts(f->outputer).flushes, 1);
    assert_int_equal(smp_session_start(f->session), SMP_ESTATE);
    assert_int_equal(smp_session_pause(f->session), SMP_ESTOPPED);
    assert_int_equal(smp_session_report(f->session), SMP_ESTOPPED);
    assert_int_equal(smp_session_sample_once(f->session), SMP_ESTOPPED);
    assert_int_equal(configure(f, SESSION_BY_HAND, NULL), SMP_ESTOPPED);
    assert_int_equal(
        smp_session_select(f->session,
                           fake_jvm_filter(f->vm, &f->main, 1, &f->selections_destroyed), true),
        SMP_ESTOPPED);
    assert_int_equal(f->selections_destroyed, 1);
    assert_int_equal(fake_jvm_threads_held(f->vm), 0);
}

static void stop_waits_for_the_last_report(void **state)
{
    struct session_fixture *f = *state;
    struct caller first;
    struct caller second;

    session_fixture_start(f, SESSION_BY_HAND);
    fake_clock_advance(&f->clock, 10 * MS);
    fake_outputer_shut(f->outputer);
    call(&first, f, smp_session_stop);
    fake_outputer_wait_inside(f->outputer);
    call(&second, f, smp_session_stop);
    assert_int_equal(fake_outputer_get_counts(f->outputer).flushes, 0);
    fake_outputer_open(f->outputer);
    assert_int_equal(returned(&second), SMP_OK);
    assert_int_equal(fake_outputer_get_counts(f->outputer).flushes, 1);
    assert_int_equal(returned(&first), SMP_OK);
}

static void before_start_there_is_no_report(void **state)
{
    struct session_fixture *f = *state;

    assert_int_equal(session_fixture_create(f, SESSION_BY_HAND), SMP_OK);
    assert_int_equal(smp_session_report(f->session), SMP_ESTATE);
    assert_int_equal(smp_session_sample_once(f->session), SMP_ESTATE);
    assert_int_equal(statistics(f).ticker.sampler.total_tally.polls, 0);
}

static void destroy_without_stop_writes_nothing(void **state)
{
    struct session_fixture *f = *state;

    session_fixture_start(f, SESSION_BY_HAND);
    fake_clock_advance(&f->clock, 10 * MS);
    smp_session_destroy(f->session);
    f->session = NULL;
    assert_int_equal(fake_outputer_get_counts(f->outputer).titles, 0);
    assert_int_equal(fake_jvm_threads_held(f->vm), 0);
}

static void a_failed_start_leaves_nothing(void **state)
{
    static const char *const threads[] = { "threads-sampler", "threads-sampler-report" };
    struct session_fixture *f = *state;

    assert_int_equal(session_fixture_create(f, SESSION_BY_HAND), SMP_OK);
    for (int i = 0; i < 2; i++) {
        fake_jvm_fail_enter(f->vm, threads[i], SMP_EVM);
        assert_int_equal(smp_session_start(f->session), SMP_EVM);
        assert_int_equal(smp_session_report(f->session), SMP_ESTATE);
    }
    fake_jvm_fail_enter(f->vm, NULL, SMP_OK);
    assert_int_equal(smp_session_start(f->session), SMP_OK);
    fake_clock_advance(&f->clock, 10 * MS);
    assert_int_equal(smp_session_stop(f->session), SMP_OK);
    assert_int_equal(fake_outputer_sum_ms(f->outputer, "main"), 10);
    assert_int_equal(fake_jvm_get_counts(f->vm).enters, 2 + 1 + 2);
}

/* --- options and choice --- */

static void wrong_options_are_refused_with_a_message(void **state)
{
    struct session_fixture *f = *state;
    char message[SMP_OPTIONS_MESSAGE_BYTES] = "";

    assert_int_equal(session_fixture_create(f, "samplingFrequencyMillis=0\n"), SMP_EINVAL);
    session_fixture_start(f, SESSION_BY_HAND);
    assert_int_equal(configure(f, "samplingFrequencyMillis=0\n", message), SMP_EINVAL);
    assert_non_null(strstr(message, "samplingFrequencyMillis"));
    assert_int_equal(configure(f, SESSION_BY_HAND "maxDepthFrames=17\n", message), SMP_ESTATE);
    assert_non_null(strstr(message, "maxDepthFrames"));
    assert_int_equal(configure(f, SESSION_BY_HAND "memoryLimitBytes=5000000\n", NULL), SMP_ESTATE);
}

struct latch {
    atomic_bool is_inside;
    atomic_bool is_open;
};

static void hold_walk(void *self)
{
    struct latch *latch = self;

    atomic_store(&latch->is_inside, true);
    while (!atomic_load(&latch->is_open))
        sched_yield();
}

static void setting_options_does_not_wait_and_the_last_ones_apply(void **state)
{
    struct session_fixture *f = *state;
    struct latch latch = { .is_inside = false };
    struct caller reporting;

    session_fixture_start(f, SESSION_BY_HAND);
    fake_clock_advance(&f->clock, 10 * MS);
    fake_jvm_on_walk(f->vm, hold_walk, &latch);
    call(&reporting, f, smp_session_report);
    while (!atomic_load(&latch.is_inside))
        sched_yield();
    /* The sampler thread is inside a tick. */
    assert_int_equal(configure(f, SESSION_BY_HAND "reportCpuTime=true\n", NULL), SMP_OK);
    assert_int_equal(configure(f, SESSION_BY_HAND "monitoredPackages=other\n", NULL), SMP_OK);
    atomic_store(&latch.is_open, true);
    assert_int_equal(returned(&reporting), SMP_OK);
    assert_true(fake_outputer_has(f->outputer, "app.Work.loop"));
    /* A request follows the options. */
    fake_clock_advance(&f->clock, 10 * MS);
    assert_int_equal(smp_session_report(f->session), SMP_OK);
    assert_int_equal(fake_outputer_sum_ms(f->outputer, "main"), 20);
    assert_false(fake_outputer_has(f->outputer, "CPU time(ms)"));
    /* The last report has them, too. */
    fake_clock_advance(&f->clock, 10 * MS);
    assert_int_equal(configure(f, SESSION_BY_HAND "reportCpuTime=true\n", NULL), SMP_OK);
    assert_int_equal(smp_session_stop(f->session), SMP_OK);
    assert_true(fake_outputer_has(f->outputer, "CPU time(ms)"));
}

/* This also applies to periodic reports, which have no options of their own. */
static void reports_have_the_states_chosen_by_the_options(void **state)
{
    struct session_fixture *f = *state;

    session_fixture_start(f, SESSION_BY_HAND);
    fake_clock_advance(&f->clock, 10 * MS);
    assert_int_equal(smp_session_report(f->session), SMP_OK);
    assert_false(fake_outputer_has(f->outputer, "Blocked time(ms): "));
    assert_int_equal(configure(f, SESSION_BY_HAND "reportStates=true\n", NULL), SMP_OK);
    fake_clock_advance(&f->clock, 10 * MS);
    assert_int_equal(smp_session_report(f->session), SMP_OK);
    assert_true(fake_outputer_has(f->outputer, "Blocked time(ms): "));
}

/* This holds also if a start fails in between. */
static void options_set_before_the_start_apply(void **state)
{
    struct session_fixture *f = *state;

    assert_int_equal(session_fixture_create(f, SESSION_BY_HAND), SMP_OK);
    assert_int_equal(configure(f, SESSION_BY_HAND "active=false\n", NULL), SMP_OK);
    assert_int_equal(configure(f, SESSION_BY_HAND "reportCpuTime=true\n", NULL), SMP_OK);
    fake_jvm_fail_enter(f->vm, "threads-sampler", SMP_EVM);
    assert_int_equal(smp_session_start(f->session), SMP_EVM);
    fake_jvm_fail_enter(f->vm, NULL, SMP_OK);
    assert_int_equal(smp_session_start(f->session), SMP_OK);
    fake_clock_advance(&f->clock, 10 * MS);
    assert_int_equal(smp_session_report(f->session), SMP_OK);
    assert_int_equal(fake_outputer_sum_ms(f->outputer, "main"), 10);
    assert_true(fake_outputer_has(f->outputer, "CPU time(ms)"));
}

static void without_memory_setting_options_fails_and_keeps_the_old_ones(void **state)
{
    struct session_fixture *f = *state;
    struct failing_alloc failing;
    size_t refused = 1;
    size_t numbers = 0;

    session_fixture_start(f, SESSION_BY_HAND);
    for (size_t number = 1; refused > 0; number++) {
        failing_alloc_arm(&failing, number, number);
        const enum smp_status status =
            configure(f, SESSION_BY_HAND "monitoredPackages=app\nreportCpuTime=true\n", NULL);
        refused = failing_alloc_disarm(&failing);
        assert_int_equal(status, refused > 0 ? SMP_ENOMEM : SMP_OK);
        fake_clock_advance(&f->clock, 10 * MS);
        assert_int_equal(smp_session_report(f->session), SMP_OK);
        assert_int_equal(fake_outputer_has(f->outputer, "CPU time(ms)"), refused == 0);
        assert_int_equal(fake_outputer_sum_ms(f->outputer, "main"), number * 10);
        numbers = number;
    }
    assert_true(numbers > 3);
}

static void a_filter_is_kept_until_the_next_one(void **state)
{
    struct session_fixture *f = *state;
    struct fake_thread *other = fake_jvm_start(f->vm, "other");

    fake_jvm_run(f->vm, other, SESSION_MAIN_LOOP);
    assert_int_equal(session_fixture_create(f, SESSION_BY_HAND), SMP_OK);
    assert_int_equal(smp_session_select(f->session,
                                        fake_jvm_filter(f->vm, &other, 1, &f->selections_destroyed),
                                        true),
                     SMP_OK);
    assert_int_equal(smp_session_start(f->session), SMP_OK);
    fake_clock_advance(&f->clock, 10 * MS);
    assert_int_equal(smp_session_report(f->session), SMP_OK);
    assert_int_equal(fake_outputer_sum_ms(f->outputer, "main"), 0);
    assert_int_equal(fake_outputer_sum_ms(f->outputer, "other"), 10);
    assert_int_equal(f->selections_destroyed, 0);
    assert_int_equal(
        smp_session_select(f->session,
                           fake_jvm_filter(f->vm, &f->main, 1, &f->selections_destroyed), true),
        SMP_OK);
    assert_int_equal(f->selections_destroyed, 1);
    fake_clock_advance(&f->clock, 20 * MS);
    assert_int_equal(smp_session_stop(f->session), SMP_OK);
    assert_int_equal(fake_outputer_sum_ms(f->outputer, "main"), 20);
    assert_int_equal(f->selections_destroyed, 2);
}

/* --- memory --- */

static enum smp_status create_and_destroy(void *self)
{
    struct session_fixture *f = self;
    const enum smp_status status =
        session_fixture_create(f, SESSION_BY_HAND "monitoredPackages=a,b\n");

    smp_session_destroy(f->session);
    f->session = NULL;
    return status;
}

static enum smp_status whole_life(void *self)
{
    struct session_fixture *f = self;
    enum smp_status status = session_fixture_create(f, SESSION_BY_HAND);
    enum smp_status stopped;

    if (status != SMP_OK)
        return status;
    status = smp_session_start(f->session);
    fake_clock_advance(&f->clock, 10 * MS);
    if (status == SMP_OK)
        status = smp_session_report(f->session);
    fake_clock_advance(&f->clock, 10 * MS);
    stopped = smp_session_stop(f->session);
    smp_session_destroy(f->session);
    f->session = NULL;
    return status != SMP_OK ? status : stopped;
}

static void no_refused_allocation_leaks(void **state)
{
    struct session_fixture *f = *state;

    assert_true(failing_alloc_each_step(create_and_destroy, f).refused > 15);
    assert_true(failing_alloc_each_step(whole_life, f).refused > 25);
}

static void the_last_report_waits_for_memory(void **state)
{
    struct session_fixture *f = *state;
    struct failing_alloc failing;
    struct caller reporting;
    struct caller stopping;

    session_fixture_start(f, SESSION_BY_HAND);
    fake_clock_advance(&f->clock, 10 * MS);
    fake_outputer_shut(f->outputer);
    call(&reporting, f, smp_session_report);
    fake_outputer_wait_inside(f->outputer);
    fake_clock_advance(&f->clock, 20 * MS);
    assert_int_equal(smp_session_pause(f->session), SMP_OK); /* all new names are known */
    failing_alloc_arm(&failing, 1, 1);
    call(&stopping, f, smp_session_stop);
    while (atomic_load(&failing.refused) == 0)
        sched_yield();
    fake_outputer_open(f->outputer);
    assert_int_equal(returned(&reporting), SMP_OK);
    assert_int_equal(returned(&stopping), SMP_OK);
    failing_alloc_disarm(&failing);
    assert_int_equal(fake_outputer_sum_ms(f->outputer, "main"), 30);
}

static void a_lost_last_report_is_an_error(void **state)
{
    struct session_fixture *f = *state;
    struct failing_alloc failing;

    session_fixture_start(f, SESSION_BY_HAND);
    fake_clock_advance(&f->clock, 10 * MS);
    assert_int_equal(smp_session_pause(f->session), SMP_OK);
    failing_alloc_arm(&failing, 1, SIZE_MAX);
    assert_int_equal(smp_session_stop(f->session), SMP_ENOMEM);
    failing_alloc_disarm(&failing);
    assert_true(fake_outputer_has(f->outputer, "the last report could not be made"));
    assert_int_equal(counted(f, SMP_COUNTER_FAILED_REPORTS), 1);
}

/* --- load --- */

static size_t entries_of(const char *folder)
{
    DIR *dir = opendir(folder);
    size_t count = 0;

    assert_non_null(dir);
    while (readdir(dir) != NULL)
        count++;
    closedir(dir);
    return count;
}

/* Returns the number of session threads that the system still lists. */
static size_t listed_session_threads(void)
{
    static const char name[] = "threads-sampler";
    DIR *dir = opendir("/proc/self/task");
    size_t count = 0;

    assert_non_null(dir);
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        char text[32] = "";
        if (smp_task_file_read((int32_t)atol(entry->d_name), "comm", text, sizeof(text)) &&
            strncmp(text, name, strlen(name)) == 0)
            count++;
    }
    closedir(dir);
    return count;
}

/* A joined thread may still be listed while it waits for a CPU. */
static size_t threads_that_stay(void)
{
    while (listed_session_threads() > 0)
        usleep(1000);
    return entries_of("/proc/self/task");
}

static void a_thousand_sessions_leave_nothing(void **state)
{
    struct session_fixture *f = *state;
    const size_t live = smp_alloc_live_bytes();
    size_t threads;
    size_t files;

    atomic_store(&f->clock.step_ns, STEP);
    /* memory that a sanitizer keeps for itself is allocated now */
    assert_int_equal(whole_life(f), SMP_OK);
    threads = threads_that_stay();
    files = entries_of("/proc/self/fd");
    for (int i = 0; i < 1000; i++) {
        if (session_fixture_create(f, SESSION_FAST) != SMP_OK ||
            smp_session_start(f->session) != SMP_OK)
            fail();
        assert_int_equal(smp_session_stop(f->session), SMP_OK);
        smp_session_destroy(f->session);
        f->session = NULL;
    }
    assert_int_equal(smp_alloc_live_bytes(), live);
    assert_int_equal(threads_that_stay(), threads);
    assert_int_equal(entries_of("/proc/self/fd"), files);
}

static enum smp_status do_anything(struct smp_session *session)
{
    struct smp_statistics statistics;
    unsigned seed = (unsigned)(uintptr_t)&statistics;

    for (int i = 0; i < 100; i++) {
        seed = seed * 1664525 + 1013904223;
        enum smp_status status = SMP_OK;
        switch (seed >> 29) {
        case 0:
            status = smp_session_pause(session);
            break;
        case 1:
        case 2:
            status = smp_session_resume(session);
            break;
        case 3:
            status = smp_session_report(session);
            break;
        case 4:
            status = smp_session_sample_once(session);
            break;
        case 5:
            status = configure_fast(session);
            break;
        default:
            smp_session_get_statistics(session, &statistics);
        }
        if (status != SMP_OK && status != SMP_ESTATE)
            return status;
    }
    return SMP_OK;
}

static void all_calls_may_come_from_many_threads(void **state)
{
    struct session_fixture *f = *state;
    struct caller callers[4];
    struct smp_statistics last;

    atomic_store(&f->clock.step_ns, STEP);
    session_fixture_start(f, SESSION_FAST);
    for (int i = 0; i < 4; i++)
        call(&callers[i], f, do_anything);
    for (int i = 0; i < 200; i++) {
        struct fake_thread *thread = fake_jvm_start(f->vm, "worker-1");
        fake_jvm_run(f->vm, thread, SESSION_MAIN_LOOP);
        sched_yield();
        fake_jvm_end(f->vm, thread);
    }
    for (int i = 0; i < 4; i++)
        assert_int_equal(returned(&callers[i]), SMP_OK);
    assert_int_equal(smp_session_stop(f->session), SMP_OK);
    last = statistics(f);
    assert_int_equal(tally_sum(&last.ticker.sampler.total_tally),
                     last.ticker.sampler.total_tally.polls);
    assert_int_equal(last.reports_written, fake_outputer_get_counts(f->outputer).flushes);
}

int main(void)
{
#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, session_fixture_setup, session_fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(all_time_from_start_to_stop_is_reported),
        TEST(a_requested_report_is_written_when_the_call_returns),
        TEST(paused_time_is_not_reported),
        TEST(an_inactive_session_is_like_a_paused_one),
        TEST(a_session_paused_before_start_starts_paused),
        TEST(sampling_once_needs_a_paused_session),
        TEST(ticks_and_reports_come_without_requests),
        TEST(a_thread_start_ends_skipping_of_ticks),
        TEST(a_thread_start_just_before_the_sleep_is_not_missed),
        TEST(a_filter_set_while_ticks_are_skipped_applies_at_once),
        TEST(options_set_while_ticks_are_skipped_apply_at_once),
        TEST(late_ticks_are_counted),
        TEST(a_new_interval_length_applies_at_once),
        TEST(own_cpu_time_is_published),
        TEST(own_cpu_time_includes_the_counters_thread),
        TEST(a_failed_report_is_counted_and_the_next_one_is_tried),
        TEST(a_slow_outputer_costs_reports_but_no_time),
        TEST(requested_reports_wait_for_earlier_reports),
        TEST(messages_do_not_wait_for_a_report),
        TEST(an_outputer_that_calls_back_is_refused),
        TEST(a_rule_that_calls_back_is_refused),
        TEST(stop_is_final_and_may_be_repeated),
        TEST(stop_waits_for_the_last_report),
        TEST(before_start_there_is_no_report),
        TEST(destroy_without_stop_writes_nothing),
        TEST(a_failed_start_leaves_nothing),
        TEST(wrong_options_are_refused_with_a_message),
        TEST(setting_options_does_not_wait_and_the_last_ones_apply),
        TEST(reports_have_the_states_chosen_by_the_options),
        TEST(options_set_before_the_start_apply),
        TEST(without_memory_setting_options_fails_and_keeps_the_old_ones),
        TEST(a_filter_is_kept_until_the_next_one),
        TEST(no_refused_allocation_leaks),
        TEST(the_last_report_waits_for_memory),
        TEST(a_lost_last_report_is_an_error),
        TEST(a_thousand_sessions_leave_nothing),
        TEST(all_calls_may_come_from_many_threads),
    };
#undef TEST
    return cmocka_run_group_tests_name("session", tests, NULL, NULL);
}
