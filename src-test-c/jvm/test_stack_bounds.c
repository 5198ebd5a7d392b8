/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>

#include "jvm/threads/threads.h"

enum { SCANNED_BYTES = 24 * sizeof(uintptr_t) };

static void check_own(void)
{
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    const struct smp_stack_bounds own = smp_stack_bounds_own();

    assert_true(own.low < here && here + SCANNED_BYTES < own.high);
}

static void *check_on_a_thread(void *self)
{
    (void)self;
    check_own();
    return NULL;
}

static void test_a_stack_is_found_from_inside(void **state)
{
    pthread_t thread;

    (void)state;
    check_own();
    assert_int_equal(pthread_create(&thread, NULL, check_on_a_thread, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_stack_is_found_from_inside),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
