/* SPDX-License-Identifier: Apache-2.0 */
/* How running threads are polled: they are requested by signal, counted, and throttled at the
 * overhead limit. */
#include "engine/sources/walks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/attribution/stack_path.h"
#include "model/filter.h"
#include "model/methods.h"
#include "support/sim.h"

#define AT_20_MS "samplingFrequencyMillis=20\n"

/* --- requests by signal --- */

static void running_threads_are_requested_and_waiting_ones_walked(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *busy = sim_add_running(sim, "busy", 1);
    struct sim_thread *idle = sim_add_waiting(sim, "idle", 2);

    (void)state;
    sim_start(sim);
    sim_run(sim, 2 * SIM_S);
    sim_finish(sim);
    assert_int_equal(busy->walks, 0);
    assert_int_equal(idle->requests, 0);
    assert_int_equal(idle->walks, 1);
    assert_int_equal(sim_outcome(sim, "busy", SMP_OUTCOME_WALKED), busy->requests);
    assert_int_equal(sim_wall(sim, "busy", 1), sim->profile->elapsed_ns);
    assert_int_equal(sim_wall(sim, "idle", 2), sim->profile->elapsed_ns);
    assert_in_range(busy->requests, 90, 112);
    sim_destroy(sim);
}

static void frames_omitted_from_deep_stacks_are_counted_in_any_walk(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *busy = sim_add_running(sim, "busy", 1);
    struct sim_thread *idle = sim_add_waiting(sim, "idle", 2);

    (void)state;
    busy->omitted = 100;
    idle->omitted = 7;
    sim_start(sim);
    sim_run(sim, SIM_S);
    for (int i = 0; i < 2; i++) {
        sim_finish(sim);
        const uint64_t cut = sim_outcome(sim, "busy", SMP_OUTCOME_DEEP_STACK_CUT);
        const uint64_t idle_polls = sim_outcome(sim, "idle", SMP_OUTCOME_DEEP_STACK_CUT) +
                                    sim_outcome(sim, "idle", SMP_OUTCOME_IDLE);
        assert_true(cut > 0 && idle_polls > 0);
        assert_int_equal(sim->profile->counters[SMP_COUNTER_FRAMES_OMITTED],
                         100 * cut + 7 * idle_polls);
        sim_run(sim, SIM_S);
    }
    assert_int_equal(idle->walks, 1);
    sim_destroy(sim);
}

static void without_an_asynchronous_walker_all_threads_are_walked(void **state)
{
    struct sim *plain = sim_create_without_async(AT_20_MS);
    struct sim_thread *busy = sim_add_running(plain, "busy", 1);

    (void)state;
    sim_start(plain);
    sim_run(plain, SIM_S);
    sim_finish(plain);
    assert_in_range(busy->walks, 45, 56);
    assert_int_equal(sim_cpu(plain, "busy", 1), sim_used(busy));
    assert_int_equal(plain->counts.runnable, 0);
    sim_destroy(plain);

    struct sim *chosen = sim_create(AT_20_MS "engine=JVMTI\n");
    busy = sim_add_running(chosen, "busy", 1);
    sim_start(chosen);
    sim_run(chosen, SIM_S);
    assert_int_equal(busy->requests, 0);
    assert_in_range(busy->walks, 45, 56);
    sim_destroy(chosen);
}

/* A thread whose tid is not known has no clock either. */
static void a_thread_without_a_tid_is_walked_every_tick(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *thread = sim_add_waiting(sim, "old", 1);

    (void)state;
    atomic_store(&thread->fake.thread.os_tid, 0);
    sim_start(sim);
    sim_run(sim, SIM_S);
    const unsigned long walks = thread->walks;
    assert_in_range(walks, 45, 56);
    /* Its tid is found later; then it is known to be idle. */
    atomic_store(&thread->fake.thread.os_tid, 1000);
    sim_run(sim, 60 * SIM_S);
    sim_finish(sim);
    assert_in_range(thread->walks, walks + 1, walks + 3);
    assert_int_equal(sim_wall(sim, "old", 1), sim->profile->elapsed_ns);
    sim_destroy(sim);
}

static void a_preempted_thread_is_requested_not_walked(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *thread = sim_add(sim, "preempted");

    (void)state;
    /* Runs for a while before each poll, and waits for a CPU at the poll. */
    sim_script(thread, 1, 15 * SIM_MS, true);
    sim_script(thread, 1, 25 * SIM_MS, false);
    thread->is_runnable = true;
    sim_start(sim);
    sim_run(sim, 10 * SIM_S);
    assert_true(sim->counts.runnable > 0);
    assert_in_range(thread->walks, 0, 150); /* only if it has not run since the last poll */
    assert_true(thread->requests > 200);
    sim_destroy(sim);
}

/* Runs for a moment before each poll, then waits. */
static struct sim_thread *add_proven(struct sim *sim)
{
    struct sim_thread *thread = sim_add(sim, "proven");

    sim_script(thread, 1, 5 * SIM_MS, true);
    sim_script(thread, 2, 35 * SIM_MS, false);
    thread->is_proven = true;
    return thread;
}

/* The stack of a preempted thread in native code looks like a wait. The system's word takes
 * precedence, unless the JVM says that the thread is blocked. */
static void a_waiting_thread_is_read_from_outside(void **state)
{
    (void)state;
    for (int wants = 0; wants < 2; wants++) {
        struct sim *sim = sim_create(AT_20_MS);
        struct sim_thread *thread = add_proven(sim);
        thread->is_runnable = wants != 0; /* it was woken up and is on its way */
        sim_start(sim);
        sim_run(sim, 10 * SIM_S);
        sim_finish(sim);
        assert_true(sim->counts.runnable > 200);
        assert_int_equal(thread->walks, 0);
        assert_int_equal(sim_cpu(sim, "proven", -1), sim_used(thread));
        if (wants) {
            assert_int_equal(thread->proofs, 0);
            assert_true(thread->requests > 400);
        } else {
            assert_true(thread->proofs > 200);
            assert_in_range(thread->requests, 0, 150); /* it is polled while it runs */
        }
        sim_destroy(sim);
    }
}

/* A thread that was woken up and is on its way has the stack in which it waited. Asking the system
 * would cost more than all else, and the answer would be this stack. */
static void a_blocked_thread_is_always_read_from_outside(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *thread = add_proven(sim);

    (void)state;
    thread->is_runnable = true;
    thread->word = SMP_WORD_WAITS;
    sim_start(sim);
    sim_run(sim, 10 * SIM_S);
    sim_finish(sim);
    assert_int_equal(sim->counts.runnable, 0);
    assert_int_equal(thread->walks, 0);
    assert_true(thread->proofs > 200);
    assert_in_range(thread->requests, 0, 150); /* it is polled while it runs */
    assert_int_equal(sim_cpu(sim, "proven", -1), sim_used(thread));
    sim_destroy(sim);
}

/* It is requested without asking the system first, which would cost more than all else. */
static void a_thread_that_ran_until_the_poll_is_requested(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *thread = sim_add(sim, "preempted");

    (void)state;
    /* 20 us before the poll the sampler takes its CPU. */
    sim_script(thread, 1, 20 * SIM_MS - 20 * SIM_US, true);
    sim_script(thread, 1, 20 * SIM_US, false);
    sim_start(sim);
    sim_tick(sim, 20 * SIM_MS - 10 * SIM_US);
    for (int i = 1; i < 10; i++)
        sim_tick(sim, 20 * SIM_MS);
    sim_finish(sim);
    assert_int_equal(sim->counts.runnable, 0);
    assert_int_equal(thread->walks, 0);
    assert_int_equal(thread->requests, 10);
    /* After half a millisecond of waiting the sampler cannot have preempted it. */
    struct sim_thread *waiting = sim_add(sim, "waiting");
    sim_script(waiting, 1, 20 * SIM_MS - 500 * SIM_US, true);
    sim_script(waiting, 1, 500 * SIM_US, false);
    for (int i = 0; i < 10; i++)
        sim_tick(sim, 20 * SIM_MS);
    assert_in_range(sim->counts.runnable, 8, 10);
    assert_int_equal(waiting->requests, 0);
    sim_destroy(sim);
}

