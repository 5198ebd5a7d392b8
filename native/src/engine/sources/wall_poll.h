/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wall_poll.h - one poll of one thread: its name, its CPU clock, and its stack if that is not
 * known.
 *
 * Threads  the sampler thread only.
 * Errors   anything that goes wrong is an outcome.
 * Cost     an idle thread: its clock. A waiting thread: a walk. A running thread: a request.
 */
#ifndef SMP_ENGINE_SOURCES_WALL_POLL_H
#define SMP_ENGINE_SOURCES_WALL_POLL_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/sources/wall_state.h"

/* Polls the thread and schedules its next poll. The answer may come in a collect of the walks.
 * False: the thread has ended, and the record is gone. */
bool smp_wall_poll_thread(struct smp_wall *wall, struct smp_wall_thread *thread);

/* Starts the thread's time at now_ns. Forgets its state and its requests. */
void smp_wall_poll_begin(struct smp_wall_thread *thread, int64_t now_ns);

#endif
