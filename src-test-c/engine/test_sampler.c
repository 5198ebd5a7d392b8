/* SPDX-License-Identifier: Apache-2.0 */
/* Which threads the sampler polls and where it credits their time, on a fake JVM and a fake
 * clock. */
#include "engine/session/sampler.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/failing_alloc.h"
#include "support/sampler_fixture.h"

#define MS FIXTURE_MS
#define MAIN "app.Main.main(F.java:1)"
#define LOOP MAIN "|app.Work.loop(F.java:1)"
#define MAIN_LOOP "app.Main.main|app.Work.loop"
#define ENDED "[thread ended]"

/* Thread filters that were destroyed; the last one of a test is destroyed at its teardown. */
static unsigned destroyed;

static int setup(void **state)
{
    destroyed = 0;
    *state = sampler_fixture_create("");
    return 0;
}

static int teardown(void **state)
{
    sampler_fixture_destroy(*state);
    return 0;
}

static struct fake_thread *started(struct sampler_fixture *f, const char *name)
{
    struct fake_thread *thread = fake_jvm_start(f->vm, name);

    fake_jvm_run(f->vm, thread, MAIN_LOOP);
    return thread;
}

static uint64_t outcomes(const struct sampler_fixture *f, enum smp_outcome outcome)
{
    return f->profile->tally.outcomes[outcome];
}

static uint64_t counter(const struct sampler_fixture *f, enum smp_counter which)
{
    return f->profile->counters[which];
}

/* --- time --- */

static void a_thread_alive_throughout_gets_all_of_the_time(void **state)
{
    struct sampler_fixture *f = *state;
    int64_t elapsed = 0;

    started(f, "main");
    sampler_fixture_start(f);
    for (int i = 1; i <= 100; i++) {
        const int64_t ns = 50 * MS + i * 1234567 % (7 * MS);
        sampler_fixture_tick(f, ns);
        elapsed += ns;
    }
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_total(f, "main", ""), elapsed);
    assert_int_equal(sampler_fixture_self(f, "main", LOOP), elapsed);
    assert_int_equal(f->profile->elapsed_ns, elapsed);
    assert_int_equal(f->profile->tally.polls, 100);
    assert_int_equal(counter(f, SMP_COUNTER_TICKS), 101);
}

static void a_late_tick_counts_its_real_length(void **state)
{
    struct sampler_fixture *f = *state;

    started(f, "main");
    sampler_fixture_start(f);
    sampler_fixture_tick(f, 50 * MS);
    fake_clock_advance(&f->clock, 10000 * MS);
    smp_sampler_tick(f->sampler, sampler_fixture_now(f), true);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_total(f, "main", ""), 10050 * MS);
    assert_int_equal(f->profile->tally.polls, 2);
    assert_int_equal(counter(f, SMP_COUNTER_LATE_TICKS), 1);
}

static void paused_time_is_not_attributed(void **state)
{
    struct sampler_fixture *f = *state;
    struct fake_thread *early;

    early = started(f, "early");
    started(f, "main");
    sampler_fixture_start(f);
    sampler_fixture_tick(f, 50 * MS);
    fake_clock_advance(&f->clock, 20 * MS);
    sampler_fixture_pause(f);
    fake_clock_advance(&f->clock, 3000 * MS);
    fake_jvm_end(f->vm, early);
    started(f, "started while paused");
    fake_jvm_end(f->vm, started(f, "never seen"));
    fake_clock_advance(&f->clock, 3000 * MS);
    smp_sampler_tick(f->sampler, sampler_fixture_now(f), false); /* no effect */
    sampler_fixture_start(f);
    sampler_fixture_tick(f, 30 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_total(f, "main", ""), 100 * MS);
    assert_int_equal(sampler_fixture_total(f, "early", ""), 70 * MS);
    assert_int_equal(sampler_fixture_total(f, "started while paused", ""), 30 * MS);
    assert_int_equal(outcomes(f, SMP_OUTCOME_THREAD_ENDED), 0);
    assert_int_equal(counter(f, SMP_COUNTER_UNSEEN_THREADS), 0);
    assert_int_equal(f->profile->elapsed_ns, 100 * MS);
    assert_int_equal(f->profile->from_wall_ms, FAKE_CLOCK_START_WALL_MS);
    assert_int_equal(f->profile->till_wall_ms, FAKE_CLOCK_START_WALL_MS + 6100);
}

