/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_clock.h - time that moves when the test says so.
 *
 * Owns     nothing; an installed clock must live until it is removed. One at a time.
 * Threads  any may read and move it; install and remove while no other thread reads the time.
 */
#ifndef SMP_SUPPORT_FAKE_CLOCK_H
#define SMP_SUPPORT_FAKE_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

/* Where a fake clock starts: not at 0, which may stand for "never" in the code under test. */
#define FAKE_CLOCK_START_NS 1000000000000LL
#define FAKE_CLOCK_START_WALL_MS 1700000000000LL

struct fake_clock {
    _Atomic int64_t ns;
    _Atomic int64_t wall_ns;
    _Atomic int64_t own_cpu_ns;   /* the CPU clock of every thread */
    _Atomic int64_t step_ns;      /* advance of smp_clock_ns at each reading */
    _Atomic bool is_process_idle; /* false: a thread of the process runs all the time */
    struct smp_clock_fake seam;
};

/* Replaces the clocks of base/clock.h. */
void fake_clock_install(struct fake_clock *clock);
/* Restores the real clocks. */
void fake_clock_remove(void);

/* Advances the monotonic and the wall clock. */
void fake_clock_advance(struct fake_clock *clock, int64_t ns);
/* Sets the wall clock, as an administrator would. */
void fake_clock_step_wall(struct fake_clock *clock, int64_t ms);
/* Advances the CPU clock of every thread, and no other clock. */
void fake_clock_spend_cpu(struct fake_clock *clock, int64_t ns);

#endif
