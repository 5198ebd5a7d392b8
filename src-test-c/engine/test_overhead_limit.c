/* SPDX-License-Identifier: Apache-2.0 */
/* The overhead limit: which threads are polled when it is reached, and that shares remain
 * unbiased. */
#include "engine/sources/poll_schedule.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/rounds.h"
#include "support/sim.h"

#define AT_20_MS "samplingFrequencyMillis=20\n"

/* Adds the true time of the threads in each stack; with sign -1 subtracts it. */
static void add_truth(struct sim *sim, struct sim_thread **threads, int count, int64_t *truth_ns,
                      int stacks, int sign)
{
    for (int i = 0; i < count; i++) {
        for (int stack = 0; stack < stacks; stack++)
            truth_ns[stack] += sign * sim_truth(sim, threads[i], stack);
    }
}

/* Each share is within two points of the true one. */
static void check_shares(const struct sim *sim, const int64_t *truth_ns, int stacks, int64_t all_ns)
{
    for (int stack = 0; stack < stacks; stack++) {
        const double off =
            (double)(sim_wall(sim, "busy", stack) - truth_ns[stack]) * 100 / (double)all_ns;
        if (off > 2 || off < -2)
            fail_msg("stack %d is off by %.2f points", stack, off);
    }
}

static struct sim_thread *add_busy(struct sim *sim, int (*stack_of)(struct sim *sim, int segment))
{
    struct sim_thread *const thread = sim_add(sim, "busy");

    for (int k = 0; k < 6; k++)
        sim_script(thread, stack_of(sim, k),
                   1 + (int64_t)sim_random(sim, 200 * SIM_MS) * (k % 2 == 0 ? 3 : 1), true);
    return thread;
}

static int one_of_eight(struct sim *sim, int segment)
{
    return (int)sim_random(sim, 4) + (segment % 3 == 0 ? 4 : 0);
}

static int one_of_four(struct sim *sim, int segment)
{
    (void)segment;
    return (int)sim_random(sim, 4);
}

/* 4,000 threads at 1 kHz: a hundred times what the limit allows. */
static void budget_holds_and_shares_stay_unbiased(const char *options, bool has_async)
{
    enum { THREADS = 4000, STACKS = 8 };
    struct sim *sim = has_async ? sim_create(options) : sim_create_without_async(options);
    const double limit = (double)sim->options.overhead_limit_per_mille / 1000;
    int64_t truth_ns[STACKS] = { 0 };
    struct sim_thread **threads = calloc(THREADS, sizeof(*threads));

    assert_non_null(threads);
    for (int i = 0; i < THREADS; i++)
        threads[i] = add_busy(sim, one_of_eight);
    sim_start(sim);
    const int64_t from_ns = sim->tick_ns;
    const int64_t cpu_from_ns = sim->own_cpu_ns;
    sim_run(sim, 20 * SIM_S);
    const int64_t elapsed_ns = sim->tick_ns - from_ns;
    const double used = (double)(sim->own_cpu_ns - cpu_from_ns) / (double)elapsed_ns;
    if (used > limit * 1.3)
        fail_msg("%.2f %% of a core were used", used * 100);
    if (used < limit * 0.5)
        fail_msg("only %.2f %% of a core were used", used * 100);
    sim_finish(sim);
    assert_int_equal(sim_wall(sim, "busy", -1), THREADS * elapsed_ns);
    assert_true(sim_outcome(sim, "busy", SMP_OUTCOME_OVER_OVERHEAD_LIMIT) >
                sim_outcome(sim, "busy", SMP_OUTCOME_WALKED));
    /* At each tick each thread was either polled or skipped. */
    const uint64_t ticks = sim->profile->counters[SMP_COUNTER_TICKS] - 1;
    assert_in_range(sim->profile->tally.polls, THREADS * ticks / 20 * 19,
                    THREADS * ticks / 100 * 101);
    add_truth(sim, threads, THREADS, truth_ns, STACKS, 1);
    check_shares(sim, truth_ns, STACKS, THREADS * elapsed_ns);
    free(threads);
    sim_destroy(sim);
}

