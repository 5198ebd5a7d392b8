/* SPDX-License-Identifier: Apache-2.0 */
/*
 * poll_answer.h - the end of a poll: the walk has found a stack, has failed, or has no answer yet.
 *
 * A thread that does not answer a signal waits for a CPU, and is where it lost the CPU. Its time
 * waits for the answer. While its CPU clock stands still, each tick adds its time to that of the
 * request. When the clock has moved, a new poll finds where the thread is. If a thread runs without
 * answering, the request is given up after SMP_MAX_UNANSWERED_MS.
 *
 * Owns     plain data: smp_unanswered of a thread.
 * Threads  the sampler thread only.
 * Cost     the attribution of one stack.
 */
#ifndef SMP_ENGINE_SOURCES_POLL_ANSWER_H
#define SMP_ENGINE_SOURCES_POLL_ANSWER_H

#include <stdbool.h>

#include "engine/sources/wall_state.h"

enum { SMP_MAX_UNANSWERED_MS = 1000 };

/* Returns the functions for the results of walks. */
struct smp_walk_events smp_poll_answer_events(struct smp_wall *wall);

/*
 * Call it after the thread's clock was read into thread->reading. Takes a late answer if there is
 * one. True: the running poll is over, because the thread still has to answer, or the late answer
 * covers this poll's time.
 */
bool smp_poll_answer_is_pending(struct smp_wall *wall, struct smp_wall_thread *thread);

#endif
