/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deadlocks.h - a cycle of lock owners that lasts for SMP_DEADLOCK_TICKS is a deadlock. It is
 * counted, and described for the outputer, once.
 *
 *   Deadlock: 2 threads [worker-1, worker-2]
 *   worker-1 waits for com.acme.Cart, held by worker-2
 *       at com.acme.CartService.add(CartService.java:41)
 *       ...
 *
 * The owners of a cycle were read at different ticks. So all of them are read once more. The
 * deadlock is proven if none of the threads has run between its poll and the last of these reads,
 * or wants a CPU: then all waits existed at one moment, and none is over. The texts go to the log,
 * and the report thread passes them on.
 *
 * Threads  the sampler thread only; calls no user code.
 * Errors   if there is no memory for a text, or no room in the log, a message says so.
 * Cost     of a deadlock: one read and two clocks for each thread, once.
 */
#ifndef SMP_ENGINE_SOURCES_DEADLOCKS_H
#define SMP_ENGINE_SOURCES_DEADLOCKS_H

#include "engine/sources/wall_state.h"

enum {
    SMP_MAX_DEADLOCK_FRAMES = 128, /* of a thread, innermost first; further frames are counted */
    SMP_MAX_DEADLOCK_BYTES = 1024 * 1024
};

/* Call it when the thread's chain of owners leads back to it in this tick. */
void smp_deadlocks_judge(struct smp_wall *wall, struct smp_wall_thread *thread);

#endif
