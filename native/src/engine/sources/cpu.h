/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu.h - what takes the place of wall_poll.h where the clock is CPU time: each thread has a timer
 * on its own CPU time and walks itself when that is due. Here it is seen to that the threads that
 * are to be sampled have timers and the others have none, and the samples are credited.
 *
 *   born ─► timer ─► (the thread runs, walks itself) ─► drained, credited ─► ended: timer stopped
 *
 * A sample's time is its weight in intervals, and that is its CPU time, too: what a thread used is
 * known to half an interval, over its whole life. What it does while it waits is nobody's: no wall
 * time is credited, and nobody is interrupted. A thread for which no timer was to be had (each
 * counts against RLIMIT_SIGPENDING) has its CPU time, from its clock, under [no CPU timer], and is
 * tried again.
 *
 * Threads are looked at as rarely as idle ones (activity.h), the older the more rarely.
 *
 * Owns     nothing: all is the looker's.
 * Threads  the sampler thread only.
 * Errors   none: whatever goes wrong is an outcome.
 * Cost     tick: the samples, and the few threads that are due.
 */
#ifndef SMP_ENGINE_SOURCES_CPU_H
#define SMP_ENGINE_SOURCES_CPU_H

#include "engine/sources/wall.h"

void smp_cpu_source_tick(struct smp_wall *wall);
/* Credits all samples there are. */
void smp_cpu_source_finish(struct smp_wall *wall);

/* What is left of the record's timer is credited. All: time is nobody's from now on, until each is
 * looked at again. */
void smp_cpu_source_stop(struct smp_wall *wall, struct smp_thread_record *record);
void smp_cpu_source_stop_all(struct smp_wall *wall);
/* As stop_all, and nothing is credited. */
void smp_cpu_source_end_all(struct smp_wall *wall);

#endif
