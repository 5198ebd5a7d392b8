/* SPDX-License-Identifier: Apache-2.0 */
/* The time of threads that wait most of the time, on a simulated machine. The time is exact if
 * their CPU clocks prove it, and otherwise unbiased. */
#include "engine/threads/activity.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/sources/poll_schedule.h"
#include "support/failing_alloc.h"
#include "support/sim.h"
#include "support/tally_sum.h"
#include "support/tree_amounts.h"

/* --- time that the CPU clock proves --- */

static void a_thread_that_never_runs_has_exact_time_from_one_walk(void **state)
{
    enum { THREADS = 50, REPORTS = 5 };
    struct sim *sim = sim_create("samplingFrequencyMillis=20\n");
    struct sim_thread *threads[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++) {
        threads[i] = sim_add(sim, i % 2 == 0 ? "even-1" : "odd-1");
        sim_script(threads[i], i % 7, 3600 * SIM_S, false);
    }
    sim_start(sim);
    for (int report = 0; report < REPORTS; report++) {
        const int64_t from_ns = sim->tick_ns;
        sim_run(sim, 60 * SIM_S);
        const struct smp_profile *profile = sim_finish(sim);
        const int64_t elapsed_ns = sim->tick_ns - from_ns;
        assert_int_equal(profile->elapsed_ns, elapsed_ns);
        for (int stack = 0; stack < 7; stack++) {
            /* 50 threads; their stacks are 0..6, even and odd ones */
            int even = 0;
            int odd = 0;
            for (int i = stack; i < THREADS; i += 7)
                *(i % 2 == 0 ? &even : &odd) += 1;
            assert_int_equal(sim_wall(sim, "even-", stack), even * elapsed_ns);
            assert_int_equal(sim_wall(sim, "odd-", stack), odd * elapsed_ns);
        }
        assert_int_equal(profile->tally.outcomes[SMP_OUTCOME_WALKED], report == 0 ? THREADS : 0);
        assert_int_equal(profile->tally.outcomes[SMP_OUTCOME_IDLE] + (report == 0 ? THREADS : 0),
                         profile->tally.polls);
        assert_int_equal(sim_cpu(sim, "even-", -1), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(threads[i]->walks, 1);
        assert_int_equal(threads[i]->requests, 0);
    }
    sim_destroy(sim);
}

static unsigned long reads_of(struct sim *sim, int64_t ns)
{
    const unsigned long before = sim->counts.reads;

    sim_run(sim, ns);
    return sim->counts.reads - before;
}

/* Up to a few dozen threads are polled at nearly every tick. If there are more, each is polled less
 * often, so that their cost is bounded. */
static void polls_of_idle_threads_are_bounded(void **state)
{
    static const int counts[] = { 1, 50, 1000, 4000 };

    (void)state;
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        struct sim *sim = sim_create("samplingFrequencyMillis=50\noverheadLimitPerMille=1000\n"
                                     "idleLookbackMillis=60000\n");
        sim->read_cost_ns = 1500;
        sim->tick_cost_ns = 40 * SIM_US;
        for (int k = 0; k < counts[i]; k++)
            sim_script(sim_add(sim, "parked"), 0, 3600 * SIM_S, false);
        sim_start(sim);
        sim_run(sim, 100 * SIM_S);
        const int64_t cpu_ns = sim->own_cpu_ns;
        const unsigned long reads = reads_of(sim, 100 * SIM_S);
        assert_true(sim->own_cpu_ns - cpu_ns < 100 * SIM_S / SMP_IDLE_COST_SHARE * 11 / 10);
        if (counts[i] <= 50)
            assert_true(reads > (unsigned long)counts[i] * 2000 * 8 / 10);
        else
            assert_true(sim->own_cpu_ns - cpu_ns > 100 * SIM_S / SMP_IDLE_COST_SHARE * 7 / 10);
        sim_destroy(sim);
    }
}

/* If there are few threads, each is polled within a twelfth of the time that it has been idle,
 * however short. With thousands of threads this would be most of the sampler's cost, so they are
 * polled less often. Their times are right all the same. */
