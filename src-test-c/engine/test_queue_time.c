/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that wait for a CPU: for how long, and in which stack. */
#include "engine/sources/queue_time.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/sim.h"

#define AT_20_MS "samplingFrequencyMillis=20\n"

enum { RUN_S = 100 };

/* Expects actual within this many thousandths of all. */
static void assert_near(const char *what, int64_t actual, int64_t expected, int64_t all, int within)
{
    print_message("%s: %.1f s, expected %.1f s\n", what, (double)actual / 1e9,
                  (double)expected / 1e9);
    assert_true(llabs(actual - expected) <= all / 1000 * within);
}

static struct sim *create(void)
{
    struct sim *sim = sim_create_random(AT_20_MS, 7);

    sim->has_queues = true;
    return sim;
}

static int64_t part(const struct sim *sim, int stack, enum smp_thread_state state)
{
    return sim_state(sim, "worker", stack, state);
}

/* A thread that never waits and gets a CPU for three of ten milliseconds. */
static void a_preempted_thread_is_runnable_where_it_runs(void **state)
{
    struct sim *sim = create();
    struct sim_thread *thread = sim_add(sim, "worker");
    int64_t all;

    (void)state;
    sim_script(thread, 1, 3 * SIM_MS, true);
    sim_script_starved(thread, 1, 7 * SIM_MS);
    sim_start(sim);
    sim_run(sim, RUN_S * SIM_S);
    sim_finish(sim);
    all = sim_wall(sim, "worker", -1);
    assert_int_equal(part(sim, 1, SMP_STATE_RUNNING) + part(sim, 1, SMP_STATE_RUNNABLE), all);
    assert_near("running", part(sim, 1, SMP_STATE_RUNNING), all / 10 * 3, all, 10);
    assert_near("runnable", part(sim, 1, SMP_STATE_RUNNABLE), all / 10 * 7, all, 10);
    sim_destroy(sim);
}

/* The limit leaves few polls, and each of them finds another stack. */
static void rare_polls_find_the_same_runnable_time(void **state)
{
    struct sim *sim =
        sim_create_random("samplingFrequencyMillis=10\noverheadLimitPerMille=10\n", 7);
    struct sim_thread *thread = sim_add(sim, "worker");
    int64_t all;

    (void)state;
    sim->has_queues = true;
    sim->tick_cpu_ns = 500 * SIM_US;
    for (int i = 0; i < 5; i++) {
        sim_script(thread, i % 3, 3100 * SIM_US, true);
        sim_script_starved(thread, i % 3, 5900 * SIM_US);
    }
    sim_start(sim);
    sim_run(sim, RUN_S * SIM_S);
    sim_finish(sim);
    all = sim_wall(sim, "worker", -1);
    assert_near("running", sim_state(sim, "worker", -1, SMP_STATE_RUNNING), all / 90 * 31, all, 10);
    assert_near("runnable", sim_state(sim, "worker", -1, SMP_STATE_RUNNABLE), all / 90 * 59, all,
                10);
    sim_destroy(sim);
}

/* The host of a virtual machine takes the CPU for seven of ten milliseconds; no run queue shows
 * it. */
static void stolen_time_is_runnable_where_the_thread_runs(void **state)
{
    struct sim *sim = create();
    struct sim_thread *thread = sim_add(sim, "worker");
    const struct smp_profile *profile;
    int64_t all;

    (void)state;
    sim->has_stolen = true;
    sim_script(thread, 1, 3 * SIM_MS, true);
    sim_script_stolen(thread, 1, 7 * SIM_MS);
    sim_start(sim);
    sim_run(sim, RUN_S * SIM_S);
    profile = sim_finish(sim);
    all = sim_wall(sim, "worker", -1);
    assert_int_equal(part(sim, 1, SMP_STATE_RUNNING) + part(sim, 1, SMP_STATE_RUNNABLE), all);
    /* All time except the time before the second reading. */
    assert_near("running", part(sim, 1, SMP_STATE_RUNNING), all / 10 * 3, all, 30);
    assert_near("stolen", (int64_t)profile->counters[SMP_COUNTER_STOLEN_MS] * SIM_MS, 70 * SIM_S,
                100 * SIM_S, 30);
    sim_destroy(sim);
}

static void a_wait_is_not_stolen(void **state)
{
    struct sim *sim = create();
    struct sim_thread *thread = sim_add(sim, "worker");
    int64_t all;

    (void)state;
    sim->has_stolen = true;
    sim_script(thread, 1, 3 * SIM_MS, true);
    sim_script_stolen(thread, 1, 7 * SIM_MS);
    sim_script(thread, 1, 3 * SIM_MS, true);
    sim_script(thread, 0, 87 * SIM_MS, false);
    sim_start(sim);
    sim_run(sim, RUN_S * SIM_S);
    sim_finish(sim);
    all = sim_wall(sim, "worker", -1);
    assert_near("running", part(sim, 1, SMP_STATE_RUNNING), all / 100 * 6, all, 10);
    assert_near("runnable", part(sim, 1, SMP_STATE_RUNNABLE), all / 100 * 7, all, 20);
    assert_int_equal(part(sim, 0, SMP_STATE_RUNNABLE), 0);
    sim_destroy(sim);
}