static void title_leaves_out_a_pause_at_either_end(void **state)
{
    struct sampler_fixture *f = *state;

    started(f, "main");
    sampler_fixture_start(f);
    sampler_fixture_tick(f, 50 * MS);
    sampler_fixture_pause(f);
    fake_clock_advance(&f->clock, 5000 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(f->profile->from_wall_ms, FAKE_CLOCK_START_WALL_MS);
    assert_int_equal(f->profile->till_wall_ms, FAKE_CLOCK_START_WALL_MS + 50);
    fake_clock_advance(&f->clock, 2000 * MS);
    sampler_fixture_start(f);
    sampler_fixture_tick(f, 50 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(f->profile->from_wall_ms, FAKE_CLOCK_START_WALL_MS + 7050);
    assert_int_equal(f->profile->till_wall_ms, FAKE_CLOCK_START_WALL_MS + 7100);
    sampler_fixture_tick(f, 50 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(f->profile->from_wall_ms, FAKE_CLOCK_START_WALL_MS + 7100);
    assert_int_equal(f->profile->elapsed_ns, 50 * MS);
}

static void wall_clock_does_not_affect_amounts(void **state)
{
    struct sampler_fixture *f = *state;

    started(f, "main");
    sampler_fixture_start(f);
    fake_clock_step_wall(&f->clock, -3600000);
    sampler_fixture_tick(f, 50 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_total(f, "main", ""), 50 * MS);
}

/* The interval in which the clock is set back begins by the new clock; the next one is normal. */
static void no_interval_ends_before_it_begins(void **state)
{
    struct sampler_fixture *f = *state;
    const int64_t new_wall_ms = FAKE_CLOCK_START_WALL_MS - 3600000;

    started(f, "main");
    sampler_fixture_start(f);
    sampler_fixture_tick(f, 5000 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(f->profile->from_wall_ms, FAKE_CLOCK_START_WALL_MS);
    assert_int_equal(f->profile->till_wall_ms, FAKE_CLOCK_START_WALL_MS + 5000);
    fake_clock_step_wall(&f->clock, -3600000);
    sampler_fixture_tick(f, 2000 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(f->profile->from_wall_ms, new_wall_ms + 5000);
    assert_int_equal(f->profile->till_wall_ms, new_wall_ms + 7000);
    assert_int_equal(f->profile->elapsed_ns, 2000 * MS);
    sampler_fixture_tick(f, 1000 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(f->profile->from_wall_ms, new_wall_ms + 7000);
    assert_int_equal(f->profile->till_wall_ms, new_wall_ms + 8000);
}

static void time_between_two_reports_is_in_one_of_them(void **state)
{
    struct sampler_fixture *f = *state;

    started(f, "main");
    sampler_fixture_start(f);
    sampler_fixture_tick(f, 50 * MS);
    fake_clock_advance(&f->clock, 20 * MS);
    sampler_fixture_finish(f); /* some time after a tick */
    assert_int_equal(sampler_fixture_total(f, "main", ""), 50 * MS);
    assert_int_equal(f->profile->elapsed_ns, 50 * MS);
    sampler_fixture_tick(f, 30 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_total(f, "main", ""), 50 * MS);
    assert_int_equal(f->profile->elapsed_ns, 50 * MS);
}

static void sampling_once_attributes_the_given_time(void **state)
{
    struct sampler_fixture *f = *state;

    started(f, "main");
    fake_clock_advance(&f->clock, 1000 * MS);
    smp_sampler_tick_once(f->sampler, sampler_fixture_now(f), 50 * MS);
    fake_clock_advance(&f->clock, 500 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_total(f, "main", LOOP), 50 * MS);
    /* a single poll gives little certainty */
    assert_true(sampler_fixture_variance(f, "main", LOOP) > 0);
    assert_int_equal(f->profile->elapsed_ns, 50 * MS);
    assert_int_equal(f->profile->till_wall_ms, FAKE_CLOCK_START_WALL_MS + 1000);
    assert_int_equal(f->profile->from_wall_ms, FAKE_CLOCK_START_WALL_MS + 950);
    sampler_fixture_start(f);
    sampler_fixture_tick(f, 10 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_total(f, "main", ""), 10 * MS);
}

/* --- start and end --- */

static void a_new_thread_counts_from_its_start(void **state)
{
    struct sampler_fixture *f = *state;

    sampler_fixture_start(f);
    fake_clock_advance(&f->clock, 20 * MS);
    started(f, "late");
    sampler_fixture_tick(f, 30 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_total(f, "late", LOOP), 30 * MS);
}

static void an_ended_thread_counts_up_to_its_end(void **state)
{
    struct sampler_fixture *f = *state;
    struct fake_thread *thread = started(f, "short");

    sampler_fixture_start(f);
    sampler_fixture_tick(f, 50 * MS);
    fake_clock_advance(&f->clock, 20 * MS);
    fake_jvm_end(f->vm, thread);
    sampler_fixture_tick(f, 30 * MS);
    sampler_fixture_tick(f, 50 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_total(f, "short", LOOP), 50 * MS);
    assert_int_equal(sampler_fixture_total(f, "short", ENDED), 20 * MS);
    assert_int_equal(outcomes(f, SMP_OUTCOME_THREAD_ENDED), 1);
    assert_int_equal(f->profile->tally.polls, 2);
    assert_int_equal(fake_jvm_threads_held(f->vm), 0);
}

static void end_during(void *self)
{
    struct fake_thread **thread = self;
    struct fake_thread *ending = thread[0];

    thread[0] = NULL;
    if (ending != NULL)
        fake_jvm_end((struct fake_jvm *)(void *)thread[1], ending);
}

static void the_end_of_a_thread_during_its_walk_loses_no_time(void **state)
{
    struct sampler_fixture *f = *state;
    struct fake_thread *hook[2] = { started(f, "dying"), (void *)f->vm };

    sampler_fixture_start(f);
    sampler_fixture_tick(f, 50 * MS);
    fake_jvm_on_walk(f->vm, end_during, hook);
    fake_clock_advance(&f->clock, 50 * MS);
    const int64_t begun = sampler_fixture_now(f);
    fake_clock_advance(&f->clock, 2 * MS); /* the tick takes this time */
    smp_sampler_tick(f->sampler, begun, false);
    sampler_fixture_tick(f, 48 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_total(f, "dying", ""), 102 * MS);
    assert_int_equal(sampler_fixture_total(f, "dying", ENDED), 52 * MS);
    assert_int_equal(outcomes(f, SMP_OUTCOME_THREAD_ENDED_IN_WALK), 1);
    assert_int_equal(outcomes(f, SMP_OUTCOME_THREAD_ENDED), 1);
}

/* The time of a tick is read when it begins; the tick attributes nothing after that. */
static void an_end_during_a_tick_is_found_by_the_next_one(void **state)
{
    struct sampler_fixture *f = *state;
    struct fake_thread *thread = started(f, "dying");

    sampler_fixture_start(f);
    fake_clock_advance(&f->clock, 50 * MS);
    const int64_t begun = sampler_fixture_now(f);
    fake_clock_advance(&f->clock, 2 * MS);
    fake_jvm_end(f->vm, thread);
    smp_sampler_tick(f->sampler, begun, false);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_total(f, "dying", ENDED), 50 * MS);
    assert_int_equal(f->profile->elapsed_ns, 50 * MS);
    sampler_fixture_tick(f, 48 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_total(f, "dying", ENDED), 2 * MS);
}

static void a_thread_that_started_and_ended_between_ticks_is_counted(void **state)
{
    struct sampler_fixture *f = *state;

    sampler_fixture_start(f);
    fake_clock_advance(&f->clock, 10 * MS);
    fake_jvm_end(f->vm, started(f, "unseen"));
    sampler_fixture_tick(f, 10 * MS);
    /* Delivered, but ended before its name could be read. */
    fake_jvm_fail_name(f->vm, started(f, "dead on arrival"), SMP_EGONE);
    sampler_fixture_tick(f, 10 * MS);
    assert_int_equal(fake_jvm_threads_held(f->vm), 1);
    sampler_fixture_finish(f);
    assert_int_equal(counter(f, SMP_COUNTER_UNSEEN_THREADS), 1);
    assert_int_equal(f->profile->tally.polls, 0);
}

static void a_thread_that_ended_before_its_first_poll_is_unseen(void **state)
{
    struct sampler_fixture *f = *state;
    struct fake_thread *thread;

    sampler_fixture_start(f);
    fake_clock_advance(&f->clock, 10 * MS);
    thread = started(f, "dead on arrival");
    fake_jvm_fail_name(f->vm, thread, SMP_EGONE);
    sampler_fixture_tick(f, 10 * MS);
    fake_jvm_end(f->vm, thread);
    sampler_fixture_tick(f, 10 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(counter(f, SMP_COUNTER_UNSEEN_THREADS), 1);
    assert_int_equal(f->profile->tally.polls, 0);
    assert_int_equal(fake_jvm_threads_held(f->vm), 0);
}

/* A pause may last for months. */
static void in_a_pause_ended_threads_are_released(void **state)
{
    struct sampler_fixture *f = *state;
    struct fake_thread *ends = started(f, "ends");

    started(f, "stays");
    started(f, "stays");
    sampler_fixture_start(f);
    sampler_fixture_tick(f, 10 * MS);
    sampler_fixture_pause(f);
    fake_jvm_end(f->vm, ends);
    assert_int_equal(fake_jvm_threads_held(f->vm), 3);
    smp_sampler_forget_ended(f->sampler, smp_clock_ns());
    assert_int_equal(fake_jvm_threads_held(f->vm), 2);
    assert_int_equal(fake_jvm_get_counts(f->vm).rule_rests, 0);
    fake_clock_advance(&f->clock, 1000 * MS);
    sampler_fixture_start(f);
    sampler_fixture_tick(f, 10 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_total(f, "stays", ""), 2 * 20 * MS);
    assert_int_equal(sampler_fixture_total(f, "ends", ""), 10 * MS);
    assert_int_equal(counter(f, SMP_COUNTER_UNSEEN_THREADS), 0);
}

static void sampling_once_attributes_to_live_threads_only(void **state)
{
    struct sampler_fixture *f = *state;
    struct fake_thread *ending = started(f, "ending");

    started(f, "main");
    smp_sampler_tick_once(f->sampler, sampler_fixture_now(f), 50 * MS);
    fake_clock_advance(&f->clock, 10 * MS);
    fake_jvm_end(f->vm, ending);
    fake_clock_advance(&f->clock, 10 * MS);
    sampler_fixture_finish(f);
    smp_sampler_tick_once(f->sampler, sampler_fixture_now(f), 50 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(f->profile->tally.polls, 1);
    assert_int_equal(sampler_fixture_total(f, "main", ""), 50 * MS);
}

static void sampling_once_skips_threads_that_are_not_chosen(void **state)
{
    struct sampler_fixture *f = *state;

    fake_jvm_run(f->vm, fake_jvm_start_as(f->vm, "daemon", true, false), MAIN_LOOP);
    started(f, "main");
    sampler_fixture_configure(f, "skipDaemonThreads=true\n");
    smp_sampler_tick_once(f->sampler, sampler_fixture_now(f), 50 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(f->profile->tally.polls, 1);
    assert_int_equal(sampler_fixture_total(f, "main", ""), 50 * MS);
    assert_int_equal(fake_jvm_get_counts(f->vm).walks, 1);
}

static uint64_t sampled_threads(const struct sampler_fixture *f)
{
    struct smp_sampler_figures live;

    smp_sampler_get_figures(f->sampler, &live);
    return live.sampled_threads;
}

static void sampled_threads_are_counted(void **state)
{
    struct sampler_fixture *f = *state;
    struct fake_thread *ending = started(f, "ending");

    started(f, "main");
    fake_jvm_run(f->vm, fake_jvm_start_as(f->vm, "daemon", true, false), MAIN_LOOP);
    sampler_fixture_start(f);
    assert_int_equal(sampled_threads(f), 3);
    sampler_fixture_configure(f, "skipDaemonThreads=true\n");
    sampler_fixture_tick(f, 50 * MS);
    assert_int_equal(sampled_threads(f), 2);
    /* It ends exactly at a tick. */
    fake_clock_advance(&f->clock, 50 * MS);
    fake_jvm_end(f->vm, ending);
    sampler_fixture_tick(f, 0);
    assert_int_equal(sampled_threads(f), 1);
    assert_int_equal(fake_jvm_threads_held(f->vm), 2);
}

static void sampling_once_counts_the_polled_threads(void **state)
{
    struct sampler_fixture *f = *state;

    started(f, "main");
    started(f, "other");
    smp_sampler_tick_once(f->sampler, sampler_fixture_now(f), 50 * MS);
    assert_int_equal(sampled_threads(f), 2);
}

static void threads_that_ended_before_sampling_once_are_not_lost(void **state)
{
    struct sampler_fixture *f = *state;

    fake_jvm_end(f->vm, started(f, "before"));
    smp_sampler_tick_once(f->sampler, sampler_fixture_now(f), 50 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(counter(f, SMP_COUNTER_UNSEEN_THREADS), 0);
}

/* --- stacks --- */

static void every_failure_has_its_frame(void **state)
{
    static const struct {
        enum smp_status status;
        enum smp_outcome outcome;
        const char *frame;
    } cases[] = {
        { SMP_EGONE, SMP_OUTCOME_THREAD_ENDED_IN_WALK, ENDED },
        { SMP_EPHASE, SMP_OUTCOME_JVM_NOT_LIVE, "[JVM not live]" },
        { SMP_ENOMEM, SMP_OUTCOME_JVM_OUT_OF_MEMORY, "[JVM out of memory]" },
        { SMP_EVM, SMP_OUTCOME_REFUSED_BY_JVM, "[refused by the JVM]" },
        { SMP_EUNSUPPORTED, SMP_OUTCOME_REFUSED_BY_JVM, "[refused by the JVM]" },
    };
    struct sampler_fixture *f = *state;
    struct fake_thread *thread = started(f, "main");

    sampler_fixture_start(f);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        fake_jvm_fail(f->vm, thread, cases[i].status);
        sampler_fixture_tick(f, 50 * MS);
        sampler_fixture_finish(f);
        assert_int_equal(sampler_fixture_total(f, "main", cases[i].frame), 50 * MS);
        assert_int_equal(outcomes(f, cases[i].outcome), 1);
    }
    fake_jvm_fail(f->vm, thread, SMP_OK);
    fake_jvm_run_frames(f->vm, thread, NULL, 0);
    sampler_fixture_tick(f, 50 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_total(f, "main", "[no Java frames]"), 50 * MS);
    assert_int_equal(outcomes(f, SMP_OUTCOME_NO_JAVA_FRAMES), 1);
}

static enum smp_status walk_too_much(void *self, struct smp_thread *thread,
                                     struct smp_sample *sample)
{
    (void)self;
    (void)thread;
    sample->count = sample->capacity + 1;
    sample->leaf_count = sample->count;
    return SMP_OK;
}

static void absurd_counts_are_a_refusal(void **state)
{
    struct sampler_fixture *f = *state;
    struct smp_jvm vm = fake_jvm_interface(f->vm);

    vm.walker.walk = walk_too_much;
    smp_sampler_destroy(f->sampler);
    assert_int_equal(smp_sampler_create(&f->quota, f->log, &vm, &f->options, &f->sampler), SMP_OK);
    started(f, "main");
    sampler_fixture_start(f);
    sampler_fixture_tick(f, 50 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(outcomes(f, SMP_OUTCOME_REFUSED_BY_JVM), 1);
}

/* --- walks from outside --- */

static struct {
    enum smp_status status;
    unsigned walks;
    struct smp_frame frame;
    size_t omitted;
    int64_t cpu_ns;
} outside;

static enum smp_status walk_outside(void *self, struct smp_thread *thread, int64_t cpu_ns,
                                    struct smp_sample *sample)
{
    (void)self;
    (void)thread;
    outside.walks++;
    outside.cpu_ns = cpu_ns;
    /* This holds also if it fails: what it has written to the sample is ignored. */
    sample->frames[0] = outside.frame;
    sample->count = 1;
    sample->leaf_count = 1;
    sample->omitted = outside.omitted;
    return outside.status;
}

static void begin_outside(struct sampler_fixture *f)
{
    struct smp_jvm vm = fake_jvm_interface(f->vm);

    memset(&outside, 0, sizeof(outside));
    outside.frame.method = fake_jvm_method(f->vm, "app.Pool", "park");
    vm.walker.walk_outside = walk_outside;
    smp_sampler_destroy(f->sampler);
    assert_int_equal(smp_sampler_create(&f->quota, f->log, &vm, &f->options, &f->sampler), SMP_OK);
    started(f, "main");
    sampler_fixture_start(f);
}

static void a_stack_read_from_outside_needs_no_handshake(void **state)
{
    struct sampler_fixture *f = *state;

    begin_outside(f);
    sampler_fixture_tick(f, 50 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_self(f, "main", "app.Pool.park(F.java:1)"), 50 * MS);
    assert_int_equal(outcomes(f, SMP_OUTCOME_WALKED), 1);
    assert_int_equal(outside.walks, 1);
    assert_int_equal(fake_jvm_get_counts(f->vm).walks, 0);
    outside.omitted = 4;
    sampler_fixture_tick(f, 50 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(outcomes(f, SMP_OUTCOME_DEEP_STACK_CUT), 1);
}

static void a_handshake_instead_of_a_read_from_outside_is_counted(void **state)
{
    struct sampler_fixture *f = *state;

    begin_outside(f);
    outside.status = SMP_ESTATE;
    sampler_fixture_tick(f, 50 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_self(f, "main", LOOP), 50 * MS);
    assert_int_equal(outcomes(f, SMP_OUTCOME_WALKED_BY_HANDSHAKE), 1);
    assert_int_equal(outcomes(f, SMP_OUTCOME_WALKED), 0);
    assert_int_equal(fake_jvm_get_counts(f->vm).walks, 1);
}

static void handshakes_are_not_counted_if_reading_from_outside_is_off(void **state)
{
    struct sampler_fixture *f = *state;

    begin_outside(f);
    outside.status = SMP_EUNSUPPORTED;
    sampler_fixture_tick(f, 50 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_self(f, "main", LOOP), 50 * MS);
    assert_int_equal(outcomes(f, SMP_OUTCOME_WALKED), 1);
    assert_int_equal(outcomes(f, SMP_OUTCOME_WALKED_BY_HANDSHAKE), 0);
}

static void library_time_is_credited_below_the_users_code(void **state)
{
    struct sampler_fixture *f = *state;
    struct fake_thread *query = started(f, "query");
    struct fake_thread *idle = started(f, "idle");

    started(f, "user");
    fake_jvm_run(f->vm, query, "java.Thread.run|app.Dao.find|db.Jdbc.executeQuery|db.Socket.read");
    fake_jvm_run(f->vm, idle, "java.Thread.run|pool.Worker.take|java.Park.park");
    sampler_fixture_configure(f, "monitoredPackages=app\n");
    sampler_fixture_start(f);
    sampler_fixture_tick(f, 50 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_self(f, "user", LOOP), 50 * MS);
    assert_int_equal(sampler_fixture_self(f, "query",
                                          "java.Thread.run(F.java:1)|app.Dao.find(F.java:1)|"
                                          "db.Jdbc.executeQuery(F.java:1)"),
                     50 * MS);
    assert_int_equal(sampler_fixture_self(f, "idle", "java.Thread.run(F.java:1)"), 50 * MS);
    assert_int_equal(sampler_fixture_group(f, "query")->max_depth, 4);
}

static void a_new_filter_applies_from_the_next_tick(void **state)
{
    struct sampler_fixture *f = *state;
    struct fake_thread *query = started(f, "query");

    fake_jvm_run(f->vm, query, "java.Thread.run|app.Dao.find|db.Jdbc.executeQuery|db.Socket.read");
    sampler_fixture_start(f);
    sampler_fixture_tick(f, 50 * MS);
    sampler_fixture_tick(f, 50 * MS);
    sampler_fixture_configure(f, "monitoredPackages=app\n");
    sampler_fixture_tick(f, 30 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_self(f, "query",
                                          "java.Thread.run(F.java:1)|app.Dao.find(F.java:1)|"
                                          "db.Jdbc.executeQuery(F.java:1)"),
                     30 * MS);
    assert_int_equal(sampler_fixture_total(f, "query", ""), 130 * MS);
}

static void two_lines_of_a_method_are_two_rows(void **state)
{
    struct sampler_fixture *f = *state;
    struct fake_thread *thread = started(f, "main");

    sampler_fixture_start(f);
    fake_jvm_run(f->vm, thread, "app.Main.main@1");
    sampler_fixture_tick(f, 50 * MS);
    fake_jvm_run(f->vm, thread, "app.Main.main@2");
    sampler_fixture_tick(f, 20 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_self(f, "main", "app.Main.main(F.java:2)"), 50 * MS);
    assert_int_equal(sampler_fixture_self(f, "main", "app.Main.main(F.java:3)"), 20 * MS);
}

static void a_deep_stack_keeps_both_ends(void **state)
{
    struct sampler_fixture *f = *state;
    struct smp_frame frames[100];
    struct fake_thread *thread;

    sampler_fixture_destroy(f);
    *state = f = sampler_fixture_create("maxDepthFrames=16\n");
    thread = started(f, "deep");
    for (size_t i = 0; i < 100; i++)
        frames[i].method = fake_jvm_method(f->vm, "app.Deep", "recurse"), frames[i].bci = 0;
    frames[99].method = fake_jvm_method(f->vm, "app.Main", "main");
    fake_jvm_run_frames(f->vm, thread, frames, 100);
    sampler_fixture_start(f);
    sampler_fixture_tick(f, 50 * MS);
    sampler_fixture_tick(f, 50 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(outcomes(f, SMP_OUTCOME_DEEP_STACK_CUT), 2);
    assert_int_equal(counter(f, SMP_COUNTER_FRAMES_OMITTED), 2 * 84);
    assert_int_equal(sampler_fixture_group(f, "deep")->max_depth, 100);
#define R "|app.Deep.recurse(F.java:1)"
    assert_int_equal(
        sampler_fixture_total(f, "deep", MAIN R R R R R R R "|[64..127 frames omitted]" R),
        100 * MS);
    assert_int_equal(sampler_fixture_self(
                         f, "deep", MAIN R R R R R R R "|[64..127 frames omitted]" R R R R R R R R),
                     100 * MS);
#undef R
}

static void unloaded_methods_are_counted(void **state)
{
    struct sampler_fixture *f = *state;

    started(f, "main");
    fake_jvm_unload(f->vm, fake_jvm_method(f->vm, "app.Work", "loop"));
    sampler_fixture_start(f);
    sampler_fixture_tick(f, 50 * MS);
    sampler_fixture_tick(f, 50 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(counter(f, SMP_COUNTER_UNLOADED_METHODS), 1);
    assert_int_equal(sampler_fixture_self(f, "main", MAIN "|[unloaded]"), 100 * MS);
    sampler_fixture_tick(f, 50 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(counter(f, SMP_COUNTER_UNLOADED_METHODS), 0);
}

/* --- names --- */

static void threads_of_a_kind_are_one_group(void **state)
{
    struct sampler_fixture *f = *state;
    const struct smp_group_info *info;

    started(f, "http-nio-8080-exec-1");
    started(f, "http-nio-8080-exec-2");
    started(f, "1234");
    sampler_fixture_start(f);
    sampler_fixture_tick(f, 50 * MS);
    sampler_fixture_tick(f, 50 * MS);
    sampler_fixture_finish(f);
    info = sampler_fixture_group(f, "http-nio--exec-");
    assert_non_null(info);
    assert_int_equal(info->thread_count, 2);
    assert_string_equal(info->names[0], "http-nio-8080-exec-1");
    assert_string_equal(info->names[1], "http-nio-8080-exec-2");
    assert_int_equal(sampler_fixture_total(f, "http-nio--exec-", ""), 200 * MS);
    assert_int_equal(sampler_fixture_total(f, "[unnamed]", ""), 100 * MS);
    assert_int_equal(fake_jvm_get_counts(f->vm).names_read, 3);
}

static void a_renamed_thread_changes_its_group(void **state)
{
    struct sampler_fixture *f = *state;
    struct fake_thread *thread = started(f, "before");

    sampler_fixture_start(f);
    sampler_fixture_tick(f, 50 * MS);
    fake_jvm_rename(f->vm, thread, "after");
    sampler_fixture_tick(f, 30 * MS);
    fake_jvm_rename(f->vm, thread, "before");
    sampler_fixture_tick(f, 20 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_total(f, "before", LOOP), 70 * MS);
    assert_int_equal(sampler_fixture_total(f, "after", LOOP), 30 * MS);
    assert_int_equal(sampler_fixture_group(f, "before")->thread_count, 1);
}

static void a_thread_without_a_name_is_unnamed(void **state)
{
    struct sampler_fixture *f = *state;
    struct fake_thread *thread = started(f, "shy");

    fake_jvm_fail_name(f->vm, thread, SMP_EVM);
    sampler_fixture_start(f);
    sampler_fixture_tick(f, 50 * MS);
    fake_jvm_fail_name(f->vm, thread, SMP_OK);
    sampler_fixture_tick(f, 50 * MS);
    fake_jvm_fail_name(f->vm, thread, SMP_EVM);
    sampler_fixture_tick(f, 50 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_total(f, "[unnamed]", LOOP), 50 * MS);
    assert_int_equal(sampler_fixture_total(f, "shy", LOOP), 100 * MS);
}

/* "skip..." is skipped, "fail..." fails, "nil" has no name; other threads are grouped by their
 * first letter. */
static enum smp_naming first_letter(void *self, const struct fake_thread *thread, char *out,
                                    size_t size)
{
    const char *thread_name = thread->name;
    unsigned *is_off = self;

    if (strncmp(thread_name, "fail", 4) == 0)
        return SMP_NAMING_FAILED;
    if (strncmp(thread_name, "skip", 4) == 0 && (is_off == NULL || *is_off == 0))
        return SMP_NAMING_SKIP;
    (void)snprintf(out, size, "%.*s", strcmp(thread_name, "nil") == 0 ? 0 : 1, thread_name);
    return SMP_NAMING_NAMED;
}

static void a_users_rule_may_name_skip_or_fail(void **state)
{
    struct sampler_fixture *f = *state;

    started(f, "alpha");
    started(f, "axis");
    started(f, "skip me");
    started(f, "fail 17");
    started(f, "nil");
    fake_jvm_set_rule(f->vm, first_letter, NULL);
    sampler_fixture_configure(f, "defaultThreadNameRule=false\n");
    sampler_fixture_start(f);
    for (int i = 0; i < 3; i++)
        sampler_fixture_tick(f, 50 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_total(f, "a", LOOP), 300 * MS);
    assert_string_equal(sampler_fixture_group(f, "a")->names[1], "axis");
    assert_null(sampler_fixture_group(f, "skip me"));
    assert_int_equal(sampler_fixture_total(f, "fail 17", LOOP), 150 * MS);
    assert_int_equal(sampler_fixture_total(f, "[unnamed]", LOOP), 150 * MS);
    assert_int_equal(counter(f, SMP_COUNTER_NAME_MANIPULATOR_FAILURES), 4);
    assert_int_equal(f->profile->tally.polls, 12);
    assert_int_equal(fake_jvm_get_counts(f->vm).rule_calls, 4);
}

static void skipped_time_is_not_attributed_later(void **state)
{
    struct sampler_fixture *f = *state;
    unsigned is_off = 0;

    started(f, "skip me");
    fake_jvm_set_rule(f->vm, first_letter, &is_off);
    sampler_fixture_configure(f, "defaultThreadNameRule=false\n");
    sampler_fixture_start(f);
    sampler_fixture_tick(f, 50 * MS);
    is_off = 1;
    sampler_fixture_tick(f, 30 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_total(f, "s", LOOP), 30 * MS);
    assert_int_equal(f->profile->tally.polls, 1);
}

static void sampling_once_obeys_the_rule(void **state)
{
    struct sampler_fixture *f = *state;

    started(f, "alpha");
    started(f, "skip me");
    fake_jvm_set_rule(f->vm, first_letter, NULL);
    sampler_fixture_configure(f, "defaultThreadNameRule=false\n");
    smp_sampler_tick_once(f->sampler, sampler_fixture_now(f), 50 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_total(f, "a", LOOP), 50 * MS);
    assert_int_equal(f->profile->tally.polls, 1);
}

static void a_failed_rule_leaves_raw_names(void **state)
{
    struct sampler_fixture *f = *state;

    started(f, "alpha-1");
    started(f, "beta");
    fake_jvm_set_rule(f->vm, first_letter, NULL);
    sampler_fixture_configure(f, "defaultThreadNameRule=false\n");
    fake_jvm_fail_rule(f->vm, SMP_EVM);
    sampler_fixture_start(f);
    sampler_fixture_tick(f, 50 * MS);
    fake_jvm_fail_rule(f->vm, SMP_OK);
    sampler_fixture_tick(f, 50 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_total(f, "alpha-1", LOOP), 50 * MS);
    assert_int_equal(sampler_fixture_total(f, "a", LOOP), 50 * MS);
    assert_int_equal(counter(f, SMP_COUNTER_NAME_MANIPULATOR_FAILURES), 4);
}

static void the_rule_may_change_while_running(void **state)
{
    struct sampler_fixture *f = *state;

    started(f, "worker-1");
    started(f, "skip-1");
    fake_jvm_set_rule(f->vm, first_letter, NULL);
    sampler_fixture_start(f);
    sampler_fixture_tick(f, 50 * MS);
    sampler_fixture_configure(f, "defaultThreadNameRule=false\n");
    sampler_fixture_tick(f, 50 * MS);
    sampler_fixture_configure(f, "defaultThreadNameRule=true\n");
    sampler_fixture_tick(f, 50 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_total(f, "worker-", ""), 100 * MS);
    assert_int_equal(sampler_fixture_total(f, "w", ""), 50 * MS);
    assert_int_equal(sampler_fixture_total(f, "skip-", ""), 100 * MS);
}

/* --- which threads --- */

static void hidden_threads_are_not_sampled(void **state)
{
    struct sampler_fixture *f = *state;
    struct fake_thread *hidden = fake_jvm_start_as(f->vm, "Signal Dispatcher", true, true);

    fake_jvm_run(f->vm, hidden, MAIN_LOOP);
    sampler_fixture_start(f);
    sampler_fixture_tick(f, 50 * MS);
    smp_sampler_set_filter(f->sampler, fake_jvm_filter(f->vm, &hidden, 1, &destroyed), true);
    sampler_fixture_tick(f, 50 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(f->profile->tally.polls, 0);
    assert_int_equal(fake_jvm_get_counts(f->vm).walks, 0);
    assert_int_equal(smp_thread_groups_count(f->profile->groups), 1);
}

static void daemons_are_skipped_unless_chosen(void **state)
{
    struct sampler_fixture *f = *state;
    struct fake_thread *daemons[2];

    for (int i = 0; i < 2; i++) {
        daemons[i] = fake_jvm_start_as(f->vm, i == 0 ? "chosen" : "other", true, false);
        fake_jvm_run(f->vm, daemons[i], MAIN_LOOP);
    }
    started(f, "main");
    sampler_fixture_start(f);
    sampler_fixture_tick(f, 50 * MS);
    sampler_fixture_configure(f, "skipDaemonThreads=true\n");
    sampler_fixture_tick(f, 50 * MS);
    smp_sampler_set_filter(f->sampler, fake_jvm_filter(f->vm, daemons, 1, &destroyed), false);
    sampler_fixture_tick(f, 30 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_total(f, "chosen", ""), 80 * MS);
    assert_int_equal(sampler_fixture_total(f, "other", ""), 50 * MS);
    assert_int_equal(sampler_fixture_total(f, "main", ""), 130 * MS);
}

static void the_end_of_a_skipped_thread_is_not_attributed(void **state)
{
    struct sampler_fixture *f = *state;
    struct fake_thread *daemon = fake_jvm_start_as(f->vm, "daemon", true, false);

    fake_jvm_run(f->vm, daemon, MAIN_LOOP);
    sampler_fixture_start(f);
    sampler_fixture_configure(f, "skipDaemonThreads=true\n");
    sampler_fixture_tick(f, 50 * MS);
    fake_clock_advance(&f->clock, 10 * MS);
    fake_jvm_end(f->vm, daemon);
    sampler_fixture_tick(f, 40 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(f->profile->tally.polls, 0);
    assert_int_equal(counter(f, SMP_COUNTER_UNSEEN_THREADS), 0);
    assert_int_equal(fake_jvm_threads_held(f->vm), 0);
}

static void a_filter_limits_sampling_to_its_threads(void **state)
{
    struct sampler_fixture *f = *state;
    struct fake_thread *chosen = started(f, "chosen");

    started(f, "other");
    smp_sampler_set_filter(f->sampler, fake_jvm_filter(f->vm, &chosen, 1, &destroyed), true);
    sampler_fixture_start(f);
    sampler_fixture_tick(f, 50 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_total(f, "chosen", ""), 50 * MS);
    assert_null(sampler_fixture_group(f, "other"));
    /* When it ends, no other thread takes its place. */
    fake_clock_advance(&f->clock, 10 * MS);
    fake_jvm_end(f->vm, chosen);
    sampler_fixture_tick(f, 40 * MS);
    sampler_fixture_tick(f, 50 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_total(f, "chosen", ENDED), 10 * MS);
    assert_int_equal(f->profile->tally.polls, 1);
    /* The next filter, without threads, samples all threads. */
    smp_sampler_set_filter(f->sampler, (struct smp_thread_filter){ 0 }, false);
    assert_int_equal(destroyed, 1);
    sampler_fixture_tick(f, 50 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_total(f, "other", ""), 50 * MS);
}

static void an_empty_filter_samples_no_thread(void **state)
{
    struct sampler_fixture *f = *state;

    started(f, "main");
    smp_sampler_set_filter(f->sampler, (struct smp_thread_filter){ 0 }, true);
    sampler_fixture_start(f);
    sampler_fixture_tick(f, 50 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(f->profile->tally.polls, 0);
}

/* --- cost --- */

static void known_stacks_take_no_memory(void **state)
{
    struct sampler_fixture *f = *state;
    struct failing_alloc counting;
    struct fake_jvm_counts before;

    for (int i = 0; i < 200; i++)
        started(f, "worker-7");
    sampler_fixture_start(f);
    sampler_fixture_tick(f, 50 * MS);
    before = fake_jvm_get_counts(f->vm);
    failing_alloc_arm(&counting, 0, 0);
    for (int i = 0; i < 100; i++)
        sampler_fixture_tick(f, 50 * MS);
    failing_alloc_disarm(&counting);
    assert_int_equal(atomic_load(&counting.requests), 0);
    assert_int_equal(fake_jvm_get_counts(f->vm).resolves, before.resolves);
    assert_int_equal(fake_jvm_get_counts(f->vm).names_read, before.names_read);
    assert_int_equal(fake_jvm_get_counts(f->vm).walks, before.walks + 200 * 100);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_total(f, "worker-", LOOP), 200 * 101 * 50 * MS);
}

static void many_short_lived_threads_leave_no_memory(void **state)
{
    enum { STORM = 5000 };
    struct sampler_fixture *f = *state;
    struct fake_thread *threads[STORM];

    started(f, "main");
    sampler_fixture_start(f);
    sampler_fixture_tick(f, 50 * MS);
    sampler_fixture_finish(f);
    const size_t before = smp_quota_used(&f->quota);
    for (int i = 0; i < STORM; i++)
        threads[i] = started(f, "short-1");
    sampler_fixture_tick(f, 50 * MS);
    for (int i = 0; i < STORM; i++)
        fake_jvm_end(f->vm, threads[i]);
    sampler_fixture_tick(f, 50 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_group(f, "short-")->thread_count, STORM);
    assert_int_equal(sampler_fixture_group(f, "short-")->listed, SMP_MAX_LISTED_NAMES);
    sampler_fixture_tick(f, 50 * MS);
    sampler_fixture_finish(f);
    assert_in_range(smp_quota_used(&f->quota), 0, before + (size_t)64 * 1024);
}

static void statistics_continue_over_intervals(void **state)
{
    struct sampler_fixture *f = *state;
    struct smp_sampler_figures stats;

    started(f, "main");
    sampler_fixture_start(f);
    for (int i = 0; i < 5; i++)
        sampler_fixture_tick(f, 50 * MS);
    sampler_fixture_finish(f);
    sampler_fixture_tick(f, 50 * MS);
    smp_sampler_count(f->sampler, SMP_COUNTER_MERGED_REPORTS, 2);
    smp_sampler_get_figures(f->sampler, &stats);
    assert_int_equal(stats.total_tally.polls, 6);
    assert_int_equal(stats.interval_tally.polls, 1);
    assert_int_equal(stats.total_counters[SMP_COUNTER_TICKS], 7);
    assert_int_equal(stats.interval_counters[SMP_COUNTER_TICKS], 1);
    assert_int_equal(stats.interval_counters[SMP_COUNTER_MERGED_REPORTS], 2);
    assert_int_equal(stats.sampled_threads, 1);
    assert_true(stats.nodes > 2);
    assert_true(stats.locations >= 2);
}

static void the_last_finish_needs_no_new_interval(void **state)
{
    struct sampler_fixture *f = *state;
    struct smp_sampler_figures stats;

    started(f, "main");
    sampler_fixture_start(f);
    sampler_fixture_tick(f, 50 * MS);
    assert_int_equal(smp_sampler_finish_last(f->sampler, sampler_fixture_now(f),
                                             smp_clock_wall_ms(), &f->profile),
                     SMP_OK);
    assert_int_equal(sampler_fixture_total(f, "main", LOOP), 50 * MS);
    smp_sampler_get_figures(f->sampler, &stats);
    assert_int_equal(stats.total_tally.polls, 1);
    assert_int_equal(stats.interval_tally.polls, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_thread_alive_throughout_gets_all_of_the_time),
        TEST(a_late_tick_counts_its_real_length),
        TEST(paused_time_is_not_attributed),
        TEST(title_leaves_out_a_pause_at_either_end),
        TEST(wall_clock_does_not_affect_amounts),
        TEST(no_interval_ends_before_it_begins),
        TEST(time_between_two_reports_is_in_one_of_them),
        TEST(sampling_once_attributes_the_given_time),
        TEST(a_new_thread_counts_from_its_start),
        TEST(an_ended_thread_counts_up_to_its_end),
        TEST(the_end_of_a_thread_during_its_walk_loses_no_time),
        TEST(an_end_during_a_tick_is_found_by_the_next_one),
        TEST(a_thread_that_started_and_ended_between_ticks_is_counted),
        TEST(a_thread_that_ended_before_its_first_poll_is_unseen),
        TEST(in_a_pause_ended_threads_are_released),
        TEST(sampling_once_attributes_to_live_threads_only),
        TEST(sampling_once_skips_threads_that_are_not_chosen),
        TEST(sampled_threads_are_counted),
        TEST(sampling_once_counts_the_polled_threads),
        TEST(threads_that_ended_before_sampling_once_are_not_lost),
        TEST(every_failure_has_its_frame),
        TEST(absurd_counts_are_a_refusal),
        TEST(a_stack_read_from_outside_needs_no_handshake),
        TEST(a_handshake_instead_of_a_read_from_outside_is_counted),
        TEST(handshakes_are_not_counted_if_reading_from_outside_is_off),
        TEST(library_time_is_credited_below_the_users_code),
        TEST(a_new_filter_applies_from_the_next_tick),
        TEST(two_lines_of_a_method_are_two_rows),
        TEST(a_deep_stack_keeps_both_ends),
        TEST(unloaded_methods_are_counted),
        TEST(threads_of_a_kind_are_one_group),
        TEST(a_renamed_thread_changes_its_group),
        TEST(a_thread_without_a_name_is_unnamed),
        TEST(a_users_rule_may_name_skip_or_fail),
        TEST(skipped_time_is_not_attributed_later),
        TEST(sampling_once_obeys_the_rule),
        TEST(a_failed_rule_leaves_raw_names),
        TEST(the_rule_may_change_while_running),
        TEST(hidden_threads_are_not_sampled),
        TEST(daemons_are_skipped_unless_chosen),
        TEST(the_end_of_a_skipped_thread_is_not_attributed),
        TEST(a_filter_limits_sampling_to_its_threads),
        TEST(an_empty_filter_samples_no_thread),
        TEST(known_stacks_take_no_memory),
        TEST(many_short_lived_threads_leave_no_memory),
        TEST(statistics_continue_over_intervals),
        TEST(the_last_finish_needs_no_new_interval),
    };
#undef TEST
    return cmocka_run_group_tests_name("sampler", tests, NULL, NULL);
}
