/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "jvm/threads/tids.h"
#include "support/failing_alloc.h"

enum { MANY = 10000, MAX_TASKS = MANY + 100, FIRST_TID = 1000 };

/*
 * A made-up process: thread i of Java is task i, and more tasks follow. Each reading of any clock
 * lets those run that run.
 */
struct process {
    int64_t clock_ns[MAX_TASKS];
    int64_t speed_ns[MAX_TASKS]; /* by each reading; 0: blocked */
    size_t task_count;
    size_t runner_count; /* the first so many tasks may run */
    size_t dead;         /* this thread ends after its so many-th reading; SIZE_MAX: none */
    size_t dead_after;
    size_t dead_reads;
    size_t readings;
};

static struct process process;

static void run(void)
{
    process.readings++;
    for (size_t i = 0; i < process.runner_count; i++)
        process.clock_ns[i] += process.speed_ns[i];
}

static bool is_dead(size_t thread)
{
    return thread == process.dead && process.dead_reads >= process.dead_after;
}

static bool os_thread_ns(void *self, int32_t tid, int64_t *out)
{
    const size_t task = (size_t)(tid - FIRST_TID);

    (void)self;
    run();
    if (is_dead(task))
        return false;
    *out = process.clock_ns[task];
    return true;
}

static bool thread_ns(void *self, size_t thread, int64_t *out)
{
    (void)self;
    run();
    if (is_dead(thread))
        return false;
    if (thread == process.dead)
        process.dead_reads++;
    *out = process.clock_ns[thread];
    return true;
}

/* The right one, but for one thread where that is wanted. */
static size_t wrong_hint = SIZE_MAX;
static size_t hinted = SIZE_MAX; /* the first so many threads have one */

static int32_t hint(void *self, size_t thread)
{
    (void)self;
    if (thread >= hinted)
        return 0;
    return FIRST_TID + (int32_t)thread + (thread == wrong_hint);
}

static const struct smp_tid_clocks hinting = { .os_thread_ns = os_thread_ns,
                                               .thread_ns = thread_ns,
                                               .hint = hint };

static const struct smp_tid_clocks clocks = { .os_thread_ns = os_thread_ns,
                                              .thread_ns = thread_ns };
static int32_t tids[MAX_TASKS];
static int32_t found[MAX_TASKS];

static void make_process(size_t os_threads)
{
    process = (struct process){ .task_count = os_threads, .dead = SIZE_MAX };
    for (size_t i = 0; i < os_threads; i++) {
        process.clock_ns[i] = 50000 + (int64_t)i * 977;
        tids[i] = FIRST_TID + (int32_t)i;
    }
}

static void match(size_t threads)
{
    assert_int_equal(smp_tids_match(&clocks, tids, process.task_count, threads, found), SMP_OK);
}

static void test_blocked_threads_are_found(void **state)
{
    (void)state;
    make_process(30);
    match(20);
    for (size_t i = 0; i < 20; i++)
        assert_int_equal(found[i], FIRST_TID + (int32_t)i);
}

static void test_running_threads_are_found(void **state)
{
    (void)state;
    make_process(30);
    process.runner_count = 4;
    for (size_t i = 0; i < 4; i++)
        process.speed_ns[i] = 100 + (int64_t)i * 10;
    match(20);
    for (size_t i = 0; i < 20; i++)
        assert_int_equal(found[i], FIRST_TID + (int32_t)i);
}

/* A thread of the JVM's own may have the same CPU time by chance. */
static void test_equal_clocks_stay_unknown(void **state)
{
    (void)state;
    make_process(30);
    process.clock_ns[25] = process.clock_ns[3];
    process.clock_ns[8] = process.clock_ns[9];
    match(20);
    assert_int_equal(found[3], 0);
    assert_int_equal(found[8], 0);
    assert_int_equal(found[9], 0);
    assert_int_equal(found[4], FIRST_TID + 4);
}

static void match_with_hints(size_t threads)
{
    assert_int_equal(smp_tids_match(&hinting, tids, process.task_count, threads, found), SMP_OK);
}

static void test_a_hint_distinguishes_equal_clocks(void **state)
{
    (void)state;
    wrong_hint = SIZE_MAX;
    make_process(30);
    process.clock_ns[8] = process.clock_ns[9];
    match_with_hints(20);
    assert_int_equal(found[8], FIRST_TID + 8);
    assert_int_equal(found[9], FIRST_TID + 9);
}

/* One that is wrong where it can be judged makes all others worthless. */
static void test_hints_that_fail_once_are_not_taken(void **state)
{
    (void)state;
    make_process(30);
    process.clock_ns[8] = process.clock_ns[9];
    wrong_hint = 3;
    match_with_hints(20);
    assert_int_equal(found[3], FIRST_TID + 3); /* by the clocks */
    assert_int_equal(found[8], 0);
    assert_int_equal(found[9], 0);
    wrong_hint = SIZE_MAX;
    hinted = SMP_TIDS_HINTS_AGREED - 1; /* too few to be believed */
    match_with_hints(20);
    assert_int_equal(found[8], 0);
    hinted = SIZE_MAX;
}