/* The time between the readings shows how long it slept, not the time between the ticks. */
static void a_thread_that_sleeps_during_another_walk_was_not_preempted(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *slow = sim_add(sim, "slow");
    struct sim_thread *worker = sim_add(sim, "worker");

    (void)state;
    sim_script(slow, 0, 20 * SIM_MS - 20 * SIM_US, false);
    sim_script(slow, 1, 20 * SIM_US, true);
    sim_script(worker, 1, 201 * SIM_MS, true);
    sim_script(worker, 2, 3600 * SIM_S, false);
    sim_start(sim);
    for (int i = 0; i < 9; i++)
        sim_tick(sim, 20 * SIM_MS);
    const unsigned long requests = worker->requests;
    sim->walk_cost_ns = 5 * SIM_MS;
    sim_tick(sim, 20 * SIM_MS);
    sim->walk_cost_ns = 2 * SIM_US;
    sim_tick(sim, 20 * SIM_MS);
    sim_finish(sim);
    assert_int_equal(worker->requests, requests);
    assert_int_equal(sim_cpu(sim, "worker", 2), 0);
    sim_destroy(sim);
}

/* Its time before the new name belongs to the old one; its clock is unchanged. */
static void a_thread_that_sleeps_under_a_new_name_was_not_preempted(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *thread = sim_add(sim, "idle");

    (void)state;
    (void)sim_add_running(sim, "handling", 3);
    sim_script(thread, 0, 30 * SIM_S + 40 * SIM_MS, false);
    sim_script(thread, 1, 100 * SIM_MS, true);
    sim_script(thread, 2, 3600 * SIM_S, false);
    sim_start(sim);
    sim_run(sim, 30 * SIM_S);
    sim_rename(thread, "handling");
    sim_run(sim, 2 * SIM_S);
    sim_finish(sim);
    /* Only while it ran. */
    assert_in_range(thread->requests, 4, 7);
    assert_int_equal(sim_cpu(sim, "handling", 2), 0);
    sim_destroy(sim);
}

/* An idle thread is polled rarely: when its new name is read, all the time since the last poll is
 * still to be attributed. */
static void time_before_a_new_name_stays_with_the_old_one(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *thread = sim_add_waiting(sim, "old", 1);

    (void)state;
    for (int i = 0; i < 2000; i++)
        (void)sim_add_waiting(sim, "others", 1);
    sim_start(sim);
    sim_run(sim, 60 * SIM_S);
    sim_rename(thread, "new");
    sim_run(sim, 60 * SIM_S);
    sim_finish(sim);
    assert_in_range(sim_wall(sim, "old", 1), 60 * SIM_S, 90 * SIM_S);
    assert_int_equal(sim_wall(sim, "old", 1) + sim_wall(sim, "new", 1), sim->profile->elapsed_ns);
    assert_int_equal(sim_wall(sim, "new", -1), sim_wall(sim, "new", 1));
    sim_destroy(sim);
}

/* --- answers at the next tick --- */

static void answers_do_not_wait_for_a_postponed_tick(void **state)
{
    struct sim *sim = sim_create("samplingFrequencyMillis=1\noverheadLimitPerMille=1\n");
    int postponed = 0;

    (void)state;
    for (int i = 0; i < 300; i++)
        (void)sim_add_running(sim, "busy", i % 10);
    sim_start(sim);
    for (int i = 0; i < 3000; i++) {
        const int64_t gap_ns = smp_sampler_tick_gap_ns(sim->sampler);
        if (gap_ns > 0 && i > 1000) {
            postponed++;
            assert_int_equal(sim->counts.in_flight, 0);
        }
        sim_tick(sim, gap_ns > SIM_MS ? gap_ns : SIM_MS);
    }
    assert_true(postponed > 1000);
    sim_destroy(sim);
}

/* A snapshot per second must not cause a poll of every thread per second. */
static void the_end_of_an_interval_polls_no_thread(void **state)
{
    enum { BUSY = 32, IDLE = 3000 };
    struct sim *sim = sim_create(AT_20_MS "overheadLimitPerMille=1000\n");

    (void)state;
    for (int i = 0; i < BUSY; i++)
        (void)sim_add_running(sim, "busy", 1);
    for (int i = 0; i < IDLE; i++)
        (void)sim_add_waiting(sim, "idle", 2);
    sim_start(sim);
    sim_run(sim, 60 * SIM_S);
    for (int i = 0; i < 10; i++) {
        sim_run(sim, 300 * SIM_MS);
        const struct sim_counts before = sim->counts;
        sim_finish(sim);
        assert_int_equal(sim->counts.reads, before.reads);
        assert_int_equal(sim->counts.walks, before.walks);
        assert_int_equal(sim->counts.requests, before.requests);
        if (i > 0)
            assert_int_equal(sim_wall(sim, "idle", 2), IDLE * sim->profile->elapsed_ns);
        assert_false(smp_profile_is_empty(sim->profile));
        assert_int_equal(sim_wall(sim, "busy", 1), BUSY * sim->profile->elapsed_ns);
    }
    sim_destroy(sim);
}

/* CPU time that native code used before is part of its clock, whether it is little or much. */
static void an_attached_thread_has_only_its_own_cpu_time(void **state)
{
    static const int64_t before_ns[] = { 15 * SIM_MS, 3600 * SIM_S };

    (void)state;
    for (size_t i = 0; i < sizeof(before_ns) / sizeof(before_ns[0]); i++) {
        struct sim *sim = sim_create(AT_20_MS);
        struct sim_thread *attached = NULL;
        (void)sim_add_waiting(sim, "other", 0);
        sim_start(sim);
        attached = sim_attach(sim, "native", before_ns[i]);
        sim_script(attached, 1, 500 * SIM_MS, false);
        sim_script(attached, 2, 300 * SIM_MS, true);
        sim_run(sim, 400 * SIM_MS);
        sim_finish(sim);
        assert_int_equal(sim_cpu(sim, "native", -1), 0);
        sim_run(sim, 390 * SIM_MS);
        sim_finish(sim);
        assert_int_equal(sim_cpu(sim, "native", -1), sim_used(attached));
        sim_destroy(sim);
    }
}

/* Time that is known without a poll makes a report; time of the JVM's own threads does not. */
static void an_interval_without_polls_is_not_empty(void **state)
{
    struct sim *sim = sim_create(AT_20_MS "overheadLimitPerMille=1\n");

    (void)state;
    sim->walk_cost_ns = 20 * SIM_MS;
    for (int i = 0; i < 50; i++)
        (void)sim_add_running(sim, "busy", 1);
    sim_start(sim);
    sim_run(sim, 60 * SIM_S);
    for (int i = 0; i < 20; i++) {
        sim_tick(sim, 20 * SIM_MS);
        sim_finish(sim);
        assert_int_equal(sim_wall(sim, "busy", -1), 50 * sim->profile->elapsed_ns);
        assert_false(smp_profile_is_empty(sim->profile));
    }
    sim_pause(sim);
    sim_finish(sim);
    sim->task_cpu_ns[SMP_OS_THREAD_GC] = 300 * SIM_MS;
    sim_finish(sim);
    assert_true(smp_profile_is_empty(sim->profile));
    sim_destroy(sim);
}

