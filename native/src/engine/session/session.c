/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/session/session.h"

#include <pthread.h>
#include <stdio.h>

#include "engine/session/interval_queue.h"
#include "engine/session/ticker.h"
#include "engine/sources/walks.h"

enum phase { NEW, STARTING, RUNNING, STOPPING, STOPPED };

struct smp_session {
    struct smp_quota *quota; /* held, as by the snapshots that outlive the session */
    struct smp_log *log;
    struct smp_interval_queue *intervals;
    struct smp_reporter *reporter;
    struct smp_ticker *ticker;
    const char *engine;
    struct smp_options fixed; /* as created: what of it is fixed stays so. Without its text */
    pthread_mutex_t mutex;    /* guards all below */
    pthread_cond_t changed;   /* the phase */
    enum phase phase;
};

static void lock(struct smp_session *session)
{
    (void)pthread_mutex_lock(&session->mutex);
}

static void unlock(struct smp_session *session)
{
    (void)pthread_mutex_unlock(&session->mutex);
}

static void set_phase(struct smp_session *session, enum phase phase)
{
    lock(session);
    session->phase = phase;
    (void)pthread_cond_broadcast(&session->changed);
    unlock(session);
}

/* Who would wait for a thread of ours on that thread would wait forever. */
static bool is_own_thread(struct smp_session *session)
{
    return smp_ticker_is_caller(session->ticker) || smp_reporter_is_caller(session->reporter);
}

/* --- create, destroy --- */

static enum smp_status init_locks(struct smp_session *session)
{
    if (pthread_mutex_init(&session->mutex, NULL) != 0)
        return SMP_ENOMEM;
    if (pthread_cond_init(&session->changed, NULL) != 0) {
        (void)pthread_mutex_destroy(&session->mutex);
        return SMP_ENOMEM;
    }
    return SMP_OK;
}

static void free_parts(struct smp_session *session)
{
    smp_ticker_destroy(session->ticker);
    smp_reporter_destroy(session->reporter);
    smp_interval_queue_destroy(session->intervals);
    smp_log_destroy(session->log);
}

/* options: adopted on success. */
static enum smp_status create_parts(struct smp_session *session,
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
    return smp_ticker_create(quota, session->log, &config->vm, &config->attach, options,
                             session->intervals, session->reporter, &session->ticker);
}

enum smp_status smp_session_create(const struct smp_session_config *config, const char *options,
                                   size_t options_length, char message[SMP_OPTIONS_MESSAGE_BYTES],
                                   struct smp_session **out)
{
    struct smp_options parsed = { 0 };
    enum smp_status status = SMP_ENOMEM;
    /* Itself it is charged to the process only: there is no quota before it. */
    struct smp_session *session = smp_alloc(NULL, sizeof(*session));

    if (session == NULL)
        return SMP_ENOMEM;
    /* The limit is not known before the options are. */
    session->quota = smp_quota_create(SMP_OPTIONS_MAX_BYTES);
    if (session->quota == NULL)
        goto no_options;
    status = smp_options_parse(session->quota, options, options_length, &parsed, message);
    if (status != SMP_OK)
        goto no_options;
    session->quota->limit_bytes = (size_t)parsed.memory_limit_bytes;
    session->fixed = parsed;
    session->fixed.monitored_packages = NULL;
    session->engine =
        smp_walks_uses_async(&config->vm, &parsed) ? config->vm.async.name : config->vm.walker.name;
    status = init_locks(session);
    if (status != SMP_OK)
        goto no_locks;
    status = create_parts(session, config, &parsed);
    if (status != SMP_OK)
        goto no_parts;
    *out = session;
    return SMP_OK;
no_parts:
    free_parts(session);
    (void)pthread_cond_destroy(&session->changed);
    (void)pthread_mutex_destroy(&session->mutex);
no_locks:
    smp_options_fini(&parsed);
no_options:
    smp_quota_release(session->quota);
    smp_free(NULL, session);
    return status;
}

/* --- start, stop --- */

enum smp_status smp_session_start(struct smp_session *session)
{
    enum smp_status status = SMP_OK;

