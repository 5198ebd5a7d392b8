/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/session/ticker.h"

#include <pthread.h>

#include "base/clock.h"
#include "base/event.h"
#include "engine/session/schedule.h"
#include "engine/session/worker.h"

#define NS_PER_SECOND 1000000000LL
#define NS_PER_MS 1000000LL
#define MAX_WAIT_NS (3600 * NS_PER_SECOND) /* wakes up in vain once an hour */

enum phase { NEW, RUNNING, STOPPING, STOPPED };

struct smp_ticker {
    /* Constant. */
    struct smp_quota *quota;
    struct smp_log *log;
    struct smp_interval_queue *intervals;
    struct smp_reporter *reporter;
    struct smp_worker worker;
    struct smp_event event;           /* of the sampler thread */
    struct smp_start_listener listen; /* calls it; the thread source's while it rests */

    /* The sampler thread's; before start, of whoever holds the mutex. */
    struct smp_sampler *sampler; /* NULL after the last look */
    struct smp_options options;
    struct smp_schedule schedule;
    bool is_paused;
    bool is_sampling;                  /* active and not paused, and started */
    uint64_t rest_ticks;               /* the next ones, which are left out */
    bool has_rested;                   /* since the last look */
    int64_t looked_ns;                 /* the last look while sampling */
    int64_t elapsed_ns;                /* credited since start */
    int64_t sealed_cpu_ns;             /* of both threads, at the last seal */
    struct smp_reporter_stats counted; /* the reporter's figures that the sampler has counted */
    uint64_t counted_drops;            /* of the windows', likewise */
    enum smp_status last_status;       /* of the last report */

    pthread_mutex_t mutex; /* guards all below */
    pthread_cond_t done;   /* for those who ask */
    enum phase phase;
    bool wants_last_report;
    struct smp_request *first;
    struct smp_request **end;
    struct smp_ticker_stats stats;
};

static void lock(struct smp_ticker *ticker)
{
    (void)pthread_mutex_lock(&ticker->mutex);
}

static void unlock(struct smp_ticker *ticker)
{
    (void)pthread_mutex_unlock(&ticker->mutex);
}

static int64_t interval_ns(const struct smp_ticker *ticker)
{
    return ticker->options.sampling_frequency_millis * NS_PER_MS;
}

static int64_t period_ns(const struct smp_ticker *ticker)
{
    return ticker->options.report_frequency_seconds * NS_PER_SECOND;
}

/* --- looks --- */

static void publish(struct smp_ticker *ticker)
{
    struct smp_ticker_stats stats = {
        .counted = ticker->counted,
        .own_cpu_ns = smp_clock_own_cpu_ns(),
        .elapsed_ns = ticker->elapsed_ns,
    };

    smp_sampler_get_stats(ticker->sampler, &stats.sampler);
    lock(ticker);
    ticker->stats = stats;
    unlock(ticker);
}

/* What the reporter met with is told with the interval in which it is noticed. */
static void count_reports(struct smp_ticker *ticker)
{
    const uint64_t drops = smp_interval_queue_dropped(ticker->intervals);
    struct smp_reporter_stats now;

    smp_reporter_get_stats(ticker->reporter, &now);
    smp_sampler_count(ticker->sampler, SMP_COUNTER_FAILED_REPORTS,
                      now.failed - ticker->counted.failed);
    smp_sampler_count(ticker->sampler, SMP_COUNTER_CUT_RECORDS, now.cut - ticker->counted.cut);
    ticker->counted = now;
    smp_sampler_count(ticker->sampler, SMP_COUNTER_DROPPED_INTERVALS,
                      drops - ticker->counted_drops);
    ticker->counted_drops = drops;
}

static void after_look(struct smp_ticker *ticker)
{
    count_reports(ticker);
    if (smp_sampler_take_news(ticker->sampler))
        smp_reporter_wake(ticker->reporter);
    publish(ticker);
}