static void over_the_limit_a_random_subset_is_polled(void **state)
{
    (void)state;
    budget_holds_and_shares_stay_unbiased("samplingFrequencyMillis=1\n", true);
    budget_holds_and_shares_stay_unbiased("samplingFrequencyMillis=1\noverheadLimitPerMille=50\n",
                                          true);
    budget_holds_and_shares_stay_unbiased("samplingFrequencyMillis=20\n", true);
}

static void the_jvmti_engine_obeys_the_limit_as_well(void **state)
{
    (void)state;
    budget_holds_and_shares_stay_unbiased("samplingFrequencyMillis=1\n", false);
}

/* Hundreds of threads that wake up occasionally leave CPU time for polls of the few working
 * threads. */
static void over_the_limit_busy_threads_are_polled_more_often(void **state)
{
    enum { WORKING = 4, WAKING = 800, SECONDS = 300 };
    struct sim *sim = sim_create("samplingFrequencyMillis=1\n");
    struct sim_thread *working[WORKING];
    int64_t truth_ns[2] = { 0 };

    (void)state;
    for (int i = 0; i < WORKING; i++) {
        working[i] = sim_add(sim, "working");
        for (int k = 0; k < 16; k++)
            sim_script(working[i], k % 2,
                       1 + (int64_t)sim_random(sim, 10 * SIM_MS) * (k % 2 == 0 ? 3 : 1), true);
    }
    for (int i = 0; i < WAKING; i++) {
        struct sim_thread *thread = sim_add(sim, "waking");
        sim_script(thread, 2, 80 * SIM_MS + (int64_t)sim_random(sim, 40 * SIM_MS), false);
        sim_script(thread, 3, SIM_MS / 10, true);
    }
    sim_start(sim);
    sim_run(sim, SECONDS * SIM_S);
    sim_finish(sim);
    const uint64_t polls = sim_outcome(sim, "working", SMP_OUTCOME_WALKED) / WORKING * WAKING /
                           (sim_outcome(sim, "waking", SMP_OUTCOME_WALKED) +
                            sim_outcome(sim, "waking", SMP_OUTCOME_IDLE));
    if (polls < 6)
        fail_msg("a thread that works is polled %llu times as often", (unsigned long long)polls);
    for (int i = 0; i < WORKING; i++) {
        truth_ns[0] += sim_truth(sim, working[i], 0);
        truth_ns[1] += sim_truth(sim, working[i], 1);
    }
    const double truth = (double)truth_ns[0] / (double)(truth_ns[0] + truth_ns[1]);
    const double seen = (double)sim_wall(sim, "working", 0) /
                        (double)(sim_wall(sim, "working", 0) + sim_wall(sim, "working", 1));
    if (seen - truth > 0.02 || seen - truth < -0.02)
        fail_msg("%.1f %% is seen as %.1f %%", 100 * truth, 100 * seen);
    sim_destroy(sim);
}

/* Threads do not wait for polls that were drawn under the lower limit. */
static void a_higher_limit_applies_at_once(void **state)
{
    enum { THREADS = 500 };
    struct sim *sim = sim_create("samplingFrequencyMillis=20\noverheadLimitPerMille=1\n");
    struct sim_thread *threads[THREADS];
    unsigned long requests[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++) {
        threads[i] = sim_add(sim, "busy");
        sim_script(threads[i], 0, 3600 * SIM_S, true);
    }
    sim_start(sim);
    sim_run(sim, 30 * SIM_S);
    sim_configure(sim, "samplingFrequencyMillis=20\noverheadLimitPerMille=1000\n");
    for (int i = 0; i < THREADS; i++)
        requests[i] = threads[i]->requests;
    sim_run(sim, 3 * SIM_S);
    for (int i = 0; i < THREADS; i++)
        assert_true(threads[i]->requests - requests[i] > 50);
    sim_destroy(sim);
}

static uint64_t ticks_of(struct sim *sim)
{
    sim_finish(sim);
    return sim->profile->counters[SMP_COUNTER_TICKS];
}

