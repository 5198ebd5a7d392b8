/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pending_time.h - how the time between two polls is attributed.
 *
 *   poll                              poll
 *    │ target: the stack it found      │ found: weight_ns, what this poll stands for
 *    └────────── all_ns ───────────────┘ target: all_ns - weight_ns, which may be negative
 *
 * All time since the last poll is pending. What the new poll finds gets the time the poll stands
 * for; the stack the last poll found (the target) gets the rest, or gives time back. What it cannot
 * give back, because it has less in this interval, is a claim: the new stack gets it from the next
 * idle time, within the interval. Where an interval ends between two polls, the target gets what is
 * pending; where that is a debt, the target gives it back, so that the interval holds the time that
 * passed.
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

/* Time not attributed up to then; negative: a debt. */
static inline int64_t smp_pending_ns(const struct smp_pending *pending, int64_t until_ns)
{
    return until_ns - pending->from_ns + pending->balance_ns;
}
/* All time up to from_ns is attributed but for the balance. */
static inline void smp_pending_set(struct smp_pending *pending, int64_t from_ns, int64_t balance_ns)
{
    pending->from_ns = from_ns;
    pending->balance_ns = balance_ns;
}

/* What the last poll found, as idle. False: it is not known. */
bool smp_pending_target(struct smp_wall *wall, struct smp_wall_thread *thread,
                        struct smp_tree_target *out);
/* Gives the target time up to till_ns, or takes it back where ns is negative. Returns 0, or what
 * could not be taken back as a debt. */
int64_t smp_pending_give(struct smp_wall *wall, const struct smp_tree_target *target, int64_t ns,
                         int64_t till_ns);
/* Pays the claim out of the time of a thread that is idle at target, which begins at from_ns.
 * Returns how much. */
int64_t smp_pending_pay_claim(struct smp_wall *wall, struct smp_wall_thread *thread,
                              const struct smp_tree_target *target, int64_t most_ns,
                              int64_t from_ns);

/* The time that the running poll stands for, with that of polls before it that found nothing
 * yet. */
int64_t smp_pending_found_ns(const struct smp_wall *wall, const struct smp_wall_thread *thread);
/*
 * The running poll has found a stack: returns its time, and gives the rest of the pending time to
 * before, the old target, or NULL. becomes_target: found is the new target, and may hold a debt.
 */
int64_t smp_pending_take(struct smp_wall *wall, struct smp_wall_thread *thread,
                         const struct smp_tree_target *before, const struct smp_tree_target *found,
                         bool becomes_target);

/* Attributes what is pending up to the last tick to the target. The CPU clock is left alone: the
 * next poll finds what was used. */
void smp_pending_flush(struct smp_wall *wall, struct smp_wall_thread *thread);
/* The record is about to change its group. Its pending time is flushed by flush_left: the JVM must
 * not be called during a user's rule, and a new stack needs names of methods. */
void smp_pending_leaves_group(struct smp_wall *wall, struct smp_wall_thread *thread);
void smp_pending_flush_left(struct smp_wall *wall, struct smp_wall_thread *thread);
/* The thread has ended: attributes its last time. */
void smp_pending_end(struct smp_wall *wall, struct smp_wall_thread *thread, int64_t ended_ns);

/* Polls that the overhead limit left out. */
void smp_pending_count_skipped(struct smp_wall *wall, struct smp_wall_thread *thread,
                               uint64_t polls);

#endif
