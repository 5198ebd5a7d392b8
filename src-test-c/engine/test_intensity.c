/* SPDX-License-Identifier: Apache-2.0 */
/*
 * On average each stack gets the time that its thread was really there, however rarely threads are
 * polled. The tests measure this with a dozen kinds of threads, from a random moment on, in
 * thousands of runs of the whole sampler on a simulated machine.
 *
 * SMP_TEST_ROUNDS: the number of runs of each case; a change of the estimator needs about 10,000.
 * SMP_TEST_SHOW: prints the figures.
 */
#include "engine/threads/intensity.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/random.h"
#include "support/rounds.h"
#include "support/sim.h"

/* --- its parts --- */

static void the_probability_of_a_poll_follows_from_the_gap(void **state)
{
    (void)state;
    assert_int_equal(smp_intensity_odds(0), SMP_CERTAIN);
    assert_int_equal(smp_intensity_odds(1), SMP_CERTAIN);
    assert_int_equal(smp_intensity_odds(4), SMP_CERTAIN / 4);
    assert_int_equal(smp_intensity_odds(1e30), 1);
    assert_int_equal(smp_intensity_both(SMP_CERTAIN / 4, SMP_CERTAIN / 8), SMP_CERTAIN / 32);
    assert_int_equal(smp_intensity_both(SMP_CERTAIN, SMP_CERTAIN), SMP_CERTAIN);
    assert_int_equal(smp_intensity_both(1, 1), 1);
    assert_int_equal(smp_intensity_weight_ns(20, SMP_CERTAIN), 20);
    assert_int_equal(smp_intensity_weight_ns(20, SMP_CERTAIN / 16), 320);
}

static void check_polls(bool is_alone)
{
    enum { POLLS = 200000, MOST = 40, MEAN = 10 };
    const int64_t odds = smp_intensity_odds(MEAN);
    unsigned lengths[MOST + 1] = { 0 };
    uint64_t random = 12345;
    uint64_t tick = 7;

    for (int i = 0; i < POLLS; i++) {
        const struct smp_next_poll next = is_alone
                                              ? smp_intensity_next_alone(&random, tick, odds, MOST)
                                              : smp_intensity_next(99, tick, odds, MOST);
        assert_in_range(next.tick - tick, 1, MOST);
        assert_int_equal(next.odds,
                         next.tick - tick == MOST ? SMP_CERTAIN : smp_intensity_odds(MEAN));
        lengths[next.tick - tick]++;
        tick = next.tick;
    }
    double left = POLLS;
    for (int length = 1; length <= MOST; length++) {
        const double expected = length < MOST ? left / MEAN : left;
        const double off = lengths[length] - expected;
        if (off > 4.5 * sqrt(expected) || off < -4.5 * sqrt(expected))
            fail_msg("%u gaps of %d ticks, expected %.0f", lengths[length], length, expected);
        left -= expected;
    }
}

static void polls_are_random_with_their_probability(void **state)
{
    uint64_t random = 1;

    (void)state;
    check_polls(false);
    check_polls(true);
    assert_int_equal(smp_intensity_next_alone(&random, 5, SMP_CERTAIN, 9).tick, 6);
    assert_int_equal(smp_intensity_next_alone(&random, 5, 1, 9).tick, 14);
}

/* So waking up for one thread is waking up for all. */
static void rare_polls_share_the_ticks_of_others(void **state)
{
    uint64_t often = 0;
    uint64_t rarely = 0;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        rarely = smp_intensity_next(5, rarely, SMP_CERTAIN / 64, UINT32_MAX).tick;
        while (often < rarely)
            often = smp_intensity_next(5, often, SMP_CERTAIN / 16, UINT32_MAX).tick;
        assert_int_equal(often, rarely);
    }
    assert_int_equal(smp_intensity_next(5, 0, SMP_CERTAIN, 9).tick, 1);
    assert_int_equal(smp_intensity_next(5, 0, 1, 1).odds, SMP_CERTAIN);
}

/* --- the whole sampler --- */

