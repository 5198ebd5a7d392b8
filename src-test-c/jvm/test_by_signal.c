/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/walk/by_signal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/failing_alloc.h"

enum { CAPACITY = 64, NO_SIGNAL = 0 };

static enum smp_status create_and_destroy(void *self)
{
    struct smp_by_signal *walker = NULL;
    const enum smp_status status = smp_by_signal_create(CAPACITY, NO_SIGNAL, &walker);

    (void)self;
    smp_by_signal_destroy(walker);
    return status;
}

/* Two allocations: the walker, and the words that walks in native code read. */
static void without_memory_there_is_no_walker(void **state)
{
    const struct failing_alloc_steps steps = failing_alloc_each_step(create_and_destroy, NULL);

    (void)state;
    assert_int_equal(steps.refused, 2);
    assert_int_equal(steps.survived, 0);
}

static void room_for_one_frame_is_too_little(void **state)
{
    struct smp_by_signal *walker = NULL;

    (void)state;
    assert_int_equal(smp_by_signal_create(1, NO_SIGNAL, &walker), SMP_EINVAL);
}

/* The engine requests such a thread again instead of waiting for it. */
static void without_a_late_request_a_thread_will_not_answer(void **state)
{
    struct smp_by_signal *walker = NULL;
    struct smp_thread thread = { .serial = 1 };

    (void)state;
    assert_int_equal(smp_by_signal_create(CAPACITY, NO_SIGNAL, &walker), SMP_OK);
    const struct smp_async_walker async = smp_by_signal_functions(walker);
    assert_int_equal(async.take_late(async.self, &thread, 1, NULL, NULL), SMP_EGONE);
    smp_by_signal_destroy(walker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_memory_there_is_no_walker),
        cmocka_unit_test(room_for_one_frame_is_too_little),
        cmocka_unit_test(without_a_late_request_a_thread_will_not_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
