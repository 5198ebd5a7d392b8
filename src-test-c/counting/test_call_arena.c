/* SPDX-License-Identifier: Apache-2.0 */
/* One thread: begin, limits, pools, close; refused memory. */
#include "counting/call_arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "counting/call_path.h"
#include "counting/call_reader.h"
#include "counting/call_shared.h"
#include "support/call_counts.h"
#include "support/failing_alloc.h"

enum { TID = 77, ROOT = 1, METHOD = 2, OTHER = 3, MEGABYTE = 1 << 20 };

static void open_arena(struct smp_quota *quota, uint32_t nodes, int32_t depth, size_t max_bytes)
{
    const struct smp_call_options options = {
        .quota = quota, .max_bytes = max_bytes, .nodes = nodes, .depth = depth
    };

    assert_int_equal(smp_call_arena_open(&options), SMP_OK);
}

static void open_usual(void)
{
    open_arena(NULL, SMP_CALL_DEFAULT_NODES, SMP_CALL_DEFAULT_DEPTH, MEGABYTE);
}

/* The memory of nodes and of what the reader knows about them. */
static size_t bytes_of_arena(void)
{
    const struct smp_call_arena *const arena = atomic_load(&smp_call_memory->arena);

    return arena == NULL ? 0 : atomic_load(&arena->bytes);
}

/* Closes the arena, which only platform threads have used. No memory is left. */
static void close_arena(int64_t tid)
{
    smp_call_arena_close();
    smp_call_arena_retire(tid);
    assert_int_equal(smp_alloc_live_bytes(), 0);
    assert_int_equal(bytes_of_arena(), 0);
}

static void enter_root(int64_t tid)
{
    smp_call_enter_root(tid, false, 0, ROOT);
}

static void options_out_of_range_are_refused(void **state)
{
    const struct smp_call_options right = { .max_bytes = 1,
                                            .nodes = SMP_CALL_LEAST_UNITS,
                                            .depth = 1 };
    struct smp_call_options wrong = right;

    (void)state;
    wrong.nodes = SMP_CALL_LEAST_UNITS - 1;
    assert_int_equal(smp_call_arena_open(&wrong), SMP_EINVAL);
    wrong = right;
    wrong.depth = 0;
    assert_int_equal(smp_call_arena_open(&wrong), SMP_EINVAL);
    wrong.depth = SMP_CALL_DEPTH_LIMIT + 1;
    assert_int_equal(smp_call_arena_open(&wrong), SMP_EINVAL);
    wrong = right;
    wrong.max_bytes = 0;
    assert_int_equal(smp_call_arena_open(&wrong), SMP_EINVAL);
    assert_int_equal(smp_call_arena_open(&right), SMP_OK);
    assert_int_equal(smp_call_arena_open(&right), SMP_ESTATE);
    assert_non_null(atomic_load(&smp_call_memory->arena));
    smp_call_arena_close();
    smp_call_arena_close();
    assert_null(atomic_load(&smp_call_memory->arena));
}

static void nothing_is_counted_outside_of_a_root(void **state)
{
    struct call_counts counts = { 0 };

    (void)state;
    assert_null(smp_call_state_find(TID));
    open_usual();
    enter_root(TID);
    struct smp_call_state *own = smp_call_state_find(TID);
    assert_non_null(own);
    smp_call_exit_root(own, ROOT);
    smp_call_enter(own, METHOD);
    smp_call_exit(own, METHOD);
    smp_call_exit_root(own, ROOT);
    call_counts_read(&counts);
    assert_int_equal(counts.count, 1);
    assert_int_equal(call_counts_of(&counts, ROOT), 1);
    close_arena(TID);
}

static void with_counting_off_no_root_begins(void **state)
{
    (void)state;
    enter_root(TID);
    assert_null(smp_call_state_find(TID));
    assert_int_equal(smp_call_arena_lost_roots(), 0);
    assert_int_equal(smp_alloc_live_bytes(), 0);
}

