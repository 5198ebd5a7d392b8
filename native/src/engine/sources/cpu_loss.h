/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_loss.h - CPU time that others keep from the process: its quota, and the host of a virtual
 * machine.
 *
 *   quota   stops the threads of the control group. Queues contain it; the account has its sum.
 *   stolen  The host runs something else in place of a CPU of the machine. The thread on it neither
 *           has CPU time for that nor waits in a queue. Only the sum of the machine is known: a
 *           thread's part is in proportion to the CPU time that it used.
 *
 * Owns     plain data.
 * Threads  the sampler thread only.
 * Errors   what the system does not say is 0.
 * Cost     stolen: reads a file of the system, some 20 us, each SMP_CPU_LOSS_MS at most. quota: two
 *          or three files for each interval.
 */
#ifndef SMP_ENGINE_SOURCES_CPU_LOSS_H
#define SMP_ENGINE_SOURCES_CPU_LOSS_H

#include <stdint.h>

#include "engine/attribution/interval.h"
#include "engine/jvm.h"

enum { SMP_CPU_LOSS_MS = 2000 /* between two readings of stolen time, at least */ };

struct smp_cpu_loss {
    int64_t throttled_ns; /* at the last reading */
    int64_t read_ns;      /* when the machine's time was read last */
    struct smp_machine_time machine;
    double stolen_share;  /* stolen time for each nanosecond of CPU time, between two readings */
    int64_t uncounted_ns; /* stolen, less than the account's unit */
};

/* Sampling starts, or goes on after a pause. */
void smp_cpu_loss_mark(struct smp_cpu_loss *loss, const struct smp_os_thread_source *os_threads,
                       int64_t now_ns);
void smp_cpu_loss_tick(struct smp_cpu_loss *loss, const struct smp_os_thread_source *os_threads,
                       struct smp_interval *interval, int64_t now_ns);
/* The interval ends: its account gets what is new. */
void smp_cpu_loss_flush(struct smp_cpu_loss *loss, const struct smp_os_thread_source *os_threads,
                        struct smp_interval *interval, int64_t now_ns);

/* What was stolen from a thread that has used so much CPU time. */
int64_t smp_cpu_loss_stolen_ns(const struct smp_cpu_loss *loss, int64_t used_ns);

#endif
