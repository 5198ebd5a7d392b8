/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wall.h - the source of wall time: polls each thread when it is due.
 *
 *   thread starts ─► due? ─► candidate? name ─► CPU clock
 *                     │                           ├ unmoved ──► idle: the stack it had
 *                     no: costs nothing           ├ waits ────► walked from outside
 *                                                 └ runs ─────► asynchronous walk ─► answer
 *
 * If ticks are close together, answers are collected at the next tick, and count as of the tick of
 * their request.
 *
 *   wall            ticks: which threads are polled
 *   wall_poll       one poll of one thread, and its result, now or later
 *   walks           its stack
 *   pending_time    how much time the result is worth
 *   poll_schedule   when the next poll comes
 *
 * A running thread is polled at each tick. Idle threads are polled at random, and the less often
 * the more of them there are: together they cost at most one SMP_IDLE_COST_SHARE-th of a core,
 * unless the longest gap demands more. Past the overhead limit all polls get rarer (throttle.h). A
 * thread that is not sampled is visited only to see it end. intensity.h says what a poll weighs.
 *
 * Owns     its schedule and walks.
 * Threads  the sampler thread only.
 * Errors   create: SMP_ENOMEM, SMP_EQUOTA. Anything that goes wrong in a tick is an outcome.
 * Cost     tick: O(threads that are due); with a user's rule for names, O(threads).
 */
#ifndef SMP_ENGINE_SOURCES_WALL_H
#define SMP_ENGINE_SOURCES_WALL_H

#include <stddef.h>

#include "base/status.h"
#include "engine/sources/source.h"

/* The size of a thread record with what this source adds. */
extern const size_t smp_wall_record_bytes;
SMP_CHECKED enum smp_status smp_wall_create(const struct smp_source_setup *setup,
                                            struct smp_source *out);

#endif
