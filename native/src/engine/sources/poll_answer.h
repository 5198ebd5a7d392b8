/* SPDX-License-Identifier: Apache-2.0 */
/*
 * poll_answer.h - the end of a poll: its walk has found a stack, or nothing, or has no answer yet.
 *
 * A thread that does not answer a signal waits for a CPU: it is where it lost it. Its time waits
 * for the answer. As long as its CPU clock stands still, each tick adds its time to that of the
 * request; once the clock moves, a new poll says where the thread is now. One that runs without
 * answering is given up after SMP_MAX_UNANSWERED_MS.
 *
 * Owns     plain data: smp_unanswered of a thread.
 * Threads  the sampler thread only.
 * Cost     what the attribution of one stack costs.
 */
#ifndef SMP_ENGINE_SOURCES_POLL_ANSWER_H
#define SMP_ENGINE_SOURCES_POLL_ANSWER_H

#include <stdbool.h>

#include "engine/sources/wall_state.h"

enum { SMP_MAX_UNANSWERED_MS = 1000 };

/* What wall does with the results of its walks. */
struct smp_walk_events smp_poll_answer_events(struct smp_wall *wall);

/*
 * The thread's clock has been read (thread->reading). Takes a late answer, if there is one. True:
 * the running poll is over, because the thread still has to answer, or has answered for this time.
 */
bool smp_poll_answer_is_pending(struct smp_wall *wall, struct smp_wall_thread *thread);

#endif
