/* SPDX-License-Identifier: Apache-2.0 */
/*
 * poll_schedule.h - when each thread is polled next, and the time for which that poll stands.
 *
 *   running    every tick
 *   idle       at random; less often the longer a thread is idle, and the more threads are idle.
 *              All share the same draws, so that they are polled at the same ticks
 *   many idle  thousands of threads that run occasionally: each is polled independently, and less
 *              often than one of a few after the same idle time
 *   limit      above the overhead limit: at random, each thread independently
 *
 * Owns     the timer wheel.
 * Threads  the sampler thread only.
 * Cost     next: about 60 ns. A thread that is not due: nothing.
 */
#ifndef SMP_ENGINE_SOURCES_POLL_SCHEDULE_H
#define SMP_ENGINE_SOURCES_POLL_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/sources/wall_state.h"

enum {
    SMP_WHOLE_CPU = 1024,         /* cpu_share of a thread that always runs */
    SMP_BUSY_SHARE = 4,           /* a thread with this share of a CPU or more is busy; */
    SMP_MOST_RARITY = 8,          /* a quieter thread is throttled up to this many times more */
    SMP_IDLE_COST_SHARE = 400,    /* all polls of idle threads cost up to this part of a core */
    SMP_MANY_IDLE_COST_TIMES = 4, /* many idle threads may cost this many times more; */
    SMP_MANY_IDLE_GAP_SHARE = 3,  /* their mean gap is at most a third of the time proven idle */
    SMP_IDLE_POLL_NS = 1500,      /* assumed cost of a poll, before it is measured */
    SMP_IDLE_TICK_NS = 40000,     /* assumed cost of a wake-up, before it is measured */
    SMP_MOST_THROTTLE_MS = 60000, /* longest gap because of the overhead limit */
    SMP_MOST_TICK_MS = 4000,    /* longest time of a tick for polls that stand for several ticks, */
    SMP_MOST_TICK_INTERVALS = 2 /* or this many intervals */
};

/* schedule must be zeroed. throttle and options must outlive it. */
void smp_poll_schedule_init(struct smp_poll_schedule *schedule, struct smp_throttle *throttle,
                            const struct smp_options *options);

/* Called when a tick begins, since_ns after the last one. Skipped ticks get their part of it. */
void smp_poll_schedule_begin_tick(struct smp_poll_schedule *schedule, int64_t since_ns);
/* Called after a tick: learns how often idle threads may be polled. */
void smp_poll_schedule_learn_cost(struct smp_poll_schedule *schedule, unsigned polls,
                                  unsigned idle_polls, uint64_t threads);

/* Schedules the poll after this number of ticks, regardless of the thread's state; 0: at once. */
void smp_poll_schedule_put(struct smp_poll_schedule *schedule, struct smp_wall_thread *thread,
                           uint64_t ticks);
/* Called after a poll in this tick: schedules the next one by the thread's state. */
void smp_poll_schedule_next(struct smp_poll_schedule *schedule, struct smp_wall_thread *thread,
                            int64_t now_ns);
/* Returns whether the throttle's share has risen so much that the caller must redraw all polls. */
bool smp_poll_schedule_share_rose(struct smp_poll_schedule *schedule);
/* Draws the next poll again if it was drawn with a much smaller share, unless it is due in this
 * tick. */
void smp_poll_schedule_redraw(struct smp_poll_schedule *schedule, struct smp_wall_thread *thread,
                              int64_t now_ns);
void smp_poll_schedule_set_idle(struct smp_poll_schedule *schedule, struct smp_wall_thread *thread,
                                bool is_idle);
/* Updates the CPU share with the CPU time that the thread has used in span_ns. */
void smp_poll_schedule_learn_cpu(struct smp_wall_thread *thread, int64_t used_ns, int64_t span_ns);

/* Returns the number of polls that the overhead limit has skipped since the last one. */
uint64_t smp_poll_schedule_missed(const struct smp_poll_schedule *schedule,
                                  const struct smp_wall_thread *thread, bool is_idle);
/* Returns the time for which the thread's poll in this tick stands. */
int64_t smp_poll_schedule_weight_ns(const struct smp_poll_schedule *schedule,
                                    const struct smp_wall_thread *thread);

#endif
