/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - a running sampler: its two threads, its schedule, its queue of reports. What Java
 * holds.
 *
 *   new ─start─► running ⇄ paused ─stop─► stopped ─destroy─►
 *
 * The sampler thread ticks every interval, jittered by up to 10 % around the mean, never waits for
 * output and does none. The reporter thread turns snapshots into calls of the outputer. A report that
 * is due while SMP_MAX_QUEUED_SNAPSHOTS are waiting is not cut off: the open interval simply goes
 * on into the next one (counted as merged), so a slow outputer costs reports, never samples.
 *
 * Owns     everything below it; adopts the outputer's and the vm's self pointers only as long as the
 *          session lives.
 * Threads  every function from any thread. None waits while holding a lock. One that would wait for
 *          the sampler or the reporter returns SMP_ESELF when it is called from one of the two.
 * Errors   as listed. Nothing is started where start fails.
 * Cost     start: two threads. Each call: one mutex.
 */
#ifndef SMP_ENGINE_SESSION_SESSION_H
#define SMP_ENGINE_SESSION_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/jvm.h"
#include "engine/session/reporter.h"
#include "engine/session/sampler.h"
#include "export/outputer.h"
#include "model/options.h"

struct smp_session;

struct smp_session_config {
    struct smp_jvm vm;
    struct smp_attach attach;
    struct smp_outputer outputer;
};

struct smp_statistics {
    struct smp_sampler_stats sampler;
    const char *engine;
    uint64_t reports_written;
    uint64_t memory_used_bytes;
    uint64_t memory_peak_bytes;
    uint64_t memory_limit_bytes;
    int64_t own_cpu_ns; /* of both threads since start */
    int64_t elapsed_ns; /* since start, without pauses */
};

/* Copies options. SMP_ENOMEM, SMP_EQUOTA. */
SMP_CHECKED enum smp_status smp_session_create(const struct smp_session_config *config,
                                               const struct smp_options *options,
                                               struct smp_session **out);
/* Stops it first where needed, without a last report. NULL is fine. Never from the session's own
 * threads. */
void smp_session_destroy(struct smp_session *session);

/*
 * Returns when the sampler thread has taken its first look, so that all that happens after start is
 * credited. SMP_ETHREAD, SMP_ENOMEM, SMP_EQUOTA, SMP_EVM; SMP_ESTATE when not new.
 */
SMP_CHECKED enum smp_status smp_session_start(struct smp_session *session);
/*
 * A last look at every thread, a last report, and both threads end. Returns when that report is
 * written, or has failed. SMP_ENOMEM, SMP_EQUOTA: all is stopped, but there was no memory for the
 * last report. A second stop waits for the first and is SMP_OK. On a session never started: SMP_OK,
 * nothing happens.
 */
SMP_CHECKED enum smp_status smp_session_stop(struct smp_session *session);

/* Copies options, which take effect at the next tick. SMP_ESTATE, with message: a fixed one would
 * change. message may be NULL. */
SMP_CHECKED enum smp_status smp_session_configure(struct smp_session *session,
                                                  const struct smp_options *options,
                                                  char message[SMP_OPTIONS_MESSAGE_BYTES]);
/* Adopts selection, also on failure. */
SMP_CHECKED enum smp_status smp_session_select(struct smp_session *session,
                                               struct smp_thread_filter thread_filter, bool only);

/* Takes a last look, then time passes uncredited until resume. Twice is fine. Data is kept. */
SMP_CHECKED enum smp_status smp_session_pause(struct smp_session *session);
SMP_CHECKED enum smp_status smp_session_resume(struct smp_session *session);

/*
 * Takes a look (unless paused), ends the interval, returns when its report is written.
 * SMP_EIO when the outputer failed; SMP_ENOMEM, SMP_EQUOTA: not now, and nothing is lost; SMP_ESTATE
 * before start, SMP_ESTOPPED after stop.
 */
SMP_CHECKED enum smp_status smp_session_report(struct smp_session *session);
/* Paused or inactive only, else SMP_ESTATE: one look credited with one interval, then as report. */
SMP_CHECKED enum smp_status smp_session_sample_once(struct smp_session *session);

/*
 * A reader of windows with its own cursor: its first window begins now, or at start. Taking one
 * never resets or delays another's, nor the reports. It is closed with the session.
 * SMP_EQUOTA: SMP_MAX_CONSUMERS are open, or no memory for a new interval; SMP_ENOMEM;
 * SMP_ESTOPPED.
 */
SMP_CHECKED enum smp_status smp_session_open_reader(struct smp_session *session, unsigned *reader);
void smp_session_close_reader(struct smp_session *session, unsigned reader);
/*
 * Takes a look (unless paused), ends the interval and gives everything since the consumer's last
 * window: *out is held by the caller and may outlive the session. Where memory is short it may be
 * only the older part; the rest is the next window. After stop: what is left; then SMP_ESTOPPED.
 * SMP_ESTATE: not started. SMP_EINVAL: no such consumer. SMP_ENOMEM, SMP_EQUOTA: nothing is lost.
 */
SMP_CHECKED enum smp_status smp_session_take_interval(struct smp_session *session, unsigned reader,
                                                      struct smp_profile **out);
/* From within a call of the outputer: what is being reported, held for the caller. Else NULL. */
struct smp_profile *smp_session_current_report(struct smp_session *session);

void smp_session_get_statistics(struct smp_session *session, struct smp_statistics *out);

#endif
