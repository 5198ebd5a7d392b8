/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu.h - the source of CPU time (clock CPU): each sampled thread has a timer on its own CPU time,
 * and walks itself whenever that expires.
 *
 *   started ─► timer ─► (the thread runs, walks itself) ─► drained, attributed ─► ended: stopped
 *
 * A sample's time is its weight in intervals, and all of it is CPU time: what a thread used is
 * known to half an interval, over its whole life. A waiting thread is not interrupted, and has no
 * time. A thread without a timer (each counts against RLIMIT_SIGPENDING) has the CPU time that its
 * clock says under [no CPU timer]; the timer is tried again, at each tick where few threads wait
 * for one.
 *
 * Threads are visited to see them start and end, the older the more rarely. With a user's rule for
 * names, which is called for all of them, ticks get rarer past the overhead limit (throttle.h).
 *
 * Owns     the timers.
 * Threads  the sampler thread only.
 * Errors   create: SMP_ENOMEM, SMP_EQUOTA; SMP_EUNSUPPORTED: this JVM has no CPU timers. Whatever
 *          goes wrong in a tick is an outcome.
 * Cost     tick: the samples, and the few threads that are due.
 */
#ifndef SMP_ENGINE_SOURCES_CPU_H
#define SMP_ENGINE_SOURCES_CPU_H

#include <stddef.h>

#include "base/status.h"
#include "engine/sources/source.h"

/* Bytes of the roster's records for this source. */
extern const size_t smp_cpu_record_bytes;
SMP_CHECKED enum smp_status smp_cpu_create(const struct smp_source_setup *setup,
                                           struct smp_source *out);

#endif
