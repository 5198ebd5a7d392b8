/* SPDX-License-Identifier: Apache-2.0 */
#include "base/syscall_filter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "support/seccomp.h"

enum { IS_PERMITTED, IS_FORBIDDEN, IS_UNTRIED };

static const char FORBIDDEN_TEXT[] = "forbidden";
static int dumpable = -1; /* the result of PR_GET_DUMPABLE; -1: that of the system */

/* Replaces the function of libc. */
int prctl(int option, ...)
{
    va_list arguments;
    unsigned long values[4] = { 0 };

    va_start(arguments, option);
    for (int i = 0; i < 4 && option != PR_GET_DUMPABLE && option != PR_SET_DUMPABLE; i++)
        values[i] = va_arg(arguments, unsigned long);
    if (option == PR_SET_DUMPABLE)
        values[0] = (unsigned long)va_arg(arguments, int);
    va_end(arguments);
    if (option == PR_GET_DUMPABLE && dumpable >= 0)
        return dumpable;
    return (int)syscall(SYS_prctl, option, values[0], values[1], values[2], values[3]);
}

static bool get_parent(void)
{
    return syscall(SYS_getppid) > 0;
}

static int try_it(void)
{
    const char *refusal = smp_syscall_filter_refusal(get_parent, FORBIDDEN_TEXT);

    if (refusal == NULL)
        return IS_PERMITTED;
    return refusal == FORBIDDEN_TEXT ? IS_FORBIDDEN : IS_UNTRIED;
}

static void a_filter_is_tried(void **state)
{
    (void)state;
    if (seccomp_run(SYS_getppid, SECCOMP_RET_ALLOW, try_it) == SECCOMP_NO_FILTER)
        skip();
    assert_int_equal(seccomp_run(SYS_getppid, SECCOMP_RET_ALLOW, try_it), IS_PERMITTED);
    assert_int_equal(seccomp_run(SYS_getppid, SECCOMP_RET_ERRNO | EPERM, try_it), IS_FORBIDDEN);
    assert_int_equal(seccomp_run(SYS_getppid, SECCOMP_RET_KILL_PROCESS, try_it), IS_FORBIDDEN);
}

static void an_untested_call_is_not_reported_as_forbidden(void **state)
{
    (void)state;
    dumpable = 2;
    const int found = seccomp_run(SYS_getppid, SECCOMP_RET_KILL_PROCESS, try_it);
    dumpable = -1;
    if (found == SECCOMP_NO_FILTER)
        skip();
    assert_int_equal(found, IS_UNTRIED);
    /* No child can be started. */
    assert_int_equal(seccomp_run(SYS_clone, SECCOMP_RET_ERRNO | EAGAIN, try_it), IS_UNTRIED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_filter_is_tried),
        cmocka_unit_test(an_untested_call_is_not_reported_as_forbidden),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
