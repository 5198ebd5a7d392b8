/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holders.h - charges the time for which threads are blocked to the threads that hold the locks: to
 * the stack that the lock's owner has while the other thread waits.
 *
 *   poll finds the thread BLOCKED ─► polled: reads the owner, once for each wait
 *   end of the tick ─► charge:  is the owner blocked, too? ─► its owner, to the end of the chain
 *                               its stack: the last one, or a new one if it has run since
 *                               ─► the wait's time goes to that node of the holders' tree
 *
 * All blocked time of the sampled trees is charged, no more and no less: smp_interval_take_blocked
 * says by how much each thread's blocked time has changed. Time before the poll goes to the holder
 * that the last poll found, as time goes to stacks in pending_time.h.
 *
 * While a wait lasts, nothing is read again (lock_chain.h). If the holder has not run since its
 * last poll, it has the stack that this poll found. Otherwise a look finds its stack, from outside
 * or by a signal; without a stack the node is that of [owner not read] in the holder's group.
 * deadlocks.h judges a chain that leads back to its beginning.
 *
 * Owns     the waits of one tick, the names of locks.
 * Threads  the sampler thread only.
 * Errors   an unknown owner has a row (SMP_HOLDER_ROW_MAP). Past SMP_MAX_BLOCKED_WAITS in a tick,
 *          or without memory for them, the time goes to the holder found before; without memory for
 *          the state of a thread, to [owner not read].
 * Cost     of a wait: one read of the owner (1 to 2 us); a CPU clock at each poll of a blocked
 *          thread; for an owner that runs, at most one walk or signal a tick.
 */
#ifndef SMP_ENGINE_SOURCES_HOLDERS_H
#define SMP_ENGINE_SOURCES_HOLDERS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/sources/wall_state.h"

/* log: gets deadlocks; NULL: none. It outlives wall. */
void smp_holders_init(struct smp_wall *wall, struct smp_log *log);
/* Call it before smp_sampled_threads_fini. */
void smp_holders_fini(struct smp_wall *wall);

/* The thread's poll has credited the target; found_ns of that time is what the poll stands for.
 * is_new: the wait is not the one that the last poll found. */
void smp_holders_polled(struct smp_wall *wall, struct smp_wall_thread *thread,
                        const struct smp_tree_target *target, int64_t found_ns, bool is_new);
/* Call it when time of the thread was credited, or taken back, without a poll. */
void smp_holders_flush(struct smp_wall *wall, struct smp_wall_thread *thread);
/* The event looked_at of walks.h: a look has found this stack. context: the smp_wall. */
void smp_holders_looked_at(void *context, struct smp_thread_record *record,
                           const struct smp_sample *sample);
/* Charges the waits of polls. may_wait: true at the end of a tick; then running threads may get a
 * signal, and a wait may be carried until the answer comes that has its holder's stack. */
void smp_holders_charge(struct smp_wall *wall, bool may_wait);
/* Charges blocked time of other sources, whose holders are not known. */
void smp_holders_charge_rest(struct smp_wall *wall);

#endif
