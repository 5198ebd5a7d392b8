/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures how often the true time of a row is inside its error bar, and how wide the bar is. The
 * whole sampler runs on a simulated machine, for 30 s at a time, with a dozen kinds of threads.
 *
 * SMP_TEST_ROUNDS: the number of runs of each kind; bench/results/error-bars.md has 1,000.
 * SMP_TEST_SHOW: prints the figures, as rows of that table.
 */
#include "model/error_range.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "support/rounds.h"
#include "support/sim.h"

enum {
    MOST_THREADS = 50,
    ROWS = 5,
    LONGEST_STACK = 4,
    RUN_S = 30,
    ENOUGH_RUNS = 500 /* from this number of runs on, the figures are asserted */
};

#define WORK (-1) /* the row of all stacks above 0 */

/* --- kinds of threads --- */

/* Returns a random time between one half and one and a half of ns. */
static int64_t about(struct sim *sim, int64_t ns)
{
    return ns / 2 + (int64_t)sim_random(sim, (uint64_t)ns);
}

/* Runs in its stacks in turn, for random times. */
static void busy(struct sim *sim, struct sim_thread *thread, int64_t mean_ns)
{
    for (int i = 0; i < SIM_MAX_SEGMENTS; i++)
        sim_script(thread, (int)sim_random(sim, 3), about(sim, mean_ns), true);
}

/* Waits, then works: half of the work at stack 1, a sixth at 2, a twentieth at 3. */
static void sleepy(struct sim *sim, struct sim_thread *thread, int64_t wait_ns, int64_t work_ns)
{
    for (int i = 0; i + 5 <= SIM_MAX_SEGMENTS; i += 5) {
        sim_script(thread, 0, about(sim, wait_ns), false);
        sim_script(thread, 4, work_ns * 28 / 100, true);
        sim_script(thread, 1, work_ns / 2, true);
        sim_script(thread, 3, work_ns / 20, true);
        sim_script(thread, 2, work_ns * 17 / 100, true);
    }
}

static void busy_50_us(struct sim *sim, struct sim_thread *thread)
{
    busy(sim, thread, 50 * SIM_US);
}

static void busy_10_ms(struct sim *sim, struct sim_thread *thread)
{
    busy(sim, thread, 10 * SIM_MS);
}

static void busy_200_ms(struct sim *sim, struct sim_thread *thread)
{
    busy(sim, thread, 200 * SIM_MS);
}

static void loop(struct sim_thread *thread, int64_t ns)
{
    sim_script(thread, 0, ns / 2, true);
    sim_script(thread, 1, ns * 3 / 10, true);
    sim_script(thread, 2, ns / 5, true);
}

static void loop_7_ms(struct sim *sim, struct sim_thread *thread)
{
    (void)sim;
    loop(thread, 7300 * SIM_US);
}

static void loop_20_ms(struct sim *sim, struct sim_thread *thread)
{
    (void)sim;
    loop(thread, 20 * SIM_MS);
}

static void sleepy_1_s(struct sim *sim, struct sim_thread *thread)
{
    sleepy(sim, thread, SIM_S, 30 * SIM_MS);
}

static void sleepy_100_ms(struct sim *sim, struct sim_thread *thread)
{
    sleepy(sim, thread, 100 * SIM_MS, 500 * SIM_US);
}

static void sleepy_3_s(struct sim *sim, struct sim_thread *thread)
{
    sleepy(sim, thread, 3 * SIM_S, 3 * SIM_MS);
}

static void timer(struct sim *sim, struct sim_thread *thread)
{
    (void)sim;
    sim_script(thread, 0, 47 * SIM_MS, false);
    sim_script(thread, 1, 2 * SIM_MS, true);
    sim_script(thread, 2, SIM_MS, true);
}

/* Two seconds of short states, then five seconds without a change. */
static void on_and_off(struct sim *sim, struct sim_thread *thread)
{
    enum { PARTS = 60 };

    sim_script(thread, 0, 5 * SIM_S, false);
    for (int i = 0; i < PARTS; i++)
        sim_script(thread,
                   i % 20 < 11   ? 1
                   : i % 20 < 14 ? 2
                   : i % 20 < 15 ? 3
                                 : 4,
                   about(sim, 2 * SIM_S / PARTS), true);
}

