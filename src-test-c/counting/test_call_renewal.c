/* SPDX-License-Identifier: Apache-2.0 */
/* Trees that are replaced by new ones: no call is lost, nodes in use remain, and the others are
 * freed. */
#include "counting/call_arena.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/process_barrier.h"
#include "base/random.h"
#include "counting/call_path.h"
#include "counting/call_reader.h"
#include "counting/call_shared.h"
#include "support/call_counts.h"
#include "support/failing_alloc.h"

enum {
    TID = 77,
    OTHER_TID = 78,
    ROOT = 1,
    IDS = 64,
    NODES = SMP_CALL_LEAST_UNITS, /* nodes of a tree: too few for all ids */
    IDS_OF_ROUND = 40,
    MEGABYTE = 1 << 20,
    THREADS = 6,
    ROUNDS = 3000
};

/* Each thread has its own range of virtual threads. */
#define VIRTUAL_TIDS (INT64_C(1) << 40)

static void open_arena(void)
{
    const struct smp_call_options options = { .max_bytes = 64 * MEGABYTE,
                                              .nodes = NODES,
                                              .depth = SMP_CALL_DEFAULT_DEPTH };

    assert_int_equal(smp_call_arena_open(&options), SMP_OK);
}

static void close_arena(void)
{
    smp_call_arena_close();
    smp_call_arena_retire(TID);
    smp_call_arena_retire(OTHER_TID);
    assert_int_equal(smp_alloc_live_bytes(), 0);
}

static void call(int64_t tid, int32_t id)
{
    struct smp_call_state *const state = smp_call_state_find(tid);

    smp_call_enter(state, id);
    smp_call_exit(state, id);
}

static void call_from_root(int64_t tid, bool is_virtual, int32_t id)
{
    smp_call_enter_root(tid, is_virtual, 0, ROOT);
    call(tid, id);
    smp_call_exit_root(smp_call_state_find(tid), ROOT);
}

static void a_tree_that_no_thread_uses_is_read_and_freed(void **state)
{
    static struct call_counts counts;

    (void)state;
    counts = (struct call_counts){ 0 };
    open_arena();
    call_from_root(TID, false, 5);
    call_from_root(900, true, 6);
    smp_call_arena_renew();
    call_counts_read(&counts);
    assert_int_equal(counts.ended, 2);
    assert_false(counts.kept[5] || counts.kept[6] || counts.kept[ROOT]);
    call_from_root(TID, false, 7);
    call_from_root(901, true, 7);
    call_counts_read(&counts);
    assert_true(counts.kept[7]);
    assert_int_equal(call_counts_of(&counts, ROOT), 4);
    assert_int_equal(call_counts_of(&counts, 5), 1);
    assert_int_equal(call_counts_of(&counts, 6), 1);
    assert_int_equal(call_counts_of(&counts, 7), 2);
    close_arena();
}

/* The tree remains while the thread is inside a root, and so does its position. */
static void a_thread_inside_a_root_returns_its_tree_when_it_leaves(void **state)
{
    static struct call_counts counts;
    struct smp_call_position position;

    (void)state;
    counts = (struct call_counts){ 0 };
    open_arena();
    for (int i = 0; i < 2; i++) {
        const int64_t tid = i == 0 ? TID : 900;
        smp_call_enter_root(tid, i == 1, 0, ROOT);
        call(tid, 5);
        smp_call_arena_renew();
        call_counts_read(&counts);
        assert_true(counts.kept[5]);
        assert_true(smp_call_position_of(tid, &position));
        assert_int_equal(position.method, ROOT);
        call(tid, 6);
        smp_call_exit_root(smp_call_state_find(tid), ROOT);
        call_counts_read(&counts);
        assert_false(counts.kept[5]);
        assert_int_equal(counts.ended, i + 1);
        assert_int_equal(call_counts_of(&counts, 5), i + 1);
        assert_int_equal(call_counts_of(&counts, 6), i + 1);
    }
    close_arena();
}

static void a_thread_that_ends_during_a_renewal_is_read_once_more(void **state)
{
    static struct call_counts counts;

    (void)state;
    counts = (struct call_counts){ 0 };
    open_arena();
    call_from_root(TID, false, 5);
    smp_call_enter_root(OTHER_TID, false, 0, ROOT);
    smp_call_arena_renew();
    smp_call_arena_retire(TID);       /* its tree was returned */
    smp_call_arena_retire(OTHER_TID); /* its tree was not returned */
    call_counts_read(&counts);
    assert_int_equal(counts.ended, 2);
    assert_int_equal(call_counts_of(&counts, ROOT), 2);
    close_arena();
}

