/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "jvm/threads/run_queue.h"

#include "base/thread.h"

static void figures_of_the_kernel_are_read(void **state)
{
    int64_t ns = -1;

    (void)state;
    assert_true(smp_run_queue_parse("1234 5678 9\n", &ns));
    assert_int_equal(ns, 5678);
    assert_true(smp_run_queue_parse("1 0 1\n", &ns));
    assert_int_equal(ns, 0);
}

static void a_kernel_without_figures_is_not_supported(void **state)
{
    static const char *const texts[] = { "", "\n", "0 0 0\n", "12", "12 ", "x 1 2", "1,2 3" };
    int64_t ns = 4711;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_false(smp_run_queue_parse(texts[i], &ns));
    assert_int_equal(ns, 4711);
}

static void the_kernels_figures_of_a_thread_do_not_decrease(void **state)
{
    static struct smp_run_queue queue;
    const int32_t tid = smp_thread_own_tid();
    int64_t first_ns = -1;
    int64_t second_ns = -1;

    (void)state;
    smp_run_queue_init(&queue);
    assert_int_equal(smp_run_queue_read(&queue, tid, &first_ns), queue.is_known);
    assert_int_equal(smp_run_queue_read(&queue, tid, &second_ns), queue.is_known);
    assert_true(second_ns >= first_ns);
    assert_false(smp_run_queue_read(&queue, INT32_MAX, &second_ns));
    smp_run_queue_fini(&queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_of_the_kernel_are_read),
        cmocka_unit_test(a_kernel_without_figures_is_not_supported),
        cmocka_unit_test(the_kernels_figures_of_a_thread_do_not_decrease),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
