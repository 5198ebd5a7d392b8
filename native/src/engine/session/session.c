/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/session/session.h"

#include <stdio.h>

#include "engine/session/interval_queue.h"
#include "engine/session/lifecycle.h"
#include "engine/session/ticker.h"

struct smp_session {
    struct smp_quota *quota; /* also referenced by profiles, which may outlive the session */
    struct smp_lifecycle lifecycle;
    struct smp_log *log;
    struct smp_interval_queue *intervals;
    struct smp_reporter *reporter;
    struct smp_ticker *ticker;
    struct smp_options fixed; /* options of create; only the fixed ones are used */
};

/* Returns whether the caller is a thread of the session, which must not wait for itself. */
static bool is_own_thread(struct smp_session *session)
{
    return smp_ticker_is_caller(session->ticker) || smp_reporter_is_caller(session->reporter);
}

/* --- create, destroy --- */

static void free_parts(struct smp_session *session)
{
    smp_ticker_destroy(session->ticker);
    smp_reporter_destroy(session->reporter);
    smp_interval_queue_destroy(session->intervals);
    smp_log_destroy(session->log);
}

static enum smp_status create_session_parts(struct smp_session *session,
                                            const struct smp_session_config *config,
                                            const struct smp_options *options)
{
    struct smp_quota *quota = session->quota;
    enum smp_status status = smp_log_create(quota, &session->log);

    if (status != SMP_OK)
        return status;
    status = smp_interval_queue_create(quota, &session->intervals);
    if (status != SMP_OK)
        return status;
    status = smp_reporter_create(quota, session->log, session->intervals, &config->attach,
                                 &config->outputer, &session->reporter);
    if (status != SMP_OK)
        return status;
    const struct smp_ticker_setup setup = {
        .quota = quota,
        .log = session->log,
        .lifecycle = &session->lifecycle,
        .vm = &config->vm,
        .attach = &config->attach,
        .intervals = session->intervals,
        .reporter = session->reporter,
        .options = options,
    };
    return smp_ticker_create(&setup, &session->ticker);
}

enum smp_status smp_session_create(const struct smp_session_config *config,
                                   const struct smp_options *options, struct smp_session **out)
{
    enum smp_status status = SMP_ENOMEM;
    /* Not charged to the quota, which does not exist yet. */
    struct smp_session *session = smp_alloc(NULL, sizeof(*session));

    if (session == NULL)
        return SMP_ENOMEM;
    session->quota = smp_quota_create((size_t)options->memory_limit_bytes);
    if (session->quota == NULL)
        goto no_lifecycle;
    status = smp_options_copy(NULL, options, &session->fixed);
    if (status != SMP_OK)
        goto no_lifecycle;
    status = smp_lifecycle_init(&session->lifecycle);
    if (status != SMP_OK)
        goto no_lifecycle;
    status = create_session_parts(session, config, options);
    if (status != SMP_OK)
        goto no_parts;
    *out = session;
    return SMP_OK;
no_parts:
    free_parts(session);
    smp_lifecycle_fini(&session->lifecycle);
no_lifecycle:
    smp_options_fini(&session->fixed);
    smp_quota_release(session->quota);
    smp_free(NULL, session);
    return status;
}

/* --- start, stop --- */

static enum smp_status start_threads(struct smp_session *session)
{
    enum smp_status status = smp_reporter_start(session->reporter);

    if (status != SMP_OK)
        return status;
    status = smp_ticker_start(session->ticker);
    if (status != SMP_OK)
        smp_reporter_finish(session->reporter, false);
    return status;
}

enum smp_status smp_session_start(struct smp_session *session)
{
    enum smp_status status = smp_lifecycle_begin_start(&session->lifecycle);

    if (status != SMP_OK)
        return status;
    status = start_threads(session);
    smp_lifecycle_end_start(&session->lifecycle, status == SMP_OK, smp_ticker_do, session->ticker);
    return status;
}

static enum smp_status stop_session(struct smp_session *session, bool wants_last_report)
{
    enum smp_status status;

    if (!smp_lifecycle_begin_stop(&session->lifecycle, wants_last_report))
        return SMP_OK;
    status = smp_ticker_join(session->ticker);
    smp_reporter_finish(session->reporter, wants_last_report);
    smp_lifecycle_end_stop(&session->lifecycle);
    return status;
}

enum smp_status smp_session_stop(struct smp_session *session)
{
    if (is_own_thread(session))
        return SMP_ESELF;
    return stop_session(session, true);
}