static const struct way {
    const char *what;
    void (*write)(struct sim *sim, struct sim_thread *thread);
    int threads;
    bool in_step;
    /* period of its cycle; if a tick is longer, 93 to 97 % must be covered. 0: none */
    int64_t period_us;
    int rows[ROWS];
    int row_count;
} WAYS[] = {
    { "busy, states of 50 us", busy_50_us, 1, false, 50, { 0, 1, 2 }, 3 },
    { "busy, states of 10 ms", busy_10_ms, 1, false, 0, { 0, 1, 2 }, 3 },
    { "busy, phases of 200 ms", busy_200_ms, 1, false, 0, { 0, 1, 2 }, 3 },
    { "loop of 7.3 ms", loop_7_ms, 1, false, 7300, { 0, 1, 2 }, 3 },
    { "loop of exactly 20 ms", loop_20_ms, 1, false, 0, { 0, 1, 2 }, 3 },
    { "sleeps 1 s, works 30 ms", sleepy_1_s, 1, false, 0, { WORK, 1, 2, 3 }, 4 },
    { "sleeps 100 ms, works 0.5 ms", sleepy_100_ms, 1, false, 0, { WORK, 1, 2, 3 }, 4 },
    { "sleeps 3 s, works 3 ms", sleepy_3_s, 1, false, 0, { WORK, 1, 2, 3 }, 4 },
    { "timer, 3 ms each 50 ms", timer, 1, false, 0, { WORK, 1, 2 }, 3 },
    { "on 2 s, off 5 s", on_and_off, 1, false, 0, { WORK, 1, 2, 3 }, 4 },
    { "50 threads alone, sleepy", sleepy_1_s, 50, false, 0, { WORK, 1, 2, 3 }, 4 },
    { "50 threads in step, sleepy", sleepy_1_s, 50, true, 0, { WORK, 1, 2, 3 }, 4 },
    { "50 threads in step, busy", busy_10_ms, 50, true, 0, { 0, 1, 2 }, 3 },
};

/* --- a run --- */

struct figures {
    double runs; /* runs in which the row has time */
    double covered;
    double off2;
    double off;
    double half_width;
};

struct study {
    const struct way *way;
    int64_t interval_ns;
    double runs;
    struct figures wall[ROWS];
    struct figures cpu[ROWS];
};

static void copy_script(const struct sim_thread *from, struct sim_thread *to)
{
    for (size_t i = 0; i < from->segments; i++)
        sim_script(to, from->script[i].stack, from->script[i].ns, from->script[i].runs);
}

static void add_threads(struct sim *sim, const struct way *way, struct sim_thread **threads)
{
    const int64_t began_ns = (int64_t)sim_random(sim, 1000000000) * 61;
    char name[16];

    for (int i = 0; i < way->threads; i++) {
        (void)snprintf(name, sizeof(name), "p-%d", i);
        threads[i] = sim_add(sim, name);
        if (i > 0 && way->in_step)
            copy_script(threads[0], threads[i]);
        else
            way->write(sim, threads[i]);
        sim_began(threads[i], way->in_step ? began_ns : (int64_t)sim_random(sim, 1000000000) * 61);
    }
}

static int64_t truth_of(struct sim *sim, const struct way *way, struct sim_thread **threads,
                        int row)
{
    int64_t sum = 0;

    for (int i = 0; i < way->threads; i++) {
        for (int stack = row == WORK ? 1 : row; stack <= (row == WORK ? LONGEST_STACK : row);
             stack++)
            sum += sim_truth(sim, threads[i], stack);
    }
    return sum;
}

/* Returns 0 if there is no such node. */
static uint32_t node_of(const struct sim *sim, int row)
{
    const struct smp_profile *const profile = sim->profile;
    const struct smp_node *const nodes = smp_tree_nodes(profile->tree);
    char text[16] = SIM_WORK;

    if (row != WORK)
        (void)snprintf(text, sizeof(text), "m%d", row);
    for (uint32_t node = 1; node < smp_tree_node_count(profile->tree); node++) {
        struct smp_location_view view;
        if (smp_node_is_group(&nodes[node]))
            continue;
        smp_methods_view(profile->methods, nodes[node].location, &view);
        if (!view.is_pseudo && strcmp(view.method_name, text) == 0)
            return node;
    }
    return 0;
}

/* slack_ns: the true time is taken at the tick, but clocks are read some microseconds later. */
static void add_figures(struct figures *figures, int64_t amount, int64_t truth,
                        struct smp_error_range range, int64_t slack_ns)
{
    const double off = (double)(amount - truth);

    figures->runs++;
    figures->covered += range.lower - slack_ns <= truth && truth <= range.upper + slack_ns;
    figures->off += off;
    figures->off2 += off * off;
    figures->half_width += (double)(range.upper - range.lower) / 2;
}