enum { PROCESSES = 12, STACKS = 4, RUN_TICKS = 400 };

/* Between two waits the thread runs; otherwise no clock would distinguish them. A negative time is
 * in thousandths of the interval, a positive one is absolute. */
static const struct process {
    const char *what;
    struct sim_segment script[8];
    size_t count;
} PROCESSES_OF[PROCESSES] = {
    { "a request after a second",
      { { 0, SIM_S, false },
        { 1, 5 * SIM_MS, true },
        { 2, 40 * SIM_MS, false },
        { 3, 5 * SIM_MS, true } },
      4 },
    { "a request after five seconds",
      { { 0, 5 * SIM_S, false },
        { 1, 5 * SIM_MS, true },
        { 2, 40 * SIM_MS, false },
        { 3, 5 * SIM_MS, true } },
      4 },
    { "computing after two seconds", { { 0, 2 * SIM_S, false }, { 1, 50 * SIM_MS, true } }, 2 },
    { "in step with the tick", { { 0, -700, false }, { 1, -300, true } }, 2 },
    { "in step with sixteen ticks",
      { { 0, -15000, false }, { 1, -400, true }, { 2, -500, false }, { 3, -100, true } },
      4 },
    { "in bursts",
      { { 0, 700 * SIM_MS, false },
        { 1, 7 * SIM_MS, true },
        { 2, 9 * SIM_MS, false },
        { 1, 7 * SIM_MS, true },
        { 2, 30 * SIM_MS, false },
        { 3, SIM_MS, true } },
      6 },
    { "one burst a minute", { { 0, 60 * SIM_S, false }, { 1, 300 * SIM_MS, true } }, 2 },
    /* BUSY */
    { "always busy",
      { { 0, 37 * SIM_MS, true }, { 1, 11 * SIM_MS, true }, { 2, 90 * SIM_MS, true } },
      3 },
    { "two waits, hardly running",
      { { 0, 600 * SIM_MS, false },
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
    { "long waits, long runs", { { 0, 300 * SIM_MS, false }, { 1, 200 * SIM_MS, true } }, 2 },
    { "heavy-tailed", { { 0 } }, 0 },
};

struct sums {
    double attribution;
    double off;
    double off2;
    double most; /* maximum deviation in one run */
};

enum { BUSY = 7 };

struct study {
    /* if not set, ticks are made for idle threads only, and polls of them are rare */
    bool has_busy;
    int64_t interval_ns;
    const char *options;
    /* the cost of a tick, which determines how rare polls of idle threads are */
    int64_t tick_cpu_ns;
    int64_t period_ns;  /* between two ends of an interval; 0: only at the end */
    int64_t warm_up_ns; /* sampled first: a start may use more CPU time than the limit */
    unsigned runs;
    struct sums wall[PROCESSES][STACKS];
};

static unsigned runs_of_each(void)
{
    return (unsigned)test_rounds(100);
}

static const char *name_of(int process)
{
    static char name[8];

    (void)snprintf(name, sizeof(name), "p%c", 'a' + process);
    return name;
}

/* Each segment's length is the inverse square of a random number: most are short, a few very
 * long. */
static void heavy_tailed(struct sim *sim, struct sim_thread *thread)
{
    for (int i = 0; i < SIM_MAX_SEGMENTS; i++) {
        const double u = (double)(1 + sim_random(sim, 1000)) / 1001;
        sim_script(thread, i % 3, (int64_t)(2e6 / (u * sqrt(u))), i % 2 != 0);
    }
}

static void write_script(struct sim *sim, struct sim_thread *thread, int number)
{
    const struct process *process = &PROCESSES_OF[number];

    for (size_t i = 0; i < process->count; i++) {
        const struct sim_segment *segment = &process->script[i];
        sim_script(thread, segment->stack,
                   segment->ns < 0 ? -segment->ns * sim->interval_ns / 1000 : segment->ns,
                   segment->runs);
    }
    if (process->count == 0)
        heavy_tailed(sim, thread);
}

static void add_amounts(struct sim *sim, int64_t credits[PROCESSES][STACKS])
{
    for (int process = 0; process < PROCESSES; process++) {
        for (int stack = 0; stack < STACKS; stack++)
            credits[process][stack] += sim_wall(sim, name_of(process), stack);
    }
}

static void run_once(struct study *study, uint64_t seed)
{
    struct sim *sim = sim_create_random(study->options, smp_random_of(seed));
    struct sim_thread *threads[PROCESSES];
    int64_t credits[PROCESSES][STACKS] = { 0 };

    /* Everything is found at the time of the tick. */
    sim->read_cost_ns = sim->walk_cost_ns = sim->tick_cost_ns = 0;
    sim->tick_cpu_ns = study->tick_cpu_ns;
    for (int i = 0; i < PROCESSES; i++) {
        if (i == BUSY && !study->has_busy)
            continue;
        threads[i] = sim_add(sim, name_of(i));
        write_script(sim, threads[i], i);
        /* Each thread starts at a random time. */
        sim_began(threads[i], (int64_t)sim_random(sim, 1000000000) * 127);
    }
    if (study->warm_up_ns > 0) {
        sim_start(sim);
        sim_run(sim, study->warm_up_ns);
        sim_pause(sim);
        sim_finish(sim);
    }
    sim_start(sim);
    const int64_t from_ns = sim->tick_ns;
    const int64_t till_ns = from_ns + RUN_TICKS * sim->interval_ns;
    while (study->period_ns > 0 && sim->tick_ns + study->period_ns < till_ns) {
        sim_run(sim, study->period_ns);
        sim_finish(sim);
        add_amounts(sim, credits);
    }
    sim_run(sim, till_ns - sim->tick_ns);
    sim_pause(sim);
    sim_finish(sim);
    add_amounts(sim, credits);
    for (int i = 0; i < PROCESSES; i++) {
        int64_t total_ns = 0;
        if (i == BUSY && !study->has_busy)
            continue;
        for (int stack = 0; stack < STACKS; stack++) {
            struct sums *sums = &study->wall[i][stack];
            const double off = (double)(credits[i][stack] - sim_truth(sim, threads[i], stack));
            total_ns += credits[i][stack];
            sums->attribution += (double)credits[i][stack];
            sums->off += off;
            sums->off2 += off * off;
            sums->most = fmax(sums->most, fabs(off));
        }
        assert_int_equal(total_ns, sim->tick_ns - from_ns);
    }
    study->runs++;
    sim_destroy(sim);
}

/* Deviations are within four standard errors; one of some thousand figures is beyond by chance. A
 * stack found in a few runs only has no standard error yet: three such runs more or less are
 * allowed. */
static void judge(const struct study *study)
{
    const double runs = study->runs;

    for (int i = 0; i < PROCESSES; i++) {
        double most = 0;
        for (int stack = 0; stack < STACKS; stack++)
            most = fmax(most, study->wall[i][stack].most);
        for (int stack = 0; stack < STACKS; stack++) {
            const struct sums *sums = &study->wall[i][stack];
            const double off = sums->off / runs;
            const double error = sqrt((sums->off2 / runs - off * off) / runs);
            if (getenv("SMP_TEST_SHOW") != NULL && sums->attribution > 0)
                print_message("%3.0f ms, %-32s stack %d: %9.3f ms, off %8.3f +- %.3f\n",
                              (double)study->interval_ns / 1e6, PROCESSES_OF[i].what, stack,
                              sums->attribution / runs / 1e6, off / 1e6, error / 1e6);
            if (fabs(off) > 4 * error + 3 * most / runs)
                fail_msg("%.0f ms, \"%s\": stack %d is off by %.3f ms, %.1f standard errors",
                         (double)study->interval_ns / 1e6, PROCESSES_OF[i].what, stack, off / 1e6,
                         off / error);
        }
    }
}

static void study_amounts(int64_t interval_ms, int64_t lookback_ms, int64_t tick_cpu_us,
                          bool has_busy, uint64_t seed)
{
    char options[160];
    struct study study = {
        .has_busy = has_busy,
        .interval_ns = interval_ms * SIM_MS,
        .options = options,
        .tick_cpu_ns = tick_cpu_us * SIM_US * interval_ms / 20,
    };

    (void)snprintf(options, sizeof(options),
                   "samplingFrequencyMillis=%lld\nidleLookbackMillis=%lld\n"
                   "overheadLimitPerMille=1000\nmemoryLimitBytes=4194304\n",
                   (long long)interval_ms, (long long)lookback_ms);
    for (uint64_t run = 0; run < runs_of_each(); run++)
        run_once(&study, run * 1000 + seed);
    judge(&study);
}

static void amounts_are_unbiased(void **state)
{
    static const int intervals_ms[] = { 1, 5, 20, 100 };
    static const int lookbacks_ms[] = { 1000, 60000 };
    /* The cost of a tick, which determines whether idle threads are polled at every tick, at some,
     * or at few. */
    static const int costs_us[] = { 3, 200, 10000 };
    uint64_t seed = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(intervals_ms) / sizeof(intervals_ms[0]); i++) {
        for (size_t l = 0; l < sizeof(lookbacks_ms) / sizeof(lookbacks_ms[0]); l++) {
            for (size_t k = 0; k < sizeof(costs_us) / sizeof(costs_us[0]); k++)
                study_amounts(intervals_ms[i], lookbacks_ms[l], costs_us[k], false, seed++);
            study_amounts(intervals_ms[i], lookbacks_ms[l], 0, true, seed++);
        }
    }
}

/* Readers that end the interval all the time change nothing either, as long as an interval is
 * longer than the mean gap between polls, which is 160 ms here. */
static void amounts_are_unbiased_with_many_intervals(void **state)
{
    static const int periods_ms[] = { 30, 250, 1000 };

    (void)state;
    for (size_t i = 0; i < sizeof(periods_ms) / sizeof(periods_ms[0]); i++) {
        struct study study = {
            .has_busy = periods_ms[i] < 200, /* this makes polls frequent */
            .interval_ns = 20 * SIM_MS,
            .options = "samplingFrequencyMillis=20\nidleLookbackMillis=5000\n"
                       "overheadLimitPerMille=1000\nmemoryLimitBytes=4194304\n",
            .tick_cpu_ns = 400 * SIM_US,
            .period_ns = periods_ms[i] * SIM_MS,
        };
        for (uint64_t run = 0; run < runs_of_each(); run++)
            run_once(&study, run * 1000 + 500 + i);
        judge(&study);
    }
}

/* Ticks cost three times the limit: they become rarer, and each thread is polled at some of them
 * only. */
static void amounts_are_unbiased_over_the_limit(void **state)
{
    /* The same in all builds: a rare stack is found in one run of thirty, and then gets
     * seconds. */
    enum { RUNS_PAST_LIMIT = 200 };

    (void)state;
    for (int has_busy = 0; has_busy < 2; has_busy++) {
        struct study study = {
            .has_busy = has_busy != 0,
            .interval_ns = 20 * SIM_MS,
            .options = "samplingFrequencyMillis=20\nidleLookbackMillis=5000\n"
                       "overheadLimitPerMille=10\nmemoryLimitBytes=4194304\n",
            .tick_cpu_ns = 600 * SIM_US,
            .warm_up_ns = 10 * SIM_S,
        };
        for (uint64_t run = 0; run < RUNS_PAST_LIMIT; run++)
            run_once(&study, run * 1000 + 600 + (uint64_t)has_busy);
        judge(&study);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_probability_of_a_poll_follows_from_the_gap),
        cmocka_unit_test(polls_are_random_with_their_probability),
        cmocka_unit_test(rare_polls_share_the_ticks_of_others),
        cmocka_unit_test(amounts_are_unbiased),
        cmocka_unit_test(amounts_are_unbiased_with_many_intervals),
        cmocka_unit_test(amounts_are_unbiased_over_the_limit),
    };
    return cmocka_run_group_tests_name("intensity", tests, NULL, NULL);
}
