/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_time.h - how long threads want a CPU and have none. The kernel says how long; polls say at
 * which stack.
 *
 *   polls find      running ───────┐           waiting ─────────┐
 *                    │ its CPU time │ the rest ─► RUNNABLE ◄─ the rest of the queue's time
 *
 * Both where a thread is preempted and where it has been woken up it waits for a CPU. A preempted
 * one is found running, one that has been woken up where it waits. So of the time in which it was
 * found running RUNNABLE gets what is more than its CPU time, and what is left of the time in the
 * queue comes from the time in which it was found waiting.
 *
 * The kernel adds a wait when it ends. After an idle time it was the wait of the thread that had
 * been woken up, so it belongs to the stack it waited with, not to the one it is found with now.
 *
 * In a virtual machine RUNNABLE also gets what the host has stolen from running threads
 * (cpu_loss.h), where that is more than the CPU time and the queue can be.
 *
 * Owns     plain data: smp_queue_time of a thread.
 * Threads  the sampler thread only.
 * Errors   where the kernel does not say it, no time is RUNNABLE.
 * Cost     one small read of a file for each poll that finds a clock moved, but where nearly all of
 *          the time is CPU time: there one for each SMP_QUEUE_SLACK_US of the rest.
 */
#ifndef SMP_ENGINE_SOURCES_QUEUE_TIME_H
#define SMP_ENGINE_SOURCES_QUEUE_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/sources/wall_state.h"

enum {
    SMP_QUEUE_BALANCE_MS = 250, /* carried from poll to poll, at most */
    SMP_QUEUE_SLACK_US = 1000,  /* of running time that is no CPU time: less than this, */
    SMP_QUEUE_SLACK_SHARE = 4   /* and than this share of the poll's time, is not read at once */
};

/* The running poll has found a stack, and credited it with found_ns, and the one that the poll
 * before it had found with before_ns: less than 0 where that gives some back. before: NULL where
 * that is not known. */
void smp_queue_time_attribute(struct smp_wall *wall, struct smp_wall_thread *thread,
                              const struct smp_tree_target *before, int64_t before_ns,
                              const struct smp_tree_target *found, int64_t found_ns);

/* Pending time is attributed without a poll: returns how much of it is RUNNABLE, which is the time
 * for which the thread has owed an answer. The kernel will say so later, and how much of a running
 * thread's time was a wait. */
int64_t smp_queue_time_flush(struct smp_wall_thread *thread, enum smp_thread_state state,
                             int64_t ns, int64_t now_ns);

#endif
