/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_loss.h - CPU time that the process does not get because of its quota or the host of a virtual
 * machine.
 *
 *   quota   Stops the threads of the control group. Run queue times contain it; the account has the
 *           sum.
 *   stolen  The host runs something else in place of a CPU of the machine. Meanwhile the thread on
 *           that CPU has no CPU time and does not wait in a queue. Only the machine's sum is known:
 *           a thread's part is in proportion to the CPU time that it used.
 *
 * Owns     plain data.
 * Threads  the sampler thread only.
 * Errors   a figure that the system does not provide is 0.
 * Cost     stolen: reads a file of the system, about 20 us, at most once in SMP_CPU_LOSS_MS. quota:
 *          two or three files for each interval.
 */
#ifndef SMP_ENGINE_SOURCES_CPU_LOSS_H
#define SMP_ENGINE_SOURCES_CPU_LOSS_H

#include <stdint.h>

#include "engine/attribution/interval.h"
#include "engine/jvm.h"

enum { SMP_CPU_LOSS_MS = 2000 /* least time between two readings of stolen time */ };

struct smp_cpu_loss {
    int64_t throttled_ns; /* at the last reading */
    int64_t read_ns;      /* when the machine's time was read last */
    struct smp_machine_time machine;
    double stolen_share;  /* stolen time per nanosecond of CPU time, between the last two
                           * readings */
    int64_t uncounted_ns; /* stolen time that is less than a unit of the account */
};

/* Call it when sampling starts or goes on after a pause. */
void smp_cpu_loss_mark(struct smp_cpu_loss *loss, const struct smp_os_thread_source *os_threads,
                       int64_t now_ns);
void smp_cpu_loss_tick(struct smp_cpu_loss *loss, const struct smp_os_thread_source *os_threads,
                       struct smp_interval *interval, int64_t now_ns);
/* Call it when the interval ends: adds the new figures to its account. */
void smp_cpu_loss_flush(struct smp_cpu_loss *loss, const struct smp_os_thread_source *os_threads,
                        struct smp_interval *interval, int64_t now_ns);

/* Returns the stolen time of a thread that has used so much CPU time. */
int64_t smp_cpu_loss_stolen_ns(const struct smp_cpu_loss *loss, int64_t used_ns);

#endif
