/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscall_filter.h - finds out whether a filter of system calls (seccomp) permits a call.
 *
 * A filter may kill the process that makes the call, so a child makes it. The child shares our
 * memory while this thread waits; fork would copy the page tables of a whole heap.
 *
 * Threads  any but signal handlers. Concurrent calls wait for each other.
 * Errors   as below. A filter installed later is not seen.
 * Cost     without a filter: reads the thread's status. With one: a child, some 100 us.
 */
#ifndef SMP_BASE_SYSCALL_FILTER_H
#define SMP_BASE_SYSCALL_FILTER_H

#include <stdbool.h>
#include <stddef.h>

/* Makes the call; false if it fails. It may be killed at any point, so it must take no lock. */
typedef bool smp_syscall_attempt(void);

/* Returns NULL if the call is permitted; without a filter, attempt is not even called. Returns
 * forbidden if it is not permitted, or another text if no child could try it. */
const char *smp_syscall_filter_refusal(smp_syscall_attempt *attempt, const char *forbidden);

static inline bool smp_syscall_filter_permits(smp_syscall_attempt *attempt)
{
    return smp_syscall_filter_refusal(attempt, "forbidden") == NULL;
}

#endif