/* A hint the clocks exclude is wrong, whatever it was right about. */
static void test_the_clocks_overrule_a_hint(void **state)
{
    (void)state;
    make_process(30);
    process.clock_ns[8] = process.clock_ns[9];
    wrong_hint = 9; /* says 10, whose clock is another */
    match_with_hints(20);
    assert_int_equal(found[8], FIRST_TID + 8);
    assert_int_equal(found[9], 0);
    wrong_hint = SIZE_MAX;
}

/* Two that run from the same moment on, at one speed, cannot be distinguished. */
static void test_equal_clocks_that_run_stay_unknown(void **state)
{
    (void)state;
    make_process(30);
    process.runner_count = 2;
    process.clock_ns[0] = process.clock_ns[1];
    process.speed_ns[0] = 100;
    process.speed_ns[1] = 100;
    match(20);
    assert_int_equal(found[0], 0);
    assert_int_equal(found[1], 0);
    assert_int_equal(found[2], FIRST_TID + 2);
}

/* Its OS thread is not in the list, so none may be chosen. */
static void test_a_thread_that_ends_gets_no_other_tid(void **state)
{
    (void)state;
    for (size_t after = 0; after < 3; after++) {
        make_process(30);
        process.dead = 5;
        process.dead_after = after;
        process.clock_ns[25] = process.clock_ns[5];
        match(20);
        assert_true(found[5] == 0);
        assert_int_equal(found[6], FIRST_TID + 6);
    }
}

/* Whichever threads run and look alike: a tid is right or 0. */
static void test_no_tid_is_ever_wrong(void **state)
{
    size_t right = 0;

    (void)state;
    srand(20240);
    for (size_t round = 0; round < 200; round++) {
        make_process(40);
        process.runner_count = 40;
        for (size_t i = 0; i < 40; i++) {
            process.clock_ns[i] = rand() % 2000;
            process.speed_ns[i] = rand() % 3 == 0 ? rand() % 50 : 0;
        }
        match(30);
        for (size_t i = 0; i < 30; i++) {
            assert_true(found[i] == 0 || found[i] == FIRST_TID + (int32_t)i);
            right += found[i] != 0;
        }
    }
    assert_true(right > 1000);
}

static void test_ten_thousand_threads(void **state)
{
    (void)state;
    make_process(MAX_TASKS);
    process.runner_count = 2;
    process.speed_ns[0] = 90;
    process.speed_ns[1] = 70;
    match(MANY);
    for (size_t i = 2; i < MANY; i++)
        assert_true(found[i] == FIRST_TID + (int32_t)i || found[i] == 0);
    assert_true(process.readings < 8 * (size_t)MAX_TASKS);
}

static void test_no_threads_to_match(void **state)
{
    (void)state;
    make_process(0);
    match(5);
    assert_int_equal(found[4], 0);
    make_process(5);
    match(0);
}

static enum smp_status match_once(void *self)
{
    (void)self;
    return smp_tids_match(&clocks, tids, process.task_count, 5, found);
}

static void test_no_memory_at_any_step(void **state)
{
    (void)state;
    make_process(10);
    assert_int_equal(failing_alloc_each_step(match_once, NULL).refused, 4);
    assert_int_equal(smp_alloc_live_bytes(), 0);
}

struct visit {
    int32_t wanted;
    int32_t last;
};

static bool visit_until_wanted(void *context, int32_t tid)
{
    struct visit *visit = context;

    visit->last = tid;
    return tid != visit->wanted;
}

static void test_the_process_lists_its_tasks(void **state)
{
    const int32_t me = (int32_t)gettid();
    struct visit visit = { .wanted = me };

    (void)state;
    assert_int_equal(smp_tids_each(visit_until_wanted, &visit), SMP_ENOMEM);
    assert_int_equal(visit.last, me);
    visit = (struct visit){ .wanted = -1 };
    assert_int_equal(smp_tids_each(visit_until_wanted, &visit), SMP_OK);
    assert_true(visit.last > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocked_threads_are_found),
        cmocka_unit_test(test_running_threads_are_found),
        cmocka_unit_test(test_equal_clocks_stay_unknown),
        cmocka_unit_test(test_a_hint_distinguishes_equal_clocks),
        cmocka_unit_test(test_hints_that_fail_once_are_not_taken),
        cmocka_unit_test(test_the_clocks_overrule_a_hint),
        cmocka_unit_test(test_equal_clocks_that_run_stay_unknown),
        cmocka_unit_test(test_a_thread_that_ends_gets_no_other_tid),
        cmocka_unit_test(test_no_tid_is_ever_wrong),
        cmocka_unit_test(test_ten_thousand_threads),
        cmocka_unit_test(test_no_threads_to_match),
        cmocka_unit_test(test_no_memory_at_any_step),
        cmocka_unit_test(test_the_process_lists_its_tasks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