static void poll(struct smp_ticker *ticker, int64_t now_ns, bool late)
{
    smp_sampler_tick(ticker->sampler, now_ns, late);
    ticker->elapsed_ns += now_ns - ticker->looked_ns;
    ticker->looked_ns = now_ns;
    ticker->has_rested = false;
    after_look(ticker);
}

/* The time of a rest belongs to the options and the threads that were chosen in it. */
static void catch_up(struct smp_ticker *ticker)
{
    if (ticker->is_sampling && ticker->has_rested)
        poll(ticker, smp_clock_ns(), false);
}

/* Brings what is done in line with what is wanted. */
static void start_or_pause(struct smp_ticker *ticker)
{
    const bool wanted = ticker->options.active && !ticker->is_paused;
    const int64_t now_ns = smp_clock_ns();

    if (wanted == ticker->is_sampling)
        return;
    ticker->is_sampling = wanted;
    if (wanted) {
        smp_sampler_mark(ticker->sampler, now_ns, smp_clock_wall_ms());
        ticker->looked_ns = now_ns;
        poll(ticker, now_ns, false);
        smp_schedule_restart_ticks(&ticker->schedule, now_ns);
    } else {
        smp_sampler_poll_all(ticker->sampler);
        poll(ticker, now_ns, false);
        smp_sampler_pause(ticker->sampler, now_ns);
        publish(ticker); /* what was kept for idle threads has been credited */
    }
}

/* --- reports --- */

static int64_t take_cpu(struct smp_ticker *ticker)
{
    const int64_t cpu_ns = smp_clock_own_cpu_ns() + ticker->counted.own_cpu_ns;
    const int64_t more_ns = cpu_ns - ticker->sealed_cpu_ns;

    ticker->sealed_cpu_ns = cpu_ns;
    return more_ns > 0 ? more_ns : 0;
}

static void complete(struct smp_ticker *ticker, struct smp_profile *profile)
{
    profile->own_cpu_ns = take_cpu(ticker);
    profile->period_ns = interval_ns(ticker);
    profile->is_cpu_clock = ticker->options.clock == SMP_CLOCK_CPU;
}

static bool has_room(struct smp_ticker *ticker)
{
    return smp_reporter_has_room(ticker->reporter) &&
           smp_interval_queue_has_room(ticker->intervals);
}

static void hand_on(struct smp_ticker *ticker, struct smp_profile *profile,
                    struct smp_report_ticket *ticket)
{
    const struct smp_report_style style = {
        .order = ticker->options.report_order,
        .zero_time_packages = ticker->options.report_zero_time_packages,
        .cpu_time = ticker->options.report_cpu_time,
        .percent = ticker->options.report_percent,
    };

    smp_reporter_offer(ticker->reporter, profile, style, ticket);
}

/* Ends the interval; *out is not yet with anybody. */
static enum smp_status end_interval(struct smp_ticker *ticker, int64_t now_ns,
                                    struct smp_profile **out)
{
    const enum smp_status status =
        smp_sampler_seal(ticker->sampler, now_ns, smp_clock_wall_ms(), out);

    if (status == SMP_OK)
        complete(ticker, *out);
    return status;
}

static enum smp_status seal(struct smp_ticker *ticker, int64_t now_ns,
                            struct smp_report_ticket *ticket)
{
    struct smp_profile *profile = NULL;
    const enum smp_status status = end_interval(ticker, now_ns, &profile);

    if (status == SMP_OK) {
        hand_on(ticker, profile, ticket);
        publish(ticker);
    }
    return status;
}

static void merge(struct smp_ticker *ticker)
{
    smp_sampler_count(ticker->sampler, SMP_COUNTER_MERGED_REPORTS, 1);
    publish(ticker);
}

static size_t refused(const struct smp_ticker *ticker)
{
    return atomic_load_explicit(&ticker->quota->refused, memory_order_relaxed);
}

