/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/session/ticker.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/event.h"
#include "base/lock.h"
#include "base/utf8.h"
#include "engine/session/demand.h"
#include "engine/session/interval_end.h"
#include "engine/session/schedule.h"
#include "engine/session/standstill.h"
#include "engine/session/worker.h"

#define NS_PER_SECOND 1000000000LL
#define NS_PER_MS 1000000LL
#define NS_PER_US 1000
#define MAX_WAIT_NS (3600 * NS_PER_SECOND) /* the thread wakes up at least once an hour */
#define FORGET_NS (600 * NS_PER_SECOND)    /* how often a paused sampler drops ended threads */

struct smp_ticker {
    struct smp_quota *quota;
    struct smp_lifecycle *lifecycle;
    struct smp_worker worker;
    struct smp_start_listener
        listener; /* calls the lifecycle's event; in the thread source while ticks are skipped */

    /* Used only by the sampler thread; before start, by the caller of a request. */
    struct smp_sampler *sampler; /* NULL after the last tick */
    struct smp_interval_end end;
    struct smp_schedule schedule;
    struct smp_demand demand;
    int64_t slot_due_ns; /* time of the next interval of the windows; INT64_MAX: no windows */
    bool is_paused;      /* by request */
    uint64_t rest_ticks; /* number of ticks to skip */
    bool has_rested;     /* ticks have been skipped since the last one */
    int64_t ticked_ns;   /* time of the last tick while sampling */
    int64_t forgot_ns;   /* last time that ended threads were dropped in a pause */
    int64_t elapsed_ns;  /* sampled time since start */
    struct smp_standstill standstill;
    enum smp_status last; /* status of the last report */

    struct smp_lock lock; /* guards figures */
    struct smp_ticker_figures figures;
};

static int64_t interval_ns(const struct smp_ticker *ticker)
{
    return smp_options_interval_ns(ticker->end.options);
}

static int64_t period_ns(const struct smp_ticker *ticker)
{
    return ticker->end.options->report_frequency_seconds * NS_PER_SECOND;
}

/* Copies a text, and truncates it if it is long. */
static void publish_text(const char *text, char out[SMP_TICKER_TEXT_BYTES])
{
    const size_t most = SMP_TICKER_TEXT_BYTES - sizeof("...");
    const size_t length = strlen(text);
    const size_t shown = length <= most ? length : smp_utf8_prefix(text, length, most);

    (void)snprintf(out, SMP_TICKER_TEXT_BYTES, "%.*s%s", (int)shown, text,
                   text[shown] == '\0' ? "" : "...");
}

/* Publishes the sampler's options. */
static void publish_options(struct smp_ticker *ticker)
{
    const struct smp_options *options = smp_sampler_options(ticker->sampler);

    ticker->end.options = options;
    smp_lock_acquire(&ticker->lock);
    ticker->figures.options = *options;
    smp_options_forget_texts(&ticker->figures.options);
    for (size_t i = 0; i < SMP_OPTION_TEXT_COUNT; i++)
        publish_text(smp_options_text(options, i), ticker->figures.texts[i]);
    smp_lock_release(&ticker->lock);
}

/* --- ticks --- */

/* Publishes figures. At a tick uses the clock reading of the throttle, to save another one. */
static void publish_figures(struct smp_ticker *ticker, bool is_tick)
{
    struct smp_ticker_figures *figures = &ticker->figures;
    struct smp_sampler_figures sampler;

    smp_sampler_get_figures(ticker->sampler, &sampler);
    const bool is_read = is_tick && sampler.throttle.has_begun;
    const int64_t own_cpu_ns = is_read ? sampler.throttle.cpu_ns : smp_clock_own_cpu_ns();
    smp_lock_acquire(&ticker->lock);
    figures->sampler = sampler;
    figures->counted = ticker->end.counted;
    figures->own_cpu_ns = own_cpu_ns + sampler.source.helper_cpu_ns;
    figures->elapsed_ns = ticker->elapsed_ns;
    figures->ticked_ns = ticker->ticked_ns;
    smp_lock_release(&ticker->lock);
}

static void after_tick(struct smp_ticker *ticker)
{
    smp_interval_end_count(&ticker->end);
    if (smp_log_take_news(ticker->end.log))
        smp_reporter_wake(ticker->end.reporter);
    publish_figures(ticker, true);
}