void smp_session_destroy(struct smp_session *session)
{
    if (session == NULL)
        return;
    (void)stop_session(session, false);
    free_parts(session);
    smp_lifecycle_fini(&session->lifecycle);
    smp_options_fini(&session->fixed);
    smp_quota_release(session->quota);
    smp_free(NULL, session);
}

/* --- requests --- */

static enum smp_status do_request(struct smp_session *session, struct smp_request *request)
{
    if (is_own_thread(session))
        return SMP_ESELF;
    return smp_lifecycle_request(&session->lifecycle, request, smp_ticker_do, session->ticker);
}

static void write_fixed_message(char message[SMP_OPTIONS_MESSAGE_BYTES], const char *option)
{
    if (message != NULL)
        (void)snprintf(message, SMP_OPTIONS_MESSAGE_BYTES,
                       "%s cannot be changed while the sampler runs", option);
}

enum smp_status smp_session_configure(struct smp_session *session,
                                      const struct smp_options *options,
                                      char message[SMP_OPTIONS_MESSAGE_BYTES])
{
    const char *const difference = smp_options_fixed_difference(&session->fixed, options);
    struct smp_prepared_options *prepared = NULL;
    enum smp_status status;

    if (difference != NULL) {
        write_fixed_message(message, difference);
        return SMP_ESTATE;
    }
    status = smp_prepared_options_create(session->quota, options, &prepared);
    if (status == SMP_OK)
        status = smp_lifecycle_put_options(&session->lifecycle, prepared, &prepared);
    smp_prepared_options_destroy(prepared);
    return status;
}

enum smp_status smp_session_select(struct smp_session *session,
                                   struct smp_thread_filter thread_filter, bool only)
{
    struct smp_request request = {
        .kind = SMP_REQUEST_SET_FILTER,
        .thread_filter = thread_filter,
        .only = only,
    };
    const enum smp_status status = do_request(session, &request);

    if (status != SMP_OK && thread_filter.destroy != NULL)
        thread_filter.destroy(thread_filter.self);
    return status;
}

enum smp_status smp_session_pause(struct smp_session *session)
{
    struct smp_request request = { .kind = SMP_REQUEST_PAUSE };

    return do_request(session, &request);
}

enum smp_status smp_session_resume(struct smp_session *session)
{
    struct smp_request request = { .kind = SMP_REQUEST_RESUME };

    return do_request(session, &request);
}

enum smp_status smp_session_reset_counts(struct smp_session *session)
{
    struct smp_request request = { .kind = SMP_REQUEST_RESET_COUNTS };

    return do_request(session, &request);
}

/*
 * Requests a report and waits for it. The sampler thread never waits for output: if too many
 * reports wait, or use up the memory, the request is repeated after a report has been released.
 */
static enum smp_status request_report(struct smp_session *session, enum smp_request_kind kind)
{
    struct smp_report_ticket ticket = { 0 };
    struct smp_request request = { .kind = kind, .ticket = &ticket };
    enum smp_status status;
    struct smp_reporter_stats reporter;
    size_t before;
    bool again;

    do {
        smp_reporter_get_stats(session->reporter, &reporter);
        before = smp_quota_refusals(session->quota);
        status = do_request(session, &request);
        again = false;
        if (status == SMP_ENOMEM || status == SMP_EQUOTA)
            again = smp_reporter_wait_for_release(session->reporter, reporter.released) ||
                    (smp_quota_refusals(session->quota) != before &&
                     smp_interval_queue_evict(session->intervals));
        if (!request.is_full)
            request.kind = SMP_REQUEST_REPORT; /* all threads have been polled */
    } while (again);
    return status == SMP_OK ? smp_reporter_wait(session->reporter, &ticket) : status;
}

enum smp_status smp_session_report(struct smp_session *session)
{
    return request_report(session, SMP_REQUEST_REPORT);
}

enum smp_status smp_session_sample_once(struct smp_session *session)
{
    return request_report(session, SMP_REQUEST_SAMPLE_ONCE);
}

/* --- readers --- */

/*
 * Ends the running interval without waiting for output. If memory has run out, merges waiting
 * intervals, then drops them, oldest first.
 */
static enum smp_status request_interval(struct smp_session *session, struct smp_request *request)
{
    enum smp_status status;
    bool again;

    if (is_own_thread(session))
        return SMP_ESELF;
    do {
        const size_t before = smp_quota_refusals(session->quota);
        smp_interval_queue_compact(session->intervals);
        status = do_request(session, request);
        again = false;
        /* Only if our limit has refused. If the system has, it may have memory next time. */
        if ((status == SMP_ENOMEM || status == SMP_EQUOTA) &&
            (request->is_full || smp_quota_refusals(session->quota) != before))
            again = smp_interval_queue_evict(session->intervals);
    } while (again);
    return status;
}