/* More methods than a tree has nodes, one after the other, as if classes were loaded and
 * unloaded. */
static void a_full_tree_has_room_again(void **state)
{
    static struct call_counts counts;
    int64_t calls = 0;

    (void)state;
    counts = (struct call_counts){ 0 };
    open_arena();
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < IDS_OF_ROUND; i++, calls++)
            call_from_root(TID, false, 2 + (round * IDS_OF_ROUND + i) % (IDS - 2));
        smp_call_arena_renew();
        call_counts_read(&counts);
    }
    assert_int_equal(counts.uncounted, 0);
    assert_int_equal(call_counts_sum(&counts), 2 * calls);
    close_arena();
}

static void without_memory_for_a_new_tree_a_thread_is_counted_again_later(void **state)
{
    static struct call_counts counts;
    struct failing_alloc failing;

    (void)state;
    counts = (struct call_counts){ 0 };
    open_arena();
    call_from_root(TID, false, 5);
    smp_call_arena_renew();
    failing_alloc_arm(&failing, 1, 1);
    smp_call_enter_root(TID, false, 0, ROOT);
    assert_int_equal(failing_alloc_disarm(&failing), 1);
    assert_int_equal(smp_call_arena_lost_roots(), 1);
    call_from_root(TID, false, 6);
    call_counts_read(&counts);
    assert_int_equal(call_counts_of(&counts, 5), 1);
    assert_int_equal(call_counts_of(&counts, 6), 1);
    assert_int_equal(call_counts_of(&counts, ROOT), 2);
    close_arena();
}

static void with_counting_off_no_tree_is_renewed(void **state)
{
    (void)state;
    smp_call_arena_renew();
    assert_int_equal(smp_call_generation(), 0);
    smp_call_enter_root(TID, false, 0, ROOT);
    assert_null(smp_call_state_find(TID));
}

/* A thread sees the arena just when close changes the generation. */
static void a_root_that_begins_at_close_gets_no_tree(void **state)
{
    _Atomic uint32_t *const generation = &smp_call_memory->generation;
    uint32_t open = 0;

    (void)state;
    open_arena();
    open = atomic_exchange(generation, 0);
    assert_null(smp_call_begin(TID, false, 0));
    assert_null(smp_call_begin(900, true, 0));
    assert_null(smp_call_state_find(900));
    assert_int_equal(smp_call_arena_lost_roots(), 0);
    atomic_store(generation, open);
    call_from_root(TID, false, 5);
    close_arena();
}

/* The thread took its tree before close, and frees it when counting is on again. */
static void a_thread_that_leaves_during_close_is_not_read(void **state)
{
    struct smp_call_shared *const shared = smp_call_memory;
    static struct call_counts counts;
    struct smp_call_tree *tree = NULL;

    (void)state;
    counts = (struct call_counts){ 0 };
    open_arena();
    call_from_root(TID, false, 5);
    tree = &shared->trees[atomic_exchange(
                              &shared->tree_of[smp_call_state_find(TID) - shared->states], 0) -
                          1];
    smp_call_arena_close();
    open_arena();
    call_from_root(OTHER_TID, false, 6);
    call_counts_read(&counts);
    assert_int_equal(call_counts_of(&counts, 5), 0);
    assert_int_equal(call_counts_of(&counts, 6), 1);
    assert_int_equal(call_counts_of(&counts, ROOT), 1);
    assert_true(counts.kept[6]);
    assert_false(counts.kept[5]);
    tree->dispose(tree);
    close_arena();
}

/* --- threads --- */

struct worker {
    pthread_t thread;
    int64_t tid;
    bool is_virtual;
    int64_t calls;
    uint64_t random;
};

static _Atomic int running;
static _Atomic bool is_over;

static void call_at_random(struct worker *worker)
{
    smp_call_enter_root(worker->tid, worker->is_virtual, 0, ROOT);
    worker->calls++;
    for (int i = 0; i < 4; i++, worker->calls++)
        call(worker->tid, 2 + (int32_t)(smp_random_next(&worker->random) % (IDS - 2)));
    smp_call_exit_root(smp_call_state_find(worker->tid), ROOT);
    if (worker->is_virtual)
        worker->tid++; /* the next virtual thread */
}

static void *work(void *self)
{
    for (int i = 0; i < ROUNDS; i++)
        call_at_random(self);
    atomic_fetch_sub(&running, 1);
    return NULL;
}

