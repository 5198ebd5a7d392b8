/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adaptive_removal.h - which methods are not counted any more, because their probes cost more than
 * is allowed.
 *
 *   cost of all probes = calls a second x cost of a call, as a share of one core
 *
 * A call of a root costs more than another: it has time stamps, and is not inlined.
 *
 * Past the limit in SMP_REMOVAL_PATIENCE judgements one after the other, methods that are short are
 * dropped, those that cost most first, until the rest costs at most three quarters of the limit.
 * Then as many judgements pass before more are dropped: code with new probes runs slower at first,
 * and the first figures after a drop are half of the time before it. A method that was dropped
 * stays dropped: to count it again would cost as much again. With the highest limit, a whole core,
 * none is dropped, whatever the probes cost.
 *
 * A root is short by its whole time, not by its own. Without an outermost root nothing below it is
 * counted any more, and the probes there still run, which no figure shows: below a root that is
 * short as a whole there are few. Roots that the user named one by one are kept, and the limit is
 * for the others: no other method has to go for what they cost. Nor has one that costs next to
 * nothing.
 *
 * Threads  one at a time.
 * Cost     judge: O(methods) for each that is dropped, at most SMP_REMOVAL_MOST.
 */
#ifndef SMP_COUNTING_ADAPTIVE_REMOVAL_H
#define SMP_COUNTING_ADAPTIVE_REMOVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SMP_REMOVAL_PATIENCE = 3,      /* judgements */
    SMP_REMOVAL_MOST = 1024,       /* methods dropped by one judgement */
    SMP_REMOVAL_SHORT_PROBES = 50, /* a method is short below the time of so many of its probes */
    SMP_REMOVAL_OFTEN = 1000       /* is called often: costs at least this part of the limit */
};

struct smp_removal {
    uint32_t limit_per_mille; /* of one core */
    uint32_t call_cost_ns;    /* of the probes of one call */
    uint32_t root_cost_ns;    /* of one call of a root */
    uint32_t over;            /* judgements past the limit, one after the other */
    uint32_t waits;           /* judgements until methods may be dropped again */
};

/* What was counted of a method since the judgement before, so a root is short or long of late. */
struct smp_call_rate {
    uint64_t calls;
    int64_t self_ns; /* without what it called; -1: no times are taken, it may be short */
    int64_t method;
    uint64_t ended;   /* of a root: calls that ended, */
    int64_t ended_ns; /* their whole time */
    bool is_root;
    bool is_kept; /* a root that is never dropped */
};

/* limit_per_mille 1 to 1,000; costs 1 to 1,000,000. */
void smp_removal_init(struct smp_removal *removal, uint32_t limit_per_mille, uint32_t call_cost_ns,
                      uint32_t root_cost_ns);

/* Did the probes cost more than the limit, but for those of kept roots? */
bool smp_removal_is_over(const struct smp_removal *removal, const struct smp_call_rate *rates,
                         size_t count, int64_t elapsed_ns);

/* The methods to be dropped, those that cost most first; returns how many. elapsed_ns > 0. */
size_t smp_removal_judge(struct smp_removal *removal, const struct smp_call_rate *rates,
                         size_t count, int64_t elapsed_ns, int64_t out[SMP_REMOVAL_MOST]);

#endif