static void the_more_threads_are_idle_the_less_often_each_is_polled(void **state)
{
    static const struct {
        int threads;
        double least_reads; /* for each idle time */
        double most_reads;
        double off_percent; /* deviation by chance, in percent of all time */
    } cases[] = { { 20, 19, 23, 0.3 }, { 2000, 9, 12, 0.05 } };
    enum { SECONDS = 60 };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const int threads = cases[i].threads;
        struct sim *sim = sim_create("samplingFrequencyMillis=50\noverheadLimitPerMille=1000\n");
        sim->read_cost_ns = 1500;
        for (int k = 0; k < threads; k++) {
            struct sim_thread *thread = sim_add(sim, "woken");
            sim_script(thread, 1, 10 * SIM_MS, true);
            sim_script(thread, 0, 990 * SIM_MS, false);
            sim_began(thread, k * SIM_S / threads);
        }
        sim_start(sim);
        sim_run(sim, 10 * SIM_S);
        sim_finish(sim);
        const double reads = (double)reads_of(sim, SECONDS * SIM_S) / SECONDS / threads;
        sim_finish(sim);
        const double share =
            (double)sim_wall(sim, "woken", 1) / (double)sim_wall(sim, "woken", -1) * 100;
        if (reads < cases[i].least_reads || reads > cases[i].most_reads)
            fail_msg("%d threads: %.1f readings for an idle time", threads, reads);
        if (share < 1 - cases[i].off_percent || share > 1 + cases[i].off_percent)
            fail_msg("%d threads: %.2f %% of the time seen where 1 %% is", threads, share);
        sim_destroy(sim);
    }
}

/* Shared ticks make polls of thousands of threads cheap. */
static void idle_threads_share_their_ticks(void **state)
{
    enum { THREADS = 10000, INTERVAL_MS = 20, TICKS = 100 };
    struct sim *sim = sim_create("samplingFrequencyMillis=20\noverheadLimitPerMille=1000\n");
    int ticks_with_polls = 0;

    (void)state;
    sim->read_cost_ns = 1500;
    for (int k = 0; k < THREADS; k++) {
        struct sim_thread *thread = sim_add(sim, "idle");
        sim_script(thread, 0, SIM_S, false);
    }
    sim_start(sim);
    sim_run(sim, 15 * SIM_S);
    for (int tick = 0; tick < TICKS; tick++)
        ticks_with_polls += reads_of(sim, INTERVAL_MS * SIM_MS) > 0;
    assert_in_range(ticks_with_polls, 1, TICKS / 4);
    sim_destroy(sim);
}

static void the_longest_gap_between_polls_is_kept(void **state)
{
    enum { THREADS = 1000 };
    struct sim *sim = sim_create(
        "samplingFrequencyMillis=20\nidleLookbackMillis=1000\noverheadLimitPerMille=1000\n");

    (void)state;
    sim->read_cost_ns = 25 * SIM_US;
    for (int i = 0; i < THREADS; i++)
        sim_script(sim_add(sim, "parked"), 0, 3600 * SIM_S, false);
    sim_start(sim);
    sim_run(sim, 30 * SIM_S);
    const unsigned long reads = reads_of(sim, 100 * SIM_S);
    assert_in_range(reads / THREADS, 95, 140);
    /* Names are read again at least every eight seconds, because other threads may rename them. */
    assert_in_range(fake_jvm_get_counts(sim->jvm).name_reads / THREADS, 130 / 9, 130 / 8 + 10);
    sim_configure(
        sim, "samplingFrequencyMillis=20\nidleLookbackMillis=5000\noverheadLimitPerMille=1000\n");
    sim_run(sim, 20 * SIM_S);
    assert_in_range(reads_of(sim, 100 * SIM_S) / THREADS, 19, 30);
    sim_destroy(sim);
}

/* The thread wakes up once. The CPU clock proves all the time before, whatever the gap, and no
 * time is lost. */
static void idle_time_is_not_charged_to_the_stack_after_it(void **state)
{
    struct sim *sim = sim_create("samplingFrequencyMillis=20\n");
    struct sim_thread *thread = sim_add(sim, "worker");

    (void)state;
    sim_script(thread, 0, 30 * SIM_S + 333 * SIM_MS, false);
    sim_script(thread, 1, 3600 * SIM_S, true);
    sim_start(sim);
    const int64_t from_ns = sim->tick_ns;
    sim_run(sim, 60 * SIM_S);
    sim_finish(sim);
    assert_int_equal(sim_wall(sim, "worker", -1), sim->tick_ns - from_ns);
    /* The whole tick that finds it running is credited to the new stack. */
    assert_in_range(labs(sim_truth(sim, thread, 0) - sim_wall(sim, "worker", 0)), 0, 22 * SIM_MS);
    assert_in_range(labs(sim_wall(sim, "worker", 1) - sim_truth(sim, thread, 1)), 0, 22 * SIM_MS);
    assert_int_equal(thread->walks, 1);
    sim_destroy(sim);
}

