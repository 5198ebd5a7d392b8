/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_time.h - how long threads wait for a CPU. The kernel provides the time, polls the stacks.
 *
 *   polls find      running ───────┐           waiting ─────────┐
 *                    │ its CPU time │ the rest ─► RUNNABLE ◄─ the rest of the queue's time
 *
 * A thread waits for a CPU when it is preempted, and after it was woken up. A preempted thread is
 * found running; a thread that was woken up is found where it waits. RUNNABLE therefore gets two
 * parts: the time in which the thread was found running minus its CPU time, and, from the time in
 * which it was found waiting, the rest of the queue's time.
 *
 * The kernel counts a wait when it ends. A wait after an idle time is the wait of a woken thread.
 * It belongs to the stack at which the thread was idle, not to the stack found now.
 *
 * The host of a virtual machine may suspend one of its CPUs. The thread on that CPU then gets no
 * CPU time and does not wait in a queue. Only the machine's sum of this stolen time is known; a
 * thread's part is proportional to its CPU time. RUNNABLE also gets this part, if the thread has
 * more time than CPU time and queue can explain.
 *
 * A CPU quota stops the threads of a control group. Queue times include that; the account has it.
 *
 * Owns     plain data: smp_queue_time of a thread, smp_cpu_loss of the process.
 * Threads  the sampler thread only.
 * Errors   without the kernel's figures no time is RUNNABLE, and the account has 0.
 * Cost     reads a small file for each poll that finds the clock moved; if nearly all of the time
 *          is CPU time, only once for each SMP_QUEUE_SLACK_US of the rest. Stolen time: a file (20
 *          us), at most once in SMP_CPU_LOSS_MS. Quota: two or three files for each interval.
 */
#ifndef SMP_ENGINE_SOURCES_QUEUE_TIME_H
#define SMP_ENGINE_SOURCES_QUEUE_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/sources/wall_state.h"

enum {
    SMP_QUEUE_BALANCE_MS = 250, /* maximum that is carried from poll to poll */
    SMP_QUEUE_SLACK_US =
        1000, /* running time without CPU time is not read at once if below this, */
    SMP_QUEUE_SLACK_SHARE = 4, /* and below this share of the poll's time */
    SMP_CPU_LOSS_MS = 2000     /* minimum time between two readings of stolen time */
};

/* Called when sampling starts or continues after a pause. */
void smp_cpu_loss_mark(struct smp_wall *wall, int64_t now_ns);
void smp_cpu_loss_tick(struct smp_wall *wall, int64_t now_ns);
/* Called when the interval ends: adds the new figures to its account. */
void smp_cpu_loss_flush(struct smp_wall *wall);

/* Called when the running poll has credited the found stack with found_ns, and the stack of the
 * last poll with before_ns, negative if time was taken back. before is NULL if that stack is
 * unknown. */
void smp_queue_time_attribute(struct smp_wall *wall, struct smp_wall_thread *thread,
                              const struct smp_tree_target *before, int64_t before_ns,
                              const struct smp_tree_target *found, int64_t found_ns);

/* Called when pending time is attributed without a poll. Returns how much of it is RUNNABLE: the
 * time since an unanswered request. The kernel's figure corrects this later. */
int64_t smp_queue_time_flush(struct smp_wall_thread *thread, enum smp_thread_state state,
                             int64_t ns, int64_t now_ns);

#endif
