/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_demand.h - whether a thread of this process may be waiting for a CPU just now. One answer
 * serves all threads, so that the state of each is read only if some may wait.
 *
 *   runnable threads of the machine, less the reader ─► more than half of the other CPUs? ─► maybe
 *
 * With fewer runnable threads the kernel finds an idle CPU for each thread that wakes up. Only CPUs
 * that the reader may run on count, so a process confined to one CPU gets "maybe" whenever another
 * thread of the machine runs. Two cases are not recognised: threads bound to single CPUs while
 * other CPUs are idle, and threads of a control group that has used up its quota, which stops the
 * sampler as well.
 *
 * Owns     a file descriptor.
 * Threads  one at a time.
 * Errors   the answer is "maybe" if the file cannot be read.
 * Cost     about 1 us, once in SMP_CPU_DEMAND_US; else a reading of the monotonic clock.
 */
#ifndef SMP_JVM_THREADS_CPU_DEMAND_H
#define SMP_JVM_THREADS_CPU_DEMAND_H

#include <stdbool.h>
#include <stdint.h>

enum {
    SMP_CPU_DEMAND_US = 100,      /* how long an answer is used, */
    SMP_CPU_DEMAND_CPUS_MS = 1000 /* and how long the number of CPUs */
};

struct smp_cpu_demand {
    int fd; /* of /proc/loadavg; negative: not open */
    bool was_read;
    bool may_wait;   /* the last answer */
    int64_t read_ns; /* monotonic */
    unsigned cpus;   /* CPUs that the reader may run on; 0: not known */
    int64_t cpus_ns; /* when that was read */
};

void smp_cpu_demand_init(struct smp_cpu_demand *demand);
void smp_cpu_demand_fini(struct smp_cpu_demand *demand);

bool smp_cpu_demand_may_wait(struct smp_cpu_demand *demand);

/* text: of /proc/loadavg. cpus: CPUs that threads may run on. */
bool smp_cpu_demand_exceeds(const char *text, unsigned cpus);

#endif
