/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wall.h - the source of wall time: polls threads when they are due.
 *
 *   thread starts ─► due? ─► candidate? name ─► CPU clock
 *                     │                           ├ unmoved ──► idle: the stack it had
 *                     no: costs nothing           ├ waits ────► walked from outside
 *                                                 └ runs ─────► asynchronous walk ─► answer
 *
 * If ticks are close together, answers are collected at the next tick, but count for the tick of
 * their request.
 *
 *   wall            ticks: which threads are polled
 *   wall_poll       one poll of one thread, and its result
 *   walks           the thread's stack
 *   pending_time    the time that the result is worth
 *   poll_schedule   the time of the next poll
 *
 * Running threads are polled at each tick. Idle threads are polled at random, less often if there
 * are many: together they cost at most 1/SMP_IDLE_COST_SHARE of a core, unless the longest gap
 * requires more. Above the overhead limit all polls get rarer (throttle.h). Threads that are not
 * sampled are visited only to notice their end. intensity.h has the weights of polls.
 *
 * Owns     its schedule and walks.
 * Threads  the sampler thread only.
 * Errors   create: SMP_ENOMEM, SMP_EQUOTA. Errors in a tick become outcomes.
 * Cost     tick: O(due threads); with a user's name rule O(threads).
 */
#ifndef SMP_ENGINE_SOURCES_WALL_H
#define SMP_ENGINE_SOURCES_WALL_H

#include <stddef.h>

#include "base/status.h"
#include "engine/sources/source.h"

/* The size of this source's thread records. */
extern const size_t smp_wall_record_bytes;
SMP_CHECKED enum smp_status smp_wall_create(const struct smp_source_setup *setup,
                                            struct smp_source *out);

#endif