    lock(session);
    if (session->phase != NEW)
        status = SMP_ESTATE;
    else
        session->phase = STARTING;
    unlock(session);
    if (status != SMP_OK)
        return status;
    status = smp_reporter_start(session->reporter);
    if (status == SMP_OK) {
        status = smp_ticker_start(session->ticker);
        if (status != SMP_OK)
            smp_reporter_finish(session->reporter, false);
    }
    set_phase(session, status == SMP_OK ? RUNNING : NEW);
    return status;
}

/* Returns true to the one who has to stop it; to all others when that is done. */
static bool begin_stop(struct smp_session *session)
{
    bool is_mine;

    lock(session);
    while (session->phase == STARTING || session->phase == STOPPING)
        (void)pthread_cond_wait(&session->changed, &session->mutex);
    is_mine = session->phase == RUNNING;
    if (is_mine)
        session->phase = STOPPING;
    unlock(session);
    return is_mine;
}

static enum smp_status stop(struct smp_session *session, bool last_report)
{
    enum smp_status status;

    if (!begin_stop(session))
        return SMP_OK;
    status = smp_ticker_stop(session->ticker, last_report);
    smp_reporter_finish(session->reporter, last_report);
    set_phase(session, STOPPED);
    return status;
}

enum smp_status smp_session_stop(struct smp_session *session)
{
    if (is_own_thread(session))
        return SMP_ESELF;
    return stop(session, true);
}

void smp_session_destroy(struct smp_session *session)
{
    if (session == NULL)
        return;
    (void)stop(session, false);
    free_parts(session);
    (void)pthread_cond_destroy(&session->changed);
    (void)pthread_mutex_destroy(&session->mutex);
    smp_quota_release(session->quota);
    smp_free(NULL, session);
}

/* --- requests --- */

static enum smp_status ask(struct smp_session *session, struct smp_request *request)
{
    if (is_own_thread(session))
        return SMP_ESELF;
    return smp_ticker_ask(session->ticker, request);
}

static void write_message(char message[SMP_OPTIONS_MESSAGE_BYTES], const char *option)
{
    if (message != NULL)
        (void)snprintf(message, SMP_OPTIONS_MESSAGE_BYTES,
                       "%s cannot be changed while the sampler runs", option);
}

enum smp_status smp_session_configure(struct smp_session *session, const char *options,
                                      size_t length, char message[SMP_OPTIONS_MESSAGE_BYTES])
{
    struct smp_request request = { .what = SMP_ASK_CONFIGURE };
    const char *difference;
    enum smp_status status =
        smp_options_parse(session->quota, options, length, &request.options, message);

    if (status != SMP_OK)
        return status;
    difference = smp_options_fixed_difference(&session->fixed, &request.options);
    if (difference != NULL) {
        write_message(message, difference);
        status = SMP_ESTATE;
    } else {
        status = ask(session, &request);
    }
    if (status != SMP_OK)
        smp_options_fini(&request.options);
    return status;
}

enum smp_status smp_session_select(struct smp_session *session,
                                   struct smp_thread_filter thread_filter, bool only)
{
    struct smp_request request = {
        .what = SMP_ASK_SELECT,
        .thread_filter = thread_filter,
        .only = only,
    };
    const enum smp_status status = ask(session, &request);

    if (status != SMP_OK && thread_filter.destroy != NULL)
        thread_filter.destroy(thread_filter.self);
    return status;
}

enum smp_status smp_session_pause(struct smp_session *session)
{
    struct smp_request request = { .what = SMP_ASK_PAUSE };

    return ask(session, &request);
}

enum smp_status smp_session_resume(struct smp_session *session)
{
    struct smp_request request = { .what = SMP_ASK_RESUME };

    return ask(session, &request);
}

/* How often our own limit has said no. */
static size_t refused(const struct smp_session *session)
{
    return atomic_load_explicit(&session->quota->refused, memory_order_relaxed);
}

/*
 * The sampler thread never waits for the output, so where too many reports are waiting, or hold the
 * memory that a new interval needs, it is asked again after one of them has been let go of.
 */
static enum smp_status ask_for_report(struct smp_session *session, enum smp_ask what)
{
    struct smp_report_ticket ticket = { 0 };
    struct smp_request request = { .what = what, .ticket = &ticket };
    enum smp_status status;
    uint64_t released;
    size_t before;
    bool again;