/* While CPU time was short, polls were drawn up to a minute ahead. They are drawn again. */
static void when_the_load_ends_all_threads_are_polled_again(void **state)
{
    enum { THREADS = 500, SECONDS = 2 };
    struct sim *sim = sim_create(AT_20_MS "overheadLimitPerMille=2\n");
    struct sim_thread *stays[10];
    struct sim_thread *ends[THREADS];
    unsigned long requests[10];

    (void)state;
    for (int i = 0; i < 10; i++) {
        stays[i] = sim_add_running(sim, "stays", i);
        sim_script(stays[i], 10, 1, true); /* each poll needs a walk */
    }
    for (int i = 0; i < THREADS; i++)
        ends[i] = sim_add_running(sim, "ends", i % 10);
    sim_start(sim);
    sim_run(sim, 60 * SIM_S);
    for (int i = 0; i < THREADS; i++)
        sim_end(sim, ends[i]);
    sim->walk_cost_ns = 0; /* the ten remaining threads are no load */
    /* Half of the bucket has to fill, and a gap may have begun. */
    sim_run(sim, (SMP_THROTTLE_BUCKET_MS / 2 + SMP_THROTTLE_MOST_GAP_MS) * SIM_MS * 11 / 10);
    (void)ticks_of(sim);
    for (int i = 0; i < 10; i++)
        requests[i] = stays[i]->requests;
    sim_run(sim, SECONDS * SIM_S);
    const uint64_t ticks = ticks_of(sim);
    assert_true(ticks > SECONDS * 50 * 8 / 10);
    for (int i = 0; i < 10; i++)
        assert_in_range(stays[i]->requests - requests[i], ticks - 1, ticks);
    sim_destroy(sim);
}

/* Polls drawn before the load came are made as long as the bucket lasts. The others wait for
 * another tick. */
static void when_load_starts_the_limit_is_kept_and_shares_stay_unbiased(void **state)
{
    enum { THREADS = 400, STACKS = 4, SECONDS = 10 };
    struct sim *sim = sim_create(AT_20_MS "overheadLimitPerMille=10\n");
    struct sim_thread *threads[THREADS];
    int64_t truth_ns[STACKS] = { 0 };

    (void)state;
    sim->walk_cost_ns = 100;
    for (int i = 0; i < THREADS; i++)
        threads[i] = add_busy(sim, one_of_four);
    sim_start(sim);
    sim_run(sim, 10 * SIM_S);
    sim_finish(sim);
    assert_int_equal(sim_outcome(sim, "busy", SMP_OUTCOME_OVER_OVERHEAD_LIMIT), 0);
    sim->walk_cost_ns = 20 * SIM_US;
    const int64_t from_ns = sim->tick_ns;
    const int64_t cpu_from_ns = sim->own_cpu_ns;
    add_truth(sim, threads, THREADS, truth_ns, STACKS, -1);
    sim_run(sim, SECONDS * SIM_S);
    sim_finish(sim);
    const int64_t elapsed_ns = sim->tick_ns - from_ns;
    const int64_t bucket_ns = SMP_THROTTLE_START_CPU_MS * SIM_MS; /* it was not used before */
    assert_true(sim_outcome(sim, "busy", SMP_OUTCOME_OVER_OVERHEAD_LIMIT) > 0);
    const int64_t used_ns = sim->own_cpu_ns - cpu_from_ns;
    if (used_ns > elapsed_ns / 100 * 11 / 10 + bucket_ns)
        fail_msg("%" PRId64 " of %" PRId64 " us were used", used_ns / 1000, elapsed_ns / 100000);
    add_truth(sim, threads, THREADS, truth_ns, STACKS, 1);
    check_shares(sim, truth_ns, STACKS, THREADS * elapsed_ns);
    sim_destroy(sim);
}

struct idle_polls {
    double polls; /* polls per tick */
    uint64_t skipped;
};

/* Measures the third half minute, because each thread gets its stack within the first minute. */
static struct idle_polls polls_of_idle_threads(const char *options)
{
    struct sim *sim = sim_create(options);
    struct idle_polls found;

    /* otherwise the cost is learnt sooner if there is more time */
    sim->read_cost_ns = SMP_IDLE_POLL_NS;
    for (int i = 0; i < 3000; i++)
        sim_add_waiting(sim, "idle", i % 10);
    sim_start(sim);
    sim_run(sim, 60 * SIM_S);
    sim_finish(sim);
    sim_run(sim, 30 * SIM_S);
    sim_finish(sim);
    assert_int_equal(sim_wall(sim, "idle", -1), 3000 * sim->profile->elapsed_ns);
    found = (struct idle_polls){
        .polls = (double)sim->profile->tally.polls /
                 (double)(sim->profile->counters[SMP_COUNTER_TICKS] +
                          sim->profile->counters[SMP_COUNTER_IDLE_TICKS]),
        .skipped = sim->profile->tally.outcomes[SMP_OUTCOME_OVER_OVERHEAD_LIMIT],
    };
    sim_destroy(sim);
    return found;
}

