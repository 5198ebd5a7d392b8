/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ticker.h - the sampler thread: it looks when a look is due, ends intervals, and does in between
 * what other threads ask for.
 *
 *   others ── ask ──► requests ─┐
 *                               ▼
 *   wait until due ──► requests ──► look ──► report due? seal ──► reporter
 *
 * So the sampler is touched by one thread only. Before start a request is done at once, by the one
 * who asks.
 *
 * Owns     its thread and the sampler.
 * Threads  any but, for all that waits, the sampler thread.
 * Errors   as listed.
 * Cost     ask: one wake-up of the sampler thread.
 */
#ifndef SMP_ENGINE_SESSION_TICKER_H
#define SMP_ENGINE_SESSION_TICKER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/status.h"
#include "engine/jvm.h"
#include "engine/session/reporter.h"
#include "engine/session/sampler.h"
#include "model/options.h"

struct smp_ticker;

enum smp_ask {
    SMP_ASK_CONFIGURE,
    SMP_ASK_SELECT,
    SMP_ASK_PAUSE,
    SMP_ASK_RESUME,
    SMP_ASK_REPORT,
    SMP_ASK_SAMPLE_ONCE,
    SMP_ASK_OPEN,
    SMP_ASK_WINDOW
};

/* What is asked for; the caller's, until ask returns. */
struct smp_request {
    enum smp_ask what;
    struct smp_options options; /* CONFIGURE: adopted on success, else still the caller's */
    struct smp_thread_filter thread_filter; /* SELECT: as options */
    bool only;
    struct smp_report_ticket *ticket; /* REPORT, SAMPLE_ONCE */
    unsigned reader;                  /* OPEN: the answer */
    bool is_full; /* set where a report was refused only because too many are waiting */
    bool is_done;
    enum smp_status status;
    struct smp_request *next;
};

struct smp_ticker_stats {
    struct smp_sampler_stats sampler;
    struct smp_reporter_stats counted; /* what of the reporter's figures is in sampler's counters */
    int64_t own_cpu_ns;                /* of the thread, up to its last look */
    int64_t elapsed_ns;                /* credited, up to the last look */
};

/* Adopts options on success. reporter, windows and log outlive it. */
SMP_CHECKED enum smp_status
smp_ticker_create(struct smp_quota *quota, struct smp_log *log, const struct smp_jvm *vm,
                  const struct smp_attach *attach, const struct smp_options *options,
                  struct smp_interval_queue *intervals, struct smp_reporter *reporter,
                  struct smp_ticker **out);
/* Not while its thread runs. */
void smp_ticker_destroy(struct smp_ticker *ticker);

/* Returns after the first look. SMP_ETHREAD, or what host.enter said: it may be started again. */
SMP_CHECKED enum smp_status smp_ticker_start(struct smp_ticker *ticker);
/*
 * Once, after a successful start: does what is asked for, looks for the last time, hands on the
 * last report where one is wanted, and joins. SMP_ENOMEM, SMP_EQUOTA: no memory for the report.
 */
SMP_CHECKED enum smp_status smp_ticker_stop(struct smp_ticker *ticker, bool last_report);
bool smp_ticker_is_caller(struct smp_ticker *ticker);

/*
 * Does what is asked for and returns its status; SMP_ESTOPPED after stop. Of a report: SMP_OK, it
 * is with the reporter; SMP_ESTATE, not started; SMP_ENOMEM, SMP_EQUOTA, is_full: not now, and
 * nothing is lost. SAMPLE_ONCE: SMP_ESTATE while running. OPEN ends the interval and opens a
 * consumer of the windows, WINDOW ends it: both fail as a report does, but OPEN is fine before
 * start.
 */
SMP_CHECKED enum smp_status smp_ticker_ask(struct smp_ticker *ticker, struct smp_request *request);

void smp_ticker_get_stats(struct smp_ticker *ticker, struct smp_ticker_stats *out);

#endif