static void study_run(struct study *study, uint64_t seed)
{
    char options[160];
    struct sim_thread *threads[MOST_THREADS];
    struct sim *sim;

    (void)snprintf(options, sizeof(options),
                   "samplingFrequencyMillis=%d\noverheadLimitPerMille=1000\n"
                   "memoryLimitBytes=4194304\n",
                   (int)(study->interval_ns / SIM_MS));
    sim = sim_create_random(options, smp_random_of(seed));
    sim->walk_cost_ns = sim->tick_cost_ns = 0;
    sim->tick_cpu_ns = 40 * SIM_US;
    sim->jitter_percent = 50;
    sim->has_work = study->way->rows[0] == WORK;
    add_threads(sim, study->way, threads);
    sim_start(sim);
    sim_run(sim, RUN_S * SIM_S);
    sim_pause(sim);
    sim_finish(sim);
    const struct smp_group_errors errors =
        smp_group_errors_of(sim->profile, sim_group(sim, "p-")->root);
    for (int i = 0; i < study->way->row_count; i++) {
        const int row = study->way->rows[i];
        const uint32_t node = node_of(sim, row);
        const int64_t truth = truth_of(sim, study->way, threads, row);
        struct smp_error_range range;
        if (node != 0 && smp_group_errors_range(&errors, node, SMP_MEASURE_WALL, &range))
            add_figures(&study->wall[i],
                        smp_column_at(smp_tree_column(sim->profile->tree, SMP_MEASURE_WALL), node),
                        truth, range, 0);
        if (row > 0 && node != 0 && smp_group_errors_range(&errors, node, SMP_MEASURE_CPU, &range))
            add_figures(&study->cpu[i],
                        smp_column_at(smp_tree_column(sim->profile->tree, SMP_MEASURE_CPU), node),
                        truth, range, study->way->threads * 20 * SIM_US);
    }
    sim_destroy(sim);
}

/* --- judging --- */

static double coverage(const struct figures *figures)
{
    return figures->covered / figures->runs * 100;
}

/* Returns the half width of the bars in units of 1.96 standard deviations of the true error. */
static double width(const struct figures *figures)
{
    const double off = figures->off / figures->runs;

    return figures->half_width / figures->runs /
           (1.96 * sqrt(figures->off2 / figures->runs - off * off));
}

static void show(const struct study *study, const struct figures *rows, const char *what)
{
    if (getenv("SMP_TEST_SHOW") == NULL)
        return;
    print_message("| %s | %s | %d ms |", study->way->what, what,
                  (int)(study->interval_ns / SIM_MS));
    for (int i = 0; i < study->way->row_count; i++) {
        if (rows[i].runs > 0)
            print_message(" %.1f (%.2f%s)", coverage(&rows[i]), width(&rows[i]),
                          rows[i].runs < study->runs / 2 ? ", few" : "");
    }
    print_message(" |\n");
}

/* Returns by how many points a row may deviate by chance in fewer than one case of a thousand. */
static double by_chance(double percent, double runs)
{
    return runs < ENOUGH_RUNS ? 3.3 * sqrt(percent * (100 - percent) / runs) : 0;
}

/* Rows found by few runs are not judged, because the width would lack the other runs. */
static void judge(const struct study *study, const struct figures *rows, const char *what)
{
    for (int i = 0; i < study->way->row_count; i++) {
        const bool is_short =
            study->way->period_us > 0 && study->way->period_us * SIM_US < study->interval_ns;
        const double least = is_short ? 93 : 88;
        const double runs = rows[i].runs;
        if (runs < study->runs / 2)
            continue;
        if (coverage(&rows[i]) < least - by_chance(least, runs))
            fail_msg("%s, %s of row %d: %.1f %%", study->way->what, what, i, coverage(&rows[i]));
        if (is_short && coverage(&rows[i]) > 97 + by_chance(97, runs))
            fail_msg("%s, %s of row %d: %.1f %%", study->way->what, what, i, coverage(&rows[i]));
        if (width(&rows[i]) > 2.5 + (runs < ENOUGH_RUNS ? 10 / sqrt(runs) : 0))
            fail_msg("%s, %s of row %d: %.2f times as wide as it should be", study->way->what, what,
                     i, width(&rows[i]));
    }
}

/* Fewer runs than these are too few to judge by. */
enum { RUNS = 15 };

/* Fifty threads cost as much as all other kinds together, so they run only at night. */
static void study_ways(int64_t interval_ns)
{
    const bool is_night = test_rounds(RUNS) >= RUNS;
    const long runs = is_night ? test_rounds(RUNS) : RUNS;

    for (size_t i = 0; i < sizeof(WAYS) / sizeof(WAYS[0]); i++) {
        struct study study = { .way = &WAYS[i], .interval_ns = interval_ns, .runs = (double)runs };
        if (!is_night && WAYS[i].threads > 1)
            continue;
        for (long run = 0; run < runs; run++)
            study_run(&study, (uint64_t)run * 1000 + i);
        show(&study, study.wall, "wall");
        show(&study, study.cpu, "CPU");
        judge(&study, study.wall, "wall");
        judge(&study, study.cpu, "CPU");
    }
}

