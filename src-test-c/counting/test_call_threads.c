/* SPDX-License-Identifier: Apache-2.0 */
/* Counted threads, a reader that does not stop them, and an end of counting at any time. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "counting/call_arena.h"
#include "counting/call_path.h"
#include "counting/call_reader.h"
#include "counting/call_shared.h"
#include "support/call_counts.h"

enum {
    THREADS = 8,
    ROUNDS = 300,
    ROUNDS_OF_STORM = 100,
    DEPTH = 5,
    ROOT = 1,
    INNER_ROOT = 2,
    FIRST_TID = 100,
    VIRTUAL_TIDS = 100000, /* range of each thread */
    LARGE_BYTES = 64 << 20,
    /* A round has fewer rows than call_counts, even if this thread gets a CPU late: a row takes 96
     * bytes, and a read may also see trees that began during it. */
    STORM_BYTES = CALL_COUNTS_ROWS / 4 * 96
};

struct worker {
    pthread_t thread;
    int64_t tid;
    bool is_virtual;
    int64_t calls;
    int64_t roots;
    int64_t inner_roots;
    uint64_t random;
};

static _Atomic bool is_over;

/* Makes a recursion of random depth with random siblings; some calls exceed the maximum depth. */
static void call_some(struct worker *worker, struct smp_call_state *state)
{
    int32_t entered[2 * DEPTH];
    int depth = 0;

    for (int i = 0; i < 60; i++) {
        if (depth < 2 * DEPTH && smp_random_next(&worker->random) % 2 == 0) {
            entered[depth] = 10 + (int32_t)(smp_random_next(&worker->random) % 3);
            smp_call_enter(state, entered[depth++]);
            worker->calls++;
        } else if (depth > 0) {
            smp_call_exit(state, entered[--depth]);
        }
    }
    while (depth > 0)
        smp_call_exit(state, entered[--depth]);
}

/* Called inside the other root, also if that one belongs to a counting that was closed
 * meanwhile. */
static void call_inner_root(struct worker *worker)
{
    smp_call_enter_root(worker->tid, worker->is_virtual, 0, INNER_ROOT);
    struct smp_call_state *state = smp_call_state_find(worker->tid);
    worker->inner_roots++;
    if (state == NULL)
        return;
    call_some(worker, state);
    smp_call_exit_root(state, INNER_ROOT);
}

static void call_root(struct worker *worker)
{
    smp_call_enter_root(worker->tid, worker->is_virtual, 0, ROOT);
    struct smp_call_state *state = smp_call_state_find(worker->tid);
    worker->roots++;
    if (state == NULL)
        return;
    call_some(worker, state);
    call_inner_root(worker);
    state = smp_call_state_find(worker->tid); /* a hook also looks it up each time */
    if (state != NULL)
        smp_call_exit_root(state, ROOT);
    if (worker->is_virtual)
        worker->tid++; /* the next virtual thread */
}

static void *work(void *self)
{
    for (int i = 0; i < ROUNDS; i++)
        call_root(self);
    return NULL;
}

/* A platform thread sometimes returns its state itself, as a thread does when it ends. */
static void *work_until_over(void *self)
{
    struct worker *const worker = self;

    for (unsigned i = 0; !atomic_load(&is_over); i++) {
        call_root(worker);
        if (i % 8 == 7 && !worker->is_virtual)
            smp_call_arena_retire(worker->tid);
    }
    return NULL;
}

static void start_workers(struct worker *workers, void *(*body)(void *))
{
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){ .is_virtual = i % 2 == 1, .random = (uint64_t)i + 1 };
        workers[i].tid = workers[i].is_virtual ? VIRTUAL_TIDS * (i + 1) : FIRST_TID + i;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, body, &workers[i]), 0);
    }
}

static void open_arena(bool is_exact, size_t max_bytes)
{
    const struct smp_call_options options = {
        .max_bytes = max_bytes, .nodes = 10000, .depth = DEPTH, .is_exact = is_exact
    };

    assert_int_equal(smp_call_arena_open(&options), SMP_OK);
}

