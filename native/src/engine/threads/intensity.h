/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intensity.h - how likely a thread is polled at a tick, and how much time such a poll stands for.
 *
 * A poll with probability p stands for 1/p ticks. The stack that it finds gets tick/p of the time,
 * and the stack of the poll before it gets the rest of the time between the two. So each state of
 * the thread gets, on average, what a poll at every tick would give it, whatever the thread does.
 * This holds because p is fixed before the tick, independent of what the thread does at it.
 *
 *   tick        1    2    3    4    5    6    7    8    9
 *   number     .7   .3   .9  .05   .6   .2   .8   .4  .02    one per tick, for all threads
 *   p = 1/4                    x         x              x    polled where the number is below p
 *   p = 1/16                   x                        x    so threads with rare polls share ticks
 *
 * Owns     plain data.
 * Threads  one at a time.
 * Errors   the caller bounds odds and longest gaps.
 * Cost     next: a nanosecond for each tick until the poll; the caller keeps the result for threads
 *          with the same odds. next_alone: some 60 ns.
 */
#ifndef SMP_ENGINE_THREADS_INTENSITY_H
#define SMP_ENGINE_THREADS_INTENSITY_H

#include <stdbool.h>
#include <stdint.h>

/* Odds: probability of a poll at each tick, in units of 1 / SMP_CERTAIN. */
#define SMP_CERTAIN (INT64_C(1) << 32)

/* The next poll of a thread. */
struct smp_next_poll {
    uint64_t tick;
    int64_t odds; /* the probability of the poll at that tick; SMP_CERTAIN if the longest gap forces
                   * it */
};

/* Returns the odds of one poll in mean_ticks on average; less than one tick counts as one. */
int64_t smp_intensity_odds(double mean_ticks);
/*
 * Returns the first tick after now at which a thread with these odds is polled, at most most_ticks
 * later. Equal salts draw equal numbers. odds is in 1..SMP_CERTAIN, most_ticks at least 1.
 */
struct smp_next_poll smp_intensity_next(uint64_t salt, uint64_t now, int64_t odds,
                                        uint64_t most_ticks);
/* As smp_intensity_next, but with the thread's own random numbers, so that it shares no ticks. */
struct smp_next_poll smp_intensity_next_alone(uint64_t *random, uint64_t now, int64_t odds,
                                              uint64_t most_ticks);
/* Returns the time that a poll stands for. */
int64_t smp_intensity_weight_ns(int64_t tick_ns, int64_t odds);
/* Returns the odds that two independent draws both succeed; at least 1. */
int64_t smp_intensity_both(int64_t odds, int64_t others);

#endif
