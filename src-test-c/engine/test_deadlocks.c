/* SPDX-License-Identifier: Apache-2.0 */
/* Cycles of lock owners, on the simulated machine. */
#include "engine/sources/deadlocks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/failing_alloc.h"
#include "support/sim.h"

#define AT_20_MS "samplingFrequencyMillis=20\n"

static void hold(struct sim_thread *waiter, struct sim_thread *owner)
{
    waiter->owner_kind = SMP_OWNER_THREAD;
    waiter->owner = owner;
    waiter->lock = "com.acme.Cart";
}

/* Each thread waits for the next one. */
static void make_cycle(struct sim *sim)
{
    for (size_t i = 0; i < sim->thread_count; i++)
        hold(sim->threads[i], sim->threads[(i + 1) % sim->thread_count]);
}

static struct sim *start_cycle_of(int threads)
{
    struct sim *sim = sim_create(AT_20_MS);
    char name[] = "a";

    for (int i = 0; i < threads; i++) {
        (void)sim_add_waiting(sim, name, i + 1);
        name[0]++;
    }
    make_cycle(sim);
    sim_start(sim);
    return sim;
}

static uint64_t deadlocks(struct sim *sim)
{
    sim_finish(sim);
    return sim->profile->counters[SMP_COUNTER_DEADLOCKS];
}

static bool take_record(struct sim *sim, char *title, char *rows, size_t size)
{
    struct smp_bytes texts[2];

    if (!smp_log_take_record(sim->log, &texts[0], &texts[1]))
        return false;
    (void)snprintf(title, size, "%s", smp_bytes_text(&texts[0]));
    (void)snprintf(rows, size, "%s", smp_bytes_text(&texts[1]));
    smp_bytes_fini(&texts[0]);
    smp_bytes_fini(&texts[1]);
    return true;
}

static void a_cycle_of_two_is_described_once(void **state)
{
    struct sim *sim = start_cycle_of(2);
    char title[512];
    char rows[2048];

    (void)state;
    assert_false(smp_log_take_news(sim->log));
    sim_run(sim, 10 * SIM_S);
    assert_true(smp_log_take_news(sim->log));
    assert_true(take_record(sim, title, rows, sizeof(title)));
    assert_true(strcmp(title, "Deadlock: 2 threads [a, b]") == 0 ||
                strcmp(title, "Deadlock: 2 threads [b, a]") == 0);
    assert_non_null(strstr(rows, "a waits for com.acme.Cart, held by b\n    at app.C.m1("));
    assert_non_null(strstr(rows, "b waits for com.acme.Cart, held by a\n    at app.C.m2("));
    assert_int_equal(rows[strlen(rows) - 1], '\n');
    assert_int_equal(deadlocks(sim), 1);
    sim_run(sim, 10 * SIM_S);
    assert_false(smp_log_take_news(sim->log));
    assert_false(take_record(sim, title, rows, sizeof(title)));
    assert_int_equal(deadlocks(sim), 0);
    sim_destroy(sim);
}

static void a_cycle_of_three_is_one_deadlock(void **state)
{
    struct sim *sim = start_cycle_of(3);
    char title[512];
    char rows[2048];

    (void)state;
    sim_run(sim, 10 * SIM_S);
    assert_true(take_record(sim, title, rows, sizeof(title)));
    assert_memory_equal(title, "Deadlock: 3 threads [", 21);
    for (const char *text = "abc"; *text != '\0'; text++) {
        char wait[] = "? waits for com.acme.Cart, held by ?\n";
        wait[0] = *text;
        wait[strlen(wait) - 2] = *text == 'c' ? 'a' : (char)(*text + 1);
        assert_non_null(strstr(rows, wait));
    }
    assert_false(take_record(sim, title, rows, sizeof(title)));
    assert_int_equal(deadlocks(sim), 1);
    sim_destroy(sim);
}

static void two_cycles_are_two_deadlocks(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *threads[4];
    char title[512];
    char rows[2048];

    (void)state;
    for (int i = 0; i < 4; i++)
        threads[i] = sim_add_waiting(sim, i < 2 ? "a" : "b", i + 1);
    for (int i = 0; i < 4; i++)
        hold(threads[i], threads[i ^ 1]);
    sim_start(sim);
    sim_run(sim, 10 * SIM_S);
    assert_true(take_record(sim, title, rows, sizeof(title)));
    assert_true(take_record(sim, title, rows, sizeof(title)));
    assert_false(take_record(sim, title, rows, sizeof(title)));
    assert_int_equal(deadlocks(sim), 2);
    sim_destroy(sim);
}

/* The second thread gives up within two ticks, as a wait with a timeout does. */
static void a_cycle_that_ends_at_once_is_no_deadlock(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *a = sim_add_waiting(sim, "a", 1);
    struct sim_thread *b = sim_add(sim, "b");

    (void)state;
    sim_script(b, 2, 20 * SIM_MS, false);
    sim_script(b, 3, 3600 * SIM_S, true);
    hold(a, b);
    hold(b, a);
    sim_start(sim);
    sim_run(sim, 10 * SIM_S);
    assert_false(smp_log_take_news(sim->log));
    assert_int_equal(deadlocks(sim), 0);
    sim_destroy(sim);
}

/* One thread repeatedly waits for a lock with timeouts shorter than two ticks: there is always a
 * cycle, but never the same one for long. */
static void changing_cycles_are_no_deadlock(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *a = sim_add_waiting(sim, "a", 1);
    struct sim_thread *b = sim_add(sim, "b");

    (void)state;
    sim_script(b, 2, 15 * SIM_MS, false);
    sim_script(b, 3, 1 * SIM_MS, true);
    hold(a, b);
    hold(b, a);
    sim_start(sim);
    sim_run(sim, 20 * SIM_S);
    assert_int_equal(deadlocks(sim), 0);
    sim_destroy(sim);
}