static void threads_of_one_slot_have_separate_states(void **state)
{
    struct call_counts counts = { 0 };

    (void)state;
    open_usual();
    for (int64_t i = 0; i < 5; i++) {
        const int64_t tid = TID + i * SMP_CALL_SLOTS;
        for (int64_t calls = 0; calls <= i; calls++) {
            enter_root(tid);
            smp_call_exit_root(smp_call_state_find(tid), ROOT);
        }
    }
    call_counts_read(&counts);
    for (int64_t i = 0; i < 5; i++)
        assert_int_equal(call_counts_of_thread(&counts, TID + i * SMP_CALL_SLOTS), i + 1);
    smp_call_arena_close();
    for (int64_t i = 0; i < 5; i++)
        smp_call_arena_retire(TID + i * SMP_CALL_SLOTS);
    assert_null(smp_call_state_find(TID + SMP_CALL_SLOTS));
    assert_int_equal(smp_alloc_live_bytes(), 0);
}

/* Each call gets a node of its own until the limit. */
static void call_many(struct smp_call_state *own, int32_t calls)
{
    for (int32_t i = 0; i < calls; i++) {
        smp_call_enter(own, 10 + i);
        smp_call_exit(own, 10 + i);
    }
}

static void calls_beyond_the_limit_of_nodes_are_counted_as_lost(void **state)
{
    struct call_counts counts = { 0 };
    struct smp_call_position position;

    (void)state;
    open_arena(NULL, 200, 50, MEGABYTE);
    enter_root(TID);
    struct smp_call_state *own = smp_call_state_find(TID);
    call_many(own, 1000);
    /* Known methods are still counted, and the overflow ends in the call where it began. */
    smp_call_enter(own, 10);
    smp_call_enter(own, 5000);
    smp_call_enter(own, 11);
    smp_call_exit(own, 11);
    smp_call_exit(own, 5000);
    assert_true(smp_call_position_of(TID, &position));
    assert_int_equal(position.method, 10);
    smp_call_exit(own, 10);
    smp_call_exit_root(own, ROOT);
    call_counts_read(&counts);
    assert_int_equal(call_counts_of(&counts, 10), 2);
    assert_int_equal(call_counts_sum(&counts) + counts.uncounted, 1000 + 3 + 1);
    assert_int_equal(counts.over[SMP_LOST_OVER_NODES], counts.uncounted);
    assert_in_range(counts.count, 190, 200);
    close_arena(TID);
}

static void calls_beyond_the_maximum_depth_are_counted_as_lost(void **state)
{
    struct call_counts counts = { 0 };
    struct smp_call_position position;

    (void)state;
    open_arena(NULL, SMP_CALL_DEFAULT_NODES, 10, MEGABYTE);
    enter_root(TID);
    struct smp_call_state *own = smp_call_state_find(TID);
    for (int i = 0; i < 100; i++)
        smp_call_enter(own, METHOD);
    smp_call_enter_root(TID, false, 0, OTHER);
    for (int i = 0; i < 3; i++)
        smp_call_enter(own, METHOD);
    for (int i = 0; i < 3; i++)
        smp_call_exit(own, METHOD);
    smp_call_exit_root(own, OTHER);
    for (int i = 0; i < 95; i++)
        smp_call_exit(own, METHOD);
    assert_true(smp_call_position_of(TID, &position));
    assert_int_equal(position.ordinal,
                     2 + 2 + 4); /* top, overflow, the two roots, the fifth call */
    for (int i = 0; i < 5; i++)
        smp_call_exit(own, METHOD);
    smp_call_exit_root(own, ROOT);
    call_counts_read(&counts);
    assert_int_equal(call_counts_of(&counts, METHOD), 9);
    assert_int_equal(counts.uncounted, 91 + 1 + 3);
    assert_int_equal(counts.over[SMP_LOST_OVER_DEPTH], 91 + 1 + 3);
    assert_false(smp_call_position_of(TID, &position));
    close_arena(TID);
}

