/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demand.h - the CPU time that reports on demand may cost the sampler thread: a budget beside the
 * overhead limit, so that a client that asks all the time does not make sampling rare.
 *
 *   1 % of a core ──► balance ──► CPU time of requests
 *                        │
 *                        └ negative, or the last window is younger than a second: windows repeat it
 *
 * Other requests (a report, a cursor) come from the application itself. They are always done, and
 * charged to the same budget.
 *
 * Owns     plain data.
 * Threads  one at a time.
 * Cost     a few additions.
 */
#ifndef SMP_ENGINE_SESSION_DEMAND_H
#define SMP_ENGINE_SESSION_DEMAND_H

#include <stdbool.h>
#include <stdint.h>

enum {
    SMP_DEMAND_PER_MILLE = 10,       /* of a core, for requests */
    SMP_DEMAND_FULL_MS = 10000,      /* the balance is the income of so long, at most, */
    SMP_DEMAND_MOST_DEBT_MS = 10000, /* and as far below zero, so that no wait is longer */
    SMP_DEMAND_GAP_MS = 1000         /* between two new windows */
};

struct smp_demand {
    int64_t balance_ns; /* CPU time */
    int64_t now_ns;     /* the time of the balance */
    int64_t window_ns;  /* the time of the last new window */
    bool has_window;
};

void smp_demand_init(struct smp_demand *demand, int64_t now_ns);
/* True if a new window may be made now. */
bool smp_demand_allows(struct smp_demand *demand, int64_t now_ns);
/* Call it when a new window was made. */
void smp_demand_renewed(struct smp_demand *demand, int64_t now_ns);
/* Charges the CPU time of a request. */
void smp_demand_pay(struct smp_demand *demand, int64_t now_ns, int64_t cpu_ns);

#endif
