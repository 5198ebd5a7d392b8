/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ticker.h - the sampler thread: ticks when a tick is due, ends intervals, and between two ticks
 * takes new options and handles requests of other threads.
 *
 *   sleep until due ──► new options ──► requests ──► tick ──► interval over? end it ──► reporter
 *
 * From start on only this thread touches the sampler. If no thread is due for several ticks, it
 * sleeps through them; a thread start wakes it up. While paused it drops threads that have ended.
 *
 * Owns     its thread and the sampler.
 * Threads  start, stop, destroy: the session. get_figures, is_caller: any.
 * Errors   as listed.
 * Cost     one wake-up for each tick.
 */
#ifndef SMP_ENGINE_SESSION_TICKER_H
#define SMP_ENGINE_SESSION_TICKER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/status.h"
#include "engine/jvm.h"
#include "engine/session/lifecycle.h"
#include "engine/session/reporter.h"
#include "engine/session/sampler.h"
#include "model/options.h"

struct smp_ticker;

enum { SMP_TICKER_TEXT_BYTES = 512 };

/* As of the last tick, or of a later change. */
struct smp_ticker_figures {
    struct smp_sampler_figures sampler;
    struct smp_reporter_stats counted; /* the reporter's figures that are in the sampler's
                                        * counters */
    int64_t own_cpu_ns;                /* of the thread and of those that work for sources, up to
                                        * the last tick */
    int64_t elapsed_ns;                /* sampled time, up to the last tick */
    int64_t ticked_ns;                 /* the last tick while sampling; 0: none yet */
    struct smp_options options;        /* without the texts; their beginnings follow */
    char texts[SMP_OPTION_TEXT_COUNT][SMP_TICKER_TEXT_BYTES];
};

/* The parts of a ticker. All but options outlive it. */
struct smp_ticker_setup {
    struct smp_quota *quota;
    struct smp_log *log;
    struct smp_lifecycle *lifecycle;
    const struct smp_jvm *vm;
    const struct smp_attach *attach;
    struct smp_interval_queue *intervals;
    struct smp_reporter *reporter;
    const struct smp_options *options;
};

SMP_CHECKED enum smp_status smp_ticker_create(const struct smp_ticker_setup *setup,
                                              struct smp_ticker **out);
/* Its thread must not run. */
void smp_ticker_destroy(struct smp_ticker *ticker);

/* Returns after the first tick. SMP_ETHREAD, or the status of attach.enter; then it may be called
 * again. */
SMP_CHECKED enum smp_status smp_ticker_start(struct smp_ticker *ticker);
/* Call it while the lifecycle is STOPPING. Waits for the last requests and the last tick, until the
 * last report is handed over, and joins. SMP_ENOMEM, SMP_EQUOTA: no memory for the report. */
SMP_CHECKED enum smp_status smp_ticker_join(struct smp_ticker *ticker);
bool smp_ticker_is_caller(struct smp_ticker *ticker);

/* Handles a request; self is the ticker. */
enum smp_status smp_ticker_do(void *self, struct smp_request *request, bool is_started);

/* Waits for nothing but another such copy. */
void smp_ticker_get_figures(struct smp_ticker *ticker, struct smp_ticker_figures *out);

#endif