static void pending_time_goes_to_the_right_stack_and_name(void **state)
{
    struct sim *sim = sim_create("samplingFrequencyMillis=20\n");
    struct sim_thread *thread = sim_add(sim, "before");

    (void)state;
    sim_script(thread, 0, 3600 * SIM_S, false);
    sim_start(sim);
    const int64_t from_ns = sim->tick_ns;
    sim_run(sim, 30 * SIM_S);
    sim_rename(thread, "after");
    const int64_t renamed_ns = sim->tick_ns;
    sim_run(sim, 30 * SIM_S);
    sim_pause(sim);
    const int64_t paused_ns = sim->tick_ns;
    sim->now_ns += 500 * SIM_S;
    sim_start(sim);
    const int64_t resumed_ns = sim->tick_ns;
    sim_run(sim, 30 * SIM_S);
    sim_finish(sim);
    /* The poll that reads the name finds the new one. */
    assert_in_range(sim_wall(sim, "before", 0) - (renamed_ns - from_ns), 0, 9 * SIM_S);
    assert_int_equal(sim_wall(sim, "before", 0) + sim_wall(sim, "after", 0),
                     paused_ns - from_ns + sim->tick_ns - resumed_ns);
    assert_int_equal(thread->walks, 2);
    sim_destroy(sim);
}

static void a_thread_that_renames_itself_is_found_at_its_next_poll(void **state)
{
    struct sim *sim = sim_create("samplingFrequencyMillis=20\n");
    struct sim_thread *thread = sim_add(sim, "before");

    (void)state;
    sim_script(thread, 0, 30 * SIM_S, false);
    sim_script(thread, 1, 3600 * SIM_S, true);
    sim_start(sim);
    const int64_t from_ns = sim->tick_ns;
    sim_run(sim, 30 * SIM_S - 50 * SIM_MS);
    sim_rename(thread, "after");
    sim_run(sim, 30 * SIM_S);
    sim_finish(sim);
    assert_in_range(labs(sim_wall(sim, "before", -1) - 30 * SIM_S), 0, SIM_S);
    assert_int_equal(sim_wall(sim, "before", 1), 0);
    assert_int_equal(sim_wall(sim, "before", -1) + sim_wall(sim, "after", -1),
                     sim->tick_ns - from_ns);
    sim_destroy(sim);
}

/* Most threads that others rename are renamed by their creator, at once. */
static void a_thread_that_is_renamed_soon_after_its_start_is_found_soon(void **state)
{
    struct sim *sim = sim_create("samplingFrequencyMillis=20\n");

    (void)state;
    sim_start(sim);
    sim_run(sim, SIM_S);
    struct sim_thread *thread = sim_add(sim, "Thread-7");
    const int64_t from_ns = sim->now_ns;
    sim_script(thread, 1, SIM_MS, true);
    sim_script(thread, 0, 3600 * SIM_S, false);
    sim_run(sim, 200 * SIM_MS);
    sim_rename(thread, "after");
    sim_run(sim, SIM_S);
    sim_finish(sim);
    assert_in_range(sim_wall(sim, "Thread-", -1), 200 * SIM_MS, 300 * SIM_MS);
    assert_int_equal(sim_wall(sim, "Thread-", -1) + sim_wall(sim, "after", -1),
                     sim->tick_ns - from_ns);
    sim_destroy(sim);
}

static void a_new_name_of_an_idle_thread_is_found_within_seconds(void **state)
{
    struct sim *sim = sim_create("samplingFrequencyMillis=20\n");
    struct sim_thread *thread = sim_add(sim, "before");

    (void)state;
    sim_script(thread, 0, 36000 * SIM_S, false);
    sim_start(sim);
    const int64_t from_ns = sim->tick_ns;
    sim_run(sim, 600 * SIM_S);
    sim_rename(thread, "after");
    const int64_t renamed_ns = sim->tick_ns;
    sim_run(sim, 60 * SIM_S);
    sim_finish(sim);
    assert_in_range(sim_wall(sim, "before", 0) - (renamed_ns - from_ns), 0, 9 * SIM_S);
    sim_destroy(sim);
}

/* A thread that has not run has not renamed itself. */
static void a_name_is_read_again_if_the_thread_has_run(void **state)
{
    struct sim *sim = sim_create("samplingFrequencyMillis=50\n");
    struct sim_thread *thread = sim_add(sim, "woken");

    (void)state;
    sim_script(thread, 1, SIM_MS, true);
    sim_script(thread, 0, 999 * SIM_MS, false);
    sim_start(sim);
    sim_run(sim, 60 * SIM_S);
    const size_t before = fake_jvm_get_counts(sim->jvm).name_reads;
    sim_run(sim, 100 * SIM_S);
    assert_in_range(fake_jvm_get_counts(sim->jvm).name_reads - before, 95, 125);
    sim_destroy(sim);
}

static void a_new_name_applies_to_the_whole_next_interval(void **state)
{
    struct sim *sim = sim_create("samplingFrequencyMillis=20\n");
    struct sim_thread *thread = sim_add(sim, "before");

    (void)state;
    sim_script(thread, 0, 3600 * SIM_S, false);
    sim_start(sim);
    sim_run(sim, 30 * SIM_S);
    sim_rename(thread, "after");
    sim_tick(sim, 20 * SIM_MS);
    sim_finish(sim);
    assert_int_equal(sim_wall(sim, "before", 0), sim->profile->elapsed_ns);
    sim_tick(sim, 20 * SIM_MS);
    sim_finish(sim);
    assert_int_equal(sim_wall(sim, "after", 0), sim->profile->elapsed_ns);
    sim_destroy(sim);
}