static void periodic_report(struct smp_ticker *ticker, int64_t now_ns)
{
    const size_t refused_before = refused(ticker);
    enum smp_status status;

    smp_schedule_begin_report(&ticker->schedule, now_ns);
    if (!has_room(ticker)) {
        merge(ticker);
        return;
    }
    if (ticker->is_sampling)
        poll(ticker, now_ns, false);
    status = seal(ticker, now_ns, NULL);
    if (status == SMP_OK)
        return;
    smp_log_put(ticker->log, SMP_LOG_WARNING, "a report is merged with the next one: %s",
                smp_status_text(status));
    if (refused(ticker) != refused_before) /* by our limit: what waits there may be too much */
        smp_interval_queue_ask_to_evict(ticker->intervals);
    smp_reporter_wake(ticker->reporter);
    merge(ticker);
}

/* Waits for memory that a report gives back, else sheds some. False: there is none to be had. */
static bool find_memory(struct smp_ticker *ticker, uint64_t released, size_t refused_before)
{
    return smp_reporter_wait_for_release(ticker->reporter, released) ||
           (refused(ticker) != refused_before && smp_interval_queue_evict(ticker->intervals));
}

/* Waiting here is free: nothing is sampled any more. */
static void last_report(struct smp_ticker *ticker)
{
    const int64_t now_ns = smp_clock_ns();
    const int64_t wall_ms = smp_clock_wall_ms();
    struct smp_profile *profile = NULL;
    uint64_t released;
    size_t refused_before;

    if (ticker->is_sampling) {
        smp_sampler_poll_all(ticker->sampler);
        poll(ticker, now_ns, false);
    }
    do {
        released = smp_reporter_released(ticker->reporter);
        refused_before = refused(ticker);
        ticker->last_status = smp_sampler_seal_last(ticker->sampler, now_ns, wall_ms, &profile);
    } while (ticker->last_status != SMP_OK && find_memory(ticker, released, refused_before));
    if (ticker->last_status == SMP_OK) {
        complete(ticker, profile);
        hand_on(ticker, profile, NULL);
    } else {
        smp_sampler_count(ticker->sampler, SMP_COUNTER_FAILED_REPORTS, 1);
        smp_log_put(ticker->log, SMP_LOG_ERROR, "the last report could not be made: %s",
                    smp_status_text(ticker->last_status));
    }
    publish(ticker);
}

/* --- requests --- */

static enum smp_status configure(struct smp_ticker *ticker, const struct smp_options *options)
{
    const enum smp_status status = smp_sampler_set_options(ticker->sampler, options);

    if (status != SMP_OK)
        return status;
    smp_options_fini(&ticker->options);
    ticker->options = *options;
    return SMP_OK;
}

static enum smp_status report(struct smp_ticker *ticker, struct smp_request *request)
{
    const int64_t now_ns = smp_clock_ns();

    request->is_full = !has_room(ticker);
    if (request->is_full)
        return SMP_EQUOTA;
    if (request->what == SMP_ASK_SAMPLE_ONCE) {
        smp_sampler_tick_once(ticker->sampler, now_ns, interval_ns(ticker));
        ticker->elapsed_ns += interval_ns(ticker);
        after_look(ticker);
    } else if (ticker->is_sampling) {
        poll(ticker, now_ns, false);
    }
    return seal(ticker, now_ns, request->ticket);
}

/* Ends the interval for the windows only; no report waits for it. */
static enum smp_status window(struct smp_ticker *ticker, struct smp_request *request)
{
    const int64_t now_ns = smp_clock_ns();
    struct smp_profile *profile = NULL;
    enum smp_status status;

    request->is_full = !smp_interval_queue_has_room(ticker->intervals);
    if (request->is_full)
        return SMP_EQUOTA;
    if (ticker->is_sampling)
        poll(ticker, now_ns, false);
    status = end_interval(ticker, now_ns, &profile);
    if (status != SMP_OK)
        return status;
    (void)smp_interval_queue_append(ticker->intervals, profile, 0);
    publish(ticker);
    if (smp_interval_queue_is_long(ticker->intervals))
        smp_reporter_wake(ticker->reporter);
    return SMP_OK;
}