/* While the thread does not run, its handler and the reader see the same position. */
static void the_handler_reads_its_threads_position(void **state)
{
    struct smp_call_position position;
    struct smp_call_state *own = NULL;

    (void)state;
    open_arena(NULL, SMP_CALL_DEFAULT_NODES, 10, MEGABYTE);
    enter_root(TID);
    own = smp_call_state_find(TID);
    for (int i = 0; i < 20; i++) {
        atomic_store(&own->phase, (uint8_t)SMP_CALL_NO_HOOK); /* the hook in Java does this */
        const struct smp_call_spot spot = smp_call_spot_of(own, TID);
        assert_true(smp_call_position_of(TID, &position));
        assert_int_equal(spot.ordinal, position.ordinal);
        assert_int_equal(spot.tree, position.tree);
        assert_false(spot.is_in_hook);
        assert_int_equal(smp_call_spot_of(own, TID + 1).tree, 0); /* the state of another thread */
        smp_call_enter(own, METHOD); /* beyond the maximum depth, too */
    }
    atomic_store(&own->phase, (uint8_t)SMP_CALL_IN_HOOK);
    assert_true(smp_call_spot_of(own, TID).is_in_hook);
    atomic_store(&own->phase, (uint8_t)SMP_CALL_NO_HOOK);
    smp_call_exit_root(own, ROOT);
    assert_int_equal(smp_call_spot_of(own, TID).tree, 0);
    close_arena(TID);
}

/* The root exits while calls beyond the limit seem to be running. */
static void a_root_ends_although_exits_beyond_the_limit_are_lost(void **state)
{
    struct smp_call_position position;

    (void)state;
    open_arena(NULL, SMP_CALL_DEFAULT_NODES, 3, MEGABYTE);
    enter_root(TID);
    struct smp_call_state *own = smp_call_state_find(TID);
    for (int i = 0; i < 10; i++)
        smp_call_enter(own, METHOD);
    smp_call_exit_root(own, ROOT);
    assert_false(smp_call_position_of(TID, &position));
    enter_root(TID);
    assert_true(smp_call_position_of(TID, &position));
    assert_true(position.is_root);
    smp_call_exit_root(own, ROOT);
    close_arena(TID);
}

/* There is no room for the nodes of these roots. */
static void outermost_roots_beyond_the_limit_end_normally(void **state)
{
    struct smp_call_position position;

    (void)state;
    open_arena(NULL, SMP_CALL_LEAST_UNITS, 50, MEGABYTE);
    for (int32_t i = 0; i < 200; i++) {
        smp_call_enter_root(1000 + i, true, 0, ROOT + i);
        struct smp_call_state *own = smp_call_state_find(1000 + i);
        assert_non_null(own);
        smp_call_enter(own, METHOD);
        smp_call_exit(own, METHOD);
        smp_call_exit_root(own, ROOT + i);
        assert_null(smp_call_state_find(1000 + i));
    }
    for (int32_t i = 0; i < 200; i++) {
        smp_call_enter_root(TID, false, 0, ROOT + i);
        smp_call_exit_root(smp_call_state_find(TID), ROOT + i);
        assert_false(smp_call_position_of(TID, &position));
    }
    close_arena(TID);
}