static void a_requested_thread_may_end_or_be_renamed(void **state)
{
    struct sim *sim = sim_create("samplingFrequencyMillis=1\n");
    struct sim_thread *renamed = sim_add_running(sim, "one", 1);
    struct sim_thread *ended = sim_add_running(sim, "ended", 2);

    (void)state;
    sim_start(sim);
    for (int i = 0; i < 4; i++)
        sim_tick(sim, SIM_MS);
    assert_int_equal(sim->counts.in_flight, 2);
    sim_rename(renamed, "two");
    sim_end(sim, ended);
    for (int i = 0; i < 3; i++)
        sim_tick(sim, SIM_MS);
    sim_finish(sim);
    assert_int_equal(sim_wall(sim, "one", -1), 4 * SIM_MS);
    assert_int_equal(sim_wall(sim, "two", -1), 3 * SIM_MS);
    assert_in_range(sim_wall(sim, "ended", -1), 4 * SIM_MS, 4 * SIM_MS + 100 * SIM_US);
    sim_tick(sim, SIM_MS);
    assert_int_equal(sim->counts.in_flight, 1);
    sim_destroy(sim); /* while a request is pending */
}

static void with_short_intervals_answers_are_taken_at_the_next_tick(void **state)
{
    struct sim *sim = sim_create("samplingFrequencyMillis=1\n");
    struct sim_thread *busy = sim_add(sim, "busy");

    (void)state;
    /* At each poll it is in the stack in which it stays until the next poll. */
    for (int stack = 0; stack < 4; stack++)
        sim_script(busy, stack, SIM_MS, true);
    sim_start(sim);
    sim_tick(sim, 500 * SIM_US);
    assert_int_equal(sim->counts.in_flight, 0); /* the first request is not delayed */
    for (int i = 0; i < 8; i++) {
        sim_tick(sim, SIM_MS);
        assert_int_equal(sim->counts.in_flight, 1);
    }
    /* The last request belongs to the interval that ends. */
    sim_finish(sim);
    assert_int_equal(sim->counts.in_flight, 0);
    assert_int_equal(sim_outcome(sim, "busy", SMP_OUTCOME_WALKED), 9);
    assert_int_equal(sim_wall(sim, "busy", -1), 8 * SIM_MS + 500 * SIM_US);
    assert_int_equal(sim_wall(sim, "busy", 0), 2 * SIM_MS + 500 * SIM_US);
    for (int stack = 1; stack < 4; stack++)
        assert_int_equal(sim_wall(sim, "busy", stack), 2 * SIM_MS);
    sim_destroy(sim);
}

/* The sampler does not skip ticks before the answers are there: a requested thread has no
 * deadline. */
static void answers_do_not_wait_for_the_next_deadline(void **state)
{
    struct sim *sim = sim_create("samplingFrequencyMillis=1\noverheadLimitPerMille=100\n");
    struct sim_thread *thread = sim_add(sim, "burst");

    (void)state;
    sim_script(thread, 0, 60 * SIM_S, false);
    sim_script(thread, 1, 2 * SIM_S, true);
    sim_script(thread, 2, 3600 * SIM_S, false);
    sim->tick_cost_ns = 8 * SIM_US; /* so ticks for one idle thread are rarer */
    sim_start(sim);
    sim_run(sim, 61 * SIM_S);
    assert_int_equal(sim->counts.in_flight, 1);
    assert_int_equal(smp_sampler_idle_ticks(sim->sampler), 0);
    sim_run(sim, 60 * SIM_S);
    assert_int_equal(sim->counts.in_flight, 0);
    assert_true(smp_sampler_idle_ticks(sim->sampler) > 0);
    sim_finish(sim);
    /* It is found within a longest gap after it began. */
    assert_in_range(labs(sim_wall(sim, "burst", 1) - 2 * SIM_S), 0, 100 * SIM_MS);
    sim_destroy(sim);
}

static void with_long_intervals_answers_are_taken_at_once(void **state)
{
    struct sim *sim = sim_create("samplingFrequencyMillis=1\n");

    (void)state;
    (void)sim_add_running(sim, "busy", 1);
    sim_start(sim);
    sim_tick(sim, SIM_MS);
    assert_int_equal(sim->counts.in_flight, 0);
    sim_tick(sim, SIM_MS);
    assert_int_equal(sim->counts.in_flight, 1);
    sim_configure(sim, "samplingFrequencyMillis=101\n");
    for (int i = 0; i < 2; i++) {
        sim_tick(sim, 101 * SIM_MS);
        assert_int_equal(sim->counts.in_flight, 0);
    }
    assert_int_equal(sim->counts.requests, 4);
    sim_finish(sim);
    assert_int_equal(sim_wall(sim, "busy", 1), 204 * SIM_MS);
    sim_destroy(sim);
}

/* The answers may show the holder of a lock. */
static void if_threads_wait_for_locks_answers_are_taken_at_once(void **state)
{
    (void)state;
    for (int blocks = 0; blocks < 2; blocks++) {
        struct sim *sim = sim_create(AT_20_MS);
        struct sim_thread *holder = sim_add_running(sim, "holder", 3);
        struct sim_thread *waiter = sim_add(sim, "waiter");
        /* It wakes up before each poll, so that each poll finds it. */
        sim_script(waiter, 1, 19 * SIM_MS, false);
        sim_script(waiter, 1, SIM_MS, true);
        sim_script(waiter, 1, 20 * SIM_MS, false);
        waiter->is_proven = true;
        waiter->word = blocks ? SMP_WORD_AT_MONITOR : SMP_WORD_WAITS;
        waiter->owner_kind = SMP_OWNER_THREAD;
        waiter->owner = holder;
        sim_start(sim);
        sim_tick(sim, 10 * SIM_MS);
        for (int i = 0; i < 5; i++) {
            sim_tick(sim, 40 * SIM_MS);
            assert_int_equal(sim->counts.in_flight, blocks ? 0 : 1);
        }
        sim_destroy(sim);
    }
}

/* --- what a poll reads --- */

/* The thread's clock says everything: it is running and has not waited for a CPU. */
static void a_busy_thread_costs_one_reading_of_its_clock(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *busy = sim_add_running(sim, "busy", 1);

    (void)state;
    sim->has_queues = true;
    sim_start(sim);
    for (int i = 0; i < 10; i++)
        sim_tick(sim, 20 * SIM_MS);
    const unsigned long reads = busy->reads;
    const unsigned long own_reads = sim->counts.own_reads;
    sim->counts.queue_reads = 0;
    for (int i = 0; i < 100; i++)
        sim_tick(sim, 20 * SIM_MS);
    assert_int_equal(busy->reads - reads, 100);
    assert_int_equal(sim->counts.own_reads - own_reads, 100);
    assert_in_range(sim->counts.queue_reads, 0, 3);
    assert_int_equal(sim->counts.runnable, 0);
    assert_int_equal(busy->requests, 110);
    sim_finish(sim);
    assert_int_equal(sim_cpu(sim, "busy", 1), sim_used(busy));
    sim_destroy(sim);
}