/* Opened here, so that no interval can end in between. */
static enum smp_status open_reader(struct smp_ticker *ticker, struct smp_request *request)
{
    const enum smp_status status = window(ticker, request);

    return status == SMP_OK ? smp_interval_queue_open(ticker->intervals, &request->reader) : status;
}

/* On the sampler thread, or before start. */
static enum smp_status do_request(struct smp_ticker *ticker, struct smp_request *request)
{
    switch (request->what) {
    case SMP_ASK_CONFIGURE:
        catch_up(ticker);
        return configure(ticker, &request->options);
    case SMP_ASK_SELECT:
        catch_up(ticker);
        smp_sampler_select(ticker->sampler, request->thread_filter, request->only);
        return SMP_OK;
    case SMP_ASK_PAUSE:
    case SMP_ASK_RESUME:
        ticker->is_paused = request->what == SMP_ASK_PAUSE;
        return SMP_OK;
    case SMP_ASK_SAMPLE_ONCE:
        if (ticker->is_sampling)
            return SMP_ESTATE;
        return report(ticker, request);
    case SMP_ASK_REPORT:
        return report(ticker, request);
    case SMP_ASK_OPEN:
        return open_reader(ticker, request);
    case SMP_ASK_WINDOW:
        return window(ticker, request);
    }
    return SMP_EINVAL;
}

static void answer(struct smp_ticker *ticker, struct smp_request *request, enum smp_status status)
{
    lock(ticker);
    request->status = status;
    request->is_done = true;
    (void)pthread_cond_broadcast(&ticker->done);
    unlock(ticker);
}

static void do_requests(struct smp_ticker *ticker, struct smp_request *request)
{
    while (request != NULL) {
        struct smp_request *next = request->next; /* gone once it is answered */
        const enum smp_status status = do_request(ticker, request);
        start_or_pause(ticker);
        smp_schedule_set(&ticker->schedule, interval_ns(ticker), period_ns(ticker), smp_clock_ns());
        answer(ticker, request, status);
        request = next;
    }
}

/* --- the thread --- */

/* Where nobody is due for longer than until the next tick. */
static void begin_rest(struct smp_ticker *ticker)
{
    uint64_t ticks;

    if (!ticker->is_sampling)
        return;
    ticks = smp_sampler_idle_ticks(ticker->sampler);
    if (ticks > 0 && smp_sampler_watch(ticker->sampler, &ticker->listen))
        ticker->rest_ticks = ticks;
}

static bool has_birth(struct smp_ticker *ticker)
{
    return ticker->rest_ticks != 0 && !smp_sampler_watch(ticker->sampler, &ticker->listen);
}

static void end_rest(struct smp_ticker *ticker)
{
    uint64_t left_out;

    if (ticker->rest_ticks == 0)
        return;
    left_out = smp_schedule_skip_ticks(&ticker->schedule, smp_clock_ns(), ticker->rest_ticks);
    smp_sampler_unwatch(ticker->sampler, &ticker->listen, left_out);
    ticker->has_rested = ticker->has_rested || left_out > 0;
    ticker->rest_ticks = 0;
}

static int64_t next_ns(const struct smp_ticker *ticker)
{
    struct smp_schedule after_rest = ticker->schedule;

    (void)smp_schedule_skip_ticks(&after_rest, INT64_MAX, ticker->rest_ticks);
    return smp_schedule_next_ns(&after_rest, ticker->is_sampling);
}

/* The clock of looks may be a test's; the wait is in real time, and who wakes up looks again. */
static void wait_for(struct smp_ticker *ticker, int64_t wait_ns, uint32_t *calls)
{
    unlock(ticker);
    smp_event_sleep(&ticker->event, *calls, wait_ns < MAX_WAIT_NS ? wait_ns : MAX_WAIT_NS);
    /* Before there is looked for a birth or a request: one that comes later ends the next sleep. */
    *calls = smp_event_calls(&ticker->event);
    if (has_birth(ticker))
        end_rest(ticker);
    lock(ticker);
}

