/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/walk/signals.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_masks_are_read_from_texts(void **state)
{
    (void)state;
    assert_int_equal(smp_signal_mask_parse("0000002000000000"), smp_signal_mask_bit(38));
    assert_int_equal(smp_signal_mask_parse("ffffffffffffffff"), UINT64_MAX);
    assert_int_equal(smp_signal_mask_parse("00000020000"), 0);
    assert_int_equal(smp_signal_mask_parse("000000200000000\n"), 0);
    assert_int_equal(smp_signal_mask_parse(""), 0);
}

static void test_the_mask_of_this_thread_is_read(void **state)
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

/* Its status lists all groups before the mask. Runs in a child process, which keeps the groups. */
static void test_the_mask_of_a_process_with_many_groups_is_read(void **state)
{
    enum { GROUPS = 4000, IS_RIGHT = 0, IS_WRONG, IS_REFUSED };
    static gid_t groups[GROUPS];
    int status = -1;
    const pid_t child = fork();

    (void)state;
    if (child == 0) {
        for (int i = 0; i < GROUPS; i++)
            groups[i] = 2000000000U + (gid_t)i;
        sigset_t set;
        (void)sigemptyset(&set);
        (void)sigaddset(&set, 40);
        (void)sigprocmask(SIG_SETMASK, &set, NULL);
        if (setgroups(GROUPS, groups) != 0)
            _exit(IS_REFUSED);
        _exit(smp_signal_mask_of_tid((int32_t)getpid()) == smp_signal_mask_bit(40) ? IS_RIGHT
                                                                                   : IS_WRONG);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == IS_REFUSED)
        skip();
    assert_int_equal(WEXITSTATUS(status), IS_RIGHT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_masks_are_read_from_texts),
        cmocka_unit_test(test_the_mask_of_this_thread_is_read),
        cmocka_unit_test(test_the_mask_of_a_process_with_many_groups_is_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