static void look_at_all(void)
{
    struct smp_call_position position;

    for (int i = 0; i < THREADS; i++) {
        if (smp_call_position_of(FIRST_TID + i, &position))
            assert_true(position.method == ROOT || position.method == INNER_ROOT ||
                        position.method == SMP_METHOD_UNCOUNTED ||
                        (position.method >= 10 && position.method < 13));
    }
}

static void count_beside_a_reader(bool is_exact)
{
    static struct worker workers[THREADS];
    static struct call_counts counts;
    int64_t roots = 0;
    int64_t inner_roots = 0;
    int64_t calls = 0;

    counts = (struct call_counts){ 0 };
    open_arena(is_exact, LARGE_BYTES);
    start_workers(workers, work);
    for (int i = 0; i < 20; i++) {
        call_counts_read(&counts);
        look_at_all();
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        roots += workers[i].roots;
        inner_roots += workers[i].inner_roots;
        calls += workers[i].calls;
        smp_call_arena_retire(workers[i].tid);
    }
    call_counts_read(&counts);
    call_counts_assert_means(&counts);
    assert_int_equal(counts.ended, THREADS / 2);
    assert_int_equal(call_counts_of(&counts, ROOT), roots);
    assert_int_equal(call_counts_of(&counts, INNER_ROOT), inner_roots);
    assert_int_equal(call_counts_sum(&counts) + counts.uncounted, roots + inner_roots + calls);
    assert_true(counts.uncounted > 0);
    smp_call_arena_close();
    assert_int_equal(smp_alloc_live_bytes(), 0);
}

static void all_calls_are_read(void **state)
{
    (void)state;
    count_beside_a_reader(false);
}

static void all_calls_are_read_with_exact_timing(void **state)
{
    (void)state;
    count_beside_a_reader(true);
}

/* Counting ends and begins while threads are at any point of their roots. */
static void counting_may_end_at_any_time(void **state)
{
    static struct worker workers[THREADS];
    static struct call_counts counts;

    (void)state;
    atomic_store(&is_over, false);
    start_workers(workers, work_until_over);
    for (int i = 0; i < ROUNDS_OF_STORM; i++) {
        counts = (struct call_counts){ 0 };
        open_arena(i % 2 == 1, STORM_BYTES);
        call_counts_read(&counts);
        smp_call_reset();
        call_counts_read(&counts);
        look_at_all();
        smp_call_arena_close();
    }
    atomic_store(&is_over, true);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        smp_call_arena_retire(workers[i].tid);
    }
    assert_int_equal(smp_alloc_live_bytes(), 0);
}

static bool try_to_open(void)
{
    const struct smp_call_options options = { .max_bytes = 64 << 20, .nodes = 10000, .depth = 50 };
    const enum smp_status status = smp_call_arena_open(&options);

    assert_true(status == SMP_OK || status == SMP_ESTATE);
    return status == SMP_OK;
}

static void *close_in_a_thread(void *self)
{
    smp_call_arena_close();
    return self;
}

/* Another copy of the library has the same memory and shares no lock with the first copy. */
static void counting_begins_only_after_the_last_one_has_ended(void **state)
{
    _Atomic uint32_t *const inside = &smp_call_memory->inside;
    pthread_t closing;

    (void)state;
    assert_true(try_to_open());
    atomic_fetch_add(inside, 1); /* close waits for this thread */
    assert_int_equal(pthread_create(&closing, NULL, close_in_a_thread, NULL), 0);
    while (atomic_load(&smp_call_memory->arena) != NULL)
        (void)sched_yield();
    assert_false(try_to_open());
    atomic_fetch_sub(inside, 1);
    assert_int_equal(pthread_join(closing, NULL), 0);
    assert_true(try_to_open());
    smp_call_arena_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_calls_are_read),
        cmocka_unit_test(all_calls_are_read_with_exact_timing),
        cmocka_unit_test(counting_may_end_at_any_time),
        cmocka_unit_test(counting_begins_only_after_the_last_one_has_ended),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
