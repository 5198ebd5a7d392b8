/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu.h - the source of CPU time (clock CPU): each sampled thread has a timer on its own CPU time,
 * and walks itself whenever the timer expires.
 *
 *   started ─► timer ─► (the thread runs, walks itself) ─► drained, attributed ─► ended: stopped
 *
 * The time of a sample is its weight in intervals, and all of it is CPU time. So the CPU time of a
 * thread is known to half an interval over its whole life. A waiting thread is not interrupted, and
 * gets no time. The system may refuse timers (each counts against RLIMIT_SIGPENDING). The CPU time
 * of a thread without one is read from its clock, and goes to [no CPU timer]; the timer is tried
 * again, at each tick if few threads wait for one.
 *
 * A visit of a thread sees it start or end; the older the thread is, the less often it is visited.
 * A user's rule for names is called for all threads, so with such a rule ticks get rarer past the
 * overhead limit (throttle.h).
 *
 * Owns     the timers.
 * Threads  the sampler thread only.
 * Errors   create: SMP_ENOMEM, SMP_EQUOTA; SMP_EUNSUPPORTED: this JVM has no CPU timers. Anything
 *          that goes wrong in a tick is an outcome.
 * Cost     tick: the samples, and the few threads that are due.
 */
#ifndef SMP_ENGINE_SOURCES_CPU_H
#define SMP_ENGINE_SOURCES_CPU_H

#include <stddef.h>

#include "base/status.h"
#include "engine/sources/source.h"

/* The size of a thread record with what this source adds. */
extern const size_t smp_cpu_record_bytes;
SMP_CHECKED enum smp_status smp_cpu_create(const struct smp_source_setup *setup,
                                           struct smp_source *out);
/* Call it if the signal for walks is not sent any more (check_signal in jvm.h). self: this
 * source's. */
void smp_cpu_signal_lost(void *self);

#endif
