/* SPDX-License-Identifier: Apache-2.0 */
/*
 * poll_schedule.h - when each thread is polled next, and how much time that poll stands for.
 *
 *   runs     every tick
 *   idle     at random, rarer the longer it is idle and the more threads are; all draw alike, so
 *            that they share ticks
 *   crowd    thousands that run now and then: rarer than one of few is after the same idle time,
 *            each for itself
 *   limit    past the overhead limit at random, each thread for itself
 *
 * Owns     the timer wheel.
 * Threads  the sampler thread only.
 * Cost     next: some 60 ns; nothing for a thread whose deadline has not come.
 */
#ifndef SMP_ENGINE_SOURCES_POLL_SCHEDULE_H
#define SMP_ENGINE_SOURCES_POLL_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/sources/wall_thread.h"
#include "engine/threads/intensity.h"
#include "engine/threads/throttle.h"
#include "engine/threads/timer_wheel.h"
#include "model/options.h"

enum {
    SMP_WHOLE_CPU = 1024,         /* cpu_share of a thread that runs all the time */
    SMP_BUSY_SHARE = 4,           /* a thread is busy from this share of a CPU on, a quarter; */
    SMP_MOST_RARITY = 8,          /* a quieter one is throttled up to so many times as much */
    SMP_IDLE_COST_SHARE = 400,    /* of a core: what polls of idle threads may cost together */
    SMP_CROWD_SHARE = 4,          /* so many times that may those of a crowd cost, */
    SMP_CROWD_IDLE_SHARE = 3,     /* whose mean gap is at most a third of the time proven idle */
    SMP_IDLE_POLL_NS = 1500,      /* what one costs, before it was measured */
    SMP_IDLE_TICK_NS = 40000,     /* what waking up for them costs, before it was measured */
    SMP_MOST_THROTTLE_MS = 60000, /* between two polls, by the overhead limit */
    SMP_MOST_TICK_MS = 4000,      /* of a tick whose polls stand for several ticks, */
    SMP_MOST_TICK_INTERVALS = 2   /* or so many intervals */
};

/* The last draw of the idle threads. */
struct smp_shared_draw {
    uint64_t tick;
    int64_t odds;
    uint64_t most;
    struct smp_next_poll next;
};

struct smp_poll_schedule {
    struct smp_timer_wheel wheel;
    struct smp_throttle throttle;
    int64_t least_share; /* of the throttle, with which a poll that is to come was drawn */
    uint64_t salt;       /* of the draws that idle threads share */
    struct smp_shared_draw shared;
    int64_t interval_ns;
    int64_t lookback_ns;
    uint64_t tick;         /* the number of the last one */
    uint64_t made_tick;    /* of the last one that was not left out */
    int64_t tick_ns;       /* the time it stands for: since the one before, made or left out */
    uint64_t idle_threads; /* of the sampled ones */
    double idle_ticks;     /* the least mean gap between polls of an idle thread, for their cost */
    int64_t idle_poll_ns;  /* what a poll of an idle thread costs, on average */
};

/* Zeroed before. */
void smp_poll_schedule_init(struct smp_poll_schedule *schedule, const struct smp_options *options);

/* So many ticks that fit into the time, at least one. */
uint64_t smp_poll_schedule_ticks_in(const struct smp_poll_schedule *schedule, int64_t ns);

/* A tick begins, since_ns after the last one: ticks left out in between share that time with it. */
void smp_poll_schedule_begin_tick(struct smp_poll_schedule *schedule, int64_t since_ns);
/* After a tick: how rarely idle threads are polled, so that it costs no more than it may. */
void smp_poll_schedule_learn_cost(struct smp_poll_schedule *schedule, unsigned polls,
                                  unsigned idle_polls, uint64_t threads);

/* So many ticks from now, whatever the thread does; 0: at once. */
void smp_poll_schedule_put(struct smp_poll_schedule *schedule, struct smp_wall_thread *thread,
                           uint64_t ticks);
/* After a poll in this tick, by what the thread does. */
void smp_poll_schedule_next(struct smp_poll_schedule *schedule, struct smp_wall_thread *thread,
                            int64_t now_ns);
/* Has the throttle's share risen so far that the caller has to redraw the polls of all threads? */
bool smp_poll_schedule_share_rose(struct smp_poll_schedule *schedule);
/* Draws the next poll again if it was drawn with a much smaller share, and is not due in this
 * tick. */
void smp_poll_schedule_redraw(struct smp_poll_schedule *schedule, struct smp_wall_thread *thread,
                              int64_t now_ns);
void smp_poll_schedule_set_idle(struct smp_poll_schedule *schedule, struct smp_wall_thread *thread,
                                bool is_idle);
/* The thread has used so much CPU time since the last poll. */
void smp_poll_schedule_learn_cpu(struct smp_wall_thread *thread, int64_t used_ns, int64_t span_ns);

/* Polls that would have come since the last one, were there no overhead limit. */
uint64_t smp_poll_schedule_missed(const struct smp_poll_schedule *schedule,
                                  const struct smp_wall_thread *thread, bool is_idle);
/* The time that the thread's poll in this tick stands for. */
int64_t smp_poll_schedule_weight_ns(const struct smp_poll_schedule *schedule,
                                    const struct smp_wall_thread *thread);

#endif