static enum smp_naming by_minute(void *self, const struct fake_thread *thread, char *out,
                                 size_t size)
{
    const struct sim *sim = self;
    const bool is_odd = sim->now_ns / (10 * SIM_S) % 2 == 1;

    if (thread->name[0] == 's' && is_odd)
        return SMP_NAMING_SKIP;
    (void)snprintf(out, size, "%s", is_odd ? "odd" : "even");
    return SMP_NAMING_NAMED;
}

static void a_new_name_rule_applies_to_all_threads_at_once(void **state)
{
    enum { THREADS = 50 };
    struct sim *sim = sim_create("samplingFrequencyMillis=20\n");

    (void)state;
    for (int i = 0; i < THREADS; i++)
        sim_script(sim_add(sim, "worker-1"), 0, 3600 * SIM_S, false);
    fake_jvm_set_rule(sim->jvm, by_minute, sim);
    sim_start(sim);
    sim_run(sim, 30 * SIM_S);
    for (int i = 0; i < 2; i++) {
        sim_configure(sim, i == 0 ? "samplingFrequencyMillis=20\ndefaultThreadNameRule=false\n"
                                  : "samplingFrequencyMillis=20\n");
        const int64_t from_ns = sim->tick_ns;
        sim_tick(sim, 20 * SIM_MS);
        sim_finish(sim);
        sim_tick(sim, 20 * SIM_MS);
        const int64_t more_ns = sim->tick_ns - from_ns;
        sim_finish(sim);
        const char *group = i == 1 ? "worker-" : sim->tick_ns / (10 * SIM_S) % 2 ? "odd" : "even";
        assert_int_equal(sim_wall(sim, group, 0), THREADS * sim->profile->elapsed_ns);
        assert_true(sim->profile->elapsed_ns < more_ns);
    }
    sim_destroy(sim);
}

static void options_flush_pending_time(void **state)
{
    struct sim *sim = sim_create("samplingFrequencyMillis=20\n");
    struct sim_thread *thread = sim_add(sim, "daemon");

    (void)state;
    thread->fake.thread.is_daemon = true;
    sim_script(thread, 0, 3600 * SIM_S, false);
    sim_start(sim);
    const int64_t from_ns = sim->tick_ns;
    sim_run(sim, 30 * SIM_S);
    const int64_t skipped_ns = sim->tick_ns;
    sim_configure(sim, "samplingFrequencyMillis=20\nskipDaemonThreads=true\n");
    sim_run(sim, 30 * SIM_S);
    const int64_t again_ns = sim->tick_ns;
    sim_configure(sim, "samplingFrequencyMillis=5\n");
    sim_run(sim, 30 * SIM_S);
    sim_finish(sim);
    assert_int_equal(sim_wall(sim, "daemon", 0), skipped_ns - from_ns + sim->tick_ns - again_ns);
    sim_destroy(sim);
}

/* Threads do not wait for the end of a long gap that the previous lookback allowed. */
static void a_shorter_lookback_applies_at_once(void **state)
{
    enum { THREADS = 1000 };
    struct sim *sim = sim_create("samplingFrequencyMillis=20\nidleLookbackMillis=60000\n");

    (void)state;
    sim->read_cost_ns = 25 * SIM_US;
    for (int i = 0; i < THREADS; i++)
        sim_script(sim_add(sim, "idle"), 0, 3 * 3600 * SIM_S, false);
    sim_start(sim);
    sim_run(sim, 1800 * SIM_S);
    sim_configure(
        sim, "samplingFrequencyMillis=20\nidleLookbackMillis=1000\noverheadLimitPerMille=1000\n");
    assert_in_range(reads_of(sim, 10 * SIM_S) / THREADS, 9, 15);
    sim_destroy(sim);
}

static uint64_t ticks_in(struct sim *sim, int64_t ns)
{
    sim_finish(sim);
    sim_run(sim, ns);
    sim_finish(sim);
    return sim->profile->counters[SMP_COUNTER_TICKS];
}

