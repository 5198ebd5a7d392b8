/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seccomp.h - calls a function under a seccomp filter for one system call.
 *
 * Threads  any.
 */
#ifndef SMP_TEST_SECCOMP_H
#define SMP_TEST_SECCOMP_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECCOMP_NO_FILTER = 127 }; /* the process is not allowed to set a filter */

/* number: of the system call. action: SECCOMP_RET_*, the filter's decision. */
static inline bool seccomp_set_filter(uint32_t number, uint32_t action)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, action),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = { .len = 4, .filter = code };

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

/* Runs attempt in a child process, because a filter cannot be removed. Returns the result of
 * attempt, 0 to 126, or SECCOMP_NO_FILTER. */
static inline int seccomp_run(uint32_t number, uint32_t action, int (*attempt)(void))
{
    int status = -1;
    const pid_t child = fork();

    if (child == 0)
        _exit(seccomp_set_filter(number, action) ? attempt() : SECCOMP_NO_FILTER);
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

#endif
