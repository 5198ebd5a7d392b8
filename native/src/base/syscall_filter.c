/* SPDX-License-Identifier: Apache-2.0 */
#include "base/syscall_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    STATUS_BYTES = 4096, /* of /proc/self/status; what is looked for is in its first 2 KB */
    CHILD_STACK_BYTES = 64 * 1024,
    PERMITTED = 0,
    FORBIDDEN = 1
};

/* Guards child_stack, and the value of PR_SET_DUMPABLE: it must not be taken for the process's own
 * while another thread has changed it. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Alignas(16) char child_stack[CHILD_STACK_BYTES];

/* Is there a filter of system calls? True where that cannot be found out. */
static bool is_filtered(void)
{
    static const char line[] = "\nSeccomp:\t";
    char text[STATUS_BYTES];
    const int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    const ssize_t length = file < 0 ? -1 : read(file, text, sizeof(text) - 1);
    const char *at = NULL;

    if (file >= 0)
        (void)close(file);
    if (length <= 0)
        return true;
    text[length] = 0;
    at = strstr(text, line);
    return at == NULL || at[sizeof(line) - 1] != '0';
}

static int try_in_child(void *attempt)
{
    _exit((*(smp_syscall_attempt **)attempt)() ? PERMITTED : FORBIDDEN);
}

/* The child sends no SIGCHLD, and other threads' waitpid() does not see it. */
static bool child_is_permitted(smp_syscall_attempt *attempt)
{
    int status = -1;
    sigset_t all;
    sigset_t saved;
    pid_t child = -1;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &saved);
    child = clone(try_in_child, child_stack + CHILD_STACK_BYTES, CLONE_VM | CLONE_VFORK, &attempt);
    (void)pthread_sigmask(SIG_SETMASK, &saved, NULL);
    while (child > 0 && waitpid(child, &status, (int)__WCLONE) < 0 && errno == EINTR) {
    }
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == PERMITTED;
}

/*
 * A core dump of the child would end us too on kernels before 5.16, so none is made during that
 * moment: about a millisecond, and only where there is a filter. The price: if the process itself
 * crashes then it leaves no core either, and another process of its user that attaches then is
 * refused. Nothing less helps: the kernel ends those that share memory before it looks at
 * RLIMIT_CORE, and for a child with memory of its own it would copy the tables of all our pages.
 */
static bool is_permitted_by_filter(smp_syscall_attempt *attempt)
{
    const int dumpable = prctl(PR_GET_DUMPABLE);
    bool is_permitted = false;

    if (dumpable != 0 && dumpable != 1)
        return false;
    if (dumpable == 0 || prctl(PR_SET_DUMPABLE, 0) == 0) {
        is_permitted = child_is_permitted(attempt);
        (void)prctl(PR_SET_DUMPABLE, dumpable);
    }
    return is_permitted;
}

bool smp_syscall_filter_permits(smp_syscall_attempt *attempt)
{
    bool is_permitted = true;

    if (!is_filtered())
        return true;
    (void)pthread_mutex_lock(&mutex);
    is_permitted = is_permitted_by_filter(attempt);
    (void)pthread_mutex_unlock(&mutex);
    return is_permitted;
}
