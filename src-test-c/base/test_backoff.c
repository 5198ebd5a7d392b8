/* SPDX-License-Identifier: Apache-2.0 */
/* A long wait leaves the CPU to others, however low their priority is. */
#include "base/backoff.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/resource.h>

/* How often this thread gave up its CPU in order to wait. A yield does not count, because the
 * thread can still run. */
static long count_waits(void)
{
    struct rusage usage;

    assert_int_equal(getrusage(RUSAGE_THREAD, &usage), 0);
    return usage.ru_nvcsw;
}

static void a_long_wait_sleeps(void **state)
{
    enum { TRIES = 1000 };
    long waits = 0;

    (void)state;
    for (unsigned round = 0; round < SMP_BACKOFF_YIELDS; round++)
        smp_backoff(round);
    waits = count_waits();
    /* A sleep does not count if its time is over before it begins, because the thread had lost its
     * CPU. */
    for (unsigned round = 0; count_waits() == waits && round < TRIES; round++)
        smp_backoff(SMP_BACKOFF_YIELDS + round);
    assert_true(count_waits() > waits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_wait_sleeps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
