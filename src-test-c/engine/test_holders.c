/* SPDX-License-Identifier: Apache-2.0 */
/* Blocked time is charged to the stacks of the lock holders. sim_finish() checks each time that the
 * sum is the blocked time. */
#include "engine/sources/holders.h"

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

static void hold(struct sim_thread *waiter, struct sim_thread *owner)
{
    waiter->owner_kind = SMP_OWNER_THREAD;
    waiter->owner = owner;
    waiter->lock = "com.acme.Cart";
}

static int64_t blocked_ns(const struct sim *sim, const char *group)
{
    return sim_state(sim, group, -1, SMP_STATE_BLOCKED);
}

static uint64_t counter(const struct sim *sim, enum smp_counter which)
{
    return sim->profile->counters[which];
}

static void blocked_time_is_charged_to_the_stack_of_a_running_holder(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *holder = sim_add_running(sim, "holder", 3);
    struct sim_thread *a = sim_add_waiting(sim, "a", 1);

    (void)state;
    hold(a, holder);
    sim_start(sim);
    sim_run(sim, 10 * SIM_S);
    sim_finish(sim);
    assert_int_equal(blocked_ns(sim, "a"), sim->profile->elapsed_ns);
    assert_int_equal(sim_held(sim, "holder", 3), sim->profile->elapsed_ns);
    assert_int_equal(sim_holders(sim, "holder")->thread_count, 1);
    assert_int_equal(sim_holders(sim, "holder")->lock_count, 1);
    assert_string_equal(sim_holders(sim, "holder")->names[0], "com.acme.Cart");
    assert_null(sim_holders(sim, "a"));
    sim_destroy(sim);
}

static bool is_line(const struct sim *sim, uint32_t location, const char *text)
{
    struct smp_bytes found;
    bool is_same;

    smp_bytes_init(&found, NULL, 1024);
    smp_methods_frame_text(sim->profile->methods, location, &found);
    is_same = strstr(smp_bytes_text(&found), text) != NULL;
    smp_bytes_fini(&found);
    return is_same;
}

/* Returns the time in the table of locks; NULL: any. */
static int64_t lock_ns(const struct sim *sim, const char *lock, const char *waiting,
                       const char *holding)
{
    const struct smp_lock_times *times = sim->profile->lock_times;
    int64_t sum = 0;

    for (size_t i = 0; i < smp_lock_times_count(times); i++) {
        const struct smp_lock_time *time = smp_lock_times_at(times, i);
        if (is_line(sim, time->lock, lock) && is_line(sim, time->waiting, waiting) &&
            is_line(sim, time->holding, holding))
            sum += time->ns;
    }
    return sum;
}

static void each_lock_has_its_waiting_and_holding_lines(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *holder = sim_add_running(sim, "holder", 3);
    struct sim_thread *a = sim_add_waiting(sim, "a", 1);
    struct sim_thread *b = sim_add_waiting(sim, "b", 2);

    (void)state;
    hold(a, holder);
    hold(b, holder);
    b->lock = "";
    sim_start(sim);
    for (int i = 0; i < 2; i++) {
        sim_run(sim, 10 * SIM_S);
        sim_finish(sim);
        assert_int_equal(lock_ns(sim, "com.acme.Cart", ".m1(", ".m3("), sim->profile->elapsed_ns);
        assert_int_equal(lock_ns(sim, "[unknown lock]", ".m2(", ".m3("), sim->profile->elapsed_ns);
        assert_int_equal(smp_lock_times_count(sim->profile->lock_times), 2);
    }
    sim_destroy(sim);
}

