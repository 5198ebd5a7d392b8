/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_timers.h - implements smp_cpu_timers of one session, with POSIX timers on threads' CPU
 * clocks.
 *
 *   start ─► timer_create ─► (signal ─► handler/cpu_timer.h ─► sample) ─► drain
 *
 * The kernel expires such timers on its clock tick (4 ms at 250 Hz) and counts missed expirations,
 * so a sample has a weight. A signal interrupts only threads that are running.
 *
 * Each timer counts against RLIMIT_SIGPENDING. At the limit start returns SMP_EQUOTA.
 *
 * Owns     the timers, and memory for samples, allocated at the first start.
 * Threads  create, destroy: any. The functions: one attached sampler thread.
 * Errors   as in jvm.h.
 * Cost     start: four system calls. drain: the samples since the last drain.
 */
#ifndef SMP_JVM_WALK_CPU_TIMERS_H
#define SMP_JVM_WALK_CPU_TIMERS_H

#include "base/status.h"
#include "engine/jvm.h"
#include "jvm/walk/by_signal.h"

struct smp_jvm_cpu_timers;

/* Borrows the walker of the same session and uses its signal. */
SMP_CHECKED enum smp_status smp_jvm_cpu_timers_create(struct smp_by_signal *walker, int signal,
                                                      struct smp_jvm_cpu_timers **out);
/* All timers must have been stopped. timers may be NULL. */
void smp_jvm_cpu_timers_destroy(struct smp_jvm_cpu_timers *timers);
/* Borrows timers. */
struct smp_cpu_timers smp_jvm_cpu_timers_functions(struct smp_jvm_cpu_timers *timers);

/*
 * Returns the CPU time from now, cpu_ns, to the first expiration of a timer with a random phase.
 * The timer counts from from_cpu_ns. That is in the past, or in the future if samples of an
 * earlier timer already cover more CPU time than the thread has used. *missed is the number of
 * expirations before now.
 */
int64_t smp_jvm_cpu_timers_first_ns(int64_t interval_ns, int64_t from_cpu_ns, int64_t cpu_ns,
                                    uint64_t random, uint64_t *missed);
/* Returns the number of expirations until the thread's clock is at cpu_ns. first_cpu_ns is the
 * clock at the first expiration; if it is -1 (unknown), returns 0. */
uint64_t smp_jvm_cpu_timers_due(int64_t first_cpu_ns, int64_t interval_ns, int64_t cpu_ns);

#endif
