/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_timer.h - a thread whose timer on its CPU time has expired walks itself, in its handler, into
 * a free sample of its session's pool.
 *
 *   timer    FREE ─► SETTING ─► ARMED ◄──► BUSY (a handler)      sample  free ─► taken ─► done
 *                       ▲         │  └───► SETTING (new target)            ▲    (handler) │
 *              FREE ◄─ CLOSING ◄──┘                                        └─── drained ──┘
 *
 * A timer's signal carries a cookie: the timer's number and generation. A signal that comes after
 * its timer was stopped matches no timer. Timers are static: nothing that a late signal touches is
 * ever freed. A session frees its samples when none of its timers is BUSY.
 *
 * An expiration without a walk is counted, and its weight added to the thread's next sample: no
 * sample was free, or the timer's target was just being renewed, or the thread had ended.
 *
 * Owns     the timers.
 * Threads  the handler on any thread; all else on the session's sampler thread.
 * Cost     the handler: a few atomic operations, and the walk.
 */
#ifndef SMP_HANDLER_CPU_TIMER_H
#define SMP_HANDLER_CPU_TIMER_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "handler/walk_data.h"

enum {
    SMP_CPU_TIMERS = 8192, /* threads sampled by CPU time, over all sessions */
    SMP_CPU_SAMPLES = 64   /* of a session, between two drains: a bit of a word for each */
};

enum smp_cpu_timer_state {
    SMP_CPU_FREE,
    SMP_CPU_SETTING,
    SMP_CPU_ARMED,
    SMP_CPU_BUSY,
    SMP_CPU_CLOSING
};

struct smp_cpu_timer;
struct smp_thread;

struct smp_cpu_sample {
    uint32_t capacity;
    struct smp_jvm_frame *frames;
    struct smp_cpu_timer *timer; /* whose thread has walked; only while the sample is done */
    uint64_t weight;             /* expirations */
    struct smp_walk_answer answer;
};

/* Handlers take the free sample with the lowest number, so the same few are used again and again
 * and stay in the caches. */
struct smp_cpu_pool {
    _Atomic uint64_t dropped; /* expirations of all timers, ever */
    _Atomic uint64_t free;    /* a bit for each sample; all of them at first */
    _Atomic uint64_t done;    /* a bit for each sample that a handler has filled */
    struct smp_cpu_sample samples[SMP_CPU_SAMPLES];
};

struct smp_cpu_timer {
    _Atomic uint64_t word; /* generation and smp_cpu_timer_state */
    struct smp_walk_target target;
    struct smp_thread *thread;
    struct smp_cpu_pool *_Atomic pool; /* each session looks for its own */
    _Atomic uint64_t carried;          /* weight without a sample yet */
    _Atomic uint64_t dropped;          /* expirations without a sample, not reported yet */
    _Atomic uint64_t signalled;        /* expirations that signals have reported */
    uint64_t token;                    /* from here on the sampler thread's */
    int64_t first_cpu_ns; /* the thread's clock at its first expiration; -1: not known */
    int64_t interval_ns;
    int32_t system_id;
};

extern struct smp_cpu_timer smp_cpu_timers[SMP_CPU_TIMERS];

bool smp_cpu_timer_is_for(const siginfo_t *info);
/* False: the signal came after its timer was stopped. Walks only while *is_open. */
bool smp_cpu_timer_sample(const siginfo_t *info, ucontext_t *context, const _Atomic bool *is_open);

/* A timer in SETTING with a new generation; *cookie is what its signals must carry. NULL: all are
 * in use. */
struct smp_cpu_timer *smp_cpu_timer_take(uint64_t *cookie);
/* From ARMED to SETTING; false: a handler is BUSY. */
bool smp_cpu_timer_set(struct smp_cpu_timer *timer);
/* From SETTING to ARMED. */
void smp_cpu_timer_arm(struct smp_cpu_timer *timer);
/* From SETTING or ARMED to CLOSING; waits for the handler. */
void smp_cpu_timer_close(struct smp_cpu_timer *timer);
/* From CLOSING to FREE. */
void smp_cpu_timer_free(struct smp_cpu_timer *timer);
/* Does a handler walk for one of the timers? */
bool smp_cpu_timer_is_busy(void);

#endif
