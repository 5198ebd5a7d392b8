/* SPDX-License-Identifier: Apache-2.0 */
/* Calls below older calls of the same method that began before the method had its probe. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "counting/call_arena.h"
#include "counting/call_path.h"
#include "counting/call_shared.h"
#include "support/call_counts.h"

enum { TID = 77, ROOT = 1, FIRST = 2, SECOND = 3, METHOD_BASE = 1000 };

/* The frames that a walk of the thread's stack finds. */
static struct {
    enum smp_older_call seen;
    int looks;
    uint64_t caller; /* the caller at the last search */
    int32_t entered; /* the method that runs the hook */
} stack;

static struct call_counts counts; /* the counts of this test so far */

static uint64_t own_method(int32_t hook_frames)
{
    assert_true(hook_frames == SMP_CALL_HOOK_FRAMES || hook_frames == SMP_CALL_NATIVE_HOOK_FRAMES);
    return (uint64_t)(METHOD_BASE + stack.entered);
}

static enum smp_older_call find_older(int32_t hook_frames, uint64_t caller)
{
    assert_true(hook_frames == SMP_CALL_HOOK_FRAMES || hook_frames == SMP_CALL_NATIVE_HOOK_FRAMES);
    stack.looks++;
    stack.caller = caller;
    return stack.seen;
}

static int begin_past(void **state)
{
    static const struct smp_call_view view = { .own_method = own_method, .find_older = find_older };
    const struct smp_call_options options = { .max_bytes = 1 << 20,
                                              .nodes = SMP_CALL_DEFAULT_NODES,
                                              .depth = SMP_CALL_DEFAULT_DEPTH };

    (void)state;
    stack.seen = SMP_NO_OLDER_CALL;
    stack.looks = 0;
    counts = (struct call_counts){ 0 };
    smp_call_set_view(&view);
    assert_int_equal(smp_call_arena_open(&options), SMP_OK);
    smp_call_arena_forget_seen();
    smp_call_begin_probes();
    smp_call_end_probes();
    return 0;
}

static int end_past(void **state)
{
    static const struct smp_call_view blind;

    (void)state;
    smp_call_arena_retire(TID);
    smp_call_arena_close();
    smp_call_set_view(&blind);
    return 0;
}

static void enter_root(int32_t id)
{
    stack.entered = id;
    smp_call_enter_root(TID, false, 0, id);
}

static void enter(int32_t id)
{
    stack.entered = id;
    smp_call_enter(smp_call_state_find(TID), id);
}

static void leave(int32_t id)
{
    smp_call_exit(smp_call_state_find(TID), id);
}

static void leave_root(int32_t id)
{
    smp_call_exit_root(smp_call_state_find(TID), id);
}

static int64_t counted(int32_t id)
{
    call_counts_read(&counts);
    return call_counts_of(&counts, id);
}

/* The stack is searched only for new nodes, and no longer once it contains no old call. */
static void a_stack_is_searched_until_it_has_no_old_call(void **state)
{
    (void)state;
    stack.seen = SMP_MAYBE_OLDER_CALL;
    enter_root(ROOT);
    assert_int_equal(stack.looks, 1);
    assert_int_equal(stack.caller, 0);
    enter(FIRST);
    assert_int_equal(stack.looks, 2);
    assert_int_equal(stack.caller, METHOD_BASE + ROOT);
    leave(FIRST);
    enter(FIRST);
    assert_int_equal(stack.looks, 2);
    stack.seen = SMP_NO_OLDER_CALL;
    enter(SECOND); /* calls below the root may still be old */
    leave(SECOND);
    leave(FIRST);
    assert_int_equal(stack.looks, 3);
    enter(SECOND); /* directly below the root: all of them are new */
    assert_int_equal(stack.looks, 4);
    enter(FIRST);
    assert_int_equal(stack.looks, 4);
    leave(FIRST);
    leave(SECOND);
    leave_root(ROOT);
    smp_call_begin_probes();
    smp_call_end_probes();
    enter_root(SECOND);
    assert_int_equal(stack.looks, 5);
    leave_root(SECOND);
}

/* Once the older call has ended, the call gets its node. */
static void a_call_below_an_older_one_has_no_node(void **state)
{
    const uint64_t before = smp_call_misplaced();

    (void)state;
    enter_root(ROOT);
    smp_call_begin_probes();
    smp_call_end_probes();
    stack.seen = SMP_HAS_OLDER_CALL;
    enter(FIRST);
    enter(FIRST);
    assert_int_equal(stack.looks, 2);
    leave(FIRST);
    leave(FIRST);
    enter(FIRST);
    leave(FIRST);
    assert_int_equal(smp_call_misplaced() - before, 3);
    assert_int_equal(counted(FIRST), 0);
    stack.seen = SMP_NO_OLDER_CALL;
    enter(FIRST);
    leave(FIRST);
    assert_int_equal(counted(FIRST), 1);
    assert_int_equal(smp_call_misplaced() - before, 3);
    leave_root(ROOT);
    assert_int_equal(counted(ROOT), 1);
}

static void a_root_below_an_older_call_of_itself_is_not_counted(void **state)
{
    (void)state;
    stack.seen = SMP_HAS_OLDER_CALL;
    enter_root(ROOT);
    enter(FIRST);
    leave(FIRST);
    leave_root(ROOT);
    assert_null(atomic_load(&smp_call_state_find(TID)->position));
    assert_int_equal(counted(ROOT), 0);
    stack.seen = SMP_NO_OLDER_CALL;
    enter_root(ROOT);
    enter(FIRST);
    leave(FIRST);
    leave_root(ROOT);
    assert_int_equal(counted(ROOT), 1);
    assert_int_equal(counted(FIRST), 1);
}

/* While classes are being changed, the stack may change at any moment. */
static void nothing_is_decided_while_classes_are_changed(void **state)
{
    (void)state;
    smp_call_begin_probes();
    enter_root(ROOT);
    enter(FIRST);
    assert_int_equal(stack.looks, 2);
    smp_call_end_probes();
    enter(SECOND);
    assert_int_equal(stack.looks, 3);
    leave(SECOND);
    leave(FIRST);
    leave_root(ROOT);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_past, end_past)
    const struct CMUnitTest tests[] = {
        TEST(a_stack_is_searched_until_it_has_no_old_call),
        TEST(a_call_below_an_older_one_has_no_node),
        TEST(a_root_below_an_older_call_of_itself_is_not_counted),
        TEST(nothing_is_decided_while_classes_are_changed),
    };
#undef TEST
    return cmocka_run_group_tests_name("call_past", tests, NULL, NULL);
}