/* Notes the time since the last wake-up, except if a user's name rule may have waited in a tick. */
static void note_work(struct smp_ticker *ticker, int64_t now_ns)
{
    if (ticker->end.options->default_name_rule)
        smp_standstill_worked(&ticker->standstill, now_ns);
    else
        smp_standstill_slept(&ticker->standstill, now_ns, now_ns);
}

/* Does nothing while paused. */
static void make_tick(struct smp_ticker *ticker, int64_t now_ns, bool late)
{
    if (!smp_sampler_is_running(ticker->sampler))
        return;
    note_work(ticker, now_ns);
    smp_sampler_leave_out_stop(ticker->sampler,
                               smp_standstill_take(&ticker->standstill, ticker->ticked_ns, now_ns));
    smp_sampler_tick(ticker->sampler, now_ns, late);
    ticker->elapsed_ns += now_ns - ticker->ticked_ns;
    ticker->ticked_ns = now_ns;
    ticker->has_rested = false;
    after_tick(ticker);
}

static void tick_on_schedule(struct smp_ticker *ticker, int64_t now_ns)
{
    const bool late = smp_schedule_begin_tick(&ticker->schedule, now_ns);

    make_tick(ticker, now_ns, late);
    const int64_t gap_ns = smp_sampler_tick_gap_ns(ticker->sampler);
    smp_sampler_count(ticker->sampler, SMP_COUNTER_THROTTLED_TICKS,
                      smp_schedule_hold_tick(&ticker->schedule, now_ns + gap_ns));
}

/* Ticks before options or filter change: the time of skipped ticks belongs to the old ones. */
static void catch_up(struct smp_ticker *ticker)
{
    if (ticker->has_rested)
        make_tick(ticker, smp_clock_ns(), false);
}

static void make_last_tick(struct smp_ticker *ticker, int64_t now_ns)
{
    smp_sampler_poll_all(ticker->sampler);
    make_tick(ticker, now_ns, false);
}

/* Starts or pauses sampling, according to options and requests. */
static void start_or_pause(struct smp_ticker *ticker)
{
    const bool is_wanted = ticker->end.options->active && !ticker->is_paused;
    const int64_t now_ns = smp_clock_ns();

    if (is_wanted == smp_sampler_is_running(ticker->sampler))
        return;
    if (is_wanted) {
        smp_sampler_mark(ticker->sampler, now_ns, smp_clock_wall_ms());
        ticker->ticked_ns = now_ns;
        smp_standstill_begin(&ticker->standstill, now_ns);
        make_tick(ticker, now_ns, false);
        smp_schedule_restart_ticks(&ticker->schedule, now_ns);
    } else {
        make_last_tick(ticker, now_ns);
        smp_sampler_pause(ticker->sampler);
        publish_figures(ticker, false); /* pause has attributed the pending time */
    }
}

/* --- reports --- */

static void make_periodic_report(struct smp_ticker *ticker, int64_t now_ns)
{
    smp_schedule_begin_report(&ticker->schedule, now_ns);
    if (smp_interval_end_has_room(&ticker->end)) {
        make_tick(ticker, now_ns, false);
        smp_interval_end_periodic(&ticker->end, now_ns);
    } else {
        smp_interval_end_merge(&ticker->end);
    }
    publish_figures(ticker, false);
}

static void plan_slot(struct smp_ticker *ticker, int64_t now_ns)
{
    struct smp_interval_queue_figures intervals;

    smp_interval_queue_get_figures(ticker->end.intervals, &intervals);
    ticker->slot_due_ns = intervals.has_windows ? now_ns + SMP_WINDOW_SLOT_NS : INT64_MAX;
}

static void make_slot(struct smp_ticker *ticker, int64_t now_ns)
{
    plan_slot(ticker, now_ns);
    if (ticker->slot_due_ns == INT64_MAX)
        return;
    make_tick(ticker, now_ns, false);
    smp_interval_end_slot(&ticker->end, now_ns);
    publish_figures(ticker, false);
}

static void make_last_report(struct smp_ticker *ticker)
{
    const int64_t now_ns = smp_clock_ns();
    const int64_t wall_ms = smp_clock_wall_ms();

    make_last_tick(ticker, now_ns);
    ticker->last = smp_interval_end_last(&ticker->end, now_ns, wall_ms);
    publish_figures(ticker, false);
}

/* --- requests --- */

static enum smp_status report_now(struct smp_ticker *ticker, struct smp_request *request)
{
    const int64_t now_ns = smp_clock_ns();
    enum smp_status status;

