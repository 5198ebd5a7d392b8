/* SPDX-License-Identifier: Apache-2.0 */
/* The weight of random draws of virtual threads that are not mounted. */
#include "engine/sources/unmounted.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "support/sampler_fixture.h"

#define MS FIXTURE_MS
#define S (1000 * MS)
#define TICK (50 * MS) /* the default interval */
#define ON "sampleUnmountedVirtualThreads=true\n"
#define UNNAMED "[virtual threads]"
#define SITE(n) "app.Main.run(F.java:1)|app.Site.wait" #n "(F.java:1)"

enum { SITES = 5, MAX_POPULATION = 20000 };

/* The threads of a fake JVM. They are in slots, as in the JDK: a draw visits slots, each with the
 * same probability. A slot may hold several threads or none. */
struct crowd {
    struct sampler_fixture *f;
    struct smp_frame frames[SITES][2];
    int site_of[MAX_POPULATION];  /* stack of a slot's threads */
    int count_of[MAX_POPULATION]; /* threads in it */
    size_t slots;
    size_t population;
    size_t mounted; /* the first ones of the threads */
    int64_t walk_cost_ns;
    int64_t draw_cost_ns; /* of each draw */
    const char *name;
    enum smp_status status;
    enum smp_status walk_status;
    uint64_t random;
    /* numbers of draws, walks and threads */
    size_t draws;
    size_t walks;
    double most_wanted;
};

static void draw_one(struct crowd *crowd, size_t slot, double weight, smp_on_drawn_thread *drawn,
                     void *context)
{
    const int site = crowd->site_of[slot];
    const struct smp_sample sample = {
        .frames = crowd->frames[site], .capacity = 2, .count = 2, .leaf_count = 2
    };
    const struct smp_drawn_thread thread = {
        .weight = weight,
        .is_mounted = slot < crowd->mounted,
        .status = crowd->walk_status,
        .sample = &sample,
        .thread = { .name = crowd->name },
    };

    if (!thread.is_mounted) {
        crowd->walks++;
        fake_clock_spend_cpu(&crowd->f->clock, crowd->walk_cost_ns);
    }
    drawn(context, &thread);
}

static enum smp_status draw(void *self, double wanted, uint64_t *random, uint64_t *population,
                            smp_on_drawn_thread *drawn, void *context)
{
    struct crowd *crowd = self;
    const double share = crowd->population == 0 || wanted > (double)crowd->population
                             ? 1
                             : wanted / (double)crowd->population;

    (void)random; /* the test's own random numbers, so that each run is the same */
    if (crowd->status != SMP_OK)
        return crowd->status;
    crowd->draws += wanted > 0;
    fake_clock_spend_cpu(&crowd->f->clock, crowd->draw_cost_ns);
    crowd->most_wanted = wanted > crowd->most_wanted ? wanted : crowd->most_wanted;
    *population = crowd->population;
    for (size_t i = 0; i < crowd->slots && wanted > 0; i++) {
        const double number = (double)smp_random_next(&crowd->random) / (double)(1ULL << 53);
        for (int j = 0; number < share && j < crowd->count_of[i]; j++)
            draw_one(crowd, i, 1 / share, drawn, context);
    }
    return SMP_OK;
}

static struct crowd crowd;

static struct sampler_fixture *begin(const char *options)
{
    struct sampler_fixture *f = sampler_fixture_create(options);
    static const char *const methods[SITES] = { "wait0", "wait1", "wait2", "wait3", "wait4" };

    memset(&crowd, 0, sizeof(crowd));
    crowd.f = f;
    crowd.random = 42;
    for (int i = 0; i < SITES; i++) {
        crowd.frames[i][0].method = fake_jvm_method(f->vm, "app.Site", methods[i]);
        crowd.frames[i][1].method = fake_jvm_method(f->vm, "app.Main", "run");
    }
    fake_jvm_set_virtual_threads(f->vm,
                                 (struct smp_virtual_threads){ .draw = draw, .self = &crowd });
    return f;
}

static void add(int site, size_t slots, int threads_in_each)
{
    for (size_t i = 0; i < slots; i++) {
        crowd.site_of[crowd.slots] = site;
        crowd.count_of[crowd.slots++] = threads_in_each;
        crowd.population += (size_t)threads_in_each;
    }
}

static void run(struct sampler_fixture *f, int64_t ns)
{
    for (int64_t i = 0; i < ns / TICK; i++)
        sampler_fixture_tick(f, TICK);
}

