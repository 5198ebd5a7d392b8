/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu.h - the source of CPU time (clock CPU): each sampled thread has a timer on its CPU clock,
 * and walks its own stack when the timer expires.
 *
 *   started ─► timer ─► (the thread runs, walks itself) ─► drained, attributed ─► ended: stopped
 *
 * A sample's time is its weight in intervals, all of it CPU time. The error over the life of a
 * thread is half an interval. Waiting threads are not interrupted and get no time. The kernel may
 * refuse timers (each counts against RLIMIT_SIGPENDING). The CPU time of a thread without a timer
 * is read from its clock and credited to [no CPU timer]. The timer is retried, at each tick if few
 * threads wait for one.
 *
 * Visits notice that a thread has started or ended; older threads are visited less often. A user's
 * name rule is called for all threads at each tick, so with such a rule ticks get rarer above the
 * overhead limit (throttle.h).
 *
 * Owns     the timers.
 * Threads  the sampler thread only.
 * Errors   create: SMP_ENOMEM, SMP_EQUOTA; SMP_EUNSUPPORTED: no CPU timers. Later errors are
 *          outcomes.
 * Cost     tick: the samples and the threads that are due.
 */
#ifndef SMP_ENGINE_SOURCES_CPU_H
#define SMP_ENGINE_SOURCES_CPU_H

#include <stddef.h>

#include "base/status.h"
#include "engine/sources/source.h"

/* The size of this source's thread records. */
extern const size_t smp_cpu_record_bytes;
SMP_CHECKED enum smp_status smp_cpu_create(const struct smp_source_setup *setup,
                                           struct smp_source *out);
/* Called when the signal for walks must not be sent any more (check_signal in jvm.h). self is this
 * source's. */
void smp_cpu_signal_lost(void *self);

#endif