/* Returns when something is to be done: the requests, if any. False: the end, after those. */
static bool wait_for_work(struct smp_ticker *ticker, struct smp_request **requests)
{
    uint32_t calls = smp_event_calls(&ticker->event); /* likewise */
    bool goes_on;

    begin_rest(ticker);
    lock(ticker);
    while (ticker->phase == RUNNING && ticker->first == NULL) {
        const int64_t wait_ns = next_ns(ticker) - smp_clock_ns();
        if (wait_ns <= 0)
            break;
        wait_for(ticker, wait_ns, &calls);
    }
    *requests = ticker->first;
    ticker->first = NULL;
    ticker->end = &ticker->first;
    goes_on = ticker->phase == RUNNING;
    unlock(ticker);
    end_rest(ticker);
    return goes_on;
}

static void tick(struct smp_ticker *ticker, int64_t now_ns)
{
    const bool late = smp_schedule_begin_tick(&ticker->schedule, now_ns);

    poll(ticker, now_ns, late);
    const int64_t gap_ns = smp_sampler_tick_gap_ns(ticker->sampler);
    smp_sampler_count(ticker->sampler, SMP_COUNTER_THROTTLED_TICKS,
                      smp_schedule_hold_tick(&ticker->schedule, now_ns + gap_ns));
}

static void do_what_is_due(struct smp_ticker *ticker)
{
    const int64_t now_ns = smp_clock_ns();

    if (ticker->is_sampling && smp_schedule_tick_is_due(&ticker->schedule, now_ns))
        tick(ticker, now_ns);
    if (smp_schedule_report_is_due(&ticker->schedule, now_ns))
        periodic_report(ticker, now_ns);
}

static void run(void *self)
{
    struct smp_ticker *ticker = self;
    struct smp_request *requests = NULL;
    const int64_t now_ns = smp_clock_ns();

    smp_schedule_init(&ticker->schedule, interval_ns(ticker), period_ns(ticker), now_ns,
                      (uint64_t)now_ns ^ (uint64_t)(uintptr_t)ticker);
    start_or_pause(ticker);
    publish(ticker);
    smp_worker_ready(&ticker->worker);
    while (wait_for_work(ticker, &requests)) {
        do_requests(ticker, requests);
        do_what_is_due(ticker);
    }
    do_requests(ticker, requests);
    if (ticker->wants_last_report) /* constant since the phase is STOPPING */
        last_report(ticker);
    /* Here, because it gives threads and names back to the JVM. */
    smp_sampler_destroy(ticker->sampler);
    ticker->sampler = NULL;
}

/* --- create, destroy --- */

static enum smp_status init_locks(struct smp_ticker *ticker)
{
    if (pthread_mutex_init(&ticker->mutex, NULL) != 0)
        return SMP_ENOMEM;
    if (pthread_cond_init(&ticker->done, NULL) == 0)
        return SMP_OK;
    (void)pthread_mutex_destroy(&ticker->mutex);
    return SMP_ENOMEM;
}

enum smp_status smp_ticker_create(struct smp_quota *quota, struct smp_log *log,
                                  const struct smp_jvm *vm, const struct smp_attach *attach,
                                  const struct smp_options *options,
                                  struct smp_interval_queue *intervals,
                                  struct smp_reporter *reporter, struct smp_ticker **out)
{
    struct smp_ticker *ticker = smp_alloc(quota, sizeof(*ticker));
    enum smp_status status = SMP_ENOMEM;

