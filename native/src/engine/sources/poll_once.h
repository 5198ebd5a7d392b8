/* SPDX-License-Identifier: Apache-2.0 */
/*
 * poll_once.h - one poll of every thread while nothing is sampled, for sampleOnce().
 *
 * Each thread is credited with the same time, whatever the clocks say, and nothing is remembered.
 *
 * Threads  the sampler thread only.
 * Errors   anything that goes wrong is an outcome.
 * Cost     O(threads), a walk for each.
 */
#ifndef SMP_ENGINE_SOURCES_POLL_ONCE_H
#define SMP_ENGINE_SOURCES_POLL_ONCE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/sources/walks.h"

/* only_running: waiting threads are not walked. Restores walks->events at the end. */
void smp_poll_once(struct smp_walks *walks, int64_t now_ns, int64_t span_ns, bool only_running);

#endif
