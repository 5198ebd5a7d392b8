/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_timers.h - implements smp_cpu_timers of jvm.h for one session, by the system's timers on
 * threads' CPU time.
 *
 *   start ─► timer of the system ─► (signal ─► handler/cpu_timer.h ─► sample) ─► drain
 *
 * The system expires such timers on its clock tick (4 ms at 250 Hz) and counts how often they would
 * have expired in between: a sample has a weight. A signal only ever interrupts a thread that runs.
 *
 * Each timer counts against the user's RLIMIT_SIGPENDING from start to stop. Past the limit start
 * returns SMP_EQUOTA.
 *
 * Owns     its timers, and memory for the samples, made at the first start.
 * Threads  create and destroy: any; the functions: one sampler thread, attached.
 * Errors   as jvm.h.
 * Cost     start: four system calls; drain: the samples since the last one.
 */
#ifndef SMP_JVM_WALK_CPU_TIMERS_H
#define SMP_JVM_WALK_CPU_TIMERS_H

#include "base/status.h"
#include "engine/jvm.h"
#include "jvm/walk/by_signal.h"

struct smp_jvm_cpu_timers;

/* Borrows walker, of the same session; signal: as the walker's. */
SMP_CHECKED enum smp_status smp_jvm_cpu_timers_create(struct smp_by_signal *walker, int signal,
                                                      struct smp_jvm_cpu_timers **out);
/* All timers have been stopped. NULL is fine. */
void smp_jvm_cpu_timers_destroy(struct smp_jvm_cpu_timers *timers);
/* Borrows timers. */
struct smp_cpu_timers smp_jvm_cpu_timers_functions(struct smp_jvm_cpu_timers *timers);

/*
 * Returns when a timer with this phase expires first, in CPU time from now on. The thread's clock
 * is at cpu_ns now. The timer's time begins at from_cpu_ns: in the past, or in the future if the
 * samples of an earlier timer have covered more CPU time than the thread has used. *missed: the
 * expirations before now.
 */
int64_t smp_jvm_cpu_timers_first_ns(int64_t interval_ns, int64_t from_cpu_ns, int64_t cpu_ns,
                                    uint64_t random, uint64_t *missed);
/* Returns how often a timer has expired when the thread's clock is at cpu_ns. first_cpu_ns: the
 * clock at the first expiration; -1: not known, and the result is 0. */
uint64_t smp_jvm_cpu_timers_due(int64_t first_cpu_ns, int64_t interval_ns, int64_t cpu_ns);

#endif