/* The second reading of its clock proves its stack. */
static void a_waiting_thread_costs_one_reading_before_its_walk(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *thread = sim_add(sim, "woken");

    (void)state;
    sim_script(thread, 1, 15 * SIM_MS, false);
    sim_script(thread, 1, SIM_MS, true);
    sim_script(thread, 1, 4 * SIM_MS, false);
    thread->is_proven = true;
    thread->word = SMP_WORD_WAITS;
    sim_start(sim);
    sim_tick(sim, 18 * SIM_MS);
    const unsigned long reads = thread->reads;
    for (int i = 0; i < 50; i++)
        sim_tick(sim, 20 * SIM_MS);
    assert_int_equal(thread->reads - reads, 50);
    assert_int_equal(thread->proofs, 51);
    assert_int_equal(thread->walks, 0);
    assert_int_equal(sim->counts.runnable, 0);
    sim_finish(sim);
    assert_int_equal(sim_state(sim, "woken", 1, SMP_STATE_RUNNING), 0);
    sim_destroy(sim);
}

/* On its way into a wait: a handshake would find it in the wait. */
static void a_running_thread_reported_as_waiting_is_requested(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *thread = sim_add(sim, "parks");

    (void)state;
    thread->is_word_early = true;
    /* Not all the time, but running at each poll. */
    sim_script(thread, 1, 10 * SIM_MS, true);
    sim_script(thread, 2, 2 * SIM_MS, false);
    sim_script(thread, 1, 8 * SIM_MS, true);
    thread->is_proven = true;
    thread->word = SMP_WORD_WAITS;
    sim_start(sim);
    for (int i = 0; i < 50; i++)
        sim_tick(sim, 20 * SIM_MS);
    assert_int_equal(thread->walks, 0);
    assert_int_equal(thread->proofs, 0);
    assert_int_equal(thread->requests, 50);
    sim_finish(sim);
    assert_int_equal(sim_state(sim, "parks", 1, SMP_STATE_RUNNING), sim->profile->elapsed_ns);
    sim_destroy(sim);
}

/* In Java code it does not wait, so the system is not asked. */
static void a_thread_in_java_code_counts_as_running(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *thread = sim_add(sim, "preempted");

    (void)state;
    sim_script(thread, 1, 12 * SIM_MS, true);
    sim_script(thread, 1, 8 * SIM_MS, false);
    thread->word = SMP_WORD_RUNS;
    sim_start(sim);
    sim_tick(sim, 15 * SIM_MS);
    for (int i = 0; i < 50; i++)
        sim_tick(sim, 20 * SIM_MS);
    assert_int_equal(sim->counts.runnable, 0);
    assert_int_equal(thread->walks, 0);
    assert_int_equal(thread->requests, 51);
    sim_destroy(sim);
}

static void every_answer_has_its_outcome(void **state)
{
    static const struct {
        enum smp_answer answer;
        enum smp_outcome outcome;
        const char *frame; /* NULL: the frame of the stack */
    } cases[] = {
        { SMP_ANSWER_WHOLE, SMP_OUTCOME_WALKED, NULL },
        { SMP_ANSWER_IN_STUB, SMP_OUTCOME_RECOVERED_IN_STUB, NULL },
        { SMP_ANSWER_AT_ENTRY, SMP_OUTCOME_RECOVERED_AT_ENTRY, NULL },
        { SMP_ANSWER_AT_RETURN, SMP_OUTCOME_RECOVERED_AT_RETURN, NULL },
        { SMP_ANSWER_RETRIED, SMP_OUTCOME_RECOVERED_BY_RETRY, NULL },
        { SMP_ANSWER_VIRTUAL_CUT, SMP_OUTCOME_VIRTUAL_THREAD_CUT, NULL },
        { SMP_ANSWER_EMPTY, SMP_OUTCOME_NO_JAVA_FRAMES, "[no Java frames]" },
        { SMP_ANSWER_GC_ACTIVE, SMP_OUTCOME_GC_ACTIVE, "[GC active]" },
        { SMP_ANSWER_UNKNOWN_JAVA, SMP_OUTCOME_UNKNOWN_JAVA, "[unknown, Java]" },
        { SMP_ANSWER_DEOPT, SMP_OUTCOME_DEOPTIMISATION, "[deoptimisation]" },
        { SMP_ANSWER_NO_METHOD, SMP_OUTCOME_METHOD_WITHOUT_ID, NULL },
        { SMP_ANSWER_THREAD_EXIT, SMP_OUTCOME_THREAD_ENDED_IN_WALK, "[thread ended]" },
        { (enum smp_answer)99, SMP_OUTCOME_REFUSED_BY_JVM, "[refused by the JVM]" },
    };
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *busy = sim_add_running(sim, "busy", 1);

    (void)state;
    sim_start(sim);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        busy->answer = cases[i].answer;
        sim_tick(sim, 20 * SIM_MS);
        sim_tick(sim, 20 * SIM_MS);
        sim_finish(sim);
        assert_int_equal(sim_outcome(sim, "busy", cases[i].outcome), 2);
        assert_int_equal(sim->profile->tally.polls, 2);
        if (cases[i].frame != NULL)
            assert_int_equal(sim_wall_of(sim, "busy", cases[i].frame), 40 * SIM_MS);
        else
            assert_int_equal(sim_wall(sim, "busy", 1), 40 * SIM_MS);
        /* It was running, whatever its answer. */
        assert_in_range(sim_cpu(sim, "busy", -1), 39 * SIM_MS, 41 * SIM_MS);
    }
    sim_destroy(sim);
}

static void every_refusal_has_its_outcome(void **state)
{
    static const struct {
        enum smp_status status;
        enum smp_outcome outcome;
        const char *frame;
    } cases[] = {
        { SMP_EQUOTA, SMP_OUTCOME_SIGNAL_QUEUE_FULL, "[signal queue full]" },
        { SMP_EINVAL, SMP_OUTCOME_THREAD_UNIDENTIFIED, "[thread not identified yet]" },
        { SMP_EGONE, SMP_OUTCOME_THREAD_ENDED_IN_WALK, "[thread ended]" },
        { SMP_EVM, SMP_OUTCOME_REFUSED_BY_JVM, "[refused by the JVM]" },
        { SMP_EUNSUPPORTED, SMP_OUTCOME_WALKED, "m1" },
    };
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *busy = sim_add_running(sim, "busy", 1);

    (void)state;
    sim_start(sim);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        busy->request_status = cases[i].status;
        sim_tick(sim, 20 * SIM_MS);
        sim_finish(sim);
        assert_int_equal(sim_outcome(sim, "busy", cases[i].outcome), 1);
        assert_int_equal(sim_wall_of(sim, "busy", cases[i].frame), 20 * SIM_MS);
    }
    sim_destroy(sim);
}

/* --- one poll while nothing is sampled --- */

/* Its answer comes later than the request, and belongs to the same poll. */
static void one_poll_has_the_stacks_of_running_threads(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *busy = sim_add_running(sim, "busy", 1);
    struct sim_thread *idle = sim_add_waiting(sim, "idle", 2);

    (void)state;
    for (unsigned long i = 1; i <= 3; i++) {
        sim->now_ns += SIM_S;
        smp_sampler_tick_once(sim->sampler, sim->now_ns, 20 * SIM_MS);
        assert_int_equal(sim->counts.in_flight, 0);
        sim_finish(sim);
        assert_int_equal(busy->requests, i);
        assert_int_equal(idle->walks, i);
        assert_int_equal(sim_wall(sim, "busy", 1), 20 * SIM_MS);
        assert_int_equal(sim_wall(sim, "idle", 2), 20 * SIM_MS);
        assert_int_equal(sim_outcome(sim, "busy", SMP_OUTCOME_WALKED), 1);
    }
    sim_destroy(sim);
}