/* The sampler does not wake up for idle threads, but for a thread that runs or starts. */
static void if_all_threads_are_idle_ticks_are_skipped(void **state)
{
    struct sim *sim = sim_create("samplingFrequencyMillis=20\n");

    (void)state;
    for (int i = 0; i < 1000; i++)
        sim_script(sim_add(sim, "idle"), 0, 3600 * SIM_S, false);
    sim_start(sim);
    sim_run(sim, 30 * SIM_S);
    const uint64_t ticks = ticks_in(sim, 10 * SIM_S);
    assert_in_range(ticks, 20, 120);
    /* Each tick was made or skipped. */
    assert_in_range(ticks + sim->profile->counters[SMP_COUNTER_IDLE_TICKS], 490, 515);
    assert_int_equal(sim_wall(sim, "idle", 0), 1000 * (sim->profile->elapsed_ns));
    sim_script(sim_add(sim, "busy"), 0, 3600 * SIM_S, true);
    assert_in_range(ticks_in(sim, 10 * SIM_S), 490, 515);
    sim_destroy(sim);
}

/* The result of the rule changes although nothing happens in the thread. */
static void users_rule_splits_idle_time_at_the_tick(void **state)
{
    struct sim *sim = sim_create("samplingFrequencyMillis=20\ndefaultThreadNameRule=false\n");
    struct sim_thread *thread = sim_add(sim, "worker");
    struct sim_thread *skipped = sim_add(sim, "skipped");
    int64_t even_ns = 0;
    int64_t total_ns = 0;

    (void)state;
    fake_jvm_set_rule(sim->jvm, by_minute, sim);
    sim_script(thread, 0, 3600 * SIM_S, false);
    sim_script(skipped, 1, 3600 * SIM_S, false);
    sim_start(sim);
    for (int i = 0; i < 3000; i++) {
        const int64_t before_ns = sim->tick_ns;
        sim_tick(sim, 20 * SIM_MS);
        total_ns += sim->tick_ns - before_ns;
        /* The rule is called right after the tick has begun. */
        if (sim->tick_ns / (10 * SIM_S) % 2 == 0)
            even_ns += sim->tick_ns - before_ns;
        if (i == 1500)
            sim_finish(sim), even_ns -= sim_wall(sim, "even", 0),
                total_ns -= sim_wall(sim, "even", 0) + sim_wall(sim, "odd", 0);
    }
    sim_finish(sim);
    assert_int_equal(sim_wall(sim, "even", 0), even_ns);
    assert_int_equal(sim_wall(sim, "even", 0) + sim_wall(sim, "odd", 0), total_ns);
    assert_int_equal(sim_wall(sim, "odd", 1), 0);
    assert_true(fake_jvm_get_counts(sim->jvm).rule_calls > 3000);
    assert_int_equal(thread->walks, 1);
    assert_in_range(skipped->walks, 1, 8);
    sim_destroy(sim);
}

static void end_of_an_idle_thread_is_found(void **state)
{
    struct sim *sim = sim_create("samplingFrequencyMillis=20\n");
    struct sim_thread *thread = sim_add(sim, "short");

    (void)state;
    sim_script(thread, 0, 3600 * SIM_S, false);
    sim_start(sim);
    const int64_t from_ns = sim->tick_ns;
    sim_run(sim, 20 * SIM_S);
    sim_end(sim, thread);
    const int64_t ended_ns = sim->now_ns;
    sim_run(sim, 2 * SIM_S);
    assert_int_equal(fake_jvm_threads_held(sim->jvm), 0);
    sim_finish(sim);
    assert_int_equal(sim_wall(sim, "short", -1), ended_ns - from_ns);
    assert_in_range(sim_wall_of(sim, "short", "[thread ended]"), 0, 21 * SIM_MS);
    assert_int_equal(sim->profile->tally.outcomes[SMP_OUTCOME_THREAD_ENDED], 1);
    sim_destroy(sim);
}

/* --- time that no clock proves: shares are unbiased --- */

static const struct phases {
    const char *what;
    struct sim_segment script[8];
    size_t count;
} PROGRAMS[] = {
    { "long waits, long runs", { { 0, 300 * SIM_MS, false }, { 1, 200 * SIM_MS, true } }, 2 },
    { "mostly waiting", { { 0, 900 * SIM_MS, false }, { 1, 100 * SIM_MS, true } }, 2 },
    { "rarely running", { { 0, 4000 * SIM_MS, false }, { 1, 400 * SIM_MS, true } }, 2 },
    { "in bursts", { { 0, 2000 * SIM_MS, false }, { 1, 7 * SIM_MS, true } }, 2 },
    { "three runs after one wait",
      { { 0, 1000 * SIM_MS, false },
        { 1, 60 * SIM_MS, true },
        { 2, 60 * SIM_MS, true },
        { 3, 60 * SIM_MS, true } },
      4 },
    { "two waits, hardly running",
      { { 0, 700 * SIM_MS, false },
        { 1, 50 * SIM_US, true },
        { 2, 500 * SIM_MS, false },
        { 1, 50 * SIM_US, true } },
      4 },
    { "a short wait between long ones",
      { { 0, 1500 * SIM_MS, false },
        { 1, 50 * SIM_US, true },
        { 2, 150 * SIM_MS, false },
        { 1, 50 * SIM_US, true } },
      4 },
};