enum smp_status smp_session_open_reader(struct smp_session *session, unsigned *reader)
{
    struct smp_request request = { .kind = SMP_REQUEST_OPEN_READER };
    const enum smp_status status = request_interval(session, &request);

    if (status == SMP_OK)
        *reader = request.reader;
    return status;
}

void smp_session_close_reader(struct smp_session *session, unsigned reader)
{
    smp_interval_queue_close(session->intervals, reader);
}

enum smp_status smp_session_take_interval(struct smp_session *session, unsigned reader,
                                          struct smp_profile **out)
{
    struct smp_request request = { .kind = SMP_REQUEST_END_INTERVAL };
    const enum smp_status ended = request_interval(session, &request);
    enum smp_status taken;

    if (ended == SMP_ESELF)
        return ended;
    /* Even after a failure, because earlier intervals may wait. */
    taken = smp_interval_queue_take(session->intervals, reader, SMP_INTERVAL_QUEUE_END, out);
    return taken == SMP_ESTATE && ended != SMP_OK ? ended : taken;
}

enum smp_status smp_session_keep_windows(struct smp_session *session)
{
    struct smp_request request = { .kind = SMP_REQUEST_KEEP_WINDOWS };

    return request_interval(session, &request);
}

void smp_session_forget_windows(struct smp_session *session)
{
    smp_interval_queue_forget_windows(session->intervals);
}

/* Evicts nothing, because reading windows must not cost other readers their intervals. */
enum smp_status smp_session_take_window(struct smp_session *session, enum smp_window window,
                                        struct smp_profile **out)
{
    struct smp_request request = { .kind = SMP_REQUEST_END_WINDOW };
    enum smp_status ended;
    enum smp_status taken;

    do {
        smp_interval_queue_compact(session->intervals);
        ended = do_request(session, &request);
        if (ended == SMP_ESELF || ended == SMP_ESTATE || ended == SMP_ESTOPPED)
            return ended;
        taken = smp_interval_queue_take_window(session->intervals, window, out);
        request.is_first = !request.is_first;
    } while (taken == SMP_ESTATE && ended == SMP_OK && request.is_first);
    return taken == SMP_ESTATE && ended != SMP_OK ? ended : taken;
}

struct smp_profile *smp_session_current_report(struct smp_session *session)
{
    return smp_reporter_current(session->reporter);
}

/* --- statistics --- */

static void count_late(struct smp_sampler_figures *figures, enum smp_counter counter,
                       uint64_t count)
{
    figures->total_counters[counter] += count;
    figures->interval_counters[counter] += count;
}

/* Adds events that the sampler has not counted yet; after stop it never will. */
static void count_uncounted(const struct smp_reporter_stats *now, struct smp_ticker_figures *ticker)
{
    const struct smp_reporter_stats *counted = &ticker->counted;

    count_late(&ticker->sampler, SMP_COUNTER_FAILED_REPORTS, now->failed - counted->failed);
    count_late(&ticker->sampler, SMP_COUNTER_CUT_RECORDS, now->cut - counted->cut);
    count_late(&ticker->sampler, SMP_COUNTER_DROPPED_INTERVALS, now->dropped - counted->dropped);
    count_late(&ticker->sampler, SMP_COUNTER_COARSE_WINDOWS, now->coarse - counted->coarse);
}

void smp_session_get_statistics(struct smp_session *session, struct smp_statistics *out)
{
    struct smp_reporter_stats reporter;

    smp_ticker_get_figures(session->ticker, &out->ticker);
    smp_reporter_get_stats(session->reporter, &reporter); /* second, so that it is not older */
    count_uncounted(&reporter, &out->ticker);
    out->state = smp_lifecycle_state(&session->lifecycle);
    out->reports_written = reporter.written;
    out->reports_queued = reporter.queued;
    out->reports_waiting = reporter.queued + (reporter.is_writing ? 1 : 0);
    /* While stop waits for a name callback, the last report is still to come. */
    if (out->state == SMP_STOPPING && !reporter.is_ending)
        out->reports_waiting++;
    smp_interval_queue_get_figures(session->intervals, &out->intervals);
    out->memory_used_bytes = smp_quota_used(session->quota);
    out->memory_peak_bytes = atomic_load_explicit(&session->quota->peak, memory_order_relaxed);
    out->memory_limit_bytes = session->quota->limit_bytes;
    out->refused_allocations = smp_quota_refusals(session->quota);
    out->own_cpu_ns = out->ticker.own_cpu_ns + reporter.own_cpu_ns;
}