static void one_poll_has_room_for_many_quick_answers(void **state)
{
    enum { THREADS = 3 * SMP_MAX_REQUESTS };
    struct sim *sim = sim_create(AT_20_MS);

    (void)state;
    for (int i = 0; i < THREADS; i++)
        (void)sim_add_running(sim, "busy", 1);
    smp_sampler_tick_once(sim->sampler, sim->now_ns, 20 * SIM_MS);
    sim_finish(sim);
    assert_int_equal(sim_outcome(sim, "busy", SMP_OUTCOME_WALKED), THREADS);
    assert_int_equal(sim->profile->tally.polls, THREADS);
    sim_destroy(sim);
}

static void one_poll_names_a_thread_that_does_not_answer(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);

    (void)state;
    sim_add_running(sim, "busy", 1)->answer = SMP_ANSWER_UNANSWERED;
    smp_sampler_tick_once(sim->sampler, sim->now_ns, 20 * SIM_MS);
    sim_finish(sim);
    assert_int_equal(sim_outcome(sim, "busy", SMP_OUTCOME_SIGNAL_UNANSWERED), 1);
    assert_int_equal(sim_wall_of(sim, "busy", "[signal not answered]"), 20 * SIM_MS);
    sim_destroy(sim);
}

/* It is walked in another way, in the same poll. */
static void a_thread_that_blocks_the_signal_is_walked(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);

    (void)state;
    sim_add_running(sim, "busy", 1)->answer = SMP_ANSWER_BLOCKED;
    sim_start(sim);
    sim_run(sim, 400 * SIM_MS);
    sim_finish(sim);
    assert_int_equal(sim_wall(sim, "busy", 1), sim->profile->elapsed_ns);
    assert_int_equal(sim_outcome(sim, "busy", SMP_OUTCOME_SIGNAL_UNANSWERED), 0);
    sim_destroy(sim);
}

static void one_poll_counts_the_threads_for_which_there_was_no_time(void **state)
{
    enum { THREADS = SMP_MAX_REQUESTS + 8 };
    struct sim *sim = sim_create(AT_20_MS);

    (void)state;
    for (int i = 0; i < THREADS; i++)
        (void)sim_add_running(sim, "busy", 1);
    sim->walk_cost_ns = SIM_MS; /* SMP_MAX_REQUESTS of them take longer than the interval */
    smp_sampler_tick_once(sim->sampler, sim->now_ns, 20 * SIM_MS);
    sim_finish(sim);
    /* The thread that waited for room. The requests of later threads are pending at the same
     * time. */
    assert_int_equal(sim_outcome(sim, "busy", SMP_OUTCOME_OVER_OVERHEAD_LIMIT), 1);
    assert_int_equal(sim_outcome(sim, "busy", SMP_OUTCOME_WALKED), THREADS - 1);
    assert_int_equal(sim_wall(sim, "busy", -1), (THREADS - 1) * 20 * SIM_MS);
    sim_destroy(sim);
}

/* --- no answer yet --- */

/* A thread that does not answer waits for a CPU in its current stack; so its time waits for its
 * answer. */
static void time_of_a_thread_without_an_answer_is_pending(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *busy = sim_add_running(sim, "busy", 1);

    (void)state;
    sim_start(sim);
    for (int i = 0; i < 9; i++) {
        busy->answer = i % 3 == 2 ? SMP_ANSWER_WHOLE : SMP_ANSWER_UNANSWERED;
        busy->request_status = i % 3 == 1 ? SMP_ESTATE : SMP_OK;
        /* late, because the machine is busy */
        sim_tick(sim, i % 3 == 2 ? 40 * SIM_MS : 20 * SIM_MS);
    }
    sim_finish(sim);
    assert_int_equal(sim_wall(sim, "busy", 1), 240 * SIM_MS);
    assert_int_equal(sim_cpu(sim, "busy", 1), sim_used(busy));
    assert_int_equal(sim_outcome(sim, "busy", SMP_OUTCOME_SIGNAL_UNANSWERED), 6);
    assert_int_equal(sim_outcome(sim, "busy", SMP_OUTCOME_WALKED), 3);
    assert_int_equal(sim_outcome(sim, "busy", SMP_OUTCOME_OVER_OVERHEAD_LIMIT),
                     0); /* each poll counts once */
    sim_destroy(sim);
}

/* It woke up and waits for a CPU: that time does not belong to the stack in which it slept. */
static void waiting_for_a_cpu_is_not_idle_time(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *thread = sim_add(sim, "starved");

    (void)state;
    sim_script(thread, 0, 30 * SIM_S, false);
    sim_script(thread, 1, 10 * SIM_MS, true);
    sim_script(thread, 1, 800 * SIM_MS, false);
    sim_script(thread, 1, 3600 * SIM_S, true);
    sim_start(sim);
    sim_run(sim, 29 * SIM_S);
    thread->is_runnable = true;
    thread->answer = SMP_ANSWER_UNANSWERED;
    sim_run(sim, 1700 * SIM_MS);
    thread->answer = SMP_ANSWER_WHOLE;
    sim_run(sim, SIM_S);
    sim_finish(sim);
    assert_in_range(labs(sim_wall(sim, "starved", 0) - 30 * SIM_S), 0, SIM_S);
    assert_int_equal(sim_wall(sim, "starved", -1), sim->profile->elapsed_ns);
    assert_int_equal(sim_cpu(sim, "starved", -1), sim_used(thread));
    assert_int_equal(sim_wall_of(sim, "starved", "[signal not answered]"), 0);
    sim_destroy(sim);
}

/* A handshake would wait until the thread gets a CPU, and would find it at a safepoint. */
static void a_preempted_thread_is_requested_though_it_has_not_run(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *thread = sim_add(sim, "preempted");

    (void)state;
    sim_script(thread, 1, 100 * SIM_MS, true);
    sim_script(thread, 1, 3600 * SIM_S, false);
    thread->is_runnable = true;
    sim_start(sim);
    sim_run(sim, SIM_S);
    sim_finish(sim);
    assert_int_equal(thread->walks, 0);
    assert_in_range(thread->requests, 45, 56);
    assert_int_equal(sim_wall(sim, "preempted", 1), sim->profile->elapsed_ns);
    sim_destroy(sim);
}

/* It answers before it waits: the answer covers the time before. */
static void a_pending_answer_of_a_now_waiting_thread_is_taken(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *thread = sim_add(sim, "burst");

    (void)state;
    sim_script(thread, 1, 70 * SIM_MS, true);
    sim_script_starved(thread, 1, 50 * SIM_MS);
    sim_script(thread, 1, SIM_US, true);
    sim_script(thread, 2, 3600 * SIM_S, false);
    sim_start(sim);
    sim_run(sim, 300 * SIM_MS);
    sim_finish(sim);
    assert_in_range(sim_outcome(sim, "burst", SMP_OUTCOME_SIGNAL_UNANSWERED), 1, 3);
    assert_int_equal(thread->walks, 1);
    assert_in_range(sim_wall(sim, "burst", 1), 98 * SIM_MS, 122 * SIM_MS);
    assert_int_equal(sim_wall(sim, "burst", 1) + sim_wall(sim, "burst", 2),
                     sim->profile->elapsed_ns);
    sim_destroy(sim);
}

/* The walk ended without a stack when there was no time for another try, for example because the
 * stack had no room. The thread waits from then on and is requested again. */
