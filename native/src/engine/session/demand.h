/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demand.h - a budget for the sampler thread's CPU time for reports on demand. It is separate from
 * the overhead limit, so that frequent requests do not reduce sampling.
 *
 *   1 % of a core ──► balance ──► CPU time of requests
 *                        │
 *                        └ negative, or the last window is younger than a second: windows repeat it
 *
 * Other requests (a report, a cursor) come from the application itself. They are never refused,
 * but charged to the same budget.
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
    SMP_DEMAND_PER_MILLE = 10,       /* share of a core for requests */
    SMP_DEMAND_FULL_MS = 10000,      /* maximum balance, as the income of this time */
    SMP_DEMAND_MOST_DEBT_MS = 10000, /* maximum debt likewise, which limits the wait */
    SMP_DEMAND_GAP_MS = 1000         /* minimum time between two new windows */
};

struct smp_demand {
    int64_t balance_ns; /* CPU time */
    int64_t now_ns;     /* the time of the balance */
    int64_t window_ns;  /* the time of the last new window */
    bool has_window;
};

void smp_demand_init(struct smp_demand *demand, int64_t now_ns);
/* Returns whether a new window may be made now. */
bool smp_demand_allows(struct smp_demand *demand, int64_t now_ns);
/* Called when a new window was made. */
void smp_demand_renewed(struct smp_demand *demand, int64_t now_ns);
/* Charges the CPU time of a request. */
void smp_demand_pay(struct smp_demand *demand, int64_t now_ns, int64_t cpu_ns);

#endif
