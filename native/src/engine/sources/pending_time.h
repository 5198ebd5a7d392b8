/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pending_time.h - how the time between two polls is attributed.
 *
 *   poll                              poll
 *    │ target: the stack it found      │ found: weight_ns, what this poll stands for
 *    └────────── all_ns ───────────────┘ target: all_ns - weight_ns, which may be negative
 *
 * All time since the last poll is pending. The stack that the new poll finds gets the time that the
 * poll stands for. The stack that the last poll found (the target) gets the rest; if the rest is
 * negative, it is taken back from the target. If the target has less than that in this interval,
 * the difference is carried over: the new stack gets less now, and the difference from the next
 * idle time within the interval. If an interval ends between two polls, the target gets the pending
 * time, or loses it if it is negative, so that the interval has the time that passed in it.
 *
 * Owns     plain data: smp_pending of a thread.
 * Threads  the sampler thread only.
 * Cost     a few additions; for a target that is new in the interval, its nodes.
 */
#ifndef SMP_ENGINE_SOURCES_PENDING_TIME_H
#define SMP_ENGINE_SOURCES_PENDING_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/sources/wall_state.h"

/* Returns the time up to then that is not attributed; negative: too much was. */
static inline int64_t smp_pending_ns(const struct smp_pending *pending, int64_t until_ns)
{
    return until_ns - pending->from_ns + pending->correction_ns;
}
/* All time up to from_ns is attributed, except the correction. */
static inline void smp_pending_set(struct smp_pending *pending, int64_t from_ns,
                                   int64_t correction_ns)
{
    pending->from_ns = from_ns;
    pending->correction_ns = correction_ns;
}

/* Sets *out to the stack that the last poll found, with the outcome IDLE. False: it is not
 * known. */
bool smp_pending_target(struct smp_wall *wall, struct smp_wall_thread *thread,
                        struct smp_tree_target *out);
/* Credits the target with time up to till_ns; takes it back if ns is negative. Returns 0, or what
 * could not be taken back, as a negative correction. */
int64_t smp_pending_credit(struct smp_wall *wall, const struct smp_tree_target *target, int64_t ns,
                           int64_t till_ns);
/* Credits the carried-over time out of the time of a thread that is idle at target; that time
 * begins at from_ns. Returns how much. */
int64_t smp_pending_credit_carried(struct smp_wall *wall, struct smp_wall_thread *thread,
                                   const struct smp_tree_target *target, int64_t most_ns,
                                   int64_t from_ns);

/* Returns the time that the running poll stands for, including the polls before it that have found
 * nothing yet. */
int64_t smp_pending_found_ns(const struct smp_wall *wall, const struct smp_wall_thread *thread);
/*
 * The running poll has found a stack: returns its time, and credits the old target `before` with
 * the rest (NULL: there is none). becomes_target: `found` is the new target, and may keep a
 * correction.
 */
int64_t smp_pending_take(struct smp_wall *wall, struct smp_wall_thread *thread,
                         const struct smp_tree_target *before, const struct smp_tree_target *found,
                         bool becomes_target);

/* Attributes the pending time up to the last tick to the target. Does not read the CPU clock: the
 * next poll finds the CPU time. */
void smp_pending_flush(struct smp_wall *wall, struct smp_wall_thread *thread);
/* Call it before the record changes its group. flush_left attributes its pending time later,
 * because the JVM must not be called during a user's rule, and a new stack needs names of
 * methods. */
void smp_pending_leaves_group(struct smp_wall *wall, struct smp_wall_thread *thread);
void smp_pending_flush_left(struct smp_wall *wall, struct smp_wall_thread *thread);
/* Call it when the thread has ended: attributes its last time. */
void smp_pending_end(struct smp_wall *wall, struct smp_wall_thread *thread, int64_t ended_ns);

/* Counts polls that the overhead limit has skipped. */
void smp_pending_count_skipped(struct smp_wall *wall, struct smp_wall_thread *thread,
                               uint64_t polls);

#endif