static void shares_of_phases_are_within_a_point(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(PROGRAMS) / sizeof(PROGRAMS[0]); i++) {
        struct sim *sim = sim_create("samplingFrequencyMillis=20\n");
        struct sim_thread *thread = sim_add(sim, "phases");
        for (size_t k = 0; k < PROGRAMS[i].count; k++)
            sim_script(thread, PROGRAMS[i].script[k].stack, PROGRAMS[i].script[k].ns,
                       PROGRAMS[i].script[k].runs);
        sim_start(sim);
        const int64_t from_ns = sim->tick_ns;
        sim_run(sim, 600 * SIM_S);
        sim_finish(sim);
        const int64_t elapsed_ns = sim->tick_ns - from_ns;
        assert_int_equal(sim_wall(sim, "phases", -1), elapsed_ns);
        for (int stack = 0; stack < 4; stack++) {
            const double off =
                (double)(sim_wall(sim, "phases", stack) - sim_truth(sim, thread, stack)) * 100 /
                (double)elapsed_ns;
            if (getenv("SMP_TEST_SHOW") != NULL)
                print_message("%s: stack %d off by %.2f points, %lu polls\n", PROGRAMS[i].what,
                              stack, off, thread->reads);
            if ((off > 1.0 || off < -1.0))
                fail_msg("%s: stack %d is off by %.2f points", PROGRAMS[i].what, stack, off);
        }
        sim_destroy(sim);
    }
}

/* --- CPU time --- */

static void cpu_time_of_a_group_follows_its_clocks(void **state)
{
    enum { THREADS = 20 };
    struct sim *sim = sim_create("samplingFrequencyMillis=20\n");
    struct sim_thread *threads[THREADS];
    int64_t used_ns = 0;
    int64_t before_ns = 0;

    (void)state;
    for (int i = 0; i < THREADS; i++) {
        threads[i] = sim_add(sim, "worker-1");
        for (int k = 0; k < 20; k++)
            sim_script(threads[i], k % 5,
                       (int64_t)sim_random(sim, (uint64_t)(i % 3 == 0 ? 3 * SIM_S : 30 * SIM_MS)) +
                           1,
                       k % 2 == 0);
    }
    sim_start(sim);
    for (int report = 0; report < 3; report++) {
        sim_run(sim, 20 * SIM_S);
        sim_finish(sim);
        used_ns = 0;
        for (int i = 0; i < THREADS; i++)
            used_ns += sim_used(threads[i]);
        assert_int_equal(sim_cpu(sim, "worker-", -1), used_ns - before_ns);
        before_ns = used_ns;
    }
    /* One stack of five, which runs half of the time. */
    assert_in_range(sim_cpu(sim, "worker-", 0), sim_cpu(sim, "worker-", -1) / 10,
                    sim_cpu(sim, "worker-", -1) / 3);
    sim_destroy(sim);
}

static void unseen_cpu_time_goes_to_the_last_target(void **state)
{
    struct sim *sim = sim_create("samplingFrequencyMillis=20\n");
    struct sim_thread *thread = sim_add(sim, "timer");

    (void)state;
    sim_script(thread, 0, SIM_S, false);
    sim_script(thread, 1, 2 * SIM_US, true);
    sim_start(sim);
    sim_run(sim, 20 * SIM_S);
    sim_finish(sim);
    assert_int_equal(sim_cpu(sim, "timer", -1), sim_used(thread));
    assert_true(sim_used(thread) >= 19 * 2 * SIM_US);
    assert_int_equal(sim_cpu(sim, "timer", 0), sim_used(thread));
    sim_destroy(sim);
}

static void a_new_threads_clock_begins_at_its_start(void **state)
{
    struct sim *sim = sim_create("samplingFrequencyMillis=20\n");

    (void)state;
    sim_start(sim);
    sim_run(sim, SIM_S);
    struct sim_thread *thread = sim_add(sim, "new");
    sim_script(thread, 1, 3600 * SIM_S, true);
    const int64_t started_ns = sim->now_ns;
    sim_run(sim, SIM_S);
    sim_finish(sim);
    assert_int_equal(sim_wall(sim, "new", 1), sim->tick_ns - started_ns);
    assert_in_range(labs(sim_cpu(sim, "new", 1) - sim_wall(sim, "new", 1)), 0, SIM_MS);
    sim_destroy(sim);
}

/* --- random threads --- */

enum { CHAOS_THREADS = 40, CHAOS_ROUNDS = 1500 };

