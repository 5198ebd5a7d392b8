/* SPDX-License-Identifier: Apache-2.0 */
/* The sampler without memory, at any moment: no time is lost, and the failure is counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "engine/session/sampler.h"
#include "model/profile_merge.h"
#include "support/failing_alloc.h"
#include "support/sampler_fixture.h"
#include "support/tally_sum.h"

#define MS FIXTURE_MS
#define SMALLEST "memoryLimitBytes=4194304\n"
#define OVER_LIMIT "[over memory limit]"
#define MAIN_LOOP "app.Main.main|app.Work.loop"
#define LOOP "app.Main.main(F.java:1)|app.Work.loop(F.java:1)"

enum { DEPTH = 200, CLASSES = 40 };

/* --- the limit --- */

static void run_something_new(struct sampler_fixture *f, struct fake_thread *thread, unsigned seed)
{
    struct smp_frame frames[DEPTH];
    char name[32];

    for (unsigned i = 0; i < DEPTH; i++) {
        seed = seed * 1664525 + 1013904223;
        (void)snprintf(name, sizeof(name), "app.C%c%c", 'a' + (int)(seed >> 16) % CLASSES % 26,
                       'a' + (int)(seed >> 16) % CLASSES / 26);
        frames[i] = (struct smp_frame){ .method = fake_jvm_method(f->vm, name, "m"),
                                        .bci = (int64_t)(seed >> 24) % 8 };
    }
    fake_jvm_run_frames(f->vm, thread, frames, DEPTH);
}

static void fill_tree(struct sampler_fixture *f, struct fake_thread *thread)
{
    for (unsigned i = 0; i < 400; i++) {
        run_something_new(f, thread, i);
        sampler_fixture_tick(f, 50 * MS);
    }
}

