/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failing_reads.c - preloaded into a JVM, makes process_vm_readv fail from the moment at which the
 * file FAILING_READS exists, as a filter of system calls does that is installed late.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ARGUMENTS = 6 };

typedef long call_system(long, ...);

static call_system *real;
static const char *file;

static __attribute__((constructor)) void find(void)
{
    void *found = dlsym(RTLD_NEXT, "syscall");

    memcpy(&real, &found, sizeof(real));
    file = getenv("FAILING_READS");
}

/* In front of the C library's; signal handlers call it. */
long syscall(long number, ...)
{
    const int saved = errno;
    long arguments[ARGUMENTS];
    va_list list;

    va_start(list, number);
    for (int i = 0; i < ARGUMENTS; i++)
        arguments[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_process_vm_readv && access(file, F_OK) == 0) {
        errno = EPERM;
        return -1;
    }
    errno = saved;
    return real(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
                arguments[5]);
}
