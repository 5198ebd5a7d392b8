/* SPDX-License-Identifier: Apache-2.0 */
/* The losses that the counter adds to an account: those since the last account or reset. */
#include "jvm/calls/call_counter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "base/alloc.h"
#include "counting/call_arena.h"
#include "counting/call_path.h"
#include "counting/call_shared.h"
#include "jvm/calls/instrumenter.h"
#include "support/lost_calls.h"

enum { TID = 77, ROOT = 1, THREADS = 20, METHODS = 5000, BYTES = 64 * 1024 };

static int setup(void **state)
{
    const struct smp_call_options options = { .max_bytes = BYTES,
                                              .nodes = SMP_CALL_DEFAULT_NODES,
                                              .depth = SMP_CALL_DEFAULT_DEPTH };
    struct smp_counting_plan *plan = NULL;

    (void)state;
    assert_int_equal(smp_counting_plan_create(NULL, "app.Root.run", "app", &plan), SMP_OK);
    plan->max_methods = 10;
    assert_int_equal(smp_counted_classes_open(smp_instrumenter_classes(), plan), SMP_OK);
    smp_counting_plan_release(plan); /* the classes hold a reference */
    return smp_call_arena_open(&options) == SMP_OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    smp_call_arena_close();
    for (int64_t tid = TID; tid < TID + THREADS; tid++) {
        if (smp_call_state_find(tid) != NULL)
            smp_call_exit_root(smp_call_state_find(tid), ROOT);
        smp_call_arena_retire(tid);
    }
    smp_counted_classes_close(smp_instrumenter_classes());
    assert_int_equal(smp_alloc_live_bytes(), 0);
    return 0;
}

/* Returns the lost calls in a new account. */
static uint64_t next_lost(enum smp_call_loss loss)
{
    const struct smp_call_counter counter = smp_jvm_call_counter();
    struct smp_counting_account *account = NULL;

    assert_int_equal(smp_counting_account_create(NULL, &account), SMP_OK);
    counter.account(counter.self, account);
    const uint64_t figure = lost_calls(account, loss);
    smp_counting_account_destroy(account);
    return figure;
}

static void reset(void)
{
    const struct smp_call_counter counter = smp_jvm_call_counter();

    counter.reset(counter.self);
}

static void misplace(unsigned calls)
{
    atomic_fetch_add(&smp_call_memory->misplaced, calls);
}

static void calls_lost_before_a_reset_are_in_no_account(void **state)
{
    (void)state;
    (void)next_lost(SMP_LOST_BEGAN_BEFORE);
    misplace(2);
    assert_int_equal(next_lost(SMP_LOST_BEGAN_BEFORE), 2);
    assert_int_equal(next_lost(SMP_LOST_BEGAN_BEFORE), 0);
    misplace(3);
    reset();
    assert_int_equal(next_lost(SMP_LOST_BEGAN_BEFORE), 0);
    misplace(4);
    assert_int_equal(next_lost(SMP_LOST_BEGAN_BEFORE), 4);
}

/* Gives all memory to the tree of one thread. */
static void fill_arena(void)
{
    smp_call_enter_root(TID, false, 0, ROOT);
    struct smp_call_state *const own = smp_call_state_find(TID);
    assert_non_null(own);
    for (int32_t id = ROOT + 1; id < METHODS; id++) {
        smp_call_enter(own, id);
        smp_call_exit(own, id);
    }
}

/* Enters each root on another thread. Returns how many found no memory. */
static uint64_t enter_roots(int64_t from)
{
    const uint64_t before = smp_call_arena_lost_roots();

    for (int64_t tid = from; tid < TID + THREADS; tid++)
        smp_call_enter_root(tid, false, 0, ROOT);
    return smp_call_arena_lost_roots() - before;
}

static void roots_lost_before_a_reset_are_in_no_account(void **state)
{
    (void)state;
    fill_arena();
    assert_true(enter_roots(TID + 1) > 0);
    reset();
    assert_int_equal(next_lost(SMP_LOST_OVER_MEMORY), 0);
    const uint64_t lost = enter_roots(TID + 1);
    assert_true(lost > 0);
    assert_int_equal(next_lost(SMP_LOST_OVER_MEMORY), lost);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(calls_lost_before_a_reset_are_in_no_account),
        TEST(roots_lost_before_a_reset_are_in_no_account),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