static void memory_ends_at_its_limit(void **state)
{
    struct call_counts counts = { 0 };

    (void)state;
    open_arena(NULL, SMP_CALL_DEFAULT_NODES, 50, 64 * 1024);
    enter_root(TID);
    struct smp_call_state *own = smp_call_state_find(TID);
    call_many(own, 5000);
    smp_call_exit_root(own, ROOT);
    assert_true(bytes_of_arena() <= 64 * 1024);
    for (int64_t tid = TID + 1; tid < TID + 20; tid++)
        enter_root(tid);
    assert_true(smp_call_arena_lost_roots() > 0);
    const int64_t roots = 20 - (int64_t)smp_call_arena_lost_roots();
    call_counts_read(&counts);
    assert_int_equal(call_counts_of(&counts, ROOT), roots);
    assert_true(counts.uncounted > 0);
    assert_int_equal(call_counts_sum(&counts) + counts.uncounted, roots + 5000);
    assert_int_equal(counts.over[SMP_LOST_OVER_MEMORY], counts.uncounted);
    smp_call_arena_close();
    for (int64_t tid = TID; tid < TID + 20; tid++) {
        if (smp_call_state_find(tid) != NULL)
            smp_call_exit_root(smp_call_state_find(tid), ROOT);
        smp_call_arena_retire(tid);
    }
    assert_int_equal(smp_alloc_live_bytes(), 0);
}

/* The quota of the session is full before the arena's own limit is reached. */
static void refused_memory_is_not_counted_as_used(void **state)
{
    struct call_counts counts = { 0 };
    struct smp_quota quota;

    (void)state;
    smp_quota_init(&quota, 16 * 1024);
    open_arena(&quota, SMP_CALL_DEFAULT_NODES, 50, MEGABYTE);
    enter_root(TID);
    call_many(smp_call_state_find(TID), 5000);
    smp_call_exit_root(smp_call_state_find(TID), ROOT);
    assert_true(bytes_of_arena() <= 16 * 1024);
    quota.limit_bytes = MEGABYTE; /* for the reader's memory */
    call_counts_read(&counts);
    assert_true(counts.uncounted > 0);
    assert_int_equal(counts.over[SMP_LOST_OVER_MEMORY], counts.uncounted);
    close_arena(TID);
    assert_int_equal(smp_quota_used(&quota), 0);
}

static void virtual_threads_count_in_pooled_trees(void **state)
{
    struct call_counts counts = { 0 };

    (void)state;
    open_usual();
    for (int64_t tid = 1000; tid < 3000; tid++) {
        smp_call_enter_root(tid, true, (uint32_t)(tid & 1), ROOT);
        struct smp_call_state *own = smp_call_state_find(tid);
        assert_non_null(own);
        smp_call_enter(own, METHOD);
        smp_call_exit(own, METHOD);
        smp_call_exit_root(own, ROOT);
        assert_null(smp_call_state_find(tid));
    }
    call_counts_read(&counts);
    assert_int_equal(counts.count, 4); /* two pools with a root and a method each */
    assert_int_equal(call_counts_of(&counts, ROOT), 2000);
    assert_int_equal(call_counts_of(&counts, METHOD), 2000);
    assert_int_equal(call_counts_of_thread(&counts, 0), 4000);
    close_arena(TID);
}

static void a_thread_that_has_ended_is_read_once_more(void **state)
{
    struct call_counts counts = { 0 };

    (void)state;
    open_usual();
    enter_root(TID);
    smp_call_exit_root(smp_call_state_find(TID), ROOT);
    const size_t bytes = bytes_of_arena();
    smp_call_arena_retire(TID);
    smp_call_arena_retire(TID);
    assert_null(smp_call_state_find(TID));
    smp_call_reset();
    assert_int_equal(bytes_of_arena(), bytes); /* nothing was freed */
    call_counts_read(&counts);
    assert_int_equal(call_counts_of(&counts, ROOT), 0);
    assert_int_equal(counts.ended, 1);
    assert_int_equal(bytes_of_arena(), 0);
    close_arena(TID);
}