    if (is_own_thread(session))
        return SMP_ESELF;
    do {
        released = smp_reporter_released(session->reporter);
        before = refused(session);
        status = smp_ticker_ask(session->ticker, &request);
        again = false;
        if (status == SMP_ENOMEM || status == SMP_EQUOTA)
            again = smp_reporter_wait_for_release(session->reporter, released) ||
                    (refused(session) != before && smp_interval_queue_evict(session->intervals));
        if (!request.is_full)
            request.what = SMP_ASK_REPORT; /* it has been looked once */
    } while (again);
    return status == SMP_OK ? smp_reporter_wait(session->reporter, &ticket) : status;
}

enum smp_status smp_session_report(struct smp_session *session)
{
    return ask_for_report(session, SMP_ASK_REPORT);
}

enum smp_status smp_session_sample_once(struct smp_session *session)
{
    return ask_for_report(session, SMP_ASK_SAMPLE_ONCE);
}

/* --- windows --- */

/*
 * Ends the running interval, waiting for no output. Where memory has run out, what is waiting in
 * the windows makes room: merged first, then dropped, oldest first.
 */
static enum smp_status ask_for_window(struct smp_session *session, struct smp_request *request)
{
    enum smp_status status;
    bool again;

    if (is_own_thread(session))
        return SMP_ESELF;
    do {
        const size_t before = refused(session);
        smp_interval_queue_compact(session->intervals);
        status = smp_ticker_ask(session->ticker, request);
        again = false;
        /* Only where it is our limit that says no: what the system refuses may be there next time.
         */
        if ((status == SMP_ENOMEM || status == SMP_EQUOTA) &&
            (request->is_full || refused(session) != before))
            again = smp_interval_queue_evict(session->intervals);
    } while (again);
    return status;
}

enum smp_status smp_session_open_reader(struct smp_session *session, unsigned *reader)
{
    struct smp_request request = { .what = SMP_ASK_OPEN };
    const enum smp_status status = ask_for_window(session, &request);

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
    struct smp_request request = { .what = SMP_ASK_WINDOW };
    const enum smp_status sealed = ask_for_window(session, &request);
    enum smp_status taken;

    if (sealed == SMP_ESELF)
        return sealed;
    /* What has been sealed before is there all the same. */
    taken = smp_interval_queue_take(session->intervals, reader, SMP_INTERVAL_QUEUE_END, out);
    return taken == SMP_ESTATE && sealed != SMP_OK ? sealed : taken;
}

struct smp_profile *smp_session_current_report(struct smp_session *session)
{
    return smp_reporter_current(session->reporter);
}

/* --- statistics --- */

void smp_session_get_statistics(struct smp_session *session, struct smp_statistics *out)
{
    struct smp_ticker_stats ticker;
    struct smp_reporter_stats reporter;
    uint64_t failed;
    uint64_t cut;

    smp_ticker_get_stats(session->ticker, &ticker);
    smp_reporter_get_stats(session->reporter, &reporter); /* second: it is the newer one */
    *out = (struct smp_statistics){
        .sampler = ticker.sampler,
        .engine = session->engine,
        .reports_written = reporter.written,
        .memory_used_bytes = smp_quota_used(session->quota),
        .memory_peak_bytes = atomic_load_explicit(&session->quota->peak, memory_order_relaxed),
        .memory_limit_bytes = session->quota->limit_bytes,
        .own_cpu_ns = ticker.own_cpu_ns + reporter.own_cpu_ns,
        .elapsed_ns = ticker.elapsed_ns,
    };
    /* What the sampler has not counted yet; after stop it never will. */
    failed = reporter.failed - ticker.counted.failed;
    cut = reporter.cut - ticker.counted.cut;
    out->sampler.total_counters[SMP_COUNTER_FAILED_REPORTS] += failed;
    out->sampler.interval_counters[SMP_COUNTER_FAILED_REPORTS] += failed;
    out->sampler.total_counters[SMP_COUNTER_CUT_REPORTS] += cut;
    out->sampler.interval_counters[SMP_COUNTER_CUT_REPORTS] += cut;
}
