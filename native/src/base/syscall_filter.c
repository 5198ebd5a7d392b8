/* SPDX-License-Identifier: Apache-2.0 */
#include "base/syscall_filter.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/task_file.h"

enum { CHILD_STACK_BYTES = 64 * 1024, PERMITTED = 0, FORBIDDEN = 1 };

/* Guards child_stack and PR_SET_DUMPABLE: a value that another thread has set for the moment must
 * not be restored as the process's own. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Alignas(16) char child_stack[CHILD_STACK_BYTES];

/* Returns whether there is a filter of system calls; true if that is not known. */
static bool is_filtered(void)
{
    const int32_t self = (int32_t)syscall(SYS_gettid);
    char mode[2];

    return !smp_task_file_find(self, "status", "\nSeccomp:\t", mode, sizeof(mode)) || *mode != '0';
}

static int try_in_child(void *attempt)
{
    _exit((*(smp_syscall_attempt **)attempt)() ? PERMITTED : FORBIDDEN);
}

/* The child sends no SIGCHLD, and other threads' waitpid() does not see it. */
static const char *refusal_in_child(smp_syscall_attempt *attempt, const char *forbidden)
{
    int status = -1;
    sigset_t all;
    sigset_t saved;
    pid_t child = -1;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &saved);
    child = clone(try_in_child, child_stack + CHILD_STACK_BYTES, CLONE_VM | CLONE_VFORK, &attempt);
    (void)pthread_sigmask(SIG_SETMASK, &saved, NULL);
    if (child <= 0)
        return "there is a filter of system calls, and no child process to try it";
    while (waitpid(child, &status, (int)__WCLONE) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == PERMITTED ? NULL : forbidden;
}

/*
 * On kernels before 5.16 a core dump of the child would kill us too. So core dumps are switched off
 * for about a millisecond, and only if there is a filter. Meanwhile the process itself leaves no
 * core if it crashes, and refuses another process of its user that attaches. No smaller measure
 * helps: the kernel kills processes that share memory before it checks RLIMIT_CORE, and for a child
 * with its own memory it would copy all our page tables. A value of 2 could not be restored, so the
 * call is not tried then.
 */
static const char *refusal_of_filter(smp_syscall_attempt *attempt, const char *forbidden)
{
    const int dumpable = prctl(PR_GET_DUMPABLE);
    const char *refusal =
        "there is a filter of system calls, which cannot be tried while PR_GET_DUMPABLE is 2";

    if (dumpable == 0 || (dumpable == 1 && prctl(PR_SET_DUMPABLE, 0) == 0)) {
        refusal = refusal_in_child(attempt, forbidden);
        (void)prctl(PR_SET_DUMPABLE, dumpable);
    }
    return refusal;
}

const char *smp_syscall_filter_refusal(smp_syscall_attempt *attempt, const char *forbidden)
{
    const char *refusal = NULL;

    if (!is_filtered())
        return NULL;
    (void)pthread_mutex_lock(&mutex);
    refusal = refusal_of_filter(attempt, forbidden);
    (void)pthread_mutex_unlock(&mutex);
    return refusal;
}
