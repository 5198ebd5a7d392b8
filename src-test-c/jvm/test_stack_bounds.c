/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>

#include "jvm/threads/stack_bounds.h"

enum { SCANNED_BYTES = 24 * sizeof(uintptr_t) };

static void check_own(void)
{
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    const struct smp_stack_bounds own = smp_stack_bounds_own();
    struct smp_stack_bounds found;

    assert_true(own.low < here && here + SCANNED_BYTES < own.high);
    smp_stack_bounds_find(&here, &found, 1);
    assert_true(found.low < here && here + SCANNED_BYTES < found.high);
    /* Found from outside it is the same memory, to the end that is read towards. */
    assert_true(found.high >= own.high);
}

static void *check_on_a_thread(void *self)
{
    (void)self;
    check_own();
    return NULL;
}

static void test_a_stack_is_found_from_inside_and_outside(void **state)
{
    pthread_t thread;

    (void)state;
    check_own();
    assert_int_equal(pthread_create(&thread, NULL, check_on_a_thread, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static void test_what_is_no_stack(void **state)
{
    static const char text[] = "read only";
    const uintptr_t sps[] = { 0, (uintptr_t)text, UINTPTR_MAX };
    struct smp_stack_bounds found[3] = { { 1, 1 }, { 1, 1 }, { 1, 1 } };

    (void)state;
    smp_stack_bounds_find(sps, found, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(found[i].low, 0);
        assert_int_equal(found[i].high, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_stack_is_found_from_inside_and_outside),
        cmocka_unit_test(test_what_is_no_stack),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
