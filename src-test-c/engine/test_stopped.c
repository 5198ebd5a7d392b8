/* SPDX-License-Identifier: Apache-2.0 */
/* The time in which the process was stopped belongs to no stack. */
#include "engine/session/standstill.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/sim.h"

#define AT_20_MS "samplingFrequencyMillis=20\n"
#define STOPPED "[process stopped]"

static const int64_t stop_ns = 6 * SIM_S;

static void oversleep(struct sim *sim, int64_t ns)
{
    smp_standstill_slept(&sim->standstill, sim->now_ns - ns, sim->now_ns);
    sim_tick(sim, 0);
}

static void stop_and_go_on(struct sim *sim)
{
    sim_stop(sim, stop_ns);
    oversleep(sim, stop_ns);
    sim_run(sim, 2 * SIM_S);
    sim_finish(sim);
}

/* Only the sampler has no CPU. */
static void stop_alone(struct sim *sim)
{
    sim->now_ns += stop_ns;
    oversleep(sim, stop_ns);
    sim_finish(sim);
}

/* "busy" at stack 1 and "idle" at stack 2, for two seconds. */
static struct sim *sample_two(void)
{
    struct sim *sim = sim_create(AT_20_MS);

    (void)sim_add_running(sim, "busy", 1);
    (void)sim_add_waiting(sim, "idle", 2);
    sim_start(sim);
    sim_run(sim, 2 * SIM_S);
    return sim;
}

static void each_thread_has_the_stopped_time_in_a_separate_row(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *busy = sim_add_running(sim, "busy", 1);
    (void)sim_add_waiting(sim, "idle", 2);
    struct sim_thread *both = sim_add(sim, "both");

    (void)state;
    sim_script(both, 3, 70 * SIM_MS, true);
    sim_script(both, 4, 130 * SIM_MS, false);
    sim_start(sim);
    sim_run(sim, 2 * SIM_S);
    stop_and_go_on(sim);
    const int64_t all_ns = sim->profile->elapsed_ns;
    assert_in_range(all_ns, 10 * SIM_S, 10 * SIM_S + 100 * SIM_MS);
    assert_int_equal(sim_wall_of(sim, "busy", STOPPED), stop_ns);
    assert_int_equal(sim_wall_of(sim, "idle", STOPPED), stop_ns);
    assert_int_equal(sim_wall_of(sim, "both", STOPPED), stop_ns);
    assert_int_equal(sim_wall(sim, "busy", 1), all_ns - stop_ns);
    assert_int_equal(sim_wall(sim, "idle", 2), all_ns - stop_ns);
    assert_int_equal(sim_wall(sim, "both", -1), all_ns);
    /* Except for the time in which clocks were read. */
    assert_in_range(sim_truth(sim, busy, 1), all_ns - stop_ns, all_ns - stop_ns + SIM_MS);
    assert_in_range(sim_truth(sim, both, 3) + sim_truth(sim, both, 4), all_ns - stop_ns,
                    all_ns - stop_ns + SIM_MS);
    assert_int_equal(sim->profile->counters[SMP_COUNTER_STOPPED_MILLIS], 6000);
    assert_int_equal(sim_outcome(sim, "busy", SMP_OUTCOME_PROCESS_STOPPED), 1);
    sim_destroy(sim);
}

/* The row also has the time of the tick itself, which is unknown. */
static void assert_stopped(struct sim *sim, const char *group, int stack)
{
    const int64_t stopped_ns = sim_wall_of(sim, group, STOPPED);

    assert_in_range(stopped_ns, stop_ns, stop_ns + SIM_MS);
    assert_int_equal(sim_wall(sim, group, stack), sim->profile->elapsed_ns - stopped_ns);
}

/* The stop comes while the sampler waits for answers, not while it sleeps until the next tick. */
static void a_stop_while_answers_are_awaited_is_recognised(void **state)
{
    struct sim *sim = sample_two();

    (void)state;
    sim->stop_in_collect_ns = stop_ns;
    sim_run(sim, 2 * SIM_S);
    sim_finish(sim);
    assert_stopped(sim, "busy", 1);
    assert_stopped(sim, "idle", 2);
    sim_destroy(sim);
}

/* The stop comes while a tick sends its requests: threads that are read later are read after the
 * stop. */
static void a_stop_in_the_middle_of_a_tick_is_recognised(void **state)
{
    struct sim *sim = sample_two();

    (void)state;
    (void)sim_add_running(sim, "late", 3);
    sim->stop_in_request_ns = stop_ns;
    sim_run(sim, 2 * SIM_S);
    sim_finish(sim);
    assert_int_equal(sim->stop_in_request_ns, 0);
    assert_stopped(sim, "busy", 1);
    assert_stopped(sim, "idle", 2);
    assert_int_equal(sim_wall_of(sim, "late", STOPPED) + sim_wall(sim, "late", 3),
                     sim_wall(sim, "late", -1));
    sim_destroy(sim);
}