static void a_chain_of_owners_is_charged_to_its_end(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *c = sim_add_running(sim, "c", 3);
    struct sim_thread *b = sim_add_waiting(sim, "b", 2);
    struct sim_thread *a = sim_add_waiting(sim, "a", 1);

    (void)state;
    hold(a, b);
    hold(b, c);
    sim_start(sim);
    sim_run(sim, 10 * SIM_S);
    sim_finish(sim);
    /* The first poll of a finds time before b was polled; it goes to b's stack. */
    assert_in_range(sim_held(sim, "c", 3), 2 * sim->profile->elapsed_ns - SIM_S,
                    2 * sim->profile->elapsed_ns);
    assert_int_equal(counter(sim, SMP_COUNTER_DEADLOCKS), 0);
    sim_destroy(sim);
}

/* As monitors of JDK 17 do: waiting threads wake up and block again. */
static void a_chain_continues_at_an_owner_that_blocks_again(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *c = sim_add_running(sim, "c", 3);
    struct sim_thread *b = sim_add(sim, "b");
    struct sim_thread *a = sim_add_waiting(sim, "a", 1);

    (void)state;
    sim_script(b, 2, 990 * SIM_MS, false);
    sim_script(b, 2, 20 * SIM_US, true);
    hold(a, b);
    hold(b, c);
    sim->read_cost_ns = 1500;
    for (int i = 0; i < 3000; i++) /* so that b is polled rarely */
        sim_add_waiting(sim, "idle", i % 10);
    sim_start(sim);
    sim_run(sim, SIM_S);
    sim_finish(sim);
    sim_run(sim, 60 * SIM_S);
    sim_finish(sim);
    const int64_t held_ns = sim_held(sim, "c", 3);
    const int64_t blocked_of_both_ns = blocked_ns(sim, "a") + blocked_ns(sim, "b");
    if (held_ns < blocked_of_both_ns / 1000 * 995)
        fail_msg("%" PRId64 " of %" PRId64 " us", held_ns / 1000, blocked_of_both_ns / 1000);
    sim_destroy(sim);
}

static void the_owner_is_read_once_while_the_thread_does_not_run(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *holder = sim_add_waiting(sim, "holder", 3);
    struct sim_thread *a = sim_add_waiting(sim, "a", 1);

    (void)state;
    holder->word = SMP_WORD_WAITS;
    hold(a, holder);
    sim_start(sim);
    sim_run(sim, SIM_S);
    for (int i = 0; i < 3; i++) {
        sim_run(sim, 60 * SIM_S);
        sim_finish(sim);
        assert_int_equal(sim_held(sim, "holder", 3), blocked_ns(sim, "a"));
        assert_int_equal(blocked_ns(sim, "a"), sim->profile->elapsed_ns);
    }
    assert_int_equal(a->owner_reads, 1);
    assert_int_equal(holder->owner_reads, 0);
    sim_destroy(sim);
}

static void time_goes_to_each_owner_for_as_long_as_it_holds_the_lock(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *first = sim_add_running(sim, "first", 3);
    struct sim_thread *second = sim_add_running(sim, "second", 4);
    struct sim_thread *a = sim_add_waiting(sim, "a", 1);

    (void)state;
    sim_start(sim);
    for (int i = 0; i < 100; i++) {
        hold(a, i % 4 == 0 ? first : second);
        sim_run(sim, 5 * SIM_S);
    }
    sim_finish(sim);
    assert_in_range(sim_held(sim, "first", 3), 105 * SIM_S, 145 * SIM_S);
    assert_int_equal(sim_held(sim, "first", 3) + sim_held(sim, "second", 4), blocked_ns(sim, "a"));
    sim_destroy(sim);
}

