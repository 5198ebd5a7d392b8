/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deadlocks.h - detects deadlocks: cycles of lock owners that last for SMP_DEADLOCK_TICKS. Each is
 * counted and described for the outputer once.
 *
 *   Deadlock: 2 threads [worker-1, worker-2]
 *   worker-1 waits for com.acme.Cart, held by worker-2
 *       at com.acme.CartService.add(CartService.java:41)
 *       ...
 *
 * The owners of a cycle were read at different ticks, so all are read again. The deadlock is
 * proven if none of its threads has run since its poll or wants a CPU: then all waits existed at
 * the same time and none has ended. The texts go to the log; the report thread passes them on.
 *
 * Threads  the sampler thread only; calls no user code.
 * Errors   without memory for a text or room in the log, a message says so.
 * Cost     a deadlock: one read and two clocks for each thread, once.
 */
#ifndef SMP_ENGINE_SOURCES_DEADLOCKS_H
#define SMP_ENGINE_SOURCES_DEADLOCKS_H

#include "engine/sources/wall_state.h"

enum {
    SMP_MAX_DEADLOCK_FRAMES =
        128, /* innermost frames of a thread; the number of others is printed */
    SMP_MAX_DEADLOCK_BYTES = 1024 * 1024
};

/* Called in a tick in which the thread's chain of owners leads back to it. */
void smp_deadlocks_judge(struct smp_wall *wall, struct smp_wall_thread *thread);

#endif