static void a_request_without_an_answer_is_repeated(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *thread = sim_add(sim, "deep");

    (void)state;
    sim_script(thread, 1, 45 * SIM_MS, true);
    sim_script(thread, 1, 3600 * SIM_S, false);
    thread->answer = SMP_ANSWER_UNANSWERED;
    sim_start(sim);
    for (int i = 0; i < 100 && thread->requests < 8; i++)
        sim_run(sim, 20 * SIM_MS);
    assert_in_range(thread->requests, 8, 9);
    thread->answer = SMP_ANSWER_WHOLE;
    sim_run(sim, SIM_S);
    sim_finish(sim);
    assert_int_equal(sim_wall(sim, "deep", 1), sim->profile->elapsed_ns);
    sim_destroy(sim);
}

/* If answers are collected late, the last one may never come: the time stays with the last
 * stack. */
static void without_a_last_answer_time_stays_with_the_last_stack(void **state)
{
    struct sim *sim = sim_create("samplingFrequencyMillis=5\n");
    struct sim_thread *thread = sim_add_running(sim, "worker-1", 1);

    (void)state;
    sim_start(sim);
    for (int i = 0; i < 10; i++)
        sim_tick(sim, 5 * SIM_MS);
    smp_sampler_poll_all(sim->sampler); /* takes the answer of the previous tick */
    thread->answer = SMP_ANSWER_UNANSWERED;
    sim_tick(sim, 5 * SIM_MS);
    smp_sampler_pause(sim->sampler);
    sim_finish(sim);
    assert_int_equal(sim->profile->tally.outcomes[SMP_OUTCOME_SIGNAL_UNANSWERED], 1);
    assert_int_equal(sim_wall(sim, "worker-", 1), sim->profile->elapsed_ns);
    sim_destroy(sim);
}

/* The sampler does not wait for ever. */
static void a_thread_that_never_answers_is_counted(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *busy = sim_add_running(sim, "busy", 1);

    (void)state;
    busy->answer = SMP_ANSWER_UNANSWERED;
    sim_start(sim);
    sim_run(sim, 100 * SIM_MS);
    sim_finish(sim);
    assert_int_equal(sim_wall_of(sim, "busy", "[signal not answered]"), sim->profile->elapsed_ns);
    sim_run(sim, 10 * SIM_S);
    busy->answer = SMP_ANSWER_WHOLE;
    sim_run(sim, 100 * SIM_MS);
    sim_finish(sim);
    assert_int_equal(sim_wall(sim, "busy", -1), sim->profile->elapsed_ns);
    assert_in_range(sim_wall(sim, "busy", 1), 80 * SIM_MS, 1200 * SIM_MS);
    /* CPU time used before the answer is known with the answer. */
    assert_int_equal(sim_cpu(sim, "busy", -1), sim_used(busy));
    sim_destroy(sim);
}

/* Two running stacks and a sleep; when running it gets a CPU for 2 ms at a time. */
static struct sim_thread *add_starved(struct sim *sim)
{
    struct sim_thread *thread = sim_add(sim, "starved");

    for (int i = 0; i < 5; i++) {
        sim_script(thread, 0, (7 + 3 * i) * SIM_MS, false);
        sim_script(thread, 1, 2 * SIM_MS, true);
        sim_script_starved(thread, 1, (90 - 11 * i) * SIM_MS);
        sim_script(thread, 2, 2 * SIM_MS, true);
        sim_script_starved(thread, 2, (13 + 5 * i) * SIM_MS);
        sim_script(thread, 2, 50 * SIM_US, true);
    }
    return thread;
}

/* Otherwise the long wait for an answer would count for the stack in which the thread
 * continued. */
static void a_late_answer_covers_the_time_up_to_it(void **state)
{
    static const char *const intervals[] = { "samplingFrequencyMillis=1\n",
                                             "samplingFrequencyMillis=10\n", AT_20_MS };

    (void)state;
    for (size_t i = 0; i < sizeof(intervals) / sizeof(intervals[0]); i++) {
        struct sim *sim = sim_create(intervals[i]);
        struct sim_thread *thread = add_starved(sim);
        sim_start(sim);
        sim_run(sim, 300 * SIM_S);
        sim_finish(sim);
        const int64_t all_ns = sim->profile->elapsed_ns;
        for (int stack = 0; stack < 3; stack++)
            assert_in_range(labs(sim_wall(sim, "starved", stack) - sim_truth(sim, thread, stack)),
                            0, all_ns / 100);
        /* Half of its CPU time in each of the two stacks. */
        assert_in_range(labs(sim_cpu(sim, "starved", 1) - sim_cpu(sim, "starved", 2)), 0,
                        sim_used(thread) / 10);
        /* Except for the pending answer. */
        assert_in_range(sim_used(thread) - sim_cpu(sim, "starved", -1), 0, 3 * SIM_MS);
        assert_int_equal(sim_wall(sim, "starved", -1), all_ns);
        assert_int_equal(sim_wall_of(sim, "starved", "[signal not answered]"), 0);
        sim_destroy(sim);
    }
}

/* A thread that gets no CPU for nine of its ten seconds. */
static struct sim_thread *start_starved(struct sim *sim)
{
    struct sim_thread *thread = sim_add(sim, "starved");

    sim_script(thread, 1, 50 * SIM_MS, true);
    sim_script_starved(thread, 1, 9 * SIM_S);
    sim_script(thread, 2, 950 * SIM_MS, true);
    sim_start(sim);
    return thread;
}

/* A failed walk gives no information about nine seconds of waiting. */
static void a_failed_late_walk_leaves_the_time_with_the_last_stack(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *thread = start_starved(sim);

    (void)state;
    sim_run(sim, 200 * SIM_MS);
    thread->answer = SMP_ANSWER_UNKNOWN_JAVA;
    sim_run(sim, 8880 * SIM_MS);
    thread->answer = SMP_ANSWER_WHOLE;
    sim_run(sim, 900 * SIM_MS);
    sim_finish(sim);
    assert_in_range(sim_outcome(sim, "starved", SMP_OUTCOME_UNKNOWN_JAVA), 1, 6);
    assert_in_range(sim_wall_of(sim, "starved", "[unknown, Java]"), 0,
                    120 * SIM_MS); /* of polls in time */
    assert_in_range(labs(sim_wall(sim, "starved", 1) - sim_truth(sim, thread, 1)), 0, 60 * SIM_MS);
    assert_int_equal(sim_wall(sim, "starved", -1), sim->profile->elapsed_ns);
    sim_destroy(sim);
}

/* As long as its clock does not advance, it has not run and could not answer. */
static void the_sampler_waits_for_a_thread_without_a_cpu(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *thread = start_starved(sim);

    (void)state;
    sim_run(sim, 10 * SIM_S);
    sim_finish(sim);
    assert_int_equal(sim_wall_of(sim, "starved", "[signal not answered]"), 0);
    assert_in_range(labs(sim_wall(sim, "starved", 1) - sim_truth(sim, thread, 1)), 0, 40 * SIM_MS);
    assert_in_range(thread->requests, 40, 60); /* no requests while it waits */
    sim_destroy(sim);
}

