/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <sys/syscall.h>

#include "base/process_barrier.h"
#include "support/seccomp.h"

enum { RUNS, REFUSED, DIFFERS };

static int try_barrier(void)
{
    const bool is_prepared = smp_process_barrier_prepare();

    if (smp_process_barrier_run() != is_prepared)
        return DIFFERS;
    return is_prepared ? RUNS : REFUSED;
}

static int under_filter(uint32_t action)
{
    return seccomp_run(SYS_membarrier, action, try_barrier);
}

/* Must be the first test, because the call is tried once per process. */
static void test_under_filters_of_system_calls(void **state)
{
    const int permitted = under_filter(SECCOMP_RET_ALLOW);

    (void)state;
    if (permitted != RUNS) /* otherwise the kernel has no such call */
        skip();
    assert_int_equal(under_filter(SECCOMP_RET_ERRNO | EPERM), REFUSED);
    /* The filter kills a child that makes the call; this process survives. */
    assert_int_equal(under_filter(SECCOMP_RET_KILL_PROCESS), REFUSED);
    assert_int_equal(under_filter(SECCOMP_RET_TRAP), REFUSED);
}

static void test_a_test_can_disable_the_barrier(void **state)
{
    const int result = try_barrier();

    (void)state;
    assert_int_not_equal(result, DIFFERS);
    smp_process_barrier_refuse(true);
    assert_int_equal(try_barrier(), REFUSED);
    smp_process_barrier_refuse(false);
    assert_int_equal(try_barrier(), result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_under_filters_of_system_calls),
        cmocka_unit_test(test_a_test_can_disable_the_barrier),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
