/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demand.h - what reports on demand may cost the sampler thread: a budget beside the overhead
 * limit, so that a client that asks all the time does not make sampling rare.
 *
 *   1 % of a core ──► balance ──► CPU time of requests
 *                        │
 *                        └ below zero, or a second is not over: windows give what they gave last
 *
 * Other requests (a report, a cursor) are what the application itself calls: they are done always,
 * and are paid for as well.
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
    SMP_DEMAND_FULL_MS = 10000,      /* the balance is what comes in in so long, at most; */
    SMP_DEMAND_MOST_DEBT_MS = 10000, /* and as much below zero: no wait is longer */
    SMP_DEMAND_GAP_MS = 1000         /* between two windows that are new */
};

struct smp_demand {
    int64_t balance_ns; /* CPU time */
    int64_t now_ns;     /* the balance is that of this moment */
    int64_t window_ns;  /* when a window was new */
    bool has_window;
};

void smp_demand_init(struct smp_demand *demand, int64_t now_ns);
/* May a window be new now? */
bool smp_demand_allows(struct smp_demand *demand, int64_t now_ns);
/* A window is new. */
void smp_demand_renewed(struct smp_demand *demand, int64_t now_ns);
/* A request has used so much CPU time. */
void smp_demand_pay(struct smp_demand *demand, int64_t now_ns, int64_t cpu_ns);

#endif
