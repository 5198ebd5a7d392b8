/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - a running sampler, as used by Java: two threads, a schedule, a queue of reports.
 *
 *   create ─► new ─start─► running ⇄ paused ─stop─► stopped ─► destroy        (lifecycle.h)
 *
 * The sampler thread ticks every interval, with a jitter of up to a half, and never waits for
 * output. The report thread passes profiles to the outputer. If a report is due while
 * SMP_MAX_QUEUED_SNAPSHOTS wait, the interval continues into the next report (counted as merged),
 * so a slow outputer costs reports but no samples.
 *
 * Owns     everything below it. Borrows the self pointers of outputer and vm until destroy.
 * Threads  any. Functions that wait for the sampler thread or the report thread return SMP_ESELF
 *          if one of these calls them.
 * Errors   as listed. If start fails, no thread is left running.
 * Cost     start: two threads. Each call: one mutex.
 */
#ifndef SMP_ENGINE_SESSION_SESSION_H
#define SMP_ENGINE_SESSION_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/jvm.h"
#include "engine/session/interval_queue.h"
#include "engine/session/lifecycle.h"
#include "engine/session/reporter.h"
#include "engine/session/sampler.h"
#include "engine/session/ticker.h"
#include "export/report.h"
#include "model/options.h"

struct smp_session;

struct smp_session_config {
    struct smp_jvm vm;
    struct smp_attach attach;
    struct smp_outputer outputer;
};

struct smp_statistics {
    struct smp_ticker_figures ticker;
    enum smp_state state;
    uint64_t reports_written;
    uint64_t reports_waiting; /* waiting for the outputer; while stop waits, with the last one */
    unsigned reports_queued;  /* without the one that is being written */
    struct smp_interval_queue_figures intervals;
    uint64_t memory_used_bytes;
    uint64_t memory_peak_bytes;
    uint64_t memory_limit_bytes;
    size_t refused_allocations; /* refused by the memory limit */
    int64_t own_cpu_ns;         /* CPU time of all internal threads since start */
};

/* Copies options. SMP_ENOMEM, SMP_EQUOTA. */
SMP_CHECKED enum smp_status smp_session_create(const struct smp_session_config *config,
                                               const struct smp_options *options,
                                               struct smp_session **out);
/* Stops a running session first, without a last report. session may be NULL. Must not be called on
 * the session's threads. */
void smp_session_destroy(struct smp_session *session);

/*
 * Returns after the first tick, so that everything after start is sampled. SMP_ETHREAD,
 * SMP_ENOMEM, SMP_EQUOTA, SMP_EVM; SMP_ESTATE if the session is not new.
 */
SMP_CHECKED enum smp_status smp_session_start(struct smp_session *session);
/*
 * Polls every thread a last time, makes a last report, and ends both threads. Returns when that
 * report is written or has failed. SMP_ENOMEM, SMP_EQUOTA: the session is stopped, but there was
 * no memory for the last report. A second stop waits for the first and returns SMP_OK. Does
 * nothing if the session was never started.
 */
SMP_CHECKED enum smp_status smp_session_stop(struct smp_session *session);

/*
 * Copies options, which take effect before the next tick and before the caller's next request.
 * Does not wait for that, so the session's own threads may call it. If there are several calls
 * before a tick, the last one wins. SMP_ESTATE, with message: a fixed option would change.
 * SMP_ENOMEM, SMP_EQUOTA, SMP_ESTOPPED: the options do not change. message may be NULL.
 */
SMP_CHECKED enum smp_status smp_session_configure(struct smp_session *session,
                                                  const struct smp_options *options,
                                                  char message[SMP_OPTIONS_MESSAGE_BYTES]);
/* Takes ownership of the filter, even on failure. only: samples no other threads. */
SMP_CHECKED enum smp_status smp_session_select(struct smp_session *session,
                                               struct smp_thread_filter thread_filter, bool only);

/* Resets the counted calls of the running interval and their times. Threads inside of a root are
 * still counted. Does nothing before start. */
SMP_CHECKED enum smp_status smp_session_reset_counts(struct smp_session *session);
/* Polls every thread a last time. Then no time is sampled until resume; data is kept. */
SMP_CHECKED enum smp_status smp_session_pause(struct smp_session *session);
SMP_CHECKED enum smp_status smp_session_resume(struct smp_session *session);

/*
 * Ticks (unless paused), ends the interval, and returns when its report is written. SMP_EIO: the
 * outputer has failed. SMP_ENOMEM, SMP_EQUOTA: try later, nothing is lost. SMP_ESTATE before
 * start, SMP_ESTOPPED after stop.
 */
SMP_CHECKED enum smp_status smp_session_report(struct smp_session *session);
/* Polls all threads once, which counts as one interval, then as report. SMP_ESTATE while
 * sampling. */
SMP_CHECKED enum smp_status smp_session_sample_once(struct smp_session *session);

/*
 * Opens a reader, whose first interval begins now, or at start. Readers affect neither each other
 * nor the reports. Destroying the session closes them. SMP_EQUOTA: SMP_MAX_READERS are open, or no
 * memory for a new interval; SMP_ENOMEM; SMP_ESTOPPED.
 */
SMP_CHECKED enum smp_status smp_session_open_reader(struct smp_session *session, unsigned *reader);
void smp_session_close_reader(struct smp_session *session, unsigned reader);
/*
 * Ticks (unless paused), ends the interval, and takes all intervals that the reader has not taken.
 * The caller must release *out, which may outlive the session. If memory is short, *out may be
 * only the older part, and the next call returns the rest. After stop: the remaining intervals,
 * then SMP_ESTOPPED. SMP_ESTATE: not started. SMP_EINVAL: no such reader. SMP_ENOMEM, SMP_EQUOTA:
 * nothing is lost.
 */
SMP_CHECKED enum smp_status smp_session_take_interval(struct smp_session *session, unsigned reader,
                                                      struct smp_profile **out);
/*
 * Keeps windows, which show the last minutes, or the time since this call (or since start).
 * Reading them does not change them. They are kept until forget; a second keep returns SMP_OK.
 * Errors as for open_reader.
 */
SMP_CHECKED enum smp_status smp_session_keep_windows(struct smp_session *session);
void smp_session_forget_windows(struct smp_session *session);
/*
 * Ticks (unless paused) and ends the interval, but at most once a second and within the budget for
 * reports on demand (demand.h); otherwise the window ends where the last one did. The caller must
 * release *out, which may outlive the session. SMP_ESTATE: no windows are kept, or the session is
 * not started. SMP_ESTOPPED. SMP_ENOMEM, SMP_EQUOTA: nothing is lost.
 */
SMP_CHECKED enum smp_status smp_session_take_window(struct smp_session *session,
                                                    enum smp_window window,
                                                    struct smp_profile **out);
/* Inside a call of the outputer: returns the report's profile, which must be released. Else
 * NULL. */
struct smp_profile *smp_session_current_report(struct smp_session *session);

/* Waits for no thread of the session. */
void smp_session_get_statistics(struct smp_session *session, struct smp_statistics *out);

#endif
