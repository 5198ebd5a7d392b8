/* SPDX-License-Identifier: Apache-2.0 */
#include "base/task_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cmocka.h>

/* Of this process, the tests' only thread. */
static int32_t own_tid(void)
{
    return (int32_t)getpid();
}

static void reads_what_the_kernel_has(void **state)
{
    char text[32] = "";

    (void)state;
    assert_int_equal(prctl(PR_SET_NAME, "order-service"), 0);
    assert_true(smp_task_file_read(own_tid(), "comm", text, sizeof(text)));
    assert_string_equal(text, "order-service\n");
}

static void a_long_file_is_cut_to_its_room(void **state)
{
    char text[8] = "#######";

    (void)state;
    assert_int_equal(prctl(PR_SET_NAME, "order-service"), 0);
    assert_true(smp_task_file_read(own_tid(), "comm", text, 6));
    assert_string_equal(text, "order");
    assert_int_equal(text[6], '#');
}

static void a_thread_that_is_not_here_has_no_file(void **state)
{
    char text[32] = "as it was";

    (void)state;
    assert_false(smp_task_file_read(-1, "comm", text, sizeof(text)));
    assert_false(smp_task_file_read(own_tid(), "no such file", text, sizeof(text)));
    assert_string_equal(text, "as it was");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_the_kernel_has),
        cmocka_unit_test(a_long_file_is_cut_to_its_room),
        cmocka_unit_test(a_thread_that_is_not_here_has_no_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