static void a_full_tree_still_counts_for_the_group(void **state)
{
    struct sampler_fixture *f = sampler_fixture_create(SMALLEST);
    struct fake_thread *thread = fake_jvm_start(f->vm, "busy");
    struct fake_thread *quiet = fake_jvm_start(f->vm, "quiet");
    enum smp_log_level level;
    char text[SMP_LOG_MESSAGE_BYTES];

    (void)state;
    fake_jvm_run(f->vm, quiet, MAIN_LOOP);
    sampler_fixture_start(f);
    fill_tree(f, thread);
    sampler_fixture_finish(f);
    const uint64_t over =
        sampler_fixture_group(f, "busy")->tally.outcomes[SMP_OUTCOME_OVER_MEMORY_LIMIT];
    assert_in_range(over, 1, 399);
    assert_int_equal(sampler_fixture_total(f, "busy", ""), 400 * 50 * MS);
    assert_int_equal(sampler_fixture_self(f, "busy", OVER_LIMIT), (int64_t)over * 50 * MS);
    /* Stacks that are already in the tree get their time as before. */
    assert_int_equal(sampler_fixture_self(f, "quiet", LOOP), 400 * 50 * MS);
    assert_true(smp_log_take_news(f->log));
    assert_false(smp_log_take_news(f->log));
    assert_true(smp_log_take(f->log, &level, text));
    assert_int_equal(level, SMP_LOG_WARNING);
    assert_non_null(strstr(text, "memory limit of 4194304 bytes"));
    /* A new interval has new memory. */
    run_something_new(f, thread, 1);
    sampler_fixture_tick(f, 50 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(f->profile->tally.outcomes[SMP_OUTCOME_OVER_MEMORY_LIMIT], 0);
    sampler_fixture_destroy(f);
}

enum { SHALLOW = 30, POLLS = 9000, HOT_EVERY = 10 };

/* One of thousands of stacks that occur once; every tenth time a stack that occurs again. */
static void run_one_of_many(struct sampler_fixture *f, struct fake_thread *thread, unsigned i)
{
    struct smp_frame frames[SHALLOW];
    unsigned seed = i * 2654435761U;

    if (i % HOT_EVERY == 0) {
        fake_jvm_run(f->vm, thread, MAIN_LOOP);
        return;
    }
    for (unsigned at = 0; at < SHALLOW; at++) {
        seed = seed * 1664525 + 1013904223;
        frames[at] = (struct smp_frame){
            .method = fake_jvm_method(f->vm, (seed >> 28) % 2 == 0 ? "app.A" : "app.B", "m"),
            .bci = (int64_t)(seed >> 24) % 8,
        };
    }
    fake_jvm_run_frames(f->vm, thread, frames, SHALLOW);
}

static int64_t folded_ns(const struct smp_profile *profile)
{
    const uint32_t folded = smp_methods_folded(profile->methods);
    int64_t sum_ns = 0;

    for (uint32_t node = 1; node < smp_tree_node_count(profile->tree); node++) {
        if (smp_tree_nodes(profile->tree)[node].location == folded)
            sum_ns += smp_tree_self(profile->tree, node, SMP_MEASURE_WALL);
    }
    return sum_ns;
}

/* There are many more stacks than memory for them: none is refused, and a frequent stack has its
 * time. */
static void a_full_tree_is_folded(void **state)
{
    struct sampler_fixture *f = sampler_fixture_create(SMALLEST);
    struct fake_thread *thread = fake_jvm_start(f->vm, "busy");
    struct fake_thread *quiet = fake_jvm_start(f->vm, "quiet");
    enum smp_log_level level;
    char text[SMP_LOG_MESSAGE_BYTES];
    struct smp_sampler_figures stats;

    (void)state;
    fake_jvm_run(f->vm, quiet, MAIN_LOOP);
    sampler_fixture_start(f);
    for (unsigned i = 0; i < POLLS; i++) {
        run_one_of_many(f, thread, i);
        sampler_fixture_tick(f, 50 * MS);
    }
    smp_sampler_get_figures(f->sampler, &stats);
    sampler_fixture_finish(f);
    assert_true(f->profile->counters[SMP_COUNTER_FOLDED_ROWS] > 20000);
    assert_int_equal(stats.total_counters[SMP_COUNTER_FOLDED_ROWS],
                     f->profile->counters[SMP_COUNTER_FOLDED_ROWS]);
    assert_int_equal(f->profile->tally.outcomes[SMP_OUTCOME_OVER_MEMORY_LIMIT], 0);
    assert_int_equal(f->profile->counters[SMP_COUNTER_LOST_STATES], 0);
    assert_int_equal(f->profile->counters[SMP_COUNTER_LOST_ERRORS], 0);
    assert_int_equal(sampler_fixture_total(f, "busy", ""), POLLS * 50 * MS);
    assert_int_equal(sampler_fixture_self(f, "busy", LOOP), POLLS / HOT_EVERY * 50 * MS);
    assert_int_equal(sampler_fixture_self(f, "quiet", LOOP), POLLS * 50 * MS);
    assert_true(folded_ns(f->profile) > 0);
    assert_true(smp_log_take_news(f->log));
    assert_true(smp_log_take(f->log, &level, text));
    assert_int_equal(level, SMP_LOG_INFO);
    assert_non_null(strstr(text, SMP_FOLDED_NAME));
    assert_false(smp_log_take(f->log, &level, text));
    sampler_fixture_destroy(f);
}

/* There is no room left for its own [over memory limit]. */
static void a_group_that_comes_too_late_is_the_overflow_group(void **state)
{
    struct sampler_fixture *f = sampler_fixture_create(SMALLEST);
    struct fake_thread *busy = fake_jvm_start(f->vm, "busy");
    struct fake_thread *late[2800];
    char name[64];

    (void)state;
    sampler_fixture_start(f);
    for (unsigned i = 0; i < 2800; i++) {
        (void)snprintf(name, sizeof(name), "late-%c%c%c", 'a' + (int)(i % 26),
                       'a' + (int)(i / 26 % 26), 'a' + (int)(i / 676));
        late[i] = fake_jvm_start(f->vm, name);
    }
    for (unsigned i = 0; i < 2800; i++)
        fake_jvm_run(f->vm, late[i], MAIN_LOOP);
    run_something_new(f, busy, 1);
    sampler_fixture_tick(f, 50 * MS);
    sampler_fixture_finish(f);
    const struct smp_group_info *overflow = sampler_fixture_group(f, "[over group limit]");
    assert_true(overflow->tally.polls > 0);
    assert_int_equal(sampler_fixture_sum(f), 2801 * 50 * MS);
    sampler_fixture_destroy(f);
}

/* --- a thread for each request --- */

enum { MANY_REQUESTS = 30000, FEW_REQUESTS = 200, AT_A_TIME = 20 };

static void serve_requests(struct sampler_fixture *f, unsigned requests)
{
    struct fake_thread *threads[AT_A_TIME];

    for (unsigned i = 0; i < requests / AT_A_TIME; i++) {
        for (unsigned k = 0; k < AT_A_TIME; k++) {
            threads[k] = fake_jvm_start(f->vm, "request");
            fake_jvm_run(f->vm, threads[k], MAIN_LOOP);
        }
        sampler_fixture_tick(f, 50 * MS);
        for (unsigned k = 0; k < AT_A_TIME; k++)
            fake_jvm_end(f->vm, threads[k]);
    }
    sampler_fixture_tick(f, 50 * MS);
    sampler_fixture_finish(f);
}

static uint64_t count_threads(const struct smp_profile *profile, const char *name)
{
    struct smp_group group = { 0 };

    assert_true(
        smp_thread_groups_peek(profile->groups, (struct smp_group_key){ .name = name }, &group));
    assert_int_equal(smp_thread_groups_info(profile->groups, group)->names_lost, 0);
    return smp_thread_groups_info(profile->groups, group)->thread_count;
}

/* One interval has many more of them than there is memory for. */
static void all_short_lived_threads_are_counted(void **state)
{
    struct sampler_fixture *f = sampler_fixture_create(SMALLEST);
    struct fake_thread *const quiet = fake_jvm_start(f->vm, "quiet");

    (void)state;
    fake_jvm_run(f->vm, quiet, MAIN_LOOP);
    sampler_fixture_start(f);
    for (int interval = 0; interval < 2; interval++) {
        serve_requests(f, MANY_REQUESTS);
        assert_int_equal(count_threads(f->profile, "request"), MANY_REQUESTS);
        assert_int_equal(count_threads(f->profile, "quiet"), 1);
        assert_int_equal(f->profile->tally.outcomes[SMP_OUTCOME_OVER_MEMORY_LIMIT], 0);
    }
    sampler_fixture_destroy(f);
}

static bool is_known(struct smp_profile *profile, const char *name, uint64_t serial)
{
    const uint64_t before = count_threads(profile, name);
    const struct smp_group group =
        smp_thread_groups_find(profile->groups, (struct smp_group_key){ .name = name });

    smp_thread_groups_see(profile->groups, group, serial, name);
    return count_threads(profile, name) == before;
}

/* An interval that waits for a reader grows as long as the process runs. */
static void merged_intervals_know_the_living_threads(void **state)
{
    const struct smp_merge_limits limits = { 1 << 20, 1 << 19, 1 << 19 };
    struct sampler_fixture *f = sampler_fixture_create(SMALLEST);
    struct fake_thread *const first = fake_jvm_start(f->vm, "first");
    struct smp_profile *merged = NULL;

    (void)state;
    fake_jvm_run(f->vm, first, MAIN_LOOP);
    sampler_fixture_start(f);
    serve_requests(f, FEW_REQUESTS);
    struct smp_profile *const early = smp_profile_hold(f->profile);
    struct fake_thread *const request = fake_jvm_start(f->vm, "request");
    struct fake_thread *const last = fake_jvm_start(f->vm, "last");
    fake_jvm_run(f->vm, request, MAIN_LOOP);
    fake_jvm_run(f->vm, last, MAIN_LOOP);
    sampler_fixture_tick(f, 50 * MS);
    fake_jvm_end(f->vm, request);
    serve_requests(f, FEW_REQUESTS);
    const struct smp_profile *const parts[] = { early, f->profile };
    assert_int_equal(smp_profile_merge_within(&f->quota, parts, 2, limits, &merged), SMP_OK);
    assert_int_equal(count_threads(merged, "request"), 2 * FEW_REQUESTS + 1);
    assert_false(is_known(merged, "request", request->thread.serial));
    assert_true(is_known(merged, "first", first->thread.serial));
    assert_true(is_known(merged, "last", last->thread.serial));
    smp_profile_release(merged);
    smp_profile_release(early);
    sampler_fixture_destroy(f);
}

/* A method with a long name. */
static void run_another_method(struct sampler_fixture *f, struct fake_thread *thread, unsigned i)
{
    struct smp_frame frame = { .bci = 0 };
    char name[200];

    (void)snprintf(name, sizeof(name), "app.%0150d.C%c", 0, 'a' + (int)(i % 26));
    name[20 + i % 26] = (char)('a' + i / 26 % 26);
    name[60] = (char)('a' + i / 676);
    frame.method = fake_jvm_method(f->vm, name, "m");
    fake_jvm_run_frames(f->vm, thread, &frame, 1);
    sampler_fixture_tick(f, 50 * MS);
}

static void a_full_names_table_is_compacted_at_the_end_of_an_interval(void **state)
{
    struct sampler_fixture *f = sampler_fixture_create(SMALLEST);
    struct fake_thread *thread = fake_jvm_start(f->vm, "main");
    struct smp_sampler_figures stats;
    size_t most = 0;

    (void)state;
    sampler_fixture_start(f);
    for (unsigned i = 0; i < 4000; i++) {
        run_another_method(f, thread, i);
        if (i % 100 == 99) {
            sampler_fixture_finish(f);
            assert_int_equal(sampler_fixture_sum(f), 100 * 50 * MS);
            assert_int_equal(f->profile->tally.outcomes[SMP_OUTCOME_OVER_MEMORY_LIMIT], 0);
            smp_sampler_get_figures(f->sampler, &stats);
            most = stats.locations > most ? stats.locations : most;
        }
    }
    /* The table does not hold all names that were ever seen, and the reports are complete. */
    assert_in_range(most, 500, 3900);
    sampler_fixture_destroy(f);
}

enum { BUSY_TID = 1, IDLE_TID };

static bool read_two_clocks(void *self, int32_t tid, int64_t *out)
{
    *out = tid == BUSY_TID ? atomic_load(&((struct fake_clock *)self)->ns) : 1;
    return true;
}

/* The thread is not walked again, and the source may no longer know the keys of its old stack. */
static void compacting_keeps_the_names_of_an_idle_threads_stack(void **state)
{
    struct sampler_fixture *f = sampler_fixture_create(SMALLEST);
    struct fake_thread *busy = fake_jvm_start(f->vm, "busy");
    struct fake_thread *idle = fake_jvm_start(f->vm, "idle");
    struct smp_sampler_figures before;
    struct smp_sampler_figures after;
    size_t walks;

    (void)state;
    f->clock.seam.thread_cpu_ns = read_two_clocks;
    fake_jvm_identify(busy, BUSY_TID);
    fake_jvm_identify(idle, IDLE_TID);
    fake_jvm_run(f->vm, idle, MAIN_LOOP);
    sampler_fixture_start(f);
    for (unsigned i = 0; i < 2000; i++)
        run_another_method(f, busy, i);
    sampler_fixture_finish(f);
    smp_sampler_get_figures(f->sampler, &before);
    fake_jvm_unload(f->vm, fake_jvm_method(f->vm, "app.Main", "main"));
    fake_jvm_unload(f->vm, fake_jvm_method(f->vm, "app.Work", "loop"));
    walks = fake_jvm_get_counts(f->vm).walks;
    for (int i = 0; i < 3; i++) { /* the second interval is without the methods of the first */
        sampler_fixture_tick(f, 50 * MS);
        sampler_fixture_finish(f);
        assert_int_equal(sampler_fixture_total(f, "idle", LOOP), 50 * MS);
    }
    smp_sampler_get_figures(f->sampler, &after);
    assert_true(after.locations < before.locations / 2);
    assert_int_equal(fake_jvm_get_counts(f->vm).walks, walks + 3); /* of the busy thread */
    sampler_fixture_destroy(f);
}

/* Without the name of a frame it would be another stack. */
static void a_stack_that_cannot_be_named_is_over_the_limit(void **state)
{
    struct sampler_fixture *f = sampler_fixture_create(SMALLEST);
    struct fake_thread *thread = fake_jvm_start(f->vm, "main");
    struct smp_frame frames[2] = { { .bci = 0 }, { .bci = 0 } };
    char name[256];

    (void)state;
    frames[1].method = fake_jvm_method(f->vm, "app.Main", "main");
    sampler_fixture_start(f);
    for (unsigned i = 0; i < 4000; i++) {
        (void)snprintf(name, sizeof(name), "app.%0240d", 0);
        for (unsigned bit = 0; bit < 12; bit++)
            name[20 + bit] = (i >> bit & 1) != 0 ? 'a' : 'b';
        frames[0].method = fake_jvm_method(f->vm, name, "m");
        fake_jvm_run_frames(f->vm, thread, frames, 2);
        sampler_fixture_tick(f, 50 * MS);
    }
    sampler_fixture_finish(f);
    const uint64_t over = f->profile->tally.outcomes[SMP_OUTCOME_OVER_MEMORY_LIMIT];
    assert_in_range(over, 100, 3900);
    assert_int_equal(sampler_fixture_self(f, "main", OVER_LIMIT), (int64_t)over * 50 * MS);
    assert_int_equal(sampler_fixture_total(f, "main", "app.Main.main(F.java:1)"),
                     (int64_t)(4000 - over) * 50 * MS);
    sampler_fixture_destroy(f);
}

static void the_last_finish_frees_memory_for_itself(void **state)
{
    struct sampler_fixture *f = sampler_fixture_create(SMALLEST);
    struct fake_thread *thread = fake_jvm_start(f->vm, "main");
    struct smp_profile *profile = NULL;

    (void)state;
    run_something_new(f, thread, 1);
    sampler_fixture_start(f);
    sampler_fixture_tick(f, 50 * MS);
    const size_t left = f->quota.limit_bytes - smp_quota_used(&f->quota);
    assert_true(smp_quota_take(&f->quota, left));
    assert_int_not_equal(
        smp_sampler_finish_interval(f->sampler, smp_clock_ns(), smp_clock_wall_ms(), &profile),
        SMP_OK);
    assert_int_equal(
        smp_sampler_finish_last(f->sampler, smp_clock_ns(), smp_clock_wall_ms(), &f->profile),
        SMP_OK);
    assert_int_equal(sampler_fixture_sum(f), 50 * MS);
    smp_quota_give(&f->quota, left);
    sampler_fixture_destroy(f);
}

/* --- refusals --- */

static enum smp_status create_and_destroy(void *self)
{
    struct sampler_fixture *f = self;
    const struct smp_jvm vm = fake_jvm_interface(f->vm);
    struct smp_sampler *sampler = NULL;
    const enum smp_status status =
        smp_sampler_create(&f->quota, f->log, &vm, &f->options, &sampler);

    if (status != SMP_OK)
        assert_null(sampler);
    smp_sampler_destroy(sampler);
    return status;
}

static void a_refused_create_leaks_nothing(void **state)
{
    struct sampler_fixture *f = sampler_fixture_create("monitoredPackages=a,b\n");
    const struct failing_alloc_steps steps = failing_alloc_each_step(create_and_destroy, f);

    (void)state;
    assert_true(steps.refused > 10);
    sampler_fixture_destroy(f);
}

/* Refuses one allocation at any point of a session: all time is there in the end. */
static void live_with_refusal(size_t number, size_t *refused)
{
    struct sampler_fixture *f = sampler_fixture_create("");
    struct failing_alloc failing;
    struct fake_thread *threads[3];
    struct smp_profile *profile = NULL;

    sampler_fixture_start(f);
    failing_alloc_arm(&failing, number, number);
    for (unsigned i = 0; i < 3; i++) {
        threads[i] = fake_jvm_start(f->vm, i == 0 ? "main" : "worker-1");
        fake_jvm_run(f->vm, threads[i], i == 2 ? MAIN_LOOP : "app.Main.main");
        run_something_new(f, threads[0], i);
        sampler_fixture_tick(f, 50 * MS);
    }
    fake_jvm_rename(f->vm, threads[0], "renamed");
    sampler_fixture_tick(f, 50 * MS);
    /* Whether or not it was refused, nothing is lost: the second time there is memory. */
    if (smp_sampler_finish_interval(f->sampler, smp_clock_ns(), smp_clock_wall_ms(), &profile) !=
        SMP_OK)
        assert_int_equal(
            smp_sampler_finish_interval(f->sampler, smp_clock_ns(), smp_clock_wall_ms(), &profile),
            SMP_OK);
    *refused = failing_alloc_disarm(&failing);
    f->profile = profile;
    assert_int_equal(sampler_fixture_sum(f), (4 + 3 + 2) * 50 * MS);
    assert_int_equal(profile->elapsed_ns, 4 * 50 * MS);
    assert_int_equal(profile->tally.polls, tally_sum(&profile->tally));
    sampler_fixture_tick(f, 50 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_sum(f), 3 * 50 * MS);
    /* By now every thread has its own group again. */
    assert_int_equal(sampler_fixture_total(f, "renamed", ""), 50 * MS);
    assert_int_equal(sampler_fixture_total(f, "worker-", ""), 100 * MS);
    sampler_fixture_destroy(f);
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

/* All allocations fail for a while, as if the machine had no memory left. */
static void no_time_is_lost_while_all_allocations_fail(void **state)
{
    struct sampler_fixture *f = sampler_fixture_create("");
    struct fake_thread *thread = fake_jvm_start(f->vm, "main");
    struct failing_alloc failing;
    struct smp_profile *profile = NULL;

    (void)state;
    fake_jvm_run(f->vm, thread, MAIN_LOOP);
    sampler_fixture_start(f);
    sampler_fixture_tick(f, 50 * MS);
    failing_alloc_arm(&failing, 1, SIZE_MAX);
    for (unsigned i = 0; i < 50; i++) {
        run_something_new(f, thread, i);
        if (i % 10 == 0)
            fake_jvm_run_frames(f->vm, fake_jvm_start(f->vm, "new"), NULL, 0);
        sampler_fixture_tick(f, 50 * MS);
    }
    assert_int_not_equal(
        smp_sampler_finish_interval(f->sampler, smp_clock_ns(), smp_clock_wall_ms(), &profile),
        SMP_OK);
    failing_alloc_disarm(&failing);
    fake_jvm_run(f->vm, thread, MAIN_LOOP);
    sampler_fixture_tick(f, 50 * MS);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_total(f, "main", ""), 52 * 50 * MS);
    assert_int_equal(sampler_fixture_self(f, "main", LOOP), 100 * MS);
    /* They were sampled all the time, but there was no memory for their names. */
    assert_int_equal(sampler_fixture_total(f, "new", ""), 5 * 50 * MS);
    assert_int_equal(sampler_fixture_total(f, "[over group limit]", ""), 150 * 50 * MS);
    sampler_fixture_destroy(f);
}

/* A thread without a record is offered again, and its time counts from its start. */
static void a_thread_without_a_record_is_offered_again(void **state)
{
    enum { CROWD = 1000 };
    struct sampler_fixture *f = sampler_fixture_create("");
    struct failing_alloc failing;

    (void)state;
    sampler_fixture_start(f);
    for (int i = 0; i < CROWD; i++)
        fake_jvm_run(f->vm, fake_jvm_start(f->vm, "crowd"), MAIN_LOOP);
    failing_alloc_arm(&failing, 1, SIZE_MAX);
    sampler_fixture_tick(f, 50 * MS);
    assert_in_range(fake_jvm_threads_held(f->vm), 0, CROWD - 1);
    failing_alloc_disarm(&failing);
    sampler_fixture_tick(f, 50 * MS);
    assert_int_equal(fake_jvm_threads_held(f->vm), CROWD);
    sampler_fixture_finish(f);
    assert_int_equal(sampler_fixture_total(f, "crowd", LOOP), CROWD * 100 * MS);
    sampler_fixture_destroy(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_tree_still_counts_for_the_group),
        cmocka_unit_test(a_full_tree_is_folded),
        cmocka_unit_test(a_group_that_comes_too_late_is_the_overflow_group),
        cmocka_unit_test(all_short_lived_threads_are_counted),
        cmocka_unit_test(merged_intervals_know_the_living_threads),
        cmocka_unit_test(a_full_names_table_is_compacted_at_the_end_of_an_interval),
        cmocka_unit_test(compacting_keeps_the_names_of_an_idle_threads_stack),
        cmocka_unit_test(a_stack_that_cannot_be_named_is_over_the_limit),
        cmocka_unit_test(the_last_finish_frees_memory_for_itself),
        cmocka_unit_test(a_refused_create_leaks_nothing),
        cmocka_unit_test(no_refused_allocation_loses_time),
        cmocka_unit_test(no_time_is_lost_while_all_allocations_fail),
        cmocka_unit_test(a_thread_without_a_record_is_offered_again),
    };
    return cmocka_run_group_tests_name("sampler, limits", tests, NULL, NULL);
}
