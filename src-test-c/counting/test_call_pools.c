/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "counting/call_arena.h"
#include "counting/call_layout.h"
#include "counting/call_path.h"
#include "counting/call_shared.h"
#include "support/call_counts.h"

enum { THREADS = 8, NAMES = 20, ROOT = 1, MEGABYTE = 1 << 20 };

static void assert_pool_named(uint32_t pool, const char *name)
{
    assert_int_not_equal(pool, 0);
    assert_non_null(smp_call_pool_name(pool));
    assert_string_equal(smp_call_pool_name(pool), name);
}

/* Pools live as long as the process, so each test uses its own names. */
static void names_of_one_group_have_one_pool(void **state)
{
    const uint32_t pool = smp_call_pool_find("order-1");

    (void)state;
    assert_pool_named(pool, "order-");
    assert_int_equal(smp_call_pool_find("order-17"), pool);
    assert_int_equal(smp_call_pool_find("order-"), pool);
    assert_int_not_equal(smp_call_pool_find("mail-1"), pool);
    assert_pool_named(smp_call_pool_find("12"), "[unnamed]");
    assert_pool_named(smp_call_pool_find("caf\xc3\xa9 7"), "caf\xc3\xa9 ");
}

static void a_thread_without_a_name_is_in_pool_0(void **state)
{
    (void)state;
    assert_int_equal(smp_call_pool_find(NULL), 0);
    assert_int_equal(smp_call_pool_find(""), 0);
    assert_null(smp_call_pool_name(0));
    assert_null(smp_call_pool_name(SMP_CALL_POOLS));
    assert_null(smp_call_pool_name(UINT32_MAX));
}

static void a_long_name_is_cut(void **state)
{
    char name[400];

    (void)state;
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    const uint32_t pool = smp_call_pool_find(name);
    assert_int_not_equal(pool, 0);
    assert_int_equal(strlen(smp_call_pool_name(pool)), SMP_CALL_POOL_NAME_BYTES - 1);
    name[300] = '\0';
    assert_int_equal(smp_call_pool_find(name), pool);
}

static void *find_often(void *self)
{
    uint32_t *const found = self;

    for (uint32_t i = 0; i < 1000 * NAMES; i++) {
        char name[40];
        (void)snprintf(name, sizeof(name), "thread %c %u", (char)('a' + i % NAMES), i);
        found[i % NAMES] = smp_call_pool_find(name);
    }
    return NULL;
}

/* Two threads may create two pools with a name that is new to both. Later each finds one of the
 * two; each pool has the right name. */
static void threads_find_pools_of_the_right_name(void **state)
{
    static uint32_t found[THREADS][NAMES];
    pthread_t threads[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, find_often, found[i]), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        for (int n = 0; n < NAMES; n++) {
            char name[40];
            (void)snprintf(name, sizeof(name), "thread %c ", (char)('a' + n));
            assert_pool_named(found[i][n], name);
        }
    }
}

static void virtual_threads_share_the_tree_of_their_pool(void **state)
{
    const struct smp_call_options options = { .max_bytes = MEGABYTE,
                                              .nodes = SMP_CALL_DEFAULT_NODES,
                                              .depth = SMP_CALL_DEFAULT_DEPTH };
    struct smp_call_position position;
    struct call_counts counts = { 0 };
    uint64_t trees[2] = { 0 };

    (void)state;
    assert_int_equal(smp_call_arena_open(&options), SMP_OK);
    for (int64_t tid = 1000; tid < 1100; tid++) {
        const uint32_t pool = smp_call_pool_find(tid % 2 == 0 ? "even 1" : "odd 1");
        smp_call_enter_root(tid, true, pool, ROOT);
        assert_true(smp_call_position_of(tid, &position));
        assert_int_equal(position.pool, pool);
        if (tid < 1002)
            trees[tid % 2] = position.tree;
        assert_int_equal(position.tree, trees[tid % 2]);
        smp_call_exit_root(smp_call_state_find(tid), ROOT);
    }
    assert_int_not_equal(trees[0], trees[1]);
    call_counts_read(&counts);
    assert_int_equal(counts.count, 2);
    for (size_t i = 0; i < counts.count; i++) {
        assert_int_equal(counts.rows[i].call.calls, 50);
        assert_pool_named(counts.rows[i].pool, counts.rows[i].tree == trees[0] ? "even " : "odd ");
    }
    smp_call_arena_close();
}

/* This must be the last test: afterwards there is no room for another name. */
static void names_without_room_share_pool_0(void **state)
{
    uint32_t without = 0;
    const uint32_t known = smp_call_pool_find("order-1");

    (void)state;
    for (int i = 0; i < 3 * SMP_CALL_POOLS; i++) {
        char name[40];
        (void)snprintf(name, sizeof(name), "many %c%c%c", (char)('a' + i / 676),
                       (char)('a' + i / 26 % 26), (char)('a' + i % 26));
        const uint32_t pool = smp_call_pool_find(name);
        if (pool == 0)
            without++;
        else
            assert_pool_named(pool, name);
    }
    assert_true(without > SMP_CALL_POOLS);
    assert_int_equal(smp_call_pool_find("order-2"), known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_one_group_have_one_pool),
        cmocka_unit_test(a_thread_without_a_name_is_in_pool_0),
        cmocka_unit_test(a_long_name_is_cut),
        cmocka_unit_test(threads_find_pools_of_the_right_name),
        cmocka_unit_test(virtual_threads_share_the_tree_of_their_pool),
        cmocka_unit_test(names_without_room_share_pool_0),
    };

    return cmocka_run_group_tests_name("call_pools", tests, NULL, NULL);
}
