/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deadlocks.h - a cycle of lock owners that stays for SMP_DEADLOCK_TICKS is a deadlock: it is
 * counted, and described for the outputer, once.
 *
 *   Deadlock: 2 threads [worker-1, worker-2]
 *   worker-1 waits for com.acme.Cart, held by worker-2
 *       at com.acme.CartService.add(CartService.java:41)
 *       ...
 *
 * The owners of a cycle were read at different ticks. So all of them are read once more, and count
 * only if no thread of the cycle has run from its poll until all were read, or wants a CPU: then
 * each wait was there at one moment, and none is over. The texts go to the log, from where the
 * report thread passes them on.
 *
 * Threads  the sampler thread only; calls no code of the user's.
 * Errors   a text that finds no memory, or no room in the log, becomes a message of the log.
 * Cost     of a deadlock: a read and two clocks for each thread, once.
 */
#ifndef SMP_ENGINE_SOURCES_DEADLOCKS_H
#define SMP_ENGINE_SOURCES_DEADLOCKS_H

#include "engine/sources/wall_state.h"

enum {
    SMP_MAX_DEADLOCK_FRAMES = 128, /* of a thread, innermost first; the others are counted */
    SMP_MAX_DEADLOCK_BYTES = 1024 * 1024
};

/* The thread's chain of owners leads back to it in this tick. */
void smp_deadlocks_judge(struct smp_wall *wall, struct smp_wall_thread *thread);

#endif
