/* SPDX-License-Identifier: Apache-2.0 */
/*
 * poll_schedule.h - when each thread is polled next, and how much time that poll stands for.
 *
 *   running    every tick
 *   idle       at random: the longer it is idle and the more threads are idle, the less often. All
 *              draw alike, so that they share ticks.
 *   many idle  thousands of threads that run now and then: each is polled independently, and less
 *              often than one of few after the same idle time
 *   limit      past the overhead limit at random, each thread independently
 *
 * Owns     the timer wheel.
 * Threads  the sampler thread only.
 * Cost     next: about 60 ns; nothing for a thread whose deadline has not come.
 */
#ifndef SMP_ENGINE_SOURCES_POLL_SCHEDULE_H
#define SMP_ENGINE_SOURCES_POLL_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/sources/wall_state.h"

enum {
    SMP_WHOLE_CPU = 1024,         /* cpu_share of a thread that runs all the time */
    SMP_BUSY_SHARE = 4,           /* a thread is busy from this share of a CPU on; */
    SMP_MOST_RARITY = 8,          /* a quieter thread is throttled up to so many times more */
    SMP_IDLE_COST_SHARE = 400,    /* of a core: the cost of all polls of idle threads */
    SMP_MANY_IDLE_COST_TIMES = 4, /* many idle threads may cost so many times that; */
    SMP_MANY_IDLE_GAP_SHARE = 3,  /* their mean gap is at most a third of the time proven idle */
    SMP_IDLE_POLL_NS = 1500,      /* the cost of one poll, before it is measured */
    SMP_IDLE_TICK_NS = 40000,     /* the cost of waking up for them, before it is measured */
    SMP_MOST_THROTTLE_MS = 60000, /* between two polls, because of the overhead limit */
    SMP_MOST_TICK_MS = 4000,      /* of a tick whose polls stand for several ticks, */
    SMP_MOST_TICK_INTERVALS = 2   /* or so many intervals */
};

/* Zero it before. throttle and options outlive it. */
void smp_poll_schedule_init(struct smp_poll_schedule *schedule, struct smp_throttle *throttle,
                            const struct smp_options *options);

/* Call it when a tick begins, since_ns after the last one that was not skipped. Skipped ticks share
 * that time with it. */
void smp_poll_schedule_begin_tick(struct smp_poll_schedule *schedule, int64_t since_ns);
/* Call it after a tick: learns how often idle threads may be polled. */
void smp_poll_schedule_learn_cost(struct smp_poll_schedule *schedule, unsigned polls,
                                  unsigned idle_polls, uint64_t threads);

/* Schedules the poll after so many ticks, whatever the thread does; 0: at once. */
void smp_poll_schedule_put(struct smp_poll_schedule *schedule, struct smp_wall_thread *thread,
                           uint64_t ticks);
/* After a poll in this tick: schedules the next one by what the thread does. */
void smp_poll_schedule_next(struct smp_poll_schedule *schedule, struct smp_wall_thread *thread,
                            int64_t now_ns);
/* True if the throttle's share has risen so far that the caller has to redraw the polls of all
 * threads. */
bool smp_poll_schedule_share_rose(struct smp_poll_schedule *schedule);
/* Draws the next poll again if it was drawn with a much smaller share and is not due in this
 * tick. */
void smp_poll_schedule_redraw(struct smp_poll_schedule *schedule, struct smp_wall_thread *thread,
                              int64_t now_ns);
void smp_poll_schedule_set_idle(struct smp_poll_schedule *schedule, struct smp_wall_thread *thread,
                                bool is_idle);
/* The thread has used so much CPU time since the last poll. */
void smp_poll_schedule_learn_cpu(struct smp_wall_thread *thread, int64_t used_ns, int64_t span_ns);

/* Returns how many polls would have come since the last one without the overhead limit. */
uint64_t smp_poll_schedule_missed(const struct smp_poll_schedule *schedule,
                                  const struct smp_wall_thread *thread, bool is_idle);
/* Returns the time that the thread's poll in this tick stands for. */
int64_t smp_poll_schedule_weight_ns(const struct smp_poll_schedule *schedule,
                                    const struct smp_wall_thread *thread);

#endif