struct chaos {
    struct sim *sim;
    struct sim_thread *threads[CHAOS_THREADS]; /* NULL: not alive */
    int64_t from_ns[CHAOS_THREADS];            /* the expected time counts from here */
    bool is_known[CHAOS_THREADS];              /* was alive at a tick */
    bool is_running;
    int64_t expected_ns;
    int64_t credited_ns;
    uint64_t polls;
};

static void chaos_start(struct chaos *chaos, size_t i)
{
    static const char *const names[] = { "worker-1", "pool", "main", "timer-7" };
    struct sim *sim = chaos->sim;
    struct sim_thread *thread = sim_add(sim, names[sim_random(sim, 4)]);
    const uint64_t scale = sim_random(sim, 3);

    for (int k = 0; k < 8; k++) {
        const int64_t most_ns = scale == 0 ? 20 * SIM_S : scale == 1 ? SIM_S : 30 * SIM_MS;
        sim_script(thread, (int)sim_random(sim, 10),
                   1 + (int64_t)sim_random(sim, (uint64_t)most_ns), k % 2 == (int)scale % 2);
    }
    chaos->threads[i] = thread;
    chaos->from_ns[i] = sim->now_ns;
    chaos->is_known[i] = false;
}

static void chaos_count(struct chaos *chaos, size_t i, int64_t till_ns)
{
    if (chaos->threads[i] != NULL && chaos->is_running && till_ns > chaos->from_ns[i])
        chaos->expected_ns += till_ns - chaos->from_ns[i];
    chaos->from_ns[i] = till_ns;
}

static void chaos_end(struct chaos *chaos, size_t i)
{
    /* A thread that started and ended between two ticks was never seen. */
    if (chaos->is_known[i])
        chaos_count(chaos, i, chaos->sim->now_ns);
    sim_end(chaos->sim, chaos->threads[i]);
    chaos->threads[i] = NULL;
}

static void chaos_tick(struct chaos *chaos, int64_t ns)
{
    sim_tick(chaos->sim, ns);
    for (size_t i = 0; i < CHAOS_THREADS; i++)
        chaos->is_known[i] = chaos->threads[i] != NULL && chaos->is_running;
}

static void chaos_finish(struct chaos *chaos)
{
    const struct smp_profile *profile = sim_finish(chaos->sim);

    chaos->credited_ns += smp_profile_total(profile, SMP_MEASURE_WALL);
    chaos->polls += profile->tally.polls;
}

static void chaos_stop_or_go(struct chaos *chaos)
{
    struct sim *sim = chaos->sim;

    if (chaos->is_running) {
        sim_pause(sim);
        for (size_t i = 0; i < CHAOS_THREADS; i++)
            chaos_count(chaos, i, sim->tick_ns);
    } else {
        sim_start(sim);
    }
    chaos->is_running = !chaos->is_running;
    for (size_t i = 0; i < CHAOS_THREADS; i++) {
        chaos->from_ns[i] = sim->tick_ns;
        chaos->is_known[i] = chaos->threads[i] != NULL && chaos->is_running;
    }
}

static void chaos_act(struct chaos *chaos)
{
    struct sim *sim = chaos->sim;
    const size_t i = sim_random(sim, CHAOS_THREADS);

    if (chaos->threads[i] == NULL)
        chaos_start(chaos, i);
    else if (sim_random(sim, 8) == 0)
        chaos_end(chaos, i);
    else if (sim_random(sim, 4) == 0)
        sim_rename(chaos->threads[i], sim_random(sim, 2) == 0 ? "renamed" : "pool");
    else if (sim_random(sim, 4) == 0)
        chaos->threads[i]->answer = (enum smp_answer)sim_random(sim, SMP_ANSWER_COUNT);
    else if (sim_random(sim, 8) == 0)
        chaos->threads[i]->request_status =
            sim_random(sim, 2) == 0 ? SMP_OK : (enum smp_status)(1 + sim_random(sim, 8));
    else
        chaos->threads[i]->has_mounted = sim_random(sim, 3) == 0;
}

static void live(struct chaos *chaos, const char *options)
{
    chaos->sim = sim_create(options);
    for (int round = 0; round < CHAOS_ROUNDS; round++) {
        if (sim_random(chaos->sim, 3) == 0)
            chaos_act(chaos);
        if (sim_random(chaos->sim, 150) == 0)
            chaos_stop_or_go(chaos);
        chaos_tick(chaos, (int64_t)sim_random(chaos->sim, (uint64_t)(sim_random(chaos->sim, 20) == 0
                                                                         ? 2 * SIM_S
                                                                         : 60 * SIM_MS)));
        if (sim_random(chaos->sim, 200) == 0)
            chaos_finish(chaos);
    }
    if (chaos->is_running)
        chaos_stop_or_go(chaos);
    chaos_finish(chaos);
}