/* An idle thread is not scheduled at every tick, so it is not skipped at every tick. */
static void over_the_limit_as_many_polls_are_scheduled_as_below_it(void **state)
{
    const struct idle_polls free =
        polls_of_idle_threads("samplingFrequencyMillis=1\noverheadLimitPerMille=1000\n");
    const struct idle_polls throttled =
        polls_of_idle_threads("samplingFrequencyMillis=1\noverheadLimitPerMille=1\n");

    (void)state;
    assert_int_equal(free.skipped, 0);
    assert_true(throttled.skipped > 0);
    if (throttled.polls < free.polls * 0.8 || throttled.polls > free.polls * 1.25)
        fail_msg("%.2f polls are due at a tick, without a limit %.2f", throttled.polls, free.polls);
}

static enum smp_naming by_own_name(void *self, const struct fake_thread *thread, char *out,
                                   size_t size)
{
    (void)self;
    (void)snprintf(out, size, "%s", thread->name);
    return SMP_NAMING_NAMED;
}

/* Each tick leaves some of the many threads to the next one. More threads end than start. */
static void see_threads_that_start(const char *options)
{
    enum { SHORT = 20, ENDS = 3, OLD = ENDS * SHORT, BUSY = 30000 };
    struct sim *sim = sim_create(options);
    struct sim_thread *old[OLD];

    fake_jvm_set_rule(sim->jvm, by_own_name, NULL);
    sim->walk_cost_ns = 8 * SIM_US;
    for (int i = 0; i < OLD; i++)
        old[i] = sim_add_waiting(sim, "old", i % 10);
    for (int i = 0; i < BUSY; i++)
        sim_add_running(sim, "busy", i % 10);
    sim_start(sim);
    for (int i = 0; i < SHORT; i++) {
        struct sim_thread *thread = sim_add_running(sim, "short", i % 10);
        for (int k = 0; k < ENDS; k++)
            sim_end(sim, old[ENDS * i + k]);
        sim_run(sim, 25 * SIM_MS);
        sim_end(sim, thread);
    }
    sim_run(sim, SIM_S);
    sim_finish(sim);
    assert_int_equal(sim->profile->counters[SMP_COUNTER_UNSEEN_THREADS], 0);
    assert_int_equal(sim_group(sim, "short")->thread_count, SHORT);
    sim_destroy(sim);
}

/* New threads do not wait for throttled ones. */
static void over_the_limit_new_threads_are_seen(void **state)
{
    (void)state;
    see_threads_that_start(AT_20_MS "overheadLimitPerMille=1\n");
    see_threads_that_start(AT_20_MS "overheadLimitPerMille=1\ndefaultThreadNameRule=false\n");
}

enum { CROWD = 50, CROWD_GROUPS = 5, CROWD_STACKS = 4, CROWD_RUNS = 4 };

/* Samples fifty threads of five kinds, ten times as many as the limit allows, and ends the
 * interval every period_ns. Adds the shares of the stacks of each kind. */