/* Counts the draws of the next 100 s. */
static void count_draws(struct sampler_fixture *f)
{
    crowd.walks = 0;
    crowd.draws = 0;
    run(f, 100 * S);
}

static double percent_of(const struct sampler_fixture *f, const char *path)
{
    return 100.0 * (double)sampler_fixture_total(f, UNNAMED, path) /
           (double)sampler_fixture_total(f, UNNAMED, "");
}

static void assert_near(double value, double wanted, double most)
{
    if (value < wanted - most || value > wanted + most)
        fail_msg("%f is not within %f of %f", value, most, wanted);
}

static void few_threads_get_all_their_time(void **state)
{
    struct sampler_fixture *f = begin(ON);

    (void)state;
    add(0, 6, 1);
    add(1, 3, 1);
    sampler_fixture_start(f);
    run(f, 10 * S);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_total(f, UNNAMED, SITE(0)), 60 * S);
    assert_int_equal(sampler_fixture_total(f, UNNAMED, SITE(1)), 30 * S);
    assert_int_equal(f->profile->tally.outcomes[SMP_OUTCOME_UNMOUNTED_WALKED], crowd.walks);
    assert_int_equal(f->profile->tally.polls, crowd.walks);
    assert_int_equal(f->profile->counters[SMP_COUNTER_UNMOUNTED_DRAWS], crowd.draws);
    assert_int_equal(f->profile->counters[SMP_COUNTER_UNMOUNTED_POPULATION], 9 * crowd.draws);
    assert_int_equal(sampler_fixture_group(f, UNNAMED)->thread_count, 1);
    assert_string_equal(sampler_fixture_group(f, UNNAMED)->names[0],
                        "virtual threads that are not mounted");
    sampler_fixture_destroy(f);
}

/* Each draw finds some: the sum follows the number of threads, which is known. */
static void many_threads_are_estimated_and_their_number_is_not(void **state)
{
    struct sampler_fixture *f = begin(ON);

    (void)state;
    add(0, 10000, 1);
    add(1, 6000, 1);
    add(2, 3000, 1);
    add(3, 800, 1);
    add(4, 200, 1);
    sampler_fixture_start(f);
    run(f, 100 * S);
    sampler_fixture_finish(f);
    /* 20,000 stacks: three standard deviations of one half are 1.1 points. */
    assert_near(percent_of(f, SITE(0)), 50, 1.1);
    assert_near(percent_of(f, SITE(1)), 30, 1);
    assert_near(percent_of(f, SITE(2)), 15, 0.8);
    assert_near(percent_of(f, SITE(3)), 4, 0.5);
    assert_near(percent_of(f, SITE(4)), 1, 0.3);
    /* The error bar of one in a hundred corresponds to 200 independent finds. */
    const double deviation_ms = sqrt(sampler_fixture_variance(f, UNNAMED, SITE(4)));
    const double total_ms = (double)sampler_fixture_total(f, UNNAMED, SITE(4)) / 1e6;
    assert_near(deviation_ms / total_ms * sqrt(200), 1, 0.3);
    assert_near((double)sampler_fixture_total(f, UNNAMED, "") / (20000.0 * 100 * (double)S), 1,
                0.003);
    assert_in_range(crowd.walks, 18000, 20200); /* at most 200 per second */
    sampler_fixture_destroy(f);
}

/* Threads in one slot are found together or not at all. If they were weighted by the number found
 * in a draw instead of its probability, they would get about 3 % instead of one half. */
static void threads_in_one_slot_have_their_full_weight(void **state)
{
    struct sampler_fixture *f = begin(ON);

    (void)state;
    add(0, 25, 400);
    add(1, 10000, 1);
    sampler_fixture_start(f);
    run(f, 2000 * S);
    sampler_fixture_finish(f);
    assert_near(percent_of(f, SITE(0)), 50, 3);
    /* A draw that finds four hundred threads attributes too much time; later draws compensate for
     * it. */
    assert_near((double)sampler_fixture_total(f, UNNAMED, "") / (20000.0 * 2000 * (double)S), 1,
                0.005);
    sampler_fixture_destroy(f);
}

static void mounted_threads_are_not_credited(void **state)
{
    struct sampler_fixture *f = begin(ON);

    (void)state;
    add(0, 5, 1);
    add(1, 5, 1);
    crowd.mounted = 5;
    sampler_fixture_start(f);
    run(f, 10 * S);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_total(f, UNNAMED, SITE(0)), -1);
    assert_int_equal(sampler_fixture_total(f, UNNAMED, SITE(1)), 50 * S);
    assert_int_equal(f->profile->counters[SMP_COUNTER_UNMOUNTED_FOUND_MOUNTED], 5 * crowd.draws);
    sampler_fixture_destroy(f);
}