/* A request made before a pause gives no answer for the time after it. */
static void a_pause_cancels_requests_without_an_answer(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *thread = start_starved(sim);

    (void)state;
    sim_run(sim, SIM_S);
    sim_finish(sim);
    assert_true(sim_outcome(sim, "starved", SMP_OUTCOME_SIGNAL_UNANSWERED) > 0);
    sim_pause(sim);
    sim_finish(sim);
    sim->now_ns += 8100 * SIM_MS; /* meanwhile it gets its CPU and answers */
    sim_start(sim);
    sim_run(sim, 500 * SIM_MS);
    sim_finish(sim);
    assert_int_equal(sim_wall(sim, "starved", 2), sim->profile->elapsed_ns);
    assert_in_range(labs(sim_cpu(sim, "starved", 2) - sim->profile->elapsed_ns), 0, SIM_MS);
    assert_int_equal(sim_outcome(sim, "starved", SMP_OUTCOME_SIGNAL_UNANSWERED), 0);
    assert_true(thread->requests > 0);
    sim_destroy(sim);
}

/* An interval does not wait for a thread; time without an answer goes to its last stack. */
static void time_without_an_answer_goes_to_the_last_stack(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *thread = sim_add(sim, "starved");

    (void)state;
    sim_script(thread, 1, 500 * SIM_MS, true);
    sim_script_starved(thread, 1, 20 * SIM_S);
    sim_start(sim);
    for (int i = 0; i < 3; i++) {
        sim_run(sim, SIM_S);
        sim_finish(sim);
        assert_int_equal(sim_wall(sim, "starved", 1), sim->profile->elapsed_ns);
        assert_int_equal(sim_cpu(sim, "starved", -1), sim_cpu(sim, "starved", 1));
        assert_in_range(sim_outcome(sim, "starved", SMP_OUTCOME_SIGNAL_UNANSWERED), 20, 60);
    }
    assert_int_equal(sim_outcome(sim, "starved", SMP_OUTCOME_WALKED), 0);
    sim_destroy(sim);
}

static void requests_in_flight_are_bounded(void **state)
{
    enum { THREADS = 200 };
    struct sim *sim = sim_create(AT_20_MS "overheadLimitPerMille=1000\n");

    (void)state;
    for (int i = 0; i < THREADS; i++)
        sim_add_running(sim, "busy", i % 10);
    sim_start(sim);
    sim_run(sim, SIM_S);
    sim_finish(sim);
    assert_int_equal(sim->counts.most_in_flight, SMP_MAX_REQUESTS);
    assert_int_equal(sim->counts.in_flight, 0);
    assert_int_equal(sim_wall(sim, "busy", -1), THREADS * sim->profile->elapsed_ns);
    for (int i = 0; i < 10; i++)
        assert_int_equal(sim_wall(sim, "busy", i), THREADS / 10 * sim->profile->elapsed_ns);
    sim_destroy(sim);
}

static void virtual_threads_have_their_own_group(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);
    struct sim_thread *carrier = sim_add(sim, "carrier-1");

    (void)state;
    sim_script(carrier, 1, 10 * SIM_S, true);
    sim_script(carrier, 2, 3600 * SIM_S, false);
    carrier->has_mounted = true;
    carrier->mounted_name = "orders-17";
    sim_start(sim);
    sim_run(sim, 9 * SIM_S);
    sim_finish(sim);
    assert_int_equal(sim_wall(sim, "orders-", 1), sim->profile->elapsed_ns);
    assert_int_equal(sim_cpu(sim, "orders-", 1), sim_used(carrier));
    assert_int_equal(sim_group(sim, "orders-")->thread_count, 1);
    assert_int_equal(sim_wall(sim, "carrier-", -1), 0);
    /* The carrier waits in its own stack, not in that of the virtual thread. */
    sim_run(sim, 30 * SIM_S);
    sim_finish(sim);
    assert_true(sim_wall(sim, "carrier-", 2) > 28 * SIM_S);
    assert_int_equal(sim_wall(sim, "carrier-", 1), 0);
    assert_int_equal(carrier->walks, 1);
    sim_destroy(sim);
}

static enum smp_naming platform(void *self, const struct fake_thread *thread, char *out,
                                size_t size)
{
    (void)self;
    (void)thread;
    (void)snprintf(out, size, "platform");
    return SMP_NAMING_NAMED;
}

static const char *by_mounted(const struct sim_thread *carrier)
{
    if (carrier->mounted_name == NULL)
        return "";
    return carrier->mounted_name[0] == 's' ? NULL : "virtual";
}

static void virtual_threads_are_named_by_the_rule(void **state)
{
    static const struct {
        const char *options;
        const char *name;
        const char *group; /* NULL: not sampled */
    } cases[] = {
        { AT_20_MS, "12", "[unnamed]" },
        { AT_20_MS, NULL, "[virtual threads]" },
        { AT_20_MS, "", "[virtual threads]" },
        { AT_20_MS "defaultThreadNameRule=false\n", "orders-17", "virtual" },
        { AT_20_MS "defaultThreadNameRule=false\n", NULL, "[unnamed]" },
        { AT_20_MS "defaultThreadNameRule=false\n", "secret", NULL },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sim *sim = sim_create(cases[i].options);
        struct sim_thread *carrier = sim_add_running(sim, "carrier-1", 1);
        fake_jvm_set_rule(sim->jvm, platform, NULL);
        sim->mounted_rule = by_mounted;
        carrier->has_mounted = true;
        carrier->mounted_name = cases[i].name;
        sim_start(sim);
        sim_run(sim, SIM_S);
        sim_finish(sim);
        assert_true(carrier->requests > 40);
        if (cases[i].group != NULL)
            assert_int_equal(sim_wall(sim, cases[i].group, 1), sim->profile->elapsed_ns);
        else
            assert_int_equal(sim->profile->tally.polls, 0);
        sim_destroy(sim);
    }
}

/* --- the JVM's own threads --- */

static void jvm_threads_are_a_group_with_a_row_for_each_kind(void **state)
{
    struct sim *sim = sim_create(AT_20_MS);

    (void)state;
    sim_add_waiting(sim, "main", 1);
    sim->task_cpu_ns[SMP_OS_THREAD_GC] = 77 * SIM_S; /* before the start */
    sim_start(sim);
    sim_run(sim, SIM_S);
    sim->task_cpu_ns[SMP_OS_THREAD_GC] = 300 * SIM_MS;
    sim->task_cpu_ns[SMP_OS_THREAD_JIT] = 20 * SIM_MS;
    sim->task_cpu_ns[SMP_OS_THREAD_SAMPLER] = 5 * SIM_MS;
    sim_finish(sim);
    assert_int_equal(sim_wall_of(sim, "[JVM]", "[GC]"), 300 * SIM_MS);
    assert_int_equal(sim_wall_of(sim, "[JVM]", "[JIT compiler]"), 20 * SIM_MS);
    assert_int_equal(sim_wall_of(sim, "[JVM]", "[threads-sampler]"), 5 * SIM_MS);
    assert_int_equal(sim_cpu(sim, "[JVM]", -1), 325 * SIM_MS);
    assert_int_equal(sim_group(sim, "[JVM]")->thread_count, 3);
    assert_int_equal(sim_group(sim, "[JVM]")->tally.polls, 0);
    /* CPU time in a pause is not attributed, and time used before the pause is not lost. */
    sim_run(sim, SIM_S);
    sim->task_cpu_ns[SMP_OS_THREAD_VM] = 1 * SIM_MS;
    sim_pause(sim);
    sim->task_cpu_ns[SMP_OS_THREAD_VM] = 99 * SIM_MS;
    sim_start(sim);
    sim->task_cpu_ns[SMP_OS_THREAD_VM] = 2 * SIM_MS;
    sim_run(sim, SIM_S);
    sim_finish(sim);
    assert_int_equal(sim_wall_of(sim, "[JVM]", "[VM thread]"), 3 * SIM_MS);
    /* Switched off. */
    sim_configure(sim, AT_20_MS "reportJvmThreads=false\n");
    sim->task_cpu_ns[SMP_OS_THREAD_GC] = 10 * SIM_MS;
    sim_run(sim, SIM_S);
    sim_finish(sim);
    assert_null(sim_group(sim, "[JVM]"));
    sim_configure(sim, AT_20_MS);
    sim->task_cpu_ns[SMP_OS_THREAD_GC] = 4 * SIM_MS;
    sim_run(sim, SIM_S);
    sim_finish(sim);
    assert_int_equal(sim_wall_of(sim, "[JVM]", "[GC]"), 4 * SIM_MS);
    /* With a filter for some threads only, no time of these is shown; time used before is not
     * lost. */
    sim->task_cpu_ns[SMP_OS_THREAD_GC] = 5 * SIM_MS;
    smp_sampler_set_filter(sim->sampler, (struct smp_thread_filter){ 0 }, true);
    sim->task_cpu_ns[SMP_OS_THREAD_GC] = 40 * SIM_MS;
    sim_run(sim, SIM_S);
    smp_sampler_set_filter(sim->sampler, (struct smp_thread_filter){ 0 }, false);
    sim->task_cpu_ns[SMP_OS_THREAD_GC] = 2 * SIM_MS;
    sim_finish(sim);
    assert_int_equal(sim_wall_of(sim, "[JVM]", "[GC]"), 7 * SIM_MS);
    sim_destroy(sim);
}

