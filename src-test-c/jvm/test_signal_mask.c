/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/threads/signal_mask.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

static void test_texts(void **state)
{
    (void)state;
    assert_int_equal(smp_signal_mask_parse("Name:\tx\nSigBlk:\t0000002000000000\nSigIgn:\t"),
                     smp_signal_mask_bit(38));
    assert_int_equal(smp_signal_mask_parse("Name:\tx\nSigBlk:\tffffffffffffffff\n"), UINT64_MAX);
    assert_int_equal(smp_signal_mask_parse("Name:\tx\nSigBlk:\t00000020000"), 0);
    assert_int_equal(smp_signal_mask_parse("Name:\tSigBlk:\t0000002000000000\n"), 0);
    assert_int_equal(smp_signal_mask_parse(""), 0);
}

static void test_this_thread(void **state)
{
    const int32_t tid = (int32_t)syscall(SYS_gettid);
    sigset_t set;

    (void)state;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, 40);
    (void)pthread_sigmask(SIG_SETMASK, &set, NULL);
    assert_int_equal(smp_signal_mask_of_tid(tid), smp_signal_mask_bit(40));
    (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    assert_int_equal(smp_signal_mask_of_tid(tid), 0);
    assert_int_equal(smp_signal_mask_of_tid(0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_this_thread),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
