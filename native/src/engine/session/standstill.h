/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standstill.h - was the whole process stopped? SIGSTOP, a debugger, a frozen container.
 *
 *   wakes up      sleeps       due        wakes up
 *      ├── work ────┼───────────┤            │
 *      └────────────┘           └────────────┘
 *        a gap, if long        a gap, if long
 *
 * The sampler thread notes how long its work takes, and how long it sleeps on. More than
 * SMP_STANDSTILL_NS is the first sign: the stop may have met it anywhere. The second comes from the
 * process's CPU clock: the process has used less than a SMP_STANDSTILL_SHARE-th of the gap. A
 * process that only lacks CPUs uses more, and so does a JVM that stops its threads to collect
 * garbage. From the last reading of this clock to the gap the process is taken to have used all its
 * CPUs, for half of the gap at most: there may be more CPUs than it has a quota for.
 *
 * Threads  one at a time.
 * Errors   a clock that cannot be read is 0: nothing was stopped.
 * Cost     the process's CPU clock at a tick: 0.7 us, 90 us with 4,000 threads; ticks are left out
 *          so that this is at most a SMP_STANDSTILL_COST-th of a CPU.
 */
#ifndef SMP_ENGINE_SESSION_STANDSTILL_H
#define SMP_ENGINE_SESSION_STANDSTILL_H

#include <stdint.h>

#define SMP_STANDSTILL_NS INT64_C(1000000000)
enum { SMP_STANDSTILL_SHARE = 20, SMP_STANDSTILL_COST = 4000 };

struct smp_standstill {
    int64_t gap_ns;  /* the longest since the last take */
    int64_t woke_ns; /* the thread works since */
    int64_t read_ns; /* when the process's CPU clock was read, */
    int64_t cpu_ns;  /* what it said, */
    int64_t cost_ns; /* and how long that took */
    unsigned cpus;   /* that the process may use */
};

/* Sampling begins, or goes on after a pause. */
void smp_standstill_begin(struct smp_standstill *standstill, int64_t now_ns);
/* Before a sleep, or instead of one that would end at once. */
void smp_standstill_worked(struct smp_standstill *standstill, int64_t now_ns);
/* After a sleep that was to end at due_ns. */
void smp_standstill_slept(struct smp_standstill *standstill, int64_t due_ns, int64_t now_ns);
/* At a tick: for how long the process was stopped since the tick at ticked_ns; 0: it was not. */
int64_t smp_standstill_take(struct smp_standstill *standstill, int64_t ticked_ns, int64_t now_ns);

#endif