static void exits_after_the_end_of_counting_are_ignored(void **state)
{
    (void)state;
    open_usual();
    enter_root(TID);
    struct smp_call_state *own = smp_call_state_find(TID);
    smp_call_enter(own, METHOD);
    smp_call_enter_root(TID + 1, true, 0, ROOT);
    smp_call_arena_close();
    assert_true(smp_alloc_live_bytes() > 0);
    /* The thread continues, also while other threads are counted again. */
    smp_call_enter(own, OTHER);
    open_usual();
    smp_call_exit(own, OTHER);
    smp_call_exit(own, METHOD);
    call_many(own, 1000); /* more than fit: no new node is made */
    smp_call_exit_root(own, ROOT);
    smp_call_exit_root(own, ROOT);
    smp_call_exit(own, METHOD);
    smp_call_exit_root(smp_call_state_find(TID + 1), ROOT);
    assert_null(smp_call_state_find(TID + 1));
    struct call_counts counts = { 0 };
    call_counts_read(&counts);
    assert_int_equal(counts.count, 0);
    enter_root(TID);
    smp_call_exit_root(own, ROOT);
    call_counts_read(&counts);
    assert_int_equal(call_counts_of(&counts, ROOT), 1);
    close_arena(TID);
}

/* The outermost root of a server's thread may be its main loop, which never ends. */
static void a_thread_inside_an_ended_counting_is_counted_in_the_next_one(void **state)
{
    struct call_counts counts = { 0 };

    (void)state;
    for (int i = 0; i < 2; i++) {
        const bool is_virtual = i == 1;
        counts = (struct call_counts){ 0 };
        open_usual();
        smp_call_enter_root(TID, is_virtual, 0, ROOT);
        smp_call_enter(smp_call_state_find(TID), METHOD);
        assert_false(smp_call_begins(TID));
        smp_call_arena_close();
        open_usual();
        for (int calls = 0; calls < 3; calls++) {
            assert_true(is_virtual || calls > 0 || smp_call_begins(TID));
            smp_call_enter_root(TID, is_virtual, 0, OTHER);
            assert_false(smp_call_begins(TID));
            smp_call_enter(smp_call_state_find(TID), METHOD);
            smp_call_exit(smp_call_state_find(TID), METHOD);
            smp_call_exit_root(smp_call_state_find(TID), OTHER);
        }
        call_counts_read(&counts);
        assert_int_equal(call_counts_of(&counts, OTHER), 3);
        assert_int_equal(call_counts_of(&counts, METHOD), 3);
        assert_int_equal(call_counts_of(&counts, ROOT), 0);
        assert_int_equal(smp_call_state_find(TID) == NULL, is_virtual);
        if (!is_virtual) { /* the frames of the first counting end */
            smp_call_exit(smp_call_state_find(TID), METHOD);
            smp_call_exit_root(smp_call_state_find(TID), ROOT);
        }
        call_counts_read(&counts);
        assert_int_equal(call_counts_sum(&counts), 6);
        close_arena(TID);
    }
}

static void first_entries_of_methods_are_reported(void **state)
{
    (void)state;
    open_usual();
    smp_call_arena_forget_seen();
    const uint32_t before = smp_call_arena_news();
    enter_root(TID);
    struct smp_call_state *own = smp_call_state_find(TID);
    for (int i = 0; i < 3; i++) {
        smp_call_enter(own, METHOD);
        smp_call_exit(own, METHOD);
    }
    smp_call_enter(own, SMP_CALL_METHODS); /* counted, but not new */
    smp_call_exit(own, SMP_CALL_METHODS);
    smp_call_exit_root(own, ROOT);
    assert_int_equal(smp_call_arena_news() - before, 2);
    assert_true(smp_call_arena_is_seen(ROOT));
    assert_true(smp_call_arena_is_seen(METHOD));
    assert_false(smp_call_arena_is_seen(OTHER));
    assert_false(smp_call_arena_is_seen(SMP_CALL_METHODS));
    assert_false(smp_call_arena_is_seen(-1));
    smp_call_arena_forget_seen();
    assert_false(smp_call_arena_is_seen(METHOD));
    close_arena(TID);
}

