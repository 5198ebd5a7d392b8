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
 * The sampler thread notes how long it works, and how long it sleeps beyond the due time. The first
 * sign of a stop is such a gap of more than SMP_STANDSTILL_NS; all of them between two ticks count.
 * The second sign comes from the process's CPU clock: the process has used less than a
 * SMP_STANDSTILL_SHARE-th of the gap. A process that only lacks CPUs uses more, and so does a JVM
 * that stops its threads to collect garbage. Between the last reading of this clock and the gap,
 * the process may have used all its CPUs, but half of the gap at most is assumed, because there may
 * be more CPUs than its quota allows.
 *
 * Threads  one at a time.
 * Errors   a clock that cannot be read is 0: nothing was stopped.
 * Cost     reads the process's CPU clock at a tick: 0.7 us, 90 us with 4,000 threads; not at every
 *          tick, so that this costs at most a SMP_STANDSTILL_COST-th of a CPU.
 */
#ifndef SMP_ENGINE_SESSION_STANDSTILL_H
#define SMP_ENGINE_SESSION_STANDSTILL_H

#include <stdint.h>

#define SMP_STANDSTILL_NS INT64_C(1000000000)
enum { SMP_STANDSTILL_SHARE = 20, SMP_STANDSTILL_COST = 4000 };

struct smp_standstill {
    int64_t gaps_ns; /* the sum of the gaps since the last take that are longer than
                      * SMP_STANDSTILL_NS */
    int64_t woke_ns; /* when the thread woke up */
    int64_t read_ns; /* the last reading of the process's CPU clock: when, */
    int64_t cpu_ns;  /* its value, */
    int64_t cost_ns; /* and how long that took */
    unsigned cpus;   /* CPUs that the process may use */
};

/* Call it when sampling begins or goes on after a pause. */
void smp_standstill_begin(struct smp_standstill *standstill, int64_t now_ns);
/* Call it before a sleep, or instead of a sleep that would end at once. */
void smp_standstill_worked(struct smp_standstill *standstill, int64_t now_ns);
/* Call it after a sleep that should have ended at due_ns. */
void smp_standstill_slept(struct smp_standstill *standstill, int64_t due_ns, int64_t now_ns);
/* Call it at a tick. Returns for how long the process was stopped since the tick at ticked_ns; 0:
 * it was not. */
int64_t smp_standstill_take(struct smp_standstill *standstill, int64_t ticked_ns, int64_t now_ns);

#endif