    if (ticker == NULL)
        return SMP_ENOMEM;
    ticker->quota = quota;
    ticker->log = log;
    ticker->intervals = intervals;
    ticker->reporter = reporter;
    ticker->end = &ticker->first;
    ticker->listen.event = &ticker->event;
    status = smp_sampler_create(quota, log, vm, options, &ticker->sampler);
    if (status != SMP_OK)
        goto no_sampler;
    status = smp_worker_init(&ticker->worker, attach, "threads-sampler", run, ticker);
    if (status != SMP_OK)
        goto no_worker;
    status = init_locks(ticker);
    if (status != SMP_OK)
        goto no_locks;
    ticker->options = *options;
    *out = ticker;
    return SMP_OK;
no_locks:
    smp_worker_fini(&ticker->worker);
no_worker:
    smp_sampler_destroy(ticker->sampler);
no_sampler:
    smp_free(quota, ticker);
    return status;
}

void smp_ticker_destroy(struct smp_ticker *ticker)
{
    if (ticker == NULL)
        return;
    smp_sampler_destroy(ticker->sampler);
    smp_options_fini(&ticker->options);
    (void)pthread_cond_destroy(&ticker->done);
    (void)pthread_mutex_destroy(&ticker->mutex);
    smp_worker_fini(&ticker->worker);
    smp_free(ticker->quota, ticker);
}

/* --- start, stop, ask --- */

/* Before start there is no interval to report, and nobody to wait for. */
static enum smp_status do_new(struct smp_ticker *ticker, struct smp_request *request)
{
    if (request->what == SMP_ASK_OPEN)
        return smp_interval_queue_open(ticker->intervals, &request->reader);
    if (request->what == SMP_ASK_REPORT || request->what == SMP_ASK_SAMPLE_ONCE ||
        request->what == SMP_ASK_WINDOW)
        return SMP_ESTATE;
    return do_request(ticker, request);
}

/* Requests that came while a start failed: done as those that came before it. */
static void back_to_new(struct smp_ticker *ticker)
{
    lock(ticker);
    ticker->phase = NEW;
    while (ticker->first != NULL) {
        struct smp_request *request = ticker->first;
        ticker->first = request->next;
        request->status = do_new(ticker, request);
        request->is_done = true;
    }
    ticker->end = &ticker->first;
    (void)pthread_cond_broadcast(&ticker->done);
    unlock(ticker);
}

enum smp_status smp_ticker_start(struct smp_ticker *ticker)
{
    enum smp_status status;

    lock(ticker);
    ticker->phase = RUNNING;
    unlock(ticker);
    status = smp_worker_start(&ticker->worker);
    if (status != SMP_OK)
        back_to_new(ticker);
    return status;
}

enum smp_status smp_ticker_stop(struct smp_ticker *ticker, bool wants_last_report)
{
    lock(ticker);
    ticker->phase = STOPPING;
    ticker->wants_last_report = wants_last_report;
    smp_event_call(&ticker->event);
    unlock(ticker);
    smp_worker_join(&ticker->worker);
    lock(ticker);
    ticker->phase = STOPPED;
    unlock(ticker);
    return ticker->last_status;
}

bool smp_ticker_is_caller(struct smp_ticker *ticker)
{
    return smp_worker_is_caller(&ticker->worker);
}

static enum smp_status wait_for_answer(struct smp_ticker *ticker, struct smp_request *request)
{
    request->is_done = false;
    request->next = NULL;
    *ticker->end = request;
    ticker->end = &request->next;
    smp_event_call(&ticker->event);
    while (!request->is_done)
        (void)pthread_cond_wait(&ticker->done, &ticker->mutex);
    return request->status;
}

enum smp_status smp_ticker_ask(struct smp_ticker *ticker, struct smp_request *request)
{
    enum smp_status status = SMP_ESTOPPED;

    lock(ticker);
    if (ticker->phase == NEW)
        status = do_new(ticker, request);
    else if (ticker->phase == RUNNING)
        status = wait_for_answer(ticker, request);
    unlock(ticker);
    return status;
}

void smp_ticker_get_stats(struct smp_ticker *ticker, struct smp_ticker_stats *out)
{
    lock(ticker);
    *out = ticker->stats;
    unlock(ticker);
}
