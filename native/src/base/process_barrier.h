/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_barrier.h - a memory barrier on all running threads of this process, executed by one of
 * them, so that the others need none between a store and a load.
 *
 *   often    store a; compiler barrier; load b
 *   rarely   store b; process barrier;  load a      at least one of them sees the other's store
 *
 * Threads  any but signal handlers.
 * Errors   false: the kernel lacks the call (membarrier, Linux 4.14), or a filter refuses it. Then
 *          the other threads need barriers of their own.
 * Cost     run: microseconds, and an interrupt on each processor that runs a thread of this
 *          process. The very first call also costs what syscall_filter.h costs.
 */
#ifndef SMP_BASE_PROCESS_BARRIER_H
#define SMP_BASE_PROCESS_BARRIER_H

#include <stdbool.h>

/* Must be called before the first run; may be repeated. */
bool smp_process_barrier_prepare(void);
bool smp_process_barrier_run(void);

/* Test seam: refuses prepare and run. Not for production. */
void smp_process_barrier_refuse(bool refuse);

#endif
