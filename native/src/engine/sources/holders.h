/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holders.h - charges the time for which threads are blocked to those that hold the locks: to the
 * stack that the owner's thread has while the other one waits.
 *
 *   poll finds the thread BLOCKED ─► polled: the owner is read, once for each wait
 *   end of the tick ─► settle:  owner blocked, too? ─► its owner, to the end of the chain
 *                               its stack: the last one, or a new one where it has run since
 *                               ─► the wait's time goes to that node of the holders' tree
 *
 * All blocked time of the sampled trees is charged, no more and no less: smp_interval_take_blocked
 * says how much each thread has got, or lost. Time that passed before this poll goes to the holder
 * that the last poll found, as it does with stacks (pending_time.h).
 *
 * In a wait that is not broken nothing is read again (lock_chain.h). holder_stack.h knows where the
 * holder is, deadlocks.h what becomes of a chain that leads back to its beginning.
 *
 * Owns     the waits of one tick, the names of locks.
 * Threads  the sampler thread only.
 * Errors   an owner that is not known has a row (SMP_HOLDER_ROW_MAP). Past SMP_MAX_SETTLED waits in
 *          a tick, or without memory for them, the time goes to the holder found before; without
 *          memory for what is known of a thread, to [owner not read].
 * Cost     of a wait: what reading the owner costs (1 to 2 us), once; a CPU clock at each poll of a
 *          thread that is blocked; a walk, or a signal, at most once a tick for an owner that runs.
 */
#ifndef SMP_ENGINE_SOURCES_HOLDERS_H
#define SMP_ENGINE_SOURCES_HOLDERS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/sources/wall_state.h"

/* log: of deadlocks; NULL: none. It outlives wall. */
void smp_holders_init(struct smp_wall *wall, struct smp_log *log);
/* Before the roster. */
void smp_holders_fini(struct smp_wall *wall);
/* The thread's record is about to be freed. */
void smp_holders_forget(struct smp_wall *wall, struct smp_wall_thread *thread);

/* The thread's poll has credited the target with found_ns, of its whole time. is_new: it is not the
 * wait that the last poll found. */
void smp_holders_polled(struct smp_wall *wall, struct smp_wall_thread *thread,
                        const struct smp_tree_target *target, int64_t found_ns, bool is_new);
/* Time of the thread was credited, or taken back, without a poll. */
void smp_holders_flush(struct smp_wall *wall, struct smp_wall_thread *thread);
/* The stack that a look has found. */
void smp_holders_looked_at(struct smp_wall *wall, struct smp_thread_record *record,
                           const struct smp_sample *sample);
/* Charges what polls have found. may_wait: at the end of a tick. Threads that run may get a signal,
 * and a wait may be carried to the answer that says where its holder is. */
void smp_holders_settle(struct smp_wall *wall, bool may_wait);
/* Was something put into the log since the last call? */
bool smp_holders_take_news(struct smp_wall *wall);
/* Blocked time of other sources has no known holder. */
void smp_holders_charge_rest(struct smp_wall *wall);

#endif
