/* SPDX-License-Identifier: Apache-2.0 */
/*
 * throttle.h - the overhead limit: how much CPU time the sampler thread may use, as a share of one
 * core.
 *
 *   allowed CPU time ──► bucket ──► CPU time that the thread has used
 *                          │
 *                          ├ half full or more   each tick, each poll
 *                          ├ less                ticks at a larger gap, a share of their polls
 *                          └ empty               a tick when it is no longer, one poll in 1024
 *
 * How full the bucket is decides: where polls cost more than the limit allows it sinks, until the
 * share that is left costs as much as comes in, and where they get cheaper it rises. A thread is
 * polled with the probability share (a quiet one less, poll_schedule.c), whatever it does at that
 * tick, and its poll weighs the inverse (intensity.h): the sum is still the time that passed.
 *
 * After a start all is done for the first time: names of methods and lines, new stacks, untouched
 * memory. So the bucket is more than full then, once. A tick uses one full bucket at most: then the
 * rest of its polls wait for the next tick, and for the share of that.
 *
 * CPU time that is used for something else (the end of an interval with thousands of threads) is a
 * debt, paid little by little. If polls waited for it, the first one after a second without any
 * would weigh as much as all others of that second.
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
    SMP_THROTTLE_BUCKET_MS = 1000,   /* a full bucket: what comes in in so long, */
    SMP_THROTTLE_INTERVALS = 2,      /* or in so many intervals of sampling */
    SMP_THROTTLE_START_MS = 10000,   /* more at a start: what comes in in so long, */
    SMP_THROTTLE_START_CPU_MS = 100, /* and at most so much CPU time */
    SMP_THROTTLE_TICKS_SHARE = 4,    /* of what comes in, for ticks without their polls */
    SMP_THROTTLE_DEBT_SHARE = 4,     /* of what comes in, for debts */
    SMP_THROTTLE_TICK_GAP_MS = 100,  /* between two ticks, for their cost, at most; */
    SMP_THROTTLE_MOST_GAP_MS = 1000  /* also where the bucket is empty */
};

struct smp_throttle {
    int64_t limit_per_mille;
    int64_t interval_ns; /* of sampling */
    int64_t bucket_ns;   /* CPU time that may be used; negative: overdrawn */
    int64_t debt_ns;     /* used for something else, and not paid yet */
    int64_t share;       /* of the polls that would be due */
    uint64_t random;
    bool has_begun;
    int64_t now_ns;     /* of the tick */
    int64_t cpu_ns;     /* at its begin */
    uint32_t unchecked; /* polls since the clock was read */
    int64_t end_cpu_ns; /* when the polls of the last tick were over, */
    bool has_ended;     /* if it was read then */
    int64_t tick_ns;    /* what a tick costs without its polls, on average; 0: not known */
};

void smp_throttle_init(struct smp_throttle *throttle, int64_t limit_per_mille, int64_t interval_ns,
                       uint64_t seed);
/* If one of them is new, the bucket is full. */
void smp_throttle_set(struct smp_throttle *throttle, int64_t limit_per_mille, int64_t interval_ns);
/* After a pause: what was used in it does not count. */
void smp_throttle_restart(struct smp_throttle *throttle);

/* A tick begins: sets the share. */
void smp_throttle_begin(struct smp_throttle *throttle, int64_t now_ns);
/* Before each poll. True: it has to wait for another tick. */
bool smp_throttle_is_spent(struct smp_throttle *throttle);
/* The polls of the tick are over: reads the clock. Where a tick with few polls does without it,
 * below the limit, what is used until the next tick begins counts as if the polls had used it. */
void smp_throttle_end(struct smp_throttle *throttle);
/* The CPU time that the thread has used last, so much of it, does not count. */
void smp_throttle_excuse(struct smp_throttle *throttle, int64_t used_ns);
/* The least time until the next tick, at random around a mean of SMP_THROTTLE_MOST_GAP_MS at most;
 * 0: none. */
int64_t smp_throttle_tick_gap_ns(struct smp_throttle *throttle);

#endif