static void all_time_is_attributed_once(void **state)
{
    static const char *const options[] = {
        "samplingFrequencyMillis=20\n",
        "samplingFrequencyMillis=20\nengine=JVMTI\n",
        "samplingFrequencyMillis=5\n",
        "samplingFrequencyMillis=1\n",
        "samplingFrequencyMillis=5\noverheadLimitPerMille=1\n",
        "samplingFrequencyMillis=20\noverheadLimitPerMille=1\n",
        "samplingFrequencyMillis=20\nmemoryLimitBytes=4194304\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        struct chaos chaos = { .is_running = false };
        struct smp_sampler_figures stats;
        live(&chaos, options[i]);
        assert_int_equal(chaos.credited_ns, chaos.expected_ns);
        smp_sampler_get_figures(chaos.sim->sampler, &stats);
        assert_int_equal(stats.total_tally.polls, chaos.polls);
        assert_int_equal(tally_sum(&stats.total_tally), chaos.polls);
        assert_true(chaos.polls > CHAOS_ROUNDS);
        if (i == 1)
            assert_int_equal(chaos.sim->counts.requests, 0);
        sim_destroy(chaos.sim);
    }
}

/* Refuses one allocation at any point of a session. */
static void live_with_refusal(size_t number, size_t *refused)
{
    struct sim *sim = sim_create("samplingFrequencyMillis=20\n");
    struct failing_alloc failing;
    struct sim_thread *threads[3];
    struct smp_profile *profile = NULL;
    int64_t credited_ns = 0;
    int64_t expected_ns = 0;

    sim_start(sim);
    failing_alloc_arm(&failing, number, number);
    for (int i = 0; i < 3; i++) {
        threads[i] = sim_add(sim, i == 0 ? "main" : "worker-1");
        expected_ns -= sim->now_ns;
        sim_script(threads[i], i, (i + 1) * 200 * SIM_MS, false);
        sim_script(threads[i], i + 3, 50 * SIM_MS, true);
        sim_run(sim, SIM_S);
    }
    sim_rename(threads[0], "renamed");
    if (smp_sampler_finish_interval(sim->sampler, sim->now_ns, 0, &profile) == SMP_OK) {
        credited_ns += smp_profile_total(profile, SMP_MEASURE_WALL);
        smp_profile_release(profile);
    }
    sim_run(sim, SIM_S);
    *refused = failing_alloc_disarm(&failing);
    sim_run(sim, SIM_S);
    sim_finish(sim);
    credited_ns += smp_profile_total(sim->profile, SMP_MEASURE_WALL);
    expected_ns += 3 * sim->tick_ns;
    assert_int_equal(credited_ns, expected_ns);
    sim_destroy(sim);
}

static void no_refused_allocation_loses_time(void **state)
{
    size_t refused = 1;
    size_t number = 0;

    (void)state;
    while (refused > 0)
        live_with_refusal(++number, &refused);
    assert_true(number > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_that_never_runs_has_exact_time_from_one_walk),
        cmocka_unit_test(polls_of_idle_threads_are_bounded),
        cmocka_unit_test(the_more_threads_are_idle_the_less_often_each_is_polled),
        cmocka_unit_test(idle_threads_share_their_ticks),
        cmocka_unit_test(the_longest_gap_between_polls_is_kept),
        cmocka_unit_test(idle_time_is_not_charged_to_the_stack_after_it),
        cmocka_unit_test(pending_time_goes_to_the_right_stack_and_name),
        cmocka_unit_test(a_thread_that_renames_itself_is_found_at_its_next_poll),
        cmocka_unit_test(a_new_name_of_an_idle_thread_is_found_within_seconds),
        cmocka_unit_test(a_thread_that_is_renamed_soon_after_its_start_is_found_soon),
        cmocka_unit_test(a_name_is_read_again_if_the_thread_has_run),
        cmocka_unit_test(a_new_name_applies_to_the_whole_next_interval),
        cmocka_unit_test(a_new_name_rule_applies_to_all_threads_at_once),
        cmocka_unit_test(options_flush_pending_time),
        cmocka_unit_test(a_shorter_lookback_applies_at_once),
        cmocka_unit_test(if_all_threads_are_idle_ticks_are_skipped),
        cmocka_unit_test(users_rule_splits_idle_time_at_the_tick),
        cmocka_unit_test(end_of_an_idle_thread_is_found),
        cmocka_unit_test(shares_of_phases_are_within_a_point),
        cmocka_unit_test(cpu_time_of_a_group_follows_its_clocks),
        cmocka_unit_test(unseen_cpu_time_goes_to_the_last_target),
        cmocka_unit_test(a_new_threads_clock_begins_at_its_start),
        cmocka_unit_test(all_time_is_attributed_once),
        cmocka_unit_test(no_refused_allocation_loses_time),
    };
    return cmocka_run_group_tests_name("activity", tests, NULL, NULL);
}