/* --- stubs of the JVM --- */

/* The stub's name is the leaf; the filter is applied to the Java code that called the stub. */
static void a_stub_is_a_leaf_of_the_code_that_called_it(void **state)
{
    struct smp_frame frames[] = { { 1, SMP_BCI_PSEUDO }, { 7, 0 }, { 66, 0 } };
    struct smp_frame unknown[] = { { 2, SMP_BCI_PSEUDO }, { 7, 0 }, { 66, 0 } };
    uint32_t locations[4];
    struct smp_stack_path path = { .locations = locations };
    struct smp_filter *filter = NULL;
    struct smp_methods *methods = NULL;
    struct smp_location_view view;
    struct sim *sim = sim_create("");
    const struct smp_name_source names = sim_names(sim);

    (void)state;
    assert_int_equal(smp_filter_create(NULL, "other", &filter), SMP_OK);
    assert_int_equal(smp_methods_create(NULL, 1 << 20, NULL, &methods), SMP_OK);
    const struct smp_sample sample = {
        .frames = frames, .capacity = 3, .count = 3, .leaf_count = 3
    };
    smp_stack_path_find(&path, methods, &names, &sample);
    assert_int_equal(path.first, 0);
    smp_methods_view(methods, path.locations[0], &view);
    assert_true(view.is_pseudo);
    assert_string_equal(view.class_name, "[stub]");
    /* It is known from now on. */
    assert_int_equal(smp_methods_locate(methods, &names, &frames[0]), path.locations[0]);
    const struct smp_sample nameless = {
        .frames = unknown, .capacity = 3, .count = 3, .leaf_count = 3
    };
    smp_stack_path_find(&path, methods, &names, &nameless);
    smp_methods_view(methods, path.locations[0], &view);
    assert_string_equal(view.class_name, "[unknown method]");
    /* Without code: only the root frame is left, as without the stub. */
    smp_methods_set_filter(methods, filter);
    smp_stack_path_find(&path, methods, &names, &sample);
    assert_int_equal(path.first, 2);
    smp_methods_release(methods);
    smp_filter_destroy(filter);
    sim_destroy(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(running_threads_are_requested_and_waiting_ones_walked),
        cmocka_unit_test(frames_omitted_from_deep_stacks_are_counted_in_any_walk),
        cmocka_unit_test(without_an_asynchronous_walker_all_threads_are_walked),
        cmocka_unit_test(a_thread_without_a_tid_is_walked_every_tick),
        cmocka_unit_test(a_preempted_thread_is_requested_not_walked),
        cmocka_unit_test(a_waiting_thread_is_read_from_outside),
        cmocka_unit_test(a_blocked_thread_is_always_read_from_outside),
        cmocka_unit_test(a_thread_that_ran_until_the_poll_is_requested),
        cmocka_unit_test(a_thread_that_sleeps_during_another_walk_was_not_preempted),
        cmocka_unit_test(a_thread_that_sleeps_under_a_new_name_was_not_preempted),
        cmocka_unit_test(answers_do_not_wait_for_a_postponed_tick),
        cmocka_unit_test(the_end_of_an_interval_polls_no_thread),
        cmocka_unit_test(an_attached_thread_has_only_its_own_cpu_time),
        cmocka_unit_test(an_interval_without_polls_is_not_empty),
        cmocka_unit_test(a_requested_thread_may_end_or_be_renamed),
        cmocka_unit_test(with_short_intervals_answers_are_taken_at_the_next_tick),
        cmocka_unit_test(answers_do_not_wait_for_the_next_deadline),
        cmocka_unit_test(with_long_intervals_answers_are_taken_at_once),
        cmocka_unit_test(if_threads_wait_for_locks_answers_are_taken_at_once),
        cmocka_unit_test(a_busy_thread_costs_one_reading_of_its_clock),
        cmocka_unit_test(a_waiting_thread_costs_one_reading_before_its_walk),
        cmocka_unit_test(a_running_thread_reported_as_waiting_is_requested),
        cmocka_unit_test(a_thread_in_java_code_counts_as_running),
        cmocka_unit_test(every_answer_has_its_outcome),
        cmocka_unit_test(every_refusal_has_its_outcome),
        cmocka_unit_test(one_poll_has_the_stacks_of_running_threads),
        cmocka_unit_test(one_poll_has_room_for_many_quick_answers),
        cmocka_unit_test(one_poll_names_a_thread_that_does_not_answer),
        cmocka_unit_test(time_before_a_new_name_stays_with_the_old_one),
        cmocka_unit_test(a_thread_that_blocks_the_signal_is_walked),
        cmocka_unit_test(one_poll_counts_the_threads_for_which_there_was_no_time),
        cmocka_unit_test(time_of_a_thread_without_an_answer_is_pending),
        cmocka_unit_test(waiting_for_a_cpu_is_not_idle_time),
        cmocka_unit_test(a_preempted_thread_is_requested_though_it_has_not_run),
        cmocka_unit_test(a_pending_answer_of_a_now_waiting_thread_is_taken),
        cmocka_unit_test(a_request_without_an_answer_is_repeated),
        cmocka_unit_test(without_a_last_answer_time_stays_with_the_last_stack),
        cmocka_unit_test(a_thread_that_never_answers_is_counted),
        cmocka_unit_test(a_late_answer_covers_the_time_up_to_it),
        cmocka_unit_test(a_failed_late_walk_leaves_the_time_with_the_last_stack),
        cmocka_unit_test(the_sampler_waits_for_a_thread_without_a_cpu),
        cmocka_unit_test(a_pause_cancels_requests_without_an_answer),
        cmocka_unit_test(time_without_an_answer_goes_to_the_last_stack),
        cmocka_unit_test(requests_in_flight_are_bounded),
        cmocka_unit_test(virtual_threads_have_their_own_group),
        cmocka_unit_test(virtual_threads_are_named_by_the_rule),
        cmocka_unit_test(jvm_threads_are_a_group_with_a_row_for_each_kind),
        cmocka_unit_test(a_stub_is_a_leaf_of_the_code_that_called_it),
    };
    return cmocka_run_group_tests_name("wall", tests, NULL, NULL);
}
