/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_barrier.h - a memory barrier on all running threads of this process, run by one of them:
 * so that the others need none between a store and a load.
 *
 *   often    store a; compiler barrier; load b
 *   rarely   store b; process barrier;  load a      at least one of them sees the other's store
 *
 * Threads  any but signal handlers.
 * Errors   false: the kernel has no such call (membarrier, Linux 4.14), or a filter refuses it:
 *          then the others need a barrier of their own.
 * Cost     run: microseconds; an interrupt for each processor that runs a thread of this process.
 *          The first call of all: that of syscall_filter.h.
 */
#ifndef SMP_BASE_PROCESS_BARRIER_H
#define SMP_BASE_PROCESS_BARRIER_H

#include <stdbool.h>

/* Before the first run; may be repeated. */
bool smp_process_barrier_prepare(void);
bool smp_process_barrier_run(void);

/* Test seam: both are refused. Not for production. */
void smp_process_barrier_refuse(bool refuse);

#endif
