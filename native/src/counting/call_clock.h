/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_clock.h - time stamps of calls: the processor's counter where it runs evenly, else the
 * monotonic clock.
 *
 * x86: the time stamp counter, if the processor says that it is invariant and the kernel has not
 * found it unstable. AArch64: the virtual counter, always.
 *
 * The length of a tick follows from the last two reads of both clocks. A read is dropped if they
 * disagree: while the machine is suspended or the virtual machine is paused, the counter runs on
 * and the monotonic clock stands still. Some firmware sets the counter back.
 *
 * Threads  start: one thread, before the others. tick_ns, advance: one at a time.
 * Cost     ticks: 7 ns with the counter and 25 ns without on an AMD Zen 4, 17 ns with it on a Xeon
 *          whose hypervisor offsets or traps its reading.
 */
#ifndef SMP_COUNTING_CALL_CLOCK_H
#define SMP_COUNTING_CALL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

extern bool smp_call_clock_is_counter; /* constant after the first start */

/* The clocks at one moment. */
struct smp_call_moment {
    int64_t ticks;
    int64_t ns;
    int64_t boot_ns; /* smp_clock_boot_ns */
};

struct smp_call_clock {
    struct smp_call_moment last;
    double tick_ns;    /* 0: not known yet */
    double dropped_ns; /* the tick of the last read if that was dropped; else 0 */
};

void smp_call_clock_start(struct smp_call_clock *clock);
/* Reads the clocks and returns the nanoseconds of a tick. */
double smp_call_clock_tick_ns(struct smp_call_clock *clock);
/* The same with clocks that were read already. */
double smp_call_clock_advance(struct smp_call_clock *clock, struct smp_call_moment now);
/* Returns nanoseconds, at least 0: the counter may have gone back. */
int64_t smp_call_clock_to_ns(int64_t ticks, double tick_ns);
/* Is the time stamp counter in this list of the kernel? */
bool smp_call_clock_is_listed(const char *sources);

/* Never 0. */
static inline int64_t smp_call_clock_ticks(void)
{
    int64_t ticks;

    if (!smp_call_clock_is_counter)
        return smp_clock_ns() | 1;
#if defined(__x86_64__)
    ticks = (int64_t)__builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
#else
    ticks = 0;
#endif
    return ticks | 1;
}

/* Test seam: the monotonic clock, from the next start on. Not for production. */
void smp_call_clock_without_counter(bool without);

#endif
