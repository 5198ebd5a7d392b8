/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ticker.h - the sampler thread: ticks, ends intervals, and between two ticks takes new options
 * and handles requests of other threads.
 *
 *   sleep until due ──► new options ──► requests ──► tick ──► interval over? end it ──► reporter
 *
 * After start only this thread uses the sampler. If no thread is due for several ticks, it skips
 * them; a thread start wakes it up. While paused it drops ended threads.
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

/* Figures of the last tick, or of a later change. */
struct smp_ticker_figures {
    struct smp_sampler_figures sampler;
    struct smp_reporter_stats counted; /* the reporter's figures that the sampler has counted */
    int64_t own_cpu_ns;                /* CPU time of the thread and of those that work for
                                          sources, up to the last tick */
    int64_t elapsed_ns;                /* sampled time, up to the last tick */
    int64_t ticked_ns;                 /* the last tick while sampling; 0: none yet */
    struct smp_options options;        /* without texts, whose beginnings follow */
    char texts[SMP_OPTION_TEXT_COUNT][SMP_TICKER_TEXT_BYTES];
};

/* Arguments of a ticker. All but options must outlive it. */
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
/* The thread must not be running. */
void smp_ticker_destroy(struct smp_ticker *ticker);

/* Returns after the first tick. SMP_ETHREAD, or the status of attach.enter; it may then be called
 * again. */
SMP_CHECKED enum smp_status smp_ticker_start(struct smp_ticker *ticker);
/* Called while the lifecycle is STOPPING. Joins the thread, which handles the last requests, makes
 * the last tick and queues the last report. SMP_ENOMEM, SMP_EQUOTA: no memory for the report. */
SMP_CHECKED enum smp_status smp_ticker_join(struct smp_ticker *ticker);
bool smp_ticker_is_caller(struct smp_ticker *ticker);

/* Handles a request; self is the ticker. */
enum smp_status smp_ticker_do(void *self, struct smp_request *request, bool is_started);

/* Waits only for another copy of the figures. */
void smp_ticker_get_figures(struct smp_ticker *ticker, struct smp_ticker_figures *out);

#endif
