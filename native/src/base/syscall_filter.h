/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscall_filter.h - does a filter of system calls (seccomp) let this process make a call?
 *
 * A filter may end the process that makes the call, so a child makes it, which shares our memory
 * while this thread waits: a fork would make the system copy the page tables of a whole heap.
 *
 * Threads  any but signal handlers; one at a time, the others wait.
 * Errors   false where it cannot be found out. Of a filter that comes later it says nothing.
 * Cost     without a filter: reads /proc/self/status. With one: a child, some 100 us.
 */
#ifndef SMP_BASE_SYSCALL_FILTER_H
#define SMP_BASE_SYSCALL_FILTER_H

#include <stdbool.h>

/* Makes the call; false: it has failed. It may be ended in the middle, so it takes no lock. */
typedef bool smp_syscall_attempt(void);

/* True, too, where there is no filter: then attempt is not called. */
bool smp_syscall_filter_permits(smp_syscall_attempt *attempt);

#endif
