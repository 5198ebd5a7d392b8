/* SPDX-License-Identifier: Apache-2.0 */
/*
 * throttle.h - the overhead limit: how much CPU time the sampler thread may use, as a share of one
 * core. A token bucket of CPU time.
 *
 *   allowed CPU time ──► bucket ──► CPU time that the thread has used
 *                          │
 *                          ├ half full or more   each tick, each poll
 *                          ├ less                ticks at a larger gap, a share of their polls
 *                          └ empty               a tick only after it is refilled, one poll in 1024
 *
 * The level of the bucket sets the share of polls. If polls cost more than the limit allows, the
 * level sinks until the remaining share costs as much as is allowed; if polls get cheaper, the
 * level rises. A thread is polled with the probability `share` (a quiet thread with a smaller one,
 * poll_schedule.c), whatever it does at that tick. Its poll weighs the inverse of the probability
 * (intensity.h), so the sum is still the time that has passed.
 *
 * After a start everything is done for the first time: names of methods and lines, new stacks,
 * untouched memory. So the bucket starts more than full, once. One tick uses at most one full
 * bucket; its remaining polls wait for the next tick.
 *
 * CPU time for other work (the end of an interval with thousands of threads) is deferred: it is
 * charged to the bucket little by little. If polls waited for it, the first poll after a second
 * without any would weigh as much as all others of that second.
 *
 * Owns     plain data.
 * Threads  one at a time; on the thread whose CPU time it is.
 * Cost     begin, end: one reading of the CPU clock; is_spent: one in SMP_THROTTLE_BATCH calls.
 */
#ifndef SMP_ENGINE_THREADS_THROTTLE_H
#define SMP_ENGINE_THREADS_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    SMP_THROTTLE_WHOLE = 1 << 20,    /* share: every poll */
    SMP_THROTTLE_LEAST = 1 << 10,    /* share: one in 1024 */
    SMP_THROTTLE_BATCH = 16,         /* polls between two readings of the clock */
    SMP_THROTTLE_BUCKET_MS = 1000,   /* capacity of the bucket: the allowance of this time, */
    SMP_THROTTLE_INTERVALS = 2,      /* or of this number of sampling intervals */
    SMP_THROTTLE_START_MS = 10000,   /* extra at a start: the allowance of this time, */
    SMP_THROTTLE_START_CPU_MS = 100, /* but at most this CPU time */
    SMP_THROTTLE_TICKS_SHARE = 4,    /* of the allowance: for ticks without their polls */
    SMP_THROTTLE_DEFERRED_SHARE = 4, /* of the allowance: for deferred work */
    SMP_THROTTLE_TICK_GAP_MS = 100,  /* the longest gap between ticks because of their cost, */
    SMP_THROTTLE_MOST_GAP_MS = 1000  /* and the longest gap if the bucket is empty */
};

struct smp_throttle {
    int64_t limit_per_mille;
    int64_t interval_ns; /* of sampling */
    int64_t bucket_ns;   /* CPU time that may be used; negative: overdrawn */
    int64_t deferred_ns; /* CPU time of other work that is not charged yet */
    int64_t share;       /* of the scheduled polls */
    uint64_t random;
    bool has_begun;
    int64_t now_ns;     /* when the tick began, */
    int64_t cpu_ns;     /* and the CPU clock then */
    uint32_t unchecked; /* polls since the clock was read */
    int64_t end_cpu_ns; /* the CPU clock after the polls of the last tick, */
    bool has_ended;     /* if it was read then */
    int64_t tick_ns;    /* the average cost of a tick without its polls; 0: not known */
};

void smp_throttle_init(struct smp_throttle *throttle, int64_t limit_per_mille, int64_t interval_ns,
                       uint64_t seed);
/* Fills the bucket if one of the values has changed. */
void smp_throttle_set(struct smp_throttle *throttle, int64_t limit_per_mille, int64_t interval_ns);
/* CPU time used until the next begin does not count, and the next tick needs no gap. */
void smp_throttle_restart(struct smp_throttle *throttle);

/* Sets the share. Called when a tick begins. */
void smp_throttle_begin(struct smp_throttle *throttle, int64_t now_ns);
/* Called before each poll. Returns whether the poll must wait for another tick. */
bool smp_throttle_is_spent(struct smp_throttle *throttle);
/* Reads the clock. Called after the polls of a tick. Below the limit a tick with few polls may omit
 * the call: the CPU time up to the next tick then counts as used by its polls. */
void smp_throttle_end(struct smp_throttle *throttle);
/* The thread's last used_ns of CPU time do not count. */
void smp_throttle_excuse(struct smp_throttle *throttle, int64_t used_ns);
/* Returns the shortest time until the next tick, drawn at random around a mean of at most
 * SMP_THROTTLE_MOST_GAP_MS; 0: no minimum. */
int64_t smp_throttle_tick_gap_ns(struct smp_throttle *throttle);

#endif