static void error_bars_contain_the_true_time(void **state)
{
    (void)state;
    study_ways(20 * SIM_MS);
}

static void error_bars_contain_the_true_time_at_four_times_the_rate(void **state)
{
    (void)state;
    study_ways(5 * SIM_MS);
}

/* The limit allows few polls per interval, so the first or the last poll often decides. */
static void assert_bars_of_rare_polls(int64_t tick_cpu_ns)
{
    enum { INTERVALS = 300, INTERVAL_MS = 300, LEAST_PERCENT = 88 };
    struct sim *sim = sim_create_random("samplingFrequencyMillis=5\noverheadLimitPerMille=10\n", 3);
    struct sim_thread *thread = sim_add(sim, "p-1");
    int64_t truth = 0;
    int covered = 0;
    int found = 0;

    busy(sim, thread, SIM_MS);
    sim->tick_cpu_ns = tick_cpu_ns;
    sim->jitter_percent = 50;
    sim_start(sim);
    sim_run(sim, 20 * SIM_S); /* at the start the limit allows more */
    sim_finish(sim);
    truth = sim_truth(sim, thread, 1);
    for (int i = 0; i < INTERVALS; i++) {
        struct smp_error_range range;
        sim_run(sim, INTERVAL_MS * SIM_MS);
        sim_finish(sim);
        const int64_t before = truth;
        truth = sim_truth(sim, thread, 1);
        const uint32_t node = node_of(sim, 1);
        const struct smp_group_errors errors =
            smp_group_errors_of(sim->profile, sim_group(sim, "p-")->root);
        if (node == 0 || !smp_group_errors_range(&errors, node, SMP_MEASURE_WALL, &range))
            continue;
        found++;
        covered += range.lower <= truth - before && truth - before <= range.upper;
    }
    print_message("%d of %d bars have it\n", covered, found);
    assert_true(found > INTERVALS / 4);
    assert_true(covered * 100 >= found * LEAST_PERCENT);
    sim_destroy(sim);
}

static void rare_polls_in_short_intervals_have_wide_error_bars(void **state)
{
    (void)state;
    assert_bars_of_rare_polls(400 * SIM_US);
    assert_bars_of_rare_polls(1000 * SIM_US);
}

/* The clock proves which stack the thread had, however rarely it is polled. */
static void a_thread_that_waits_all_the_time_is_exact(void **state)
{
    struct sim *sim = sim_create("samplingFrequencyMillis=20\n");
    struct smp_error_range range;

    (void)state;
    sim_add_waiting(sim, "idle-1", 0);
    sim_start(sim);
    sim_run(sim, 10 * SIM_S);
    sim_pause(sim);
    sim_finish(sim);
    const struct smp_group_errors errors =
        smp_group_errors_of(sim->profile, sim_group(sim, "idle-")->root);
    const uint32_t node = node_of(sim, 0);
    assert_true(smp_group_errors_range(&errors, node, SMP_MEASURE_WALL, &range));
    assert_int_equal(range.lower, range.upper);
    assert_int_equal(range.lower, sim_wall(sim, "idle-", 0));
    sim_destroy(sim);
}

static void error_bars_can_be_switched_off_and_on(void **state)
{
    struct sim *sim = sim_create("samplingFrequencyMillis=20\nerrorBars=false\n");

    (void)state;
    loop_7_ms(sim, sim_add(sim, "p-1"));
    sim_start(sim);
    sim_run(sim, SIM_S);
    sim_finish(sim);
    assert_false(smp_tree_has_errors(sim->profile->tree));
    /* It takes effect from the next interval on. */
    sim_configure(sim, "samplingFrequencyMillis=20\nerrorBars=true\n");
    sim_run(sim, SIM_S);
    sim_finish(sim);
    sim_run(sim, SIM_S);
    sim_finish(sim);
    assert_true(smp_tree_has_errors(sim->profile->tree));
    assert_int_equal(sim->profile->counters[SMP_COUNTER_LOST_ERRORS], 0);
    sim_destroy(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(error_bars_contain_the_true_time),
        cmocka_unit_test(error_bars_contain_the_true_time_at_four_times_the_rate),
        cmocka_unit_test(rare_polls_in_short_intervals_have_wide_error_bars),
        cmocka_unit_test(a_thread_that_waits_all_the_time_is_exact),
        cmocka_unit_test(error_bars_can_be_switched_off_and_on),
    };
    return cmocka_run_group_tests_name("error bars", tests, NULL, NULL);
}
