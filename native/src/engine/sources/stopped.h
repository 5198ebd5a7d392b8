/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stopped.h - time in which the whole process was stopped (session/standstill.h).
 *
 *   tick              gap              tick
 *    ├───┤─────────────────────────├────┤
 *         [process stopped] gets it      pending time goes on as if it had not passed
 *
 * Threads  the sampler thread only.
 */
#ifndef SMP_ENGINE_SOURCES_STOPPED_H
#define SMP_ENGINE_SOURCES_STOPPED_H

#include <stdint.h>

#include "engine/sources/wall_state.h"

/* Attributes gap_ns of each thread. Before the tick of now_ns. */
void smp_stopped_attribute(struct smp_wall *wall, int64_t now_ns, int64_t gap_ns);

#endif
