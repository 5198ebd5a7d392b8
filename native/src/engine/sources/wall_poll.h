/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wall_poll.h - one poll of one thread: its name, its CPU clock, its stack if that is unknown, and
 * the result, when the walk has found a stack, has failed, or is unanswered.
 *
 * A thread that does not answer a signal waits for a CPU, at the stack at which it lost the CPU.
 * Its time is pending until it answers. While its CPU clock does not move, each tick adds its time
 * to the request. When the clock has moved, a new poll finds the present stack. If a thread runs
 * without answering, the request is given up after SMP_MAX_UNANSWERED_MS.
 *
 * Threads  the sampler thread only.
 * Errors   errors become outcomes.
 * Cost     an idle thread: a clock. A waiting thread: a walk. A running thread: a request. All:
 *          the attribution of one stack.
 */
#ifndef SMP_ENGINE_SOURCES_WALL_POLL_H
#define SMP_ENGINE_SOURCES_WALL_POLL_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/sources/wall_state.h"

enum { SMP_MAX_UNANSWERED_MS = 1000 };

/* Returns the functions for the results of walks. */
struct smp_walk_events smp_wall_poll_events(struct smp_wall *wall);

/* Polls the thread and schedules its next poll. The answer may come in a later collect. Returns
 * false if the thread has ended and the record is gone. */
bool smp_wall_poll_thread(struct smp_wall *wall, struct smp_wall_thread *thread);

/* Starts the thread's time at now_ns, and discards its state and requests. */
void smp_wall_poll_begin(struct smp_wall_thread *thread, int64_t now_ns);

#endif