    request->is_full = !smp_interval_end_has_room(&ticker->end);
    if (request->is_full)
        return SMP_EQUOTA;
    if (request->kind == SMP_REQUEST_SAMPLE_ONCE) {
        smp_sampler_tick_once(ticker->sampler, now_ns, interval_ns(ticker));
        ticker->elapsed_ns += interval_ns(ticker);
        after_tick(ticker);
    } else {
        make_tick(ticker, now_ns, false);
    }
    status = smp_interval_end_report(&ticker->end, now_ns, request->ticket);
    if (status == SMP_OK)
        publish_figures(ticker, false);
    return status;
}

static enum smp_status end_interval(struct smp_ticker *ticker, struct smp_request *request)
{
    const int64_t now_ns = smp_clock_ns();
    enum smp_status status;

    request->is_full = !smp_interval_queue_has_room(ticker->end.intervals);
    if (request->is_full)
        return SMP_EQUOTA;
    make_tick(ticker, now_ns, false);
    status = smp_interval_end_append(&ticker->end, now_ns);
    if (status == SMP_OK)
        publish_figures(ticker, false);
    return status;
}

/* Runs on the sampler thread, so that no interval can end between its two steps. */
static enum smp_status open_reader(struct smp_ticker *ticker, struct smp_request *request,
                                   bool is_started)
{
    const enum smp_status status = is_started ? end_interval(ticker, request) : SMP_OK;

    return status == SMP_OK ? smp_interval_queue_open(ticker->end.intervals, &request->reader)
                            : status;
}

/* Runs on the sampler thread, as open_reader. */
static enum smp_status keep_windows(struct smp_ticker *ticker, struct smp_request *request,
                                    bool is_started)
{
    const enum smp_status status = is_started ? end_interval(ticker, request) : SMP_OK;

    if (status == SMP_OK) {
        smp_interval_queue_keep_windows(ticker->end.intervals);
        plan_slot(ticker, smp_clock_ns());
    }
    return status;
}

static enum smp_status end_window(struct smp_ticker *ticker, struct smp_request *request)
{
    const int64_t now_ns = smp_clock_ns();
    enum smp_status status;

    if (!request->is_first && !smp_demand_allows(&ticker->demand, now_ns)) {
        smp_sampler_count(ticker->sampler, SMP_COUNTER_REPEATED_WINDOWS, 1);
        return SMP_OK;
    }
    status = end_interval(ticker, request);
    if (status == SMP_OK)
        smp_demand_renewed(&ticker->demand, now_ns);
    return status;
}

/* Charges the request's CPU time to a separate budget, so that it does not reduce polls. */
static void pay_request(struct smp_ticker *ticker, int64_t cpu_ns)
{
    const int64_t used_ns = smp_clock_own_cpu_ns() - cpu_ns;

    smp_demand_pay(&ticker->demand, smp_clock_ns(), used_ns);
    smp_sampler_count(ticker->sampler, SMP_COUNTER_DEMAND_CPU_US, (uint64_t)used_ns / NS_PER_US);
    smp_sampler_excuse_cpu(ticker->sampler, used_ns);
}

static enum smp_status do_unpaid(struct smp_ticker *ticker, struct smp_request *request,
                                 bool is_started)
{
    switch (request->kind) {
    case SMP_REQUEST_SET_FILTER:
        catch_up(ticker);
        smp_sampler_set_filter(ticker->sampler, request->thread_filter, request->only);
        return SMP_OK;
    case SMP_REQUEST_PAUSE:
    case SMP_REQUEST_RESUME:
        ticker->is_paused = request->kind == SMP_REQUEST_PAUSE;
        return SMP_OK;
    case SMP_REQUEST_SAMPLE_ONCE:
        if (!is_started || smp_sampler_is_running(ticker->sampler))
            return SMP_ESTATE;
        return report_now(ticker, request);
    case SMP_REQUEST_REPORT:
        return is_started ? report_now(ticker, request) : SMP_ESTATE;
    case SMP_REQUEST_END_INTERVAL:
        return is_started ? end_interval(ticker, request) : SMP_ESTATE;
    case SMP_REQUEST_OPEN_READER:
        return open_reader(ticker, request, is_started);
    case SMP_REQUEST_KEEP_WINDOWS:
        return keep_windows(ticker, request, is_started);
    case SMP_REQUEST_END_WINDOW:
        return is_started ? end_window(ticker, request) : SMP_ESTATE;
    case SMP_REQUEST_RESET_COUNTS:
        catch_up(ticker);
        smp_sampler_reset_counts(ticker->sampler);
        return SMP_OK;
    }
    return SMP_EINVAL;
}

