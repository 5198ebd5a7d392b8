/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pending_time.h - how the time between two polls is attributed.
 *
 *   poll                              poll
 *    │ target: the stack it found      │ found: weight_ns, the time of this poll
 *    └────────── all_ns ───────────────┘ target: all_ns - weight_ns, which may be negative
 *
 * All time since the last poll is pending. The stack that the new poll finds gets the time that
 * the poll stands for. The stack that the last poll found (the target) gets the rest, which may be
 * negative. If the target has less time in this interval than the rest takes away, the difference
 * is carried over: the new stack gets less now, and is credited with the difference from the next
 * idle time in the interval. If an interval ends between two polls, the target is credited with
 * the pending time, even if it is negative, so that the interval has exactly the time that passed
 * in it.
 *
 * Owns     plain data: smp_pending of a thread.
 * Threads  the sampler thread only.
 * Cost     a few additions; a target that is new in the interval: its nodes.
 */
#ifndef SMP_ENGINE_SOURCES_PENDING_TIME_H
#define SMP_ENGINE_SOURCES_PENDING_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/sources/wall_state.h"

/* Returns the pending time up to until_ns; negative: too much was attributed. */
static inline int64_t smp_pending_ns(const struct smp_pending *pending, int64_t until_ns)
{
    return until_ns - pending->from_ns + pending->correction_ns;
}
/* Sets the end of the attributed time, and the correction. */
static inline void smp_pending_set(struct smp_pending *pending, int64_t from_ns,
                                   int64_t correction_ns)
{
    pending->from_ns = from_ns;
    pending->correction_ns = correction_ns;
}

/* Sets *out to the stack of the last poll, with the outcome IDLE. Returns false if it is
 * unknown. */
bool smp_pending_target(struct smp_wall *wall, struct smp_wall_thread *thread,
                        struct smp_tree_target *out);
/* Credits the target with time up to till_ns, or takes it back if ns is negative. Returns 0, or as
 * a negative correction the time that could not be taken back. */
int64_t smp_pending_credit(struct smp_wall *wall, const struct smp_tree_target *target, int64_t ns,
                           int64_t till_ns);
/* Credits the carried-over time, which is taken from the idle time of a thread at target,
 * beginning at from_ns. Returns how much. */
int64_t smp_pending_credit_carried(struct smp_wall *wall, struct smp_wall_thread *thread,
                                   const struct smp_tree_target *target, int64_t most_ns,
                                   int64_t from_ns);

/* Returns the time that the running poll stands for, including earlier polls without a result. */
int64_t smp_pending_found_ns(const struct smp_wall *wall, const struct smp_wall_thread *thread);
/*
 * Called when the running poll has found a stack. Returns its time, and credits the old target
 * `before` (or NULL) with the rest. becomes_target: `found` is the new target and may keep a
 * correction.
 */
int64_t smp_pending_take(struct smp_wall *wall, struct smp_wall_thread *thread,
                         const struct smp_tree_target *before, const struct smp_tree_target *found,
                         bool becomes_target);

/* Attributes the pending time up to the last tick to the target, without reading the CPU clock. */
void smp_pending_flush(struct smp_wall *wall, struct smp_wall_thread *thread);
/* Called before the record changes its group. flush_left attributes the pending time later,
 * because a stack may need method names, and the JVM must not be called during a user's name
 * rule. */
void smp_pending_leaves_group(struct smp_wall *wall, struct smp_wall_thread *thread);
void smp_pending_flush_left(struct smp_wall *wall, struct smp_wall_thread *thread);
/* Called when the thread has ended: attributes its last time. */
void smp_pending_end(struct smp_wall *wall, struct smp_wall_thread *thread, int64_t ended_ns);

/* Counts polls that the overhead limit has skipped. */
void smp_pending_count_skipped(struct smp_wall *wall, struct smp_wall_thread *thread,
                               uint64_t polls);

#endif
