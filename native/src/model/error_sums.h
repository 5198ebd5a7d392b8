/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error_sums.h - the variance of each node's time, due to chance.
 *
 * A poll with probability p stands for w = tick/p of time. As long as a poll finds the same stack
 * as the previous one, the thread's time is known, however rare the polls are. If it finds another
 * stack, the nodes that are on one of the two stacks only are wrong by up to w. The squares of
 * these errors are summed:
 *
 *   found before  main ─ a.A.run ─ b.B.x           b.B.x  - w * sqrt(1 - p/2)
 *   found now     main ─ a.A.run ─ c.C.y           c.C.y  + w * sqrt(1 - p/2)
 *                 unchanged: nothing
 *
 * Threads may act together, and idle ones share ticks. So the changes of a node in one tick are
 * summed with their signs over all threads, and squared when the next tick comes.
 *
 * Threads  as tree.h.
 * Cost     12 bytes a row of the tree. A change: 4 ns for each row by which the stacks differ.
 *          Single precision: beyond 2^24 equal squares, which are hours of one-millisecond ticks in
 *          one interval, further ones add nothing.
 */
#ifndef SMP_MODEL_ERROR_SUMS_H
#define SMP_MODEL_ERROR_SUMS_H

#include <math.h>
#include <stdint.h>

enum { SMP_ERROR_SUM_BYTES = 12 };

/* Amounts in milliseconds: squares of nanoseconds would soon leave the range of a float. */
struct smp_error_sum {
    float variance; /* of all earlier ticks */
    float change;   /* of the current tick */
    uint32_t tick;
};

_Static_assert(sizeof(struct smp_error_sum) == SMP_ERROR_SUM_BYTES, "one array");

/* tick: any number that differs from those of the previous and the next tick. */
static inline void smp_error_sum_add(struct smp_error_sum *sum, uint32_t tick, float change)
{
    if (sum->tick != tick) {
        sum->variance += sum->change * sum->change;
        sum->change = 0;
        sum->tick = tick;
    }
    sum->change += change;
}

/* Includes the current tick. */
static inline double smp_error_sum_variance(const struct smp_error_sum *sum)
{
    return (double)sum->variance + (double)sum->change * (double)sum->change;
}

/* Returns the change, in milliseconds, caused by a poll that found another stack. The poll stands
 * for weight_ns and was made with this probability. */
static inline float smp_error_change(int64_t weight_ns, double probability)
{
    static const double ms = 1e-6;
    /* The factor of a thread that is polled at each tick, like all running ones */
    static const float always = 0.70710678F;
    const float weight_ms = (float)((double)weight_ns * ms);

    if (probability >= 1)
        return weight_ms * always;
    return weight_ms * (float)sqrt(1 - probability / 2);
}

#endif