static void named_threads_have_a_group(void **state)
{
    struct sampler_fixture *f = begin(ON);

    (void)state;
    add(0, 2, 1);
    crowd.name = "order-17";
    sampler_fixture_start(f);
    run(f, S);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_total(f, "order-", SITE(0)), 2 * S);
    sampler_fixture_destroy(f);
}

static void a_walk_that_fails_keeps_its_time(void **state)
{
    struct sampler_fixture *f = begin(ON);

    (void)state;
    add(0, 2, 1);
    crowd.walk_status = SMP_EGONE;
    sampler_fixture_start(f);
    run(f, S);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_total(f, UNNAMED, "[thread ended]"), 2 * S);
    assert_int_equal(f->profile->tally.outcomes[SMP_OUTCOME_THREAD_ENDED_IN_WALK], crowd.walks);
    sampler_fixture_destroy(f);
}

/* Half a percent of a core is 5 ms per second. */
static void expensive_walks_are_rarer(void **state)
{
    struct sampler_fixture *f = begin(ON);

    (void)state;
    add(0, 5000, 1);
    crowd.walk_cost_ns = MS;
    sampler_fixture_start(f);
    run(f, 10 * S); /* until their cost is known */
    count_draws(f);
    assert_in_range(crowd.walks, 400, 700);
    sampler_fixture_destroy(f);
}

/* If most of a draw's cost does not come from walks, draws become rarer, not smaller: 40 walks in
 * each of two draws per second cost as much as ten draws without a thread. */
static void expensive_draws_make_more_walks_each(void **state)
{
    struct sampler_fixture *f = begin(ON);

    (void)state;
    add(0, 5000, 1);
    crowd.draw_cost_ns = MS / 2;
    crowd.walk_cost_ns = MS / 20;
    sampler_fixture_start(f);
    run(f, 10 * S);
    count_draws(f);
    assert_in_range(crowd.walks, 7000, 9000);
    assert_in_range(crowd.draws, 150, 250);
    sampler_fixture_destroy(f);
}

/* Draws are expensive while others use the caches or the code is cold. */
static void draws_recover_from_a_time_of_high_cost(void **state)
{
    struct sampler_fixture *f = begin(ON);

    (void)state;
    add(0, 5000, 1);
    crowd.draw_cost_ns = 20 * MS;
    sampler_fixture_start(f);
    run(f, 20 * S);
    crowd.draw_cost_ns = 0;
    run(f, 10 * S);
    count_draws(f);
    assert_in_range(crowd.walks, 18000, 20200);
    sampler_fixture_destroy(f);
}

/* Expensive draws without a thread for a minute still find threads that come later. */
static void draws_without_a_thread_continue(void **state)
{
    struct sampler_fixture *f = begin(ON);

    (void)state;
    add(0, 40, 1);
    crowd.mounted = 40;
    crowd.draw_cost_ns = 2 * MS;
    sampler_fixture_start(f);
    run(f, 60 * S);
    crowd.mounted = 37;
    run(f, 60 * S);
    assert_true(crowd.walks > 0);
    sampler_fixture_destroy(f);
}

static void no_thread_is_drawn_if_switched_off(void **state)
{
    struct sampler_fixture *f = begin("");

    (void)state;
    add(0, 5, 1);
    sampler_fixture_start(f);
    run(f, S);
    assert_int_equal(crowd.draws, 0);
    assert_true(smp_sampler_idle_ticks(f->sampler) > 1);
    sampler_fixture_configure(f, ON);
    run(f, S);
    assert_true(crowd.draws > 5);
    assert_true(smp_sampler_idle_ticks(f->sampler) <= 1);
    sampler_fixture_configure(f, "");
    crowd.draws = 0;
    run(f, S);
    assert_int_equal(crowd.draws, 0);
    sampler_fixture_configure(f, ON "skipDaemonThreads=true\n");
    run(f, S);
    assert_int_equal(crowd.draws, 0);
    sampler_fixture_configure(f, ON);
    smp_sampler_set_filter(f->sampler, (struct smp_thread_filter){ 0 }, true);
    run(f, S);
    assert_int_equal(crowd.draws, 0);
    smp_sampler_set_filter(f->sampler, (struct smp_thread_filter){ 0 }, false);
    run(f, S);
    sampler_fixture_finish(f);
    /* The two seconds in which it was on; the last draw of each may be half a tick early. */
    assert_near((double)sampler_fixture_total(f, UNNAMED, SITE(0)), 10 * (double)S,
                5 * 4 * (double)TICK);
    sampler_fixture_destroy(f);
}

