/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "jvm/agent/agent.h"
#include "jvm/code/named_methods.h"
#include "jvm/threads/virtual_threads.h"
#include "jvm/walk/async.h"
#include "jvm/walk/cross_check.h"
#include "jvm/walk/mounted_check.h"
#include "support/failing_alloc.h"
#include "support/fake_vm.h"

enum { DEPTH = 12 };

static struct fake_thread thread;
static jobject mounted;
static struct smp_frame frames[DEPTH];
static struct smp_sample sample;
static struct smp_mounted_check check;
static uint64_t compared;
static uint64_t different;

static int setup(void **state)
{
    (void)state;
    fake_vm_setup();
    if (smp_agent_open() != SMP_OK)
        return -1;
    thread = (struct fake_thread){ .object = { FAKE_THREAD }, .depth = DEPTH };
    mounted = fake_vm_local(&thread);
    check = (struct smp_mounted_check){ 0 };
    for (int i = 0; i < DEPTH; i++) /* as in the fake JVMTI */
        frames[i] = (struct smp_frame){ .method = (uint64_t)(FAKE_METHOD + DEPTH - 1 - i),
                                        .bci = DEPTH - 1 - i };
    sample = (struct smp_sample){ .frames = frames, .count = DEPTH, .leaf_count = DEPTH };
    fake_vm.errors[FAKE_GetMethodName] = JVMTI_ERROR_INVALID_METHODID; /* each id is a method */
    smp_cross_check_set_each(1);
    compared = smp_cross_check_get_counts().compared;
    different = smp_cross_check_get_counts().different;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    smp_cross_check_set_each(0);
    smp_mounted_check_fini(&check);
    (*fake_vm_jni())->DeleteLocalRef(fake_vm_jni(), mounted);
    smp_agent_close();
    fake_vm_teardown();
    return 0;
}

static void compare(uint64_t more_compared, uint64_t more_different)
{
    smp_mounted_check(&check, mounted, &sample);
    compared += more_compared;
    different += more_different;
    assert_int_equal(smp_cross_check_get_counts().compared, compared);
    assert_int_equal(smp_cross_check_get_counts().different, different);
}

static void a_stack_with_the_same_end_is_right(void **state)
{
    (void)state;
    compare(1, 0);
    /* Another line in the second frame, and other frames above it. */
    frames[DEPTH - 2].bci = 77;
    frames[0].method = 77;
    compare(1, 0);
    assert_int_equal(check.differences, 0);
}

static void frames_that_jvmti_does_not_show_are_skipped(void **state)
{
    (void)state;
    frames[DEPTH - 2 - SMP_MOUNTED_CHECK_HIDDEN] = frames[DEPTH - 2];
    for (int i = DEPTH - 1 - SMP_MOUNTED_CHECK_HIDDEN; i < DEPTH - 1; i++)
        frames[i].method = 77;
    compare(1, 0);
    frames[DEPTH - 3 - SMP_MOUNTED_CHECK_HIDDEN] = frames[DEPTH - 2 - SMP_MOUNTED_CHECK_HIDDEN];
    frames[DEPTH - 2 - SMP_MOUNTED_CHECK_HIDDEN].method = 77;
    compare(1, 1);
}

static void stacks_that_cannot_be_compared_are_not(void **state)
{
    (void)state;
    frames[DEPTH - 1].bci = 77; /* the virtual thread is about to end */
    compare(0, 0);
    frames[DEPTH - 1].bci = 0;
    thread.ended = true;
    compare(0, 0);
    thread.ended = false;
    thread.depth = 1;
    compare(0, 0);
    thread.depth = SMP_MOUNTED_CHECK_FRAMES;
    compare(0, 0);
    thread.depth = DEPTH;
    frames[DEPTH - 2].method = SMP_NAMED_METHOD_BIT + 1;
    compare(0, 0);
    frames[DEPTH - 2].method = FAKE_METHOD + 1;
    sample.count = 1;
    compare(0, 0);
    sample.count = DEPTH;
    smp_mounted_check(&check, NULL, &sample);
    compare(1, 0);
}

static enum smp_status check_once(void *self)
{
    (void)self;
    check.frames = NULL;
    smp_mounted_check(&check, mounted, &sample);
    const bool has_memory = check.frames != NULL;
    smp_mounted_check_fini(&check);
    check.frames = NULL;
    return has_memory ? SMP_OK : SMP_ENOMEM;
}

static void without_memory_nothing_is_compared(void **state)
{
    const struct failing_alloc_steps steps = failing_alloc_each_step(check_once, NULL);

    (void)state;
    assert_int_equal(steps.refused, 1);
    assert_int_equal(smp_cross_check_get_counts().compared - compared, 1);
}

static void only_some_stacks_are_compared(void **state)
{
    (void)state;
    smp_cross_check_set_each(10);
    for (int i = 0; i < 100; i++)
        smp_mounted_check(&check, mounted, &sample);
    assert_int_equal(smp_cross_check_get_counts().compared - compared, 10);
}

/* Must be the last test: afterwards the heap is not read any more in this process. */
static void two_differences_in_a_row_disable_reading_the_heap(void **state)
{
    char reason[SMP_ASYNC_REFUSAL_BYTES];

    (void)state;
    frames[DEPTH - 1].method = 77;
    compare(1, 1);
    frames[DEPTH - 1].method = FAKE_METHOD;
    smp_cross_check_set_each(1000); /* the next one is compared even so */
    compare(1, 0);
    smp_cross_check_set_each(1);
    smp_async_chunks_refusal(reason);
    assert_string_equal(reason, "");
    frames[DEPTH - 2].method = 77;
    compare(1, 1);
    compare(1, 1);
    smp_async_chunks_refusal(reason);
    assert_string_equal(reason, ""); /* no virtual thread was seen */
    thread.is_carrier = true;
    assert_true(smp_virtual_threads_is_carrier(fake_vm_jni(), mounted));
    smp_async_chunks_refusal(reason);
    assert_string_equal(reason, "found wrong, a stack ends in other frames");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

/* The classes at both ends of the stack were redefined after their ids were kept. */
static void other_ids_of_the_same_methods_are_right(void **state)
{
    (void)state;
    fake_vm.errors[FAKE_GetMethodName] = JVMTI_ERROR_NONE;
    frames[DEPTH - 1].method += 2 * DEPTH;
    frames[DEPTH - 2].method += 2 * DEPTH;
    compare(1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_stack_with_the_same_end_is_right),
        TEST(frames_that_jvmti_does_not_show_are_skipped),
        TEST(stacks_that_cannot_be_compared_are_not),
        TEST(without_memory_nothing_is_compared),
        TEST(only_some_stacks_are_compared),
        TEST(two_differences_in_a_row_disable_reading_the_heap),
        TEST(other_ids_of_the_same_methods_are_right),
    };

    return cmocka_run_group_tests(tests, fake_vm_know_virtual_threads,
                                  fake_vm_forget_virtual_threads);
}
