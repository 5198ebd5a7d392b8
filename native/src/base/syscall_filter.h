/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscall_filter.h - does a filter of system calls (seccomp) let this process make a call?
 *
 * A filter may end the process that makes the call, so a child makes it, which shares our memory
 * while this thread waits: a fork would make the system copy the page tables of a whole heap.
 *
 * Threads  any but signal handlers; one at a time, the others wait.
 * Errors   as below. Of a filter that comes later it says nothing.
 * Cost     without a filter: reads the thread's status. With one: a child, some 100 us.
 */
#ifndef SMP_BASE_SYSCALL_FILTER_H
#define SMP_BASE_SYSCALL_FILTER_H

#include <stdbool.h>
#include <stddef.h>

/* Makes the call; false: it has failed. It may be ended in the middle, so it takes no lock. */
typedef bool smp_syscall_attempt(void);

/* NULL: the call is permitted; where there is no filter, attempt is not called. Else forbidden, or
 * where there is a filter and no child can try it, a text that says so. */
const char *smp_syscall_filter_refusal(smp_syscall_attempt *attempt, const char *forbidden);

static inline bool smp_syscall_filter_permits(smp_syscall_attempt *attempt)
{
    return smp_syscall_filter_refusal(attempt, "forbidden") == NULL;
}

#endif
