/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_time.h - how long threads wait for a CPU. The kernel says how long, polls say at which
 * stack.
 *
 *   polls find      running ───────┐           waiting ─────────┐
 *                    │ its CPU time │ the rest ─► RUNNABLE ◄─ the rest of the queue's time
 *
 * A thread waits for a CPU when it is preempted, and after it was woken up. A preempted thread is
 * found running; a thread that was woken up is found where it waits. So RUNNABLE gets two parts: of
 * the time in which the thread was found running, what exceeds its CPU time; and from the time in
 * which it was found waiting, the rest of the queue's time.
 *
 * The kernel adds a wait when it ends. The wait after an idle time is that of a thread that was
 * woken up, so it belongs to the stack with which the thread waited, not to the one found now.
 *
 * In a virtual machine the host may run something else in place of a CPU of the machine. Meanwhile
 * the thread on that CPU has no CPU time and does not wait in a queue. Only the machine's sum of
 * this stolen time is known: a thread's part is in proportion to the CPU time that it used.
 * RUNNABLE gets it, too, if the thread has more time than CPU time and queue can explain.
 *
 * A CPU quota stops the threads of the control group. Queue times contain that; the account has the
 * sum.
 *
 * Owns     plain data: smp_queue_time of a thread, smp_cpu_loss of the process.
 * Threads  the sampler thread only.
 * Errors   if the kernel provides nothing, no time is RUNNABLE, and a figure of the account is 0.
 * Cost     one small read of a file for each poll that finds a clock moved. If nearly all of the
 *          time is CPU time: one read for each SMP_QUEUE_SLACK_US of the rest. Stolen time: reads a
 *          file, about 20 us, at most once in SMP_CPU_LOSS_MS. Quota: two or three files for each
 *          interval.
 */
#ifndef SMP_ENGINE_SOURCES_QUEUE_TIME_H
#define SMP_ENGINE_SOURCES_QUEUE_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/sources/wall_state.h"

enum {
    SMP_QUEUE_BALANCE_MS = 250, /* carried from poll to poll at most */
    SMP_QUEUE_SLACK_US = 1000,  /* not read at once: running time without CPU time below this, */
    SMP_QUEUE_SLACK_SHARE = 4,  /* and below this share of the poll's time */
    SMP_CPU_LOSS_MS = 2000      /* least time between two readings of stolen time */
};

/* Call it when sampling starts or goes on after a pause. */
void smp_cpu_loss_mark(struct smp_wall *wall, int64_t now_ns);
void smp_cpu_loss_tick(struct smp_wall *wall, int64_t now_ns);
/* Call it when the interval ends: adds the new figures to its account. */
void smp_cpu_loss_flush(struct smp_wall *wall);

/* The running poll has found a stack and credited it with found_ns. It has credited the stack of
 * the poll before with before_ns, which is negative if time was taken back. before: NULL if that
 * stack is not known. */
void smp_queue_time_attribute(struct smp_wall *wall, struct smp_wall_thread *thread,
                              const struct smp_tree_target *before, int64_t before_ns,
                              const struct smp_tree_target *found, int64_t found_ns);

/* Pending time is attributed without a poll. Returns how much of it is RUNNABLE: the time for which
 * the thread has owed an answer. The kernel will confirm it later, and will say how much of a
 * running thread's time was a wait. */
int64_t smp_queue_time_flush(struct smp_wall_thread *thread, enum smp_thread_state state,
                             int64_t ns, int64_t now_ns);

#endif
