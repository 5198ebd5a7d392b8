/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holders.h - charges the blocked time of threads to the holders of their locks: to the stack that
 * the owner has while the other thread waits.
 *
 *   poll finds a BLOCKED thread ─► polled: reads the owner, once for each wait
 *   end of the tick ─► charge:  is the owner blocked, too? ─► its owner, to the end of the chain
 *                               its stack: the last one, or a new one if it has run since
 *                               ─► the wait's time goes to that node of the holders' tree
 *
 * Exactly the blocked time of the sampled trees is charged: smp_interval_take_blocked returns by
 * how much each thread's blocked time has changed. Time before the poll goes to the holder that
 * the last poll found, as in pending_time.h.
 *
 * The owner is not read again while a wait lasts (lock_chain.h). If the holder has not run since
 * its last poll, it still has the stack that this poll found. Otherwise it is walked, from outside
 * or by a signal; without a stack the node is [owner not read] in the holder's group. deadlocks.h
 * handles a chain that leads back to its beginning.
 *
 * Owns     the waits of one tick, the names of locks.
 * Threads  the sampler thread only.
 * Errors   an unknown owner has a row (SMP_HOLDER_ROW_MAP). Above SMP_MAX_BLOCKED_WAITS in a tick,
 *          or without memory for them, the time goes to the last known holder; without memory for
 *          the state of a thread, to [owner not read].
 * Cost     a wait: one read of the owner (1 to 2 us), and a CPU clock at each poll. An owner that
 *          runs: at most one walk or signal for each tick.
 */
#ifndef SMP_ENGINE_SOURCES_HOLDERS_H
#define SMP_ENGINE_SOURCES_HOLDERS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/sources/wall_state.h"

/* Deadlocks go to log, which may be NULL and must outlive wall. */
void smp_holders_init(struct smp_wall *wall, struct smp_log *log);
/* Called before smp_sampled_threads_fini. */
void smp_holders_fini(struct smp_wall *wall);

/* Called when a poll of the thread has credited the target; the poll stands for found_ns of that
 * time. is_new: the last poll has not found this wait. */
void smp_holders_polled(struct smp_wall *wall, struct smp_wall_thread *thread,
                        const struct smp_tree_target *target, int64_t found_ns, bool is_new);
/* Called when time of the thread was credited or taken back without a poll. */
void smp_holders_flush(struct smp_wall *wall, struct smp_wall_thread *thread);
/* The event holder_walked of walks.h. context is the smp_wall. */
void smp_holders_walked(void *context, struct smp_thread_record *record,
                        const struct smp_sample *sample);
/* Charges the waits that polls have found. may_wait is true at the end of a tick: running holders
 * may then get a signal, and a wait may be carried until its holder answers. */
void smp_holders_charge(struct smp_wall *wall, bool may_wait);
/* Charges blocked time of other sources, whose holders are unknown. */
void smp_holders_charge_rest(struct smp_wall *wall);

#endif