/* Waits of hundreds of milliseconds; each ends several polls later. */
static void a_long_wait_for_a_cpu_is_runnable_where_it_began(void **state)
{
    struct sim *sim = create();
    struct sim_thread *thread = sim_add(sim, "worker");
    int64_t all;

    (void)state;
    sim_script(thread, 1, 150 * SIM_MS, true);
    sim_script_starved(thread, 1, 250 * SIM_MS);
    sim_script(thread, 2, 100 * SIM_MS, true);
    sim_start(sim);
    sim_run(sim, RUN_S * SIM_S);
    sim_finish(sim);
    all = sim_wall(sim, "worker", -1);
    assert_near("running", sim_state(sim, "worker", -1, SMP_STATE_RUNNING), all / 2, all, 20);
    assert_near("runnable at 1", part(sim, 1, SMP_STATE_RUNNABLE), all / 2, all, 20);
    assert_near("runnable at 2", part(sim, 2, SMP_STATE_RUNNABLE), 0, all, 20);
    sim_destroy(sim);
}

/* It is woken up and gets no CPU for a while: that is no longer a wait for the lock. */
static void a_woken_thread_is_runnable_where_it_waited(int64_t waits_ns, int64_t starves_ns,
                                                       int64_t runs_ns)
{
    struct sim *sim = create();
    struct sim_thread *thread = sim_add(sim, "worker");
    const double cycle_ns = (double)(waits_ns + starves_ns + runs_ns);
    double all;

    sim_script(thread, 0, waits_ns, false);
    sim_script_starved(thread, 0, starves_ns);
    sim_script(thread, 1, runs_ns, true);
    thread->word = SMP_WORD_AT_MONITOR; /* the JVM also says so while the thread is waking up */
    sim_start(sim);
    sim_run(sim, RUN_S * SIM_S);
    sim_finish(sim);
    all = (double)sim_wall(sim, "worker", -1);
    assert_near("blocked", part(sim, 0, SMP_STATE_BLOCKED),
                (int64_t)(all * (double)waits_ns / cycle_ns), (int64_t)all, 30);
    assert_near("runnable", part(sim, 0, SMP_STATE_RUNNABLE),
                (int64_t)(all * (double)starves_ns / cycle_ns), (int64_t)all, 30);
    assert_near("running", part(sim, 1, SMP_STATE_RUNNING),
                (int64_t)(all * (double)runs_ns / cycle_ns), (int64_t)all, 30);
    sim_destroy(sim);
}

static void a_woken_thread_is_runnable(void **state)
{
    (void)state;
    a_woken_thread_is_runnable_where_it_waited(5100 * SIM_US, 3300 * SIM_US, 2700 * SIM_US);
    a_woken_thread_is_runnable_where_it_waited(70 * SIM_MS, 30 * SIM_MS, 10 * SIM_MS);
    a_woken_thread_is_runnable_where_it_waited(900 * SIM_MS, 300 * SIM_MS, 50 * SIM_MS);
}

/* Without signals, the Thread object's state "runnable" is all that is known. */
static void a_runnable_thread_is_blocked_only_while_its_clock_stands(void **state)
{
    struct sim *sim = sim_create_without_async(AT_20_MS);
    struct sim_thread *computing = sim_add(sim, "worker");
    struct sim_thread *initialising = sim_add(sim, "initialising");

    (void)state;
    sim->has_queues = true;
    computing->word = initialising->word = SMP_WORD_RUNNABLE;
    sim_script(computing, 1, 3 * SIM_MS, true);
    sim_script_starved(computing, 1, 7 * SIM_MS);
    sim_script(initialising, 2, 100 * SIM_MS, true);
    sim_script(initialising, 3, 900 * SIM_MS, false);
    sim_start(sim);
    sim_run(sim, RUN_S * SIM_S);
    sim_finish(sim);
    assert_int_equal(part(sim, 1, SMP_STATE_RUNNING) + part(sim, 1, SMP_STATE_RUNNABLE),
                     sim_wall(sim, "worker", -1));
    assert_near("blocked", sim_state(sim, "initialising", 3, SMP_STATE_BLOCKED), 90 * SIM_S,
                100 * SIM_S, 30);
    sim_destroy(sim);
}

/* No time is invented, and the account says so. */
static void without_figures_nothing_is_runnable(void **state)
{
    struct sim *sim = create();
    struct sim_thread *thread = sim_add(sim, "worker");
    const struct smp_profile *profile;

    (void)state;
    sim->has_queues = false;
    sim_script(thread, 1, 3 * SIM_MS, true);
    sim_script_starved(thread, 1, 7 * SIM_MS);
    sim_start(sim);
    sim_run(sim, SIM_S);
    profile = sim_finish(sim);
    assert_int_equal(sim_state(sim, "worker", -1, SMP_STATE_RUNNABLE), 0);
    assert_int_equal(part(sim, 1, SMP_STATE_RUNNING), sim_wall(sim, "worker", -1));
    assert_true(profile->counters[SMP_COUNTER_RUNNABLE_UNKNOWN] > 0);
    sim_destroy(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_preempted_thread_is_runnable_where_it_runs),
        cmocka_unit_test(rare_polls_find_the_same_runnable_time),
        cmocka_unit_test(stolen_time_is_runnable_where_the_thread_runs),
        cmocka_unit_test(a_wait_is_not_stolen),
        cmocka_unit_test(a_long_wait_for_a_cpu_is_runnable_where_it_began),
        cmocka_unit_test(a_woken_thread_is_runnable),
        cmocka_unit_test(a_runnable_thread_is_blocked_only_while_its_clock_stands),
        cmocka_unit_test(without_figures_nothing_is_runnable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