/* The reading of b's lock is old: its owner has released it, and b has had no CPU yet. */
static void outdated_owners_are_no_deadlock(void **state)
{
    struct sim *sim = start_cycle_of(2);
    struct sim_thread *b = sim->threads[1];

    (void)state;
    sim_run(sim, 20 * SIM_MS);
    b->owner_kind = SMP_OWNER_NONE;
    b->owner = NULL;
    sim_run(sim, 10 * SIM_S);
    assert_int_equal(deadlocks(sim), 0);
    sim_destroy(sim);
}

/* A tryLock with a timeout, on a machine that is too busy to let it give up. */
static void a_wait_with_a_timeout_is_no_deadlock(void **state)
{
    struct sim *sim = start_cycle_of(2);

    (void)state;
    sim->threads[1]->is_timed = true;
    sim_run(sim, 10 * SIM_S);
    assert_int_equal(deadlocks(sim), 0);
    sim_destroy(sim);
}

/* JDK 17 wakes up a thread at a monitor occasionally, to test whether the monitor is free. */
static void a_thread_that_wakes_up_in_a_deadlock_is_not_reported_again(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *a = sim_add_waiting(sim, "a", 1);
    struct sim_thread *b = sim_add(sim, "b");
    uint64_t found = 0;

    (void)state;
    sim_script(b, 2, SIM_S, false);
    sim_script(b, 2, 10 * SIM_US, true);
    hold(a, b);
    hold(b, a);
    sim_start(sim);
    for (int i = 0; i < 3; i++) {
        sim_run(sim, 30 * SIM_S);
        found += deadlocks(sim);
    }
    assert_int_equal(found, 1);
    assert_true(b->owner_reads > 2);
    sim_destroy(sim);
}

/* Its wait has timed out, but it has no CPU to continue. */
static void a_thread_without_a_cpu_is_in_no_deadlock(void **state)
{
    struct sim *sim = start_cycle_of(2);

    (void)state;
    sim->threads[1]->is_runnable = true;
    sim_run(sim, 10 * SIM_S);
    assert_int_equal(deadlocks(sim), 0);
    sim->threads[1]->is_runnable = false;
    sim_run(sim, 10 * SIM_S);
    assert_int_equal(deadlocks(sim), 1);
    sim_destroy(sim);
}

static void deep_stacks_of_deadlocks_are_cut(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    char title[512];
    char rows[2048];

    (void)state;
    for (int i = 0; i < 2; i++)
        sim_add_waiting(sim, i == 0 ? "a" : "b", i + 1)->omitted = 4711;
    make_cycle(sim);
    sim_start(sim);
    sim_run(sim, 10 * SIM_S);
    assert_true(take_record(sim, title, rows, sizeof(title)));
    assert_non_null(strstr(rows, "    ... 47"));
    sim_destroy(sim);
}

static void a_deadlock_without_room_in_the_log_is_a_message(void **state)
{
    enum { CYCLES = SMP_LOG_RECORDS + 1 };
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *threads[2 * CYCLES];
    char text[SMP_LOG_MESSAGE_BYTES];
    enum smp_log_level level;
    bool is_told = false;

    (void)state;
    for (int i = 0; i < 2 * CYCLES; i++)
        threads[i] = sim_add_waiting(sim, "a", 1);
    for (int i = 0; i < 2 * CYCLES; i++)
        hold(threads[i], threads[i ^ 1]);
    sim_start(sim);
    sim_run(sim, 30 * SIM_S);
    assert_int_equal(deadlocks(sim), CYCLES);
    while (smp_log_take(sim->log, &level, text)) {
        is_told = is_told || strcmp(text, "a deadlock of 2 threads could not be printed: "
                                          "other deadlocks wait for the outputer") == 0;
    }
    assert_true(is_told);
    sim_destroy(sim); /* while its log contains records */
}

static void a_deadlock_without_memory_is_a_message_and_is_counted(void **state)
{
    struct failing_alloc alloc;
    struct sim *sim = start_cycle_of(2);
    char text[SMP_LOG_MESSAGE_BYTES];
    enum smp_log_level level;

    (void)state;
    sim_run(sim, 20 * SIM_MS); /* the two threads have the memory that they need */
    failing_alloc_arm(&alloc, 1, SIZE_MAX);
    sim_run(sim, 10 * SIM_S);
    assert_true(failing_alloc_disarm(&alloc) > 0);
    assert_int_equal(deadlocks(sim), 1);
    assert_true(smp_log_take(sim->log, &level, text));
    assert_int_equal(level, SMP_LOG_WARNING);
    sim_destroy(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cycle_of_two_is_described_once),
        cmocka_unit_test(a_cycle_of_three_is_one_deadlock),
        cmocka_unit_test(two_cycles_are_two_deadlocks),
        cmocka_unit_test(a_cycle_that_ends_at_once_is_no_deadlock),
        cmocka_unit_test(changing_cycles_are_no_deadlock),
        cmocka_unit_test(outdated_owners_are_no_deadlock),
        cmocka_unit_test(a_wait_with_a_timeout_is_no_deadlock),
        cmocka_unit_test(a_thread_that_wakes_up_in_a_deadlock_is_not_reported_again),
        cmocka_unit_test(a_thread_without_a_cpu_is_in_no_deadlock),
        cmocka_unit_test(deep_stacks_of_deadlocks_are_cut),
        cmocka_unit_test(a_deadlock_without_room_in_the_log_is_a_message),
        cmocka_unit_test(a_deadlock_without_memory_is_a_message_and_is_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
