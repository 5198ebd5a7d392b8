/* SPDX-License-Identifier: Apache-2.0 */
/*
 * poll_once.h - polls every thread once while sampling is stopped, for sampleOnce().
 *
 * Credits each thread with the same time, regardless of clocks, and keeps no state.
 *
 * Threads  the sampler thread only.
 * Errors   errors become outcomes.
 * Cost     a walk for each thread.
 */
#ifndef SMP_ENGINE_SOURCES_POLL_ONCE_H
#define SMP_ENGINE_SOURCES_POLL_ONCE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/sources/walks.h"

/* With only_running, waiting threads are not walked. Restores walks->events at the end. */
void smp_poll_once(struct smp_walks *walks, int64_t now_ns, int64_t span_ns, bool only_running);

#endif