/* It answers no poll meanwhile, so its last poll has found an earlier stack. */
static void a_holder_without_a_cpu_is_charged_at_its_current_stack(void **state)
{
    struct sim *sim = sim_create_random(AT_20_MS, 7);
    struct sim_thread *holder = sim_add(sim, "holder");
    struct sim_thread *a = sim_add_waiting(sim, "a", 3);
    int64_t expected_ns;

    (void)state;
    sim->has_queues = true;
    sim_script(holder, 1, 5 * SIM_MS, true);
    sim_script_starved(holder, 1, 60 * SIM_MS);
    sim_script(holder, 2, 25 * SIM_MS, true);
    hold(a, holder);
    sim_start(sim);
    sim_run(sim, 200 * SIM_S);
    sim_finish(sim);
    expected_ns = sim_truth(sim, holder, 1);
    print_message("held at 1: %.1f s, expected %.1f s\n", (double)sim_held(sim, "holder", 1) / 1e9,
                  (double)expected_ns / 1e9);
    assert_true(llabs(sim_held(sim, "holder", 1) - expected_ns) <= expected_ns / 20);
    assert_int_equal(sim_held(sim, "holder", -1), blocked_ns(sim, "a"));
    sim_destroy(sim);
}

/* Each thread waits at 2 while the other one runs at 1 with the lock. With short ticks the
 * answer of a running holder comes in the next tick; its last stack is the one in which it
 * waited itself. */
static void blocked_time_waits_for_the_holders_answer_in_the_next_tick(void **state)
{
    struct sim *sim = sim_create_random("samplingFrequencyMillis=5\n", 7);
    struct sim_thread *a = sim_add(sim, "a");
    struct sim_thread *b = sim_add(sim, "b");

    (void)state;
    sim_script(a, 1, 7 * SIM_MS, true);
    sim_script(a, 2, 7 * SIM_MS, false);
    sim_script(b, 2, 7 * SIM_MS, false);
    sim_script(b, 1, 7 * SIM_MS, true);
    hold(a, b);
    hold(b, a);
    sim_start(sim);
    sim_run(sim, 20 * SIM_S);
    sim_finish(sim);
    assert_true(sim_held(sim, "a", 2) <= blocked_ns(sim, "b") / 100);
    assert_true(sim_held(sim, "b", 2) <= blocked_ns(sim, "a") / 100);
    assert_true(sim_held(sim, "a", 1) >= blocked_ns(sim, "b") / 100 * 95);
    sim_destroy(sim);
}

