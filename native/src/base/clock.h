/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - time. Monotonic nanoseconds for everything that is credited, wall milliseconds for
 * titles only.
 *
 * Threads  any.
 * Errors   0: the clock cannot be read.
 * Cost     a vDSO call (about 25 ns); CPU clocks of threads are system calls (about 400 ns), and so
 *          is the process's clock (8 to 20 ns more for each thread). smp_clock_thread_runs reads a
 *          file of /proc (about 5 us).
 */
#ifndef SMP_BASE_CLOCK_H
#define SMP_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

int64_t smp_clock_ns(void); /* CLOCK_MONOTONIC */
/* as CLOCK_MONOTONIC, but also runs while the machine is suspended */
int64_t smp_clock_boot_ns(void);
int64_t smp_clock_wall_ms(void);    /* ms since the epoch */
int64_t smp_clock_own_cpu_ns(void); /* CPU time of the calling thread */
/* CPU time of all threads of the process, including ended ones */
int64_t smp_clock_process_cpu_ns(void);

/* Returns the kernel's id of the CPU clock of a thread of this process. */
static inline clockid_t smp_clock_of_thread(int32_t tid)
{
    return (clockid_t)(~(uint32_t)tid << 3 | 6u);
}

/* Reads the CPU time of a thread of this process. Returns false if there is no such thread. */
bool smp_clock_thread_cpu_ns(int32_t tid, int64_t *out);
/* Reads how often that thread was scheduled onto a CPU, including runs too short to move its CPU
 * clock. Returns false if there is no such thread, or the kernel does not count runs. */
bool smp_clock_thread_runs(int32_t tid, uint64_t *out);

/* Test seam: NULL members keep the real clock; NULL removes the seam. The fake is borrowed until
 * then. Not for production. */
struct smp_clock_fake {
    int64_t (*ns)(void *self);
    int64_t (*boot_ns)(void *self);
    int64_t (*wall_ms)(void *self);
    int64_t (*own_cpu_ns)(void *self);
    int64_t (*process_cpu_ns)(void *self);
    bool (*thread_cpu_ns)(void *self, int32_t tid, int64_t *out);
    bool (*thread_runs)(void *self, int32_t tid, uint64_t *out);
    void *self;
};
void smp_clock_set_fake(const struct smp_clock_fake *fake);

#endif
