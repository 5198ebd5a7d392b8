/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adaptive_removal.h - the recent calls of each method, and the methods to drop because their
 * probes cost more than is allowed.
 *
 *   cost of all probes = calls per second x cost of a call, as a share of one core
 *
 * A call of a root costs more than another call: it has time stamps, and is not inlined.
 *
 * If the cost is above the limit in SMP_REMOVAL_PATIENCE consecutive judgements, short methods are
 * dropped, the most expensive ones first, until the others cost at most three quarters of the
 * limit. Then as many judgements drop nothing: code with new probes runs slower at first, and the
 * first figures after a drop partly come from before it. A dropped method stays dropped, because
 * it would cost as much again. With the highest limit, a whole core, no method is ever dropped.
 *
 * A root is short if its inclusive time is short, not its self time. Once an outermost root is
 * dropped, the probes below it still run but count nothing, so no figure shows their cost; below a
 * short root there are few. Roots that the user named one by one are never dropped, and the limit
 * does not include their cost. A method that costs almost nothing is kept as well.
 *
 * Owns     rates: 52 bytes for each number of a method.
 * Threads  one at a time.
 * Errors   without memory a method has no rate, and is not judged.
 * Cost     add: constant on average. judge: O(methods) for each method that is dropped, at most
 *          SMP_REMOVAL_MOST.
 */
#ifndef SMP_COUNTING_ADAPTIVE_REMOVAL_H
#define SMP_COUNTING_ADAPTIVE_REMOVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"

enum {
    SMP_REMOVAL_PATIENCE = 3,      /* judgements */
    SMP_REMOVAL_MOST = 1024,       /* methods dropped by one judgement */
    SMP_REMOVAL_SHORT_PROBES = 50, /* a call is short below the cost of so many probes */
    SMP_REMOVAL_OFTEN = 1000       /* a dropped method costs at least limit / OFTEN */
};

struct smp_removal {
    uint32_t limit_per_mille; /* of one core */
    uint32_t call_cost_ns;    /* of the probes of one call */
    uint32_t root_cost_ns;    /* of one call of a root */
    uint32_t over;            /* consecutive judgements above the limit */
    uint32_t waits;           /* judgements until methods may be dropped again */
};

/* The counts of a method since the last judgement. */
struct smp_call_rate {
    uint64_t calls;
    int64_t self_ns; /* without callees; -1: not timed, the method counts as short */
    int64_t method;
    uint64_t ended;   /* of a root: ended calls */
    int64_t ended_ns; /* of a root: the inclusive time of its ended calls */
    bool is_root;
    bool is_kept; /* a root that is never dropped */
};

/* limit_per_mille 1 to 1,000; costs 1 to 1,000,000. */
void smp_removal_init(struct smp_removal *removal, uint32_t limit_per_mille, uint32_t call_cost_ns,
                      uint32_t root_cost_ns);

/* Returns whether the probes cost more than the limit, not counting those of kept roots. */
bool smp_removal_is_over(const struct smp_removal *removal, const struct smp_call_rate *rates,
                         size_t count, int64_t elapsed_ns);

/* Writes the methods to drop to out, the most expensive ones first; returns how many. elapsed_ns
 * is above 0. */
size_t smp_removal_judge(struct smp_removal *removal, const struct smp_call_rate *rates,
                         size_t count, int64_t elapsed_ns, int64_t out[SMP_REMOVAL_MOST]);

/* --- rates --- */

/* Empty if all but quota and is_timed is zero. */
struct smp_call_rates {
    struct smp_quota *quota;
    bool is_timed;               /* times are taken */
    struct smp_call_rate *rates; /* of the methods that were called */
    size_t count;
    size_t capacity;
    uint32_t *index_of; /* by a method's lower bits: the index of its rate plus one */
    size_t methods;     /* in index_of */
    uint64_t unplaced;  /* calls without a node, whose methods are not known */
};

void smp_call_rates_fini(struct smp_call_rates *rates);
/* Adds calls and times of more->method. */
void smp_call_rates_add(struct smp_call_rates *rates, const struct smp_call_rate *more);
/* Adds calls without a node. Their probes cost more than others. spread, called before a
 * judgement, distributes them over all methods in proportion to their calls. */
void smp_call_rates_add_unplaced(struct smp_call_rates *rates, int64_t calls);
void smp_call_rates_spread(struct smp_call_rates *rates);
void smp_call_rates_clear(struct smp_call_rates *rates);

#endif