static void unknown_owners_have_rows(void **state)
{
    static const struct {
        enum smp_owner_kind kind;
        const char *row;
        bool is_read_again;
    } cases[] = {
        { SMP_OWNER_UNKNOWN, "[owner not read]", false },
        { SMP_OWNER_UNREAD, "[owner not read]", true },
        { SMP_OWNER_READERS, "[readers of the lock]", true },
        { SMP_OWNER_PERMITS, "[permits of the semaphore]", false },
        { SMP_OWNER_UNMOUNTED, "[a virtual thread that is not mounted]", true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sim *sim = sim_create(AT_20_MS);
        struct sim_thread *a = sim_add_waiting(sim, "a", 1);
        a->owner_kind = cases[i].kind;
        sim_start(sim);
        sim_run(sim, 10 * SIM_S);
        sim_finish(sim);
        assert_int_equal(sim_held_by(sim, cases[i].row), sim->profile->elapsed_ns);
        assert_int_equal(counter(sim, SMP_COUNTER_OWNERS_UNKNOWN), a->owner_reads);
        assert_int_equal(counter(sim, SMP_COUNTER_OWNER_READS), a->owner_reads);
        assert_true(cases[i].is_read_again ? a->owner_reads > 1 : a->owner_reads == 1);
        sim_destroy(sim);
    }
}

static void an_owner_that_is_not_sampled_has_a_row(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *gone = sim_add_running(sim, "gone", 3);
    struct sim_thread *a = sim_add_waiting(sim, "a", 1);

    (void)state;
    hold(a, gone);
    sim_start(sim);
    sim_run(sim, SIM_S);
    sim_end(sim, gone);
    sim_run(sim, 10 * SIM_S);
    sim_finish(sim);
    assert_in_range(sim_held_by(sim, "[owner not read]"), 9 * SIM_S, 11 * SIM_S);
    sim_destroy(sim);
}

static void a_lock_without_an_owner_causes_no_blocked_time(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *a = sim_add_waiting(sim, "a", 1);

    (void)state;
    a->owner_kind = SMP_OWNER_NONE;
    sim_start(sim);
    sim_run(sim, 2 * SIM_S);
    sim_finish(sim);
    assert_true(sim_state(sim, "a", 1, SMP_STATE_RUNNABLE) > 0);
    assert_int_equal(sim_wall(sim, "a", -1), sim->profile->elapsed_ns);
    sim_destroy(sim);
}

static void a_cycle_of_owners_is_a_deadlock_once(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *a = sim_add_waiting(sim, "a", 1);
    struct sim_thread *b = sim_add_waiting(sim, "b", 2);
    struct sim_thread *c = sim_add_waiting(sim, "c", 3);

    (void)state;
    hold(a, b);
    hold(b, a);
    hold(c, a);
    sim_start(sim);
    sim_run(sim, 10 * SIM_S);
    sim_finish(sim);
    assert_int_equal(counter(sim, SMP_COUNTER_DEADLOCKS), 1);
    assert_int_equal(sim_held(sim, "a", 1) + sim_held(sim, "b", 2), 3 * sim->profile->elapsed_ns);
    sim_run(sim, 10 * SIM_S);
    sim_finish(sim);
    assert_int_equal(counter(sim, SMP_COUNTER_DEADLOCKS), 0);
    sim_destroy(sim);
}

static void set_any_owner(struct sim *sim, struct sim_thread *thread)
{
    thread->owner_kind = (enum smp_owner_kind)sim_random(sim, SMP_OWNER_UNMOUNTED + 1);
    thread->owner = sim->threads[sim_random(sim, sim->thread_count)];
    thread->lock = sim_random(sim, 2) == 0 ? "com.acme.Cart" : "";
}

/* sim_finish() compares the sums. */
static void all_blocked_time_of_random_threads_is_charged(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < (uint64_t)test_rounds(20); round++) {
        struct sim *sim = sim_create_random(AT_20_MS, round + 1);
        for (int i = 0; i < 6; i++) {
            struct sim_thread *thread = sim_add(sim, i % 2 == 0 ? "worker-1" : "other");
            for (int k = 0; k < 4; k++)
                sim_script(thread, k, (int64_t)(1 + sim_random(sim, 300)) * SIM_MS, k % 2 == 0);
        }
        sim_start(sim);
        for (int i = 0; i < 40; i++) {
            for (size_t k = 0; k < sim->thread_count; k++)
                set_any_owner(sim, sim->threads[k]);
            sim_run(sim, (int64_t)(1 + sim_random(sim, 500)) * SIM_MS);
            if (sim_random(sim, 4) == 0)
                sim_finish(sim);
        }
        sim_finish(sim);
        sim_destroy(sim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocked_time_is_charged_to_the_stack_of_a_running_holder),
        cmocka_unit_test(each_lock_has_its_waiting_and_holding_lines),
        cmocka_unit_test(a_chain_of_owners_is_charged_to_its_end),
        cmocka_unit_test(a_chain_continues_at_an_owner_that_blocks_again),
        cmocka_unit_test(the_owner_is_read_once_while_the_thread_does_not_run),
        cmocka_unit_test(time_goes_to_each_owner_for_as_long_as_it_holds_the_lock),
        cmocka_unit_test(a_holder_without_a_cpu_is_charged_at_its_current_stack),
        cmocka_unit_test(blocked_time_waits_for_the_holders_answer_in_the_next_tick),
        cmocka_unit_test(unknown_owners_have_rows),
        cmocka_unit_test(an_owner_that_is_not_sampled_has_a_row),
        cmocka_unit_test(a_lock_without_an_owner_causes_no_blocked_time),
        cmocka_unit_test(a_cycle_of_owners_is_a_deadlock_once),
        cmocka_unit_test(all_blocked_time_of_random_threads_is_charged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
