/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standstill.h - detects that the whole process was stopped: by SIGSTOP, a debugger, a frozen
 * container.
 *
 *   wakes up      sleeps       due        wakes up
 *      ├── work ────┼───────────┤            │
 *      └────────────┘           └────────────┘
 *        a gap, if long        a gap, if long
 *
 * The first sign of a stop is a gap of more than SMP_STANDSTILL_NS: the time that the sampler
 * thread works, or the time that it sleeps beyond the due time. All gaps between two ticks count.
 * The second sign comes from the process's CPU clock: during the gaps the process has used less
 * than 1/SMP_STANDSTILL_SHARE of their time. A process that only lacks CPUs uses more, and so does
 * a JVM that collects garbage. Between the last reading of the clock and the gap the process may
 * have used all its CPUs. At most half of the gap is assumed, because a quota may allow fewer
 * CPUs.
 *
 * Threads  one at a time.
 * Errors   if the clock cannot be read, no stop is detected.
 * Cost     reads the process's CPU clock at a tick (0.7 us, 90 us with 4,000 threads), but only as
 *          often as it costs at most 1/SMP_STANDSTILL_COST of a CPU.
 */
#ifndef SMP_ENGINE_SESSION_STANDSTILL_H
#define SMP_ENGINE_SESSION_STANDSTILL_H

#include <stdint.h>

#define SMP_STANDSTILL_NS INT64_C(1000000000)
enum { SMP_STANDSTILL_SHARE = 20, SMP_STANDSTILL_COST = 4000 };

struct smp_standstill {
    int64_t gaps_ns; /* sum of the gaps of more than SMP_STANDSTILL_NS since the last take */
    int64_t woke_ns; /* when the thread woke up */
    int64_t read_ns; /* time of the last reading of the process's CPU clock, */
    int64_t cpu_ns;  /* its value */
    int64_t cost_ns; /* and its duration */
    unsigned cpus;   /* CPUs that the process may use */
};

/* Called when sampling begins or continues after a pause. */
void smp_standstill_begin(struct smp_standstill *standstill, int64_t now_ns);
/* Called before a sleep, or instead of a sleep that would end at once. */
void smp_standstill_worked(struct smp_standstill *standstill, int64_t now_ns);
/* Called after a sleep that should have ended at due_ns. */
void smp_standstill_slept(struct smp_standstill *standstill, int64_t due_ns, int64_t now_ns);
/* Called at a tick. Returns how long the process was stopped since the tick at ticked_ns, or 0. */
int64_t smp_standstill_take(struct smp_standstill *standstill, int64_t ticked_ns, int64_t now_ns);

#endif