/* Counting may be off meanwhile. */
static void *work_until_over(void *self)
{
    struct worker *const worker = self;

    while (!atomic_load(&is_over)) {
        smp_call_enter_root(worker->tid, worker->is_virtual, 0, ROOT);
        struct smp_call_state *const state = smp_call_state_find(worker->tid);
        if (state != NULL) {
            smp_call_enter(state, 5);
            smp_call_exit(state, 5);
            smp_call_exit_root(state, ROOT);
        }
        if (worker->is_virtual)
            worker->tid++;
    }
    return NULL;
}

static void start_workers(struct worker *workers, void *(*body)(void *))
{
    atomic_store(&running, THREADS);
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){ .is_virtual = i % 2 == 1, .random = (uint64_t)i + 1 };
        workers[i].tid = workers[i].is_virtual ? VIRTUAL_TIDS * (i + 1) : TID + i;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, body, &workers[i]), 0);
    }
}

static int64_t join_workers(const struct worker *workers)
{
    int64_t calls = 0;

    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        smp_call_arena_retire(workers[i].tid);
        calls += workers[i].calls;
    }
    return calls;
}

static void add_delta(void *self, const struct smp_call_delta *delta)
{
    int64_t *const calls = self;

    *calls += delta->call.calls;
}

static void count_beside_renewals(void)
{
    static struct worker workers[THREADS];
    int64_t counted = 0;
    const struct smp_call_visitor visitor = { .self = &counted, .on_delta = add_delta };
    struct smp_call_position position;

    open_arena();
    start_workers(workers, work);
    while (atomic_load(&running) > 0) {
        smp_call_arena_renew();
        for (int i = 0; i < THREADS; i++)
            (void)smp_call_position_of(TID + i, &position);
        smp_call_read(&visitor);
    }
    const int64_t calls = join_workers(workers);
    smp_call_arena_renew();
    smp_call_read(&visitor);
    assert_int_equal(smp_call_arena_lost_roots(), 0);
    assert_int_equal(counted, calls);
    assert_int_equal(calls, 5 * THREADS * ROUNDS);
    smp_call_arena_close();
    assert_int_equal(smp_alloc_live_bytes(), 0);
}

static void no_call_is_lost_while_threads_count(void **state)
{
    (void)state;
    count_beside_renewals();
}

/* If the kernel has no process-wide barrier, each thread uses its own fence. */
static void no_call_is_lost_with_a_fence_in_each_thread(void **state)
{
    (void)state;
    smp_process_barrier_refuse(true);
    count_beside_renewals();
    smp_process_barrier_refuse(false);
}

/* Either side may be the one that returns a tree. */
static void end_beside_renewals(bool comes_to_be_refused)
{
    static struct worker workers[THREADS];
    int64_t counted = 0;
    const struct smp_call_visitor visitor = { .self = &counted, .on_delta = add_delta };

    atomic_store(&is_over, false);
    start_workers(workers, work_until_over);
    for (int i = 0; i < 60; i++) {
        smp_process_barrier_refuse(false);
        open_arena();
        smp_process_barrier_refuse(comes_to_be_refused);
        for (int renewal = 0; renewal < i % 4; renewal++) {
            smp_call_arena_renew();
            (void)smp_call_read(&visitor);
        }
        smp_call_arena_close();
    }
    smp_process_barrier_refuse(false);
    atomic_store(&is_over, true);
    (void)join_workers(workers);
    assert_int_equal(smp_alloc_live_bytes(), 0);
}

static void counting_may_end_during_renewals(void **state)
{
    (void)state;
    end_beside_renewals(false);
}

/* A filter that forbids the system call is set while calls are counted. */
static void counting_ends_although_the_barrier_became_unavailable(void **state)
{
    (void)state;
    end_beside_renewals(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_that_no_thread_uses_is_read_and_freed),
        cmocka_unit_test(a_thread_inside_a_root_returns_its_tree_when_it_leaves),
        cmocka_unit_test(a_thread_that_ends_during_a_renewal_is_read_once_more),
        cmocka_unit_test(a_full_tree_has_room_again),
        cmocka_unit_test(without_memory_for_a_new_tree_a_thread_is_counted_again_later),
        cmocka_unit_test(with_counting_off_no_tree_is_renewed),
        cmocka_unit_test(a_root_that_begins_at_close_gets_no_tree),
        cmocka_unit_test(a_thread_that_leaves_during_close_is_not_read),
        cmocka_unit_test(no_call_is_lost_while_threads_count),
        cmocka_unit_test(no_call_is_lost_with_a_fence_in_each_thread),
        cmocka_unit_test(counting_may_end_during_renewals),
        cmocka_unit_test(counting_ends_although_the_barrier_became_unavailable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
