/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stopped.h - time in which the whole process was stopped: SIGSTOP, a debugger, a frozen container.
 *
 *   tick        due                            tick
 *    │           │      no thread has a CPU     │
 *    └───────────┴──────────────────────────────┘
 *                 [process stopped] gets this    pending time goes on as if it had not passed
 *
 * That the sampler thread sleeps on for more than SMP_STOPPED_NS, until a tick or for an answer, is
 * the first sign; that no thread has run for more than a SMP_STOPPED_SHARE-th of this time is the
 * second. Where the process only lacked CPUs, its threads have run now and then.
 *
 * Threads  the sampler thread only.
 * Cost     a CPU clock for each thread.
 */
#ifndef SMP_ENGINE_SOURCES_STOPPED_H
#define SMP_ENGINE_SOURCES_STOPPED_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/sources/wall_state.h"

#define SMP_STOPPED_NS INT64_C(1000000000)
enum { SMP_STOPPED_SHARE = 20 };

/* Has a sampled thread run in the last gap_ns? When it ran since its last poll is not known: it is
 * taken to have run before the gap as far as there was time. */
bool smp_stopped_has_run(const struct smp_wall *wall, int64_t now_ns, int64_t gap_ns);
/* Attributes gap_ns of each thread. Before the tick of now_ns. */
void smp_stopped_attribute(struct smp_wall *wall, int64_t now_ns, int64_t gap_ns);

#endif
