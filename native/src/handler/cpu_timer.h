/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_timer.h - when the CPU timer of a thread expires, the thread walks its own stack in the
 * handler, into a free sample of the session's pool.
 *
 *   timer    FREE ─► SETTING ─► ARMED ◄──► BUSY (a handler)      sample  free ─► taken ─► done
 *                       ▲         │  └───► SETTING (new target)            ▲    (handler) │
 *              FREE ◄─ CLOSING ◄──┘                                        └─── drained ──┘
 *
 * The signal carries a cookie with the timer's number and generation, so a signal that comes after
 * its timer was stopped matches no timer. Timers are static, because late signals access them. A
 * session frees its samples when none of its timers is BUSY.
 *
 * Some expirations cannot be walked: no sample was free, the timer's target was being renewed, or
 * the thread had ended. They are counted, and their weight goes to the thread's next sample.
 *
 * Owns     the timers.
 * Threads  the handler: any thread. All others: the session's sampler thread.
 * Cost     the handler: a few atomic operations and the walk.
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
    SMP_CPU_SAMPLES = 64   /* of a session, between two drains; one bit each in a word */
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
    struct smp_cpu_timer *timer; /* valid while the sample is done */
    uint64_t weight;             /* expirations */
    struct smp_walk_answer answer;
};

/* Handlers take the free sample with the lowest number, so that the same few stay in the caches. */
struct smp_cpu_pool {
    _Atomic uint64_t dropped; /* total expirations of all timers without a sample */
    _Atomic uint64_t free;    /* a bit for each sample, initially all */
    _Atomic uint64_t done;    /* a bit for each sample filled by a handler */
    struct smp_cpu_sample samples[SMP_CPU_SAMPLES];
};

struct smp_cpu_timer {
    _Atomic uint64_t word; /* generation and smp_cpu_timer_state */
    struct smp_walk_target target;
    struct smp_thread *thread;
    struct smp_cpu_pool *_Atomic pool; /* sessions compare it with their own */
    _Atomic uint64_t carried;          /* weight for the next sample */
    _Atomic uint64_t dropped;          /* expirations without a sample, not reported yet */
    _Atomic uint64_t signalled;        /* expirations reported by signals */
    uint64_t token;                    /* from here on used only by the sampler thread */
    int64_t first_cpu_ns;              /* CPU clock at the first expiration; -1: unknown */
    int64_t interval_ns;
    int32_t system_id;
};

extern struct smp_cpu_timer smp_cpu_timers[SMP_CPU_TIMERS];

bool smp_cpu_timer_is_for(const siginfo_t *info);
/* Returns false if the timer was stopped before the signal came. Walks only if *is_open. */
bool smp_cpu_timer_sample(const siginfo_t *info, ucontext_t *context, const _Atomic bool *is_open);

/* Returns a timer in SETTING, whose signals must carry *cookie. NULL: all are in use. */
struct smp_cpu_timer *smp_cpu_timer_take(uint64_t *cookie);
/* From ARMED to SETTING. Returns false if a handler is BUSY. */
bool smp_cpu_timer_set(struct smp_cpu_timer *timer);
/* From SETTING to ARMED. */
void smp_cpu_timer_arm(struct smp_cpu_timer *timer);
/* From SETTING or ARMED to CLOSING; waits for the handler. */
void smp_cpu_timer_close(struct smp_cpu_timer *timer);
/* From CLOSING to FREE. */
void smp_cpu_timer_free(struct smp_cpu_timer *timer);
/* Returns whether any timer is BUSY. */
bool smp_cpu_timer_is_busy(void);

#endif