/* Both stops are between the same two ticks. */
static void two_stops_before_one_tick_are_both_counted(void **state)
{
    struct sim *sim = sample_two();

    (void)state;
    sim_stop(sim, 2 * SIM_S);
    smp_standstill_slept(&sim->standstill, sim->now_ns - 2 * SIM_S, sim->now_ns);
    sim_stop(sim, stop_ns);
    oversleep(sim, stop_ns);
    sim_run(sim, 2 * SIM_S);
    sim_finish(sim);
    assert_int_equal(sim_wall_of(sim, "busy", STOPPED), 2 * SIM_S + stop_ns);
    assert_int_equal(sim_wall(sim, "busy", 1), sim->profile->elapsed_ns - 2 * SIM_S - stop_ns);
    assert_int_equal(sim->profile->counters[SMP_COUNTER_STOPPED_MILLIS], 8000);
    sim_destroy(sim);
}

static void if_a_thread_has_run_the_process_was_not_stopped(void **state)
{
    struct sim *sim = sample_two();

    (void)state;
    stop_alone(sim);
    assert_int_equal(sim_wall_of(sim, "busy", STOPPED), 0);
    assert_int_equal(sim_wall(sim, "busy", 1), sim->profile->elapsed_ns);
    assert_int_equal(sim_wall(sim, "idle", 2), sim->profile->elapsed_ns);
    assert_int_equal(sim->profile->counters[SMP_COUNTER_STOPPED_MILLIS], 0);
    sim_destroy(sim);
}

/* A collection stops the JVM's threads, and the sampler's if it enters the JVM, but runs
 * itself. */
static void garbage_collection_is_not_a_stop_of_the_process(void **state)
{
    struct sim *sim = sample_two();

    (void)state;
    sim_stop(sim, stop_ns);
    sim->own_cpu_ns += stop_ns;
    oversleep(sim, stop_ns);
    sim_finish(sim);
    assert_int_equal(sim_wall_of(sim, "idle", STOPPED), 0);
    assert_int_equal(sim->profile->counters[SMP_COUNTER_STOPPED_MILLIS], 0);
    sim_destroy(sim);
}

/* Because of other processes, a thread gets a tenth of a CPU. */
static void a_lack_of_cpus_is_not_a_stop_of_the_process(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *slow = sim_add(sim, "slow");

    (void)state;
    sim_script(slow, 1, 100 * SIM_MS, true);
    sim_script_starved(slow, 1, 900 * SIM_MS);
    sim_start(sim);
    sim_run(sim, 2 * SIM_S);
    stop_alone(sim);
    assert_int_equal(sim_wall_of(sim, "slow", STOPPED), 0);
    assert_int_equal(sim_wall(sim, "slow", -1), sim->profile->elapsed_ns);
    sim_destroy(sim);
}

/* A request that waits for its answer does not become older. */
static void a_pending_answer_is_taken_after_the_stop(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *waits = sim_add(sim, "waits");

    (void)state;
    sim_script(waits, 1, SIM_S, true);
    sim_script_starved(waits, 2, 200 * SIM_MS);
    sim_start(sim);
    sim_run(sim, SIM_S + 100 * SIM_MS);
    stop_and_go_on(sim);
    assert_int_equal(sim_wall_of(sim, "waits", STOPPED), stop_ns);
    assert_int_equal(sim_wall_of(sim, "waits", "[signal not answered]"), 0);
    assert_int_equal(sim_wall(sim, "waits", -1), sim->profile->elapsed_ns);
    sim_destroy(sim);
}

/* A thread that ended before has none of the time. */
static void an_ended_thread_has_no_stopped_time(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *ended = sim_add_waiting(sim, "ended", 1);

    (void)state;
    (void)sim_add_waiting(sim, "idle", 2);
    sim_start(sim);
    sim_run(sim, 2 * SIM_S);
    sim_end(sim, ended);
    stop_and_go_on(sim);
    assert_int_equal(sim_wall_of(sim, "ended", STOPPED), 0);
    assert_in_range(sim_wall(sim, "ended", -1), 2 * SIM_S, 2 * SIM_S + 100 * SIM_MS);
    assert_int_equal(sim_wall_of(sim, "idle", STOPPED), stop_ns);
    sim_destroy(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_thread_has_the_stopped_time_in_a_separate_row),
        cmocka_unit_test(a_stop_while_answers_are_awaited_is_recognised),
        cmocka_unit_test(a_stop_in_the_middle_of_a_tick_is_recognised),
        cmocka_unit_test(two_stops_before_one_tick_are_both_counted),
        cmocka_unit_test(if_a_thread_has_run_the_process_was_not_stopped),
        cmocka_unit_test(garbage_collection_is_not_a_stop_of_the_process),
        cmocka_unit_test(a_lack_of_cpus_is_not_a_stop_of_the_process),
        cmocka_unit_test(a_pending_answer_is_taken_after_the_stop),
        cmocka_unit_test(an_ended_thread_has_no_stopped_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