enum smp_status smp_ticker_do(void *self, struct smp_request *request, bool is_started)
{
    struct smp_ticker *ticker = self;
    const int64_t cpu_ns = is_started ? smp_clock_own_cpu_ns() : 0;
    const enum smp_status status = do_unpaid(ticker, request, is_started);

    if (is_started)
        pay_request(ticker, cpu_ns);
    return status;
}

static void use_new_options(struct smp_ticker *ticker)
{
    struct smp_prepared_options *options = smp_lifecycle_take_options(ticker->lifecycle);

    if (options == NULL)
        return;
    catch_up(ticker);
    smp_sampler_set_options(ticker->sampler, options);
    publish_options(ticker);
}

/* Options come first, because a caller may have set them before its request. */
static void do_requests(struct smp_ticker *ticker, struct smp_request *request)
{
    use_new_options(ticker);
    start_or_pause(ticker);
    smp_schedule_set(&ticker->schedule, interval_ns(ticker), period_ns(ticker), smp_clock_ns());
    while (request != NULL) {
        struct smp_request *next = request->next; /* done may free the request */
        const enum smp_status status = smp_ticker_do(ticker, request, true);
        start_or_pause(ticker);
        smp_lifecycle_done(ticker->lifecycle, request, status);
        request = next;
    }
}

/* --- skipping ticks at which no thread is due --- */

static void begin_rest(struct smp_ticker *ticker)
{
    uint64_t ticks;

    if (!smp_sampler_is_running(ticker->sampler))
        return;
    ticks = smp_sampler_idle_ticks(ticker->sampler);
    if (ticks > 0 && smp_sampler_watch(ticker->sampler, &ticker->listener))
        ticker->rest_ticks = ticks;
}

static void end_rest(struct smp_ticker *ticker)
{
    uint64_t left_out;

    if (ticker->rest_ticks == 0)
        return;
    left_out = smp_schedule_skip_ticks(&ticker->schedule, smp_clock_ns(), ticker->rest_ticks);
    smp_sampler_unwatch(ticker->sampler, &ticker->listener, left_out);
    ticker->has_rested = ticker->has_rested || left_out > 0;
    ticker->rest_ticks = 0;
}

static bool has_thread_started(struct smp_ticker *ticker)
{
    return ticker->rest_ticks != 0 && !smp_sampler_watch(ticker->sampler, &ticker->listener);
}

static int64_t next_work_ns(const struct smp_ticker *ticker)
{
    const bool is_running = smp_sampler_is_running(ticker->sampler);
    const int64_t forget_ns = is_running ? INT64_MAX : ticker->forgot_ns + FORGET_NS;
    struct smp_schedule after_rest = ticker->schedule;
    int64_t next_ns;

    (void)smp_schedule_skip_ticks(&after_rest, INT64_MAX, ticker->rest_ticks);
    next_ns = smp_schedule_next_ns(&after_rest, is_running);
    if (is_running && ticker->slot_due_ns < next_ns)
        next_ns = ticker->slot_due_ns;
    return next_ns < forget_ns ? next_ns : forget_ns;
}

static void sleep_until(struct smp_ticker *ticker, uint32_t calls, int64_t now_ns, int64_t wait_ns)
{
    const int64_t most_ns = wait_ns < MAX_WAIT_NS ? wait_ns : MAX_WAIT_NS;

    smp_event_sleep(&ticker->lifecycle->event, calls, most_ns);
    smp_standstill_slept(&ticker->standstill, now_ns + most_ns, smp_clock_ns());
}

/*
 * Waits until there is something to do. Returns false if the session ends after these requests.
 *
 * The event's generation is read before each check for requests and thread starts, or one in
 * between would be missed. In tests, ticks may use a fake clock; the sleep uses real time and may
 * only end early.
 */
static bool wait_for_work(struct smp_ticker *ticker, struct smp_request **requests)
{
    struct smp_event *event = &ticker->lifecycle->event;
    uint32_t calls = smp_event_calls(event);
    bool goes_on;

    begin_rest(ticker);
    while (!smp_lifecycle_has_work(ticker->lifecycle)) {
        const int64_t now_ns = smp_clock_ns();
        const int64_t wait_ns = next_work_ns(ticker) - now_ns;
        note_work(ticker, now_ns);
        if (wait_ns <= 0)
            break;
        sleep_until(ticker, calls, now_ns, wait_ns);
        calls = smp_event_calls(event);
        if (has_thread_started(ticker))
            end_rest(ticker);
    }
    goes_on = smp_lifecycle_take(ticker->lifecycle, requests);
    end_rest(ticker);
    return goes_on;
}

