/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error_sums.h - how far chance may have moved the time of each node of a tree: its variance.
 *
 * A poll with probability p stands for w = tick/p of time. As long as it finds the stack that the
 * poll before it found, the thread's time is known, however rare the polls are. Where it finds
 * another one, the nodes that are on one of both stacks only are wrong by up to w, and its squares
 * are what is summed:
 *
 *   found before  main ─ a.A.run ─ b.B.x           b.B.x  - w * sqrt(1 - p/2)
 *   found now     main ─ a.A.run ─ c.C.y           c.C.y  + w * sqrt(1 - p/2)
 *                 unchanged: nothing
 *
 * Threads may act together, and idle ones share ticks. So a node's changes of one tick are summed
 * over all threads, with their signs, and squared when the next tick comes.
 *
 * Owns     its array.
 * Threads  as tree.h.
 * Errors   grow: false where there is no memory.
 * Cost     12 bytes a row of the tree. A change: 4 ns for each row by which the stacks differ, no
 *          loop over others. Single precision: past 2^24 equal squares, which are hours of ticks of
 *          one millisecond in one interval, more of them add nothing.
 */
#ifndef SMP_MODEL_ERROR_SUMS_H
#define SMP_MODEL_ERROR_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/status.h"

enum { SMP_ERROR_SUM_BYTES = 12 };

/* Amounts in milliseconds: squares of nanoseconds would soon leave the range of a float. */
struct smp_error_sum {
    float variance; /* of all ticks before */
    float change;   /* of this tick: */
    uint32_t tick;
};

/* Numbers of ticks are compared only: any that differ from one tick to the next. */
static inline void smp_error_sum_add(struct smp_error_sum *sum, uint32_t tick, float change)
{
    if (sum->tick != tick) {
        sum->variance += sum->change * sum->change;
        sum->change = 0;
        sum->tick = tick;
    }
    sum->change += change;
}

/* With the tick that runs. */
static inline double smp_error_sum_variance(const struct smp_error_sum *sum)
{
    return (double)sum->variance + (double)sum->change * (double)sum->change;
}

/* What a poll changes that has found another stack: it stands for weight_ns, and came with this
 * probability. In milliseconds. */
float smp_error_change(int64_t weight_ns, double probability);

struct smp_error_sums {
    struct smp_error_sum *of; /* by row: the base of the arena */
    struct smp_arena *arena;
};

/* On failure, fini. max_nodes bounds the nodes; memory is taken as they come. */
SMP_CHECKED enum smp_status smp_error_sums_init(struct smp_error_sums *sums,
                                                struct smp_quota *quota, size_t max_nodes);
void smp_error_sums_fini(struct smp_error_sums *sums);
size_t smp_error_sums_bytes(const struct smp_error_sums *sums); /* committed */
/* Memory for so many nodes more, without a change. False: none of them. */
SMP_CHECKED bool smp_error_sums_grow(struct smp_error_sums *sums, size_t count);

#endif