static void watch_a_crowd(uint64_t seed, int64_t period_ns,
                          double shares[CROWD_GROUPS][CROWD_STACKS])
{
    static const char *const groups[CROWD_GROUPS] = { "busy", "half", "some", "rare", "idle" };
    static const int64_t waits_ms[CROWD_GROUPS] = { 0, 20, 200, 2000, 3600000 };
    struct sim *sim = sim_create_random("samplingFrequencyMillis=10\n", seed);
    double(*of)[CROWD_STACKS] = calloc(CROWD_GROUPS, sizeof(*of));
    double all_ns = 0;

    sim->walk_cost_ns = 60 * SIM_US;
    for (int i = 0; i < CROWD; i++) {
        const int group = i % CROWD_GROUPS;
        struct sim_thread *thread = sim_add(sim, groups[group]);
        if (waits_ms[group] > 0)
            sim_script(thread, 0, waits_ms[group] * SIM_MS, false);
        for (int stack = 1; stack < CROWD_STACKS; stack++)
            sim_script(thread, stack, stack * 7 * SIM_MS, true);
        sim_began(thread, (int64_t)sim_random(sim, 1000000) * SIM_US * 17);
    }
    assert_non_null(of);
    sim_start(sim);
    const int64_t from_ns = sim->tick_ns;
    while (sim->tick_ns - from_ns < 300 * SIM_S) {
        sim_run(sim, period_ns);
        sim_finish(sim);
        all_ns += (double)sim->profile->elapsed_ns * CROWD / CROWD_GROUPS;
        for (int group = 0; group < CROWD_GROUPS; group++) {
            for (int stack = 0; stack < CROWD_STACKS; stack++)
                of[group][stack] += (double)sim_wall(sim, groups[group], stack);
            /* The first poll of a thread only starts its clock. */
            if (sim->tick_ns - from_ns > 2 * SIM_S)
                assert_int_equal(sim_wall_of(sim, groups[group], "[over the overhead limit]"), 0);
        }
    }
    assert_true(sim->profile->tally.outcomes[SMP_OUTCOME_OVER_OVERHEAD_LIMIT] > 0);
    for (int group = 0; group < CROWD_GROUPS; group++) {
        double sum = 0;
        for (int stack = 0; stack < CROWD_STACKS; stack++) {
            shares[group][stack] += of[group][stack] / all_ns / CROWD_RUNS;
            sum += of[group][stack] / all_ns;
        }
        assert_true(sum > 0.995);
    }
    free(of);
    sim_destroy(sim);
}

static void readers_do_not_change_the_shares(void **state)
{
    double alone[CROWD_GROUPS][CROWD_STACKS] = { { 0 } };
    double watched[CROWD_GROUPS][CROWD_STACKS] = { { 0 } };

    (void)state;
    for (uint64_t seed = 1; seed <= CROWD_RUNS; seed++) {
        watch_a_crowd(seed, 300 * SIM_S, alone);
        watch_a_crowd(seed + CROWD_RUNS, SIM_S, watched);
    }
    for (int group = 0; group < CROWD_GROUPS; group++) {
        for (int stack = 0; stack < CROWD_STACKS; stack++) {
            const double off = (watched[group][stack] - alone[group][stack]) * 100;
            if (off > 2 || off < -2)
                fail_msg("group %d: stack %d is %.1f points off where intervals end each second",
                         group, stack, off);
        }
    }
}

/* The poll that takes a late answer is certain, whatever was drawn for the next one. */
static void over_the_limit_a_late_answer_has_the_weight_of_its_delay(void **state)
{
    struct sim *sim = sim_create(AT_20_MS "overheadLimitPerMille=2\n");
    struct sim_thread *thread = sim_add(sim, "starved");

    (void)state;
    sim_script_starved(thread, 1, 130 * SIM_MS);
    sim_script(thread, 1, 3 * SIM_MS, true);
    sim_script(thread, 0, 47 * SIM_MS, true);
    sim_script(thread, 2, 20 * SIM_MS, true);
    for (int i = 0; i < 40; i++)
        sim_add_running(sim, "busy", 3 + i % 10);
    sim_start(sim);
    sim_run(sim, 3000 * SIM_S);
    sim_finish(sim);
    assert_true(sim_outcome(sim, "starved", SMP_OUTCOME_OVER_OVERHEAD_LIMIT) > 0);
    for (int stack = 0; stack < 3; stack++)
        assert_in_range(labs(sim_wall(sim, "starved", stack) - sim_truth(sim, thread, stack)), 0,
                        120 * SIM_S);
    sim_destroy(sim);
}

/* Threads polled earlier than planned have skipped no poll. */
static void early_polls_have_skipped_none(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);

    (void)state;
    for (int i = 0; i < 200; i++)
        sim_add_waiting(sim, "idle", i % 10);
    sim_start(sim);
    sim_run(sim, 60 * SIM_S);
    sim_finish(sim);
    for (long i = 0; i < test_rounds(40); i++) {
        sim_run(sim, 20 * SIM_S + i * 60 * SIM_MS);
        sim_configure(sim, i % 2 == 0 ? AT_20_MS "idleLookbackMillis=900\n" : AT_20_MS);
        sim_tick(sim, 20 * SIM_MS);
        sim_finish(sim);
        assert_int_equal(sim->profile->tally.outcomes[SMP_OUTCOME_OVER_OVERHEAD_LIMIT], 0);
    }
    sim_destroy(sim);
}