/* --- the thread --- */

static void do_what_is_due(struct smp_ticker *ticker)
{
    const int64_t now_ns = smp_clock_ns();

    if (!smp_sampler_is_running(ticker->sampler)) {
        smp_sampler_forget_ended(ticker->sampler, now_ns);
        ticker->forgot_ns = now_ns;
    } else if (smp_schedule_tick_is_due(&ticker->schedule, now_ns)) {
        tick_on_schedule(ticker, now_ns);
    }
    if (smp_sampler_is_running(ticker->sampler) && now_ns >= ticker->slot_due_ns)
        make_slot(ticker, now_ns);
    if (smp_schedule_report_is_due(&ticker->schedule, now_ns))
        make_periodic_report(ticker, now_ns);
}

static void run_sampler_thread(void *self)
{
    struct smp_ticker *ticker = self;
    struct smp_request *requests = NULL;
    const int64_t now_ns = smp_clock_ns();

    use_new_options(ticker);
    smp_schedule_init(&ticker->schedule, interval_ns(ticker), period_ns(ticker), now_ns,
                      (uint64_t)now_ns);
    smp_demand_init(&ticker->demand, now_ns);
    plan_slot(ticker, now_ns);
    ticker->forgot_ns = now_ns;
    start_or_pause(ticker);
    publish_figures(ticker, false);
    smp_worker_ready(&ticker->worker);
    while (wait_for_work(ticker, &requests)) {
        do_requests(ticker, requests);
        do_what_is_due(ticker);
    }
    do_requests(ticker, requests);
    if (ticker->lifecycle->wants_last_report)
        make_last_report(ticker);
    /* Must run on this thread, because it returns threads and names to the JVM. */
    smp_sampler_destroy(ticker->sampler);
    ticker->sampler = NULL;
    ticker->end.options = NULL;
}

enum smp_status smp_ticker_start(struct smp_ticker *ticker)
{
    return smp_worker_start(&ticker->worker);
}

enum smp_status smp_ticker_join(struct smp_ticker *ticker)
{
    smp_worker_join(&ticker->worker);
    return ticker->last;
}

bool smp_ticker_is_caller(struct smp_ticker *ticker)
{
    return smp_worker_is_caller(&ticker->worker);
}

void smp_ticker_get_figures(struct smp_ticker *ticker, struct smp_ticker_figures *out)
{
    smp_lock_acquire(&ticker->lock);
    *out = ticker->figures;
    smp_lock_release(&ticker->lock);
}

/* --- create, destroy --- */

enum smp_status smp_ticker_create(const struct smp_ticker_setup *setup, struct smp_ticker **out)
{
    struct smp_ticker *ticker = smp_alloc(setup->quota, sizeof(*ticker));
    enum smp_status status = SMP_ENOMEM;

    if (ticker == NULL)
        return SMP_ENOMEM;
    status =
        smp_sampler_create(setup->quota, setup->log, setup->vm, setup->options, &ticker->sampler);
    if (status != SMP_OK)
        goto no_sampler;
    status = smp_worker_init(&ticker->worker, setup->attach, "threads-sampler", run_sampler_thread,
                             ticker);
    if (status != SMP_OK)
        goto no_worker;
    status = smp_lock_init(&ticker->lock);
    if (status != SMP_OK)
        goto no_lock;
    ticker->quota = setup->quota;
    ticker->lifecycle = setup->lifecycle;
    ticker->listener.event = &setup->lifecycle->event;
    ticker->end = (struct smp_interval_end){
        .quota = setup->quota,
        .log = setup->log,
        .intervals = setup->intervals,
        .reporter = setup->reporter,
        .sampler = ticker->sampler,
        .pauses = setup->vm->pauses,
        .os_threads = setup->vm->os_threads,
    };
    publish_options(ticker);
    *out = ticker;
    return SMP_OK;
no_lock:
    smp_worker_fini(&ticker->worker);
no_worker:
    smp_sampler_destroy(ticker->sampler);
no_sampler:
    smp_free(setup->quota, ticker);
    return status;
}

void smp_ticker_destroy(struct smp_ticker *ticker)
{
    if (ticker == NULL)
        return;
    smp_sampler_destroy(ticker->sampler);
    smp_prepared_options_destroy(smp_lifecycle_take_options(ticker->lifecycle));
    smp_lock_fini(&ticker->lock);
    smp_worker_fini(&ticker->worker);
    smp_free(ticker->quota, ticker);
}