/* As the hook in Java leaves the position if there is no stack for a node, read by another CPU. */
static void an_incomplete_position_is_not_reported(void **state)
{
    struct smp_call_position position;

    (void)state;
    open_usual();
    enter_root(TID);
    struct smp_call_state *own = smp_call_state_find(TID);
    struct smp_call_node *root = atomic_load(&own->position);
    atomic_store(&own->position, own->top + 1);
    assert_false(smp_call_position_of(TID, &position));
    atomic_store(&own->position, root);
    assert_true(smp_call_position_of(TID, &position));
    smp_call_exit_root(own, ROOT);
    close_arena(TID);
}

static void another_layout_is_not_adopted(void **state)
{
    struct smp_call_shared *shared = smp_call_arena_share();
    const uint64_t stamp = shared->stamp;

    (void)state;
    assert_true(smp_call_arena_adopt(shared));
    shared->stamp++;
    assert_false(smp_call_arena_adopt(shared));
    shared->stamp = stamp;
}

/* Does everything that allocates: threads are counted, read, retired and abandoned. */
static enum smp_status count_all(void *quota)
{
    const struct smp_call_options options = {
        .quota = quota, .max_bytes = MEGABYTE, .nodes = 1000, .depth = 100
    };
    struct call_counts counts = { 0 };
    const enum smp_status status = smp_call_arena_open(&options);

    if (status != SMP_OK)
        return status;
    enter_root(TID);
    struct smp_call_state *own = smp_call_state_find(TID);
    if (own != NULL && smp_call_arena_lost_roots() == 0) {
        call_many(own, 200);
        smp_call_exit_root(own, ROOT);
    }
    smp_call_enter_root(TID + 1, true, 0, ROOT);
    if (smp_call_state_find(TID + 1) != NULL)
        smp_call_exit_root(smp_call_state_find(TID + 1), ROOT);
    call_counts_read(&counts);
    smp_call_arena_retire(TID);
    call_counts_read(&counts);
    if (smp_call_arena_lost_roots() == 0)
        assert_int_equal(call_counts_sum(&counts) + counts.uncounted, 1 + 200 + 1);
    smp_call_arena_close();
    return status;
}

static void every_refused_allocation_leaves_nothing(void **state)
{
    struct smp_quota quota;

    (void)state;
    smp_quota_init(&quota, MEGABYTE);
    const struct failing_alloc_steps steps = failing_alloc_each_step(count_all, &quota);
    assert_true(steps.refused >= 5); /* the arena and chunks of two trees */
    assert_int_equal(steps.survived, steps.refused - 1);
    assert_int_equal(smp_quota_used(&quota), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_counting_off_no_root_begins),
        cmocka_unit_test(options_out_of_range_are_refused),
        cmocka_unit_test(nothing_is_counted_outside_of_a_root),
        cmocka_unit_test(threads_of_one_slot_have_separate_states),
        cmocka_unit_test(calls_beyond_the_limit_of_nodes_are_counted_as_lost),
        cmocka_unit_test(calls_beyond_the_maximum_depth_are_counted_as_lost),
        cmocka_unit_test(the_handler_reads_its_threads_position),
        cmocka_unit_test(a_root_ends_although_exits_beyond_the_limit_are_lost),
        cmocka_unit_test(outermost_roots_beyond_the_limit_end_normally),
        cmocka_unit_test(memory_ends_at_its_limit),
        cmocka_unit_test(refused_memory_is_not_counted_as_used),
        cmocka_unit_test(virtual_threads_count_in_pooled_trees),
        cmocka_unit_test(a_thread_that_has_ended_is_read_once_more),
        cmocka_unit_test(exits_after_the_end_of_counting_are_ignored),
        cmocka_unit_test(a_thread_inside_an_ended_counting_is_counted_in_the_next_one),
        cmocka_unit_test(first_entries_of_methods_are_reported),
        cmocka_unit_test(an_incomplete_position_is_not_reported),
        cmocka_unit_test(another_layout_is_not_adopted),
        cmocka_unit_test(every_refused_allocation_leaves_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