/* Time that could not be credited at once under the new name is credited later from the idle time
 * there. */
static void a_thread_renamed_for_its_work_gets_all_its_time(void **state)
{
    enum { RUNS = 60 };
    int64_t found_ns = 0;
    int64_t truth_ns = 0;

    (void)state;
    for (int run = 0; run < RUNS; run++) {
        struct sim *sim = sim_create_random(AT_20_MS "overheadLimitPerMille=1000\n", (uint64_t)run);
        struct sim_thread *thread = sim_add(sim, "worker-a");
        sim->tick_cpu_ns = 500 * SIM_US; /* polls of idle threads become rare */
        sim_script(thread, 0, 2 * SIM_S, false);
        sim_script(thread, 1, 50 * SIM_MS, true);
        sim_began(thread, (int64_t)sim_random(sim, 1000000) * 2050);
        sim_start(sim);
        for (int i = 0; i < 60; i++) {
            sim_run(sim, SIM_S);
            sim_rename(thread, i % 2 == 0 ? "worker-b" : "worker-a");
        }
        sim_finish(sim);
        found_ns += sim_wall(sim, "worker-a", 1) + sim_wall(sim, "worker-b", 1);
        truth_ns += sim_truth(sim, thread, 1);
        sim_destroy(sim);
    }
    assert_in_range(labs(found_ns - truth_ns), 0, truth_ns / 8);
}

/* Sampling starts in a JVM with thousands of threads. Each needs a walk, but running threads do
 * not wait for all of them. */
static void after_a_start_with_thousands_of_threads_all_soon_have_a_stack(void **state)
{
    enum { WAITING = 3000 };
    struct sim *sim = sim_create(AT_20_MS);

    (void)state;
    for (int i = 0; i < WAITING; i++)
        sim_add_waiting(sim, "waits", i % 10);
    for (int i = 0; i < 2; i++)
        sim_add_running(sim, "runs", i);
    sim_start(sim);
    sim_run(sim, 10 * SIM_S);
    sim_finish(sim);
    assert_int_equal(sim_wall_of(sim, "runs", "[over the overhead limit]"), 0);
    assert_in_range(sim_wall_of(sim, "waits", "[over the overhead limit]"), 0,
                    sim_wall(sim, "waits", -1) / 50);
    sim_destroy(sim);
}

static void below_the_limit_no_thread_is_skipped(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);

    (void)state;
    for (int i = 0; i < 10; i++)
        sim_add_running(sim, "busy", i);
    for (int i = 0; i < 300; i++)
        sim_add_waiting(sim, "idle", i % 10);
    sim_start(sim);
    sim_run(sim, 60 * SIM_S);
    sim_finish(sim);
    assert_int_equal(sim->profile->tally.outcomes[SMP_OUTCOME_OVER_OVERHEAD_LIMIT], 0);
    sim_destroy(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(over_the_limit_a_random_subset_is_polled),
        cmocka_unit_test(over_the_limit_busy_threads_are_polled_more_often),
        cmocka_unit_test(a_higher_limit_applies_at_once),
        cmocka_unit_test(the_jvmti_engine_obeys_the_limit_as_well),
        cmocka_unit_test(when_the_load_ends_all_threads_are_polled_again),
        cmocka_unit_test(when_load_starts_the_limit_is_kept_and_shares_stay_unbiased),
        cmocka_unit_test(over_the_limit_as_many_polls_are_scheduled_as_below_it),
        cmocka_unit_test(over_the_limit_new_threads_are_seen),
        cmocka_unit_test(readers_do_not_change_the_shares),
        cmocka_unit_test(over_the_limit_a_late_answer_has_the_weight_of_its_delay),
        cmocka_unit_test(early_polls_have_skipped_none),
        cmocka_unit_test(a_thread_renamed_for_its_work_gets_all_its_time),
        cmocka_unit_test(after_a_start_with_thousands_of_threads_all_soon_have_a_stack),
        cmocka_unit_test(below_the_limit_no_thread_is_skipped),
    };

    return cmocka_run_group_tests_name("overhead_limit", tests, NULL, NULL);
}
