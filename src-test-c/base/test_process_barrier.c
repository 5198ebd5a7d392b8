/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process_barrier.h"

enum { RUNS, REFUSED, DIFFERS, NO_FILTER };

/* action: what the filter does with membarrier. */
static bool set_filter(uint32_t action)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, action),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = { .len = 4, .filter = code };

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

static int try_barrier(void)
{
    const bool is_prepared = smp_process_barrier_prepare();

    if (smp_process_barrier_run() != is_prepared)
        return DIFFERS;
    return is_prepared ? RUNS : REFUSED;
}

/* In a process of its own, as a filter stays for ever; what it exits with. */
static int under_filter(uint32_t action)
{
    int status = -1;
    const pid_t child = fork();

    if (child == 0)
        _exit(set_filter(action) ? try_barrier() : NO_FILTER);
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* First: it is tried once in a process. */
static void test_under_filters_of_system_calls(void **state)
{
    const int permitted = under_filter(SECCOMP_RET_ALLOW);

    (void)state;
    if (permitted != RUNS) /* or the kernel has no such call */
        skip();
    assert_int_equal(under_filter(SECCOMP_RET_ERRNO | EPERM), REFUSED);
    /* Our process lives on where the filter ends one that makes the call. */
    assert_int_equal(under_filter(SECCOMP_RET_KILL_PROCESS), REFUSED);
    assert_int_equal(under_filter(SECCOMP_RET_TRAP), REFUSED);
}

static void test_it_is_refused_for_a_test(void **state)
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
        cmocka_unit_test(test_it_is_refused_for_a_test),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