static void no_thread_is_drawn_with_the_cpu_clock(void **state)
{
    struct sampler_fixture *f = begin(ON "clock=CPU\n");

    (void)state;
    add(0, 5, 1);
    sampler_fixture_start(f);
    run(f, S);
    assert_int_equal(crowd.draws, 0);
    sampler_fixture_destroy(f);
}

static void paused_time_is_not_attributed(void **state)
{
    struct sampler_fixture *f = begin(ON);

    (void)state;
    add(0, 4, 1);
    sampler_fixture_start(f);
    run(f, S);
    smp_sampler_poll_all(f->sampler);
    sampler_fixture_pause(f);
    fake_clock_advance(&f->clock, 100 * S);
    sampler_fixture_start(f);
    run(f, S);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_total(f, UNNAMED, SITE(0)), 8 * S);
    smp_sampler_poll_all(f->sampler);
    sampler_fixture_pause(f);
    smp_sampler_tick_once(f->sampler, smp_clock_ns(), 7 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_total(f, UNNAMED, SITE(0)), 4 * 7 * MS);
    sampler_fixture_destroy(f);
}

static void failed_draws_are_repeated_later(void **state)
{
    struct sampler_fixture *f = begin(ON);

    (void)state;
    add(0, 4, 1);
    crowd.status = SMP_ENOMEM;
    sampler_fixture_start(f);
    run(f, S);
    assert_int_equal(crowd.draws, 0);
    crowd.status = SMP_OK;
    run(f, S - TICK);
    smp_sampler_poll_all(f->sampler);
    run(f, TICK);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_total(f, UNNAMED, SITE(0)), 8 * S);
    sampler_fixture_destroy(f);
}

static void a_jvm_that_refuses_is_tried_once(void **state)
{
    struct sampler_fixture *f = begin(ON);
    struct smp_sampler_figures live;
    enum smp_log_level level = SMP_LOG_INFO;
    char text[SMP_LOG_MESSAGE_BYTES];

    (void)state;
    crowd.status = SMP_EUNSUPPORTED;
    sampler_fixture_start(f);
    assert_true(smp_log_take_news(f->log));
    assert_true(smp_log_take(f->log, &level, text));
    assert_int_equal(level, SMP_LOG_WARNING);
    assert_string_equal(text, "sampleUnmountedVirtualThreads has no effect: a fake JVM");
    crowd.status = SMP_OK;
    run(f, S);
    assert_int_equal(crowd.draws, 0);
    assert_false(smp_log_take(f->log, &level, text));
    smp_sampler_get_figures(f->sampler, &live);
    assert_string_equal(live.source.refusal, "a fake JVM");
    assert_false(live.source.draws);
    assert_true(live.source.polls);
    sampler_fixture_destroy(f);
}

static void a_dump_has_the_number_of_threads(void **state)
{
    struct sampler_fixture *f = begin(ON);
    struct smp_sampler_figures live;

    (void)state;
    add(0, 4, 1);
    sampler_fixture_start(f);
    smp_sampler_get_figures(f->sampler, &live);
    assert_true(live.source.draws);
    assert_int_equal(live.source.virtual_threads, 4);
    assert_null(live.source.refusal);
    sampler_fixture_destroy(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_threads_get_all_their_time),
        cmocka_unit_test(many_threads_are_estimated_and_their_number_is_not),
        cmocka_unit_test(threads_in_one_slot_have_their_full_weight),
        cmocka_unit_test(mounted_threads_are_not_credited),
        cmocka_unit_test(named_threads_have_a_group),
        cmocka_unit_test(a_walk_that_fails_keeps_its_time),
        cmocka_unit_test(expensive_walks_are_rarer),
        cmocka_unit_test(expensive_draws_make_more_walks_each),
        cmocka_unit_test(draws_recover_from_a_time_of_high_cost),
        cmocka_unit_test(draws_without_a_thread_continue),
        cmocka_unit_test(no_thread_is_drawn_if_switched_off),
        cmocka_unit_test(no_thread_is_drawn_with_the_cpu_clock),
        cmocka_unit_test(paused_time_is_not_attributed),
        cmocka_unit_test(failed_draws_are_repeated_later),
        cmocka_unit_test(a_jvm_that_refuses_is_tried_once),
        cmocka_unit_test(a_dump_has_the_number_of_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
