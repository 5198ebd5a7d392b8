/* SPDX-License-Identifier: Apache-2.0 */
#include "core/loop.h"

#include <pthread.h>

#include "base/clock.h"
#include "base/waker.h"
#include "core/schedule.h"
#include "core/worker.h"

#define NS_PER_SECOND 1000000000LL
#define NS_PER_MS 1000000LL
#define MAX_WAIT_NS (3600 * NS_PER_SECOND) /* wakes up in vain once an hour */

enum phase { NEW, RUNNING, STOPPING, STOPPED };

struct smp_loop {
    /* Constant. */
    struct smp_quota *quota;
    struct smp_log *log;
    struct smp_windows *windows;
    struct smp_reporter *reporter;
    struct smp_worker worker;
    struct smp_waker waker;       /* of the sampler thread */
    struct smp_birth_watch watch; /* calls it; the thread source's while it rests */

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
    struct smp_loop_stats stats;
};

static void lock(struct smp_loop *loop)
{
    (void)pthread_mutex_lock(&loop->mutex);
}

static void unlock(struct smp_loop *loop)
{
    (void)pthread_mutex_unlock(&loop->mutex);
}

static int64_t interval_ns(const struct smp_loop *loop)
{
    return loop->options.sampling_frequency_millis * NS_PER_MS;
}

static int64_t period_ns(const struct smp_loop *loop)
{
    return loop->options.report_frequency_seconds * NS_PER_SECOND;
}

/* --- looks --- */

static void publish(struct smp_loop *loop)
{
    struct smp_loop_stats stats = {
        .counted = loop->counted,
        .own_cpu_ns = smp_clock_own_cpu_ns(),
        .elapsed_ns = loop->elapsed_ns,
    };

    smp_sampler_get_stats(loop->sampler, &stats.sampler);
    lock(loop);
    loop->stats = stats;
    unlock(loop);
}

/* What the reporter met with is told with the interval in which it is noticed. */
static void count_reports(struct smp_loop *loop)
{
    const uint64_t drops = smp_windows_dropped(loop->windows);
    struct smp_reporter_stats now;

    smp_reporter_get_stats(loop->reporter, &now);
    smp_sampler_count(loop->sampler, SMP_COUNTER_FAILED_REPORTS, now.failed - loop->counted.failed);
    smp_sampler_count(loop->sampler, SMP_COUNTER_CUT_REPORTS, now.cut - loop->counted.cut);
    loop->counted = now;
    smp_sampler_count(loop->sampler, SMP_COUNTER_DROPPED_INTERVALS, drops - loop->counted_drops);
    loop->counted_drops = drops;
}

static void after_look(struct smp_loop *loop)
{
    count_reports(loop);
    if (smp_sampler_take_news(loop->sampler))
        smp_reporter_wake(loop->reporter);
    publish(loop);
}

static void look(struct smp_loop *loop, int64_t now_ns, bool late)
{
    smp_sampler_tick(loop->sampler, now_ns, late);
    loop->elapsed_ns += now_ns - loop->looked_ns;
    loop->looked_ns = now_ns;
    loop->has_rested = false;
    after_look(loop);
}

/* The time of a rest belongs to the options and the threads that were chosen in it. */
static void catch_up(struct smp_loop *loop)
{
    if (loop->is_sampling && loop->has_rested)
        look(loop, smp_clock_ns(), false);
}

/* Brings what is done in line with what is wanted. */
static void start_or_pause(struct smp_loop *loop)
{
    const bool wanted = loop->options.active && !loop->is_paused;
    const int64_t now_ns = smp_clock_ns();

    if (wanted == loop->is_sampling)
        return;
    loop->is_sampling = wanted;
    if (wanted) {
        smp_sampler_mark(loop->sampler, now_ns, smp_clock_wall_ms());
        loop->looked_ns = now_ns;
        look(loop, now_ns, false);
        smp_schedule_restart_ticks(&loop->schedule, now_ns);
    } else {
        smp_sampler_poll_all(loop->sampler);
        look(loop, now_ns, false);
        smp_sampler_pause(loop->sampler, now_ns);
        publish(loop); /* what was kept for idle threads has been credited */
    }
}

/* --- reports --- */

static int64_t take_cpu(struct smp_loop *loop)
{
    const int64_t cpu_ns = smp_clock_own_cpu_ns() + loop->counted.own_cpu_ns;
    const int64_t more_ns = cpu_ns - loop->sealed_cpu_ns;

    loop->sealed_cpu_ns = cpu_ns;
    return more_ns > 0 ? more_ns : 0;
}

static void complete(struct smp_loop *loop, struct smp_snapshot *snapshot)
{
    snapshot->own_cpu_ns = take_cpu(loop);
    snapshot->period_ns = interval_ns(loop);
    snapshot->is_cpu_clock = loop->options.clock == SMP_CLOCK_CPU;
}

static bool has_room(struct smp_loop *loop)
{
    return smp_reporter_has_room(loop->reporter) && smp_windows_has_room(loop->windows);
}

static void hand_on(struct smp_loop *loop, struct smp_snapshot *snapshot,
                    struct smp_report_ticket *ticket)
{
    const struct smp_report_style style = {
        .order = loop->options.report_order,
        .zero_time_packages = loop->options.report_zero_time_packages,
        .cpu_time = loop->options.report_cpu_time,
        .percent = loop->options.report_percent,
    };

    smp_reporter_offer(loop->reporter, snapshot, style, ticket);
}

/* Ends the interval; *out is not yet with anybody. */
static enum smp_status end_interval(struct smp_loop *loop, int64_t now_ns,
                                    struct smp_snapshot **out)
{
    const enum smp_status status =
        smp_sampler_seal(loop->sampler, now_ns, smp_clock_wall_ms(), out);

    if (status == SMP_OK)
        complete(loop, *out);
    return status;
}

static enum smp_status seal(struct smp_loop *loop, int64_t now_ns, struct smp_report_ticket *ticket)
{
    struct smp_snapshot *snapshot = NULL;
    const enum smp_status status = end_interval(loop, now_ns, &snapshot);

    if (status == SMP_OK) {
        hand_on(loop, snapshot, ticket);
        publish(loop);
    }
    return status;
}

static void merge(struct smp_loop *loop)
{
    smp_sampler_count(loop->sampler, SMP_COUNTER_MERGED_REPORTS, 1);
    publish(loop);
}

static size_t refused(const struct smp_loop *loop)
{
    return atomic_load_explicit(&loop->quota->refused, memory_order_relaxed);
}

static void periodic_report(struct smp_loop *loop, int64_t now_ns)
{
    const size_t refused_before = refused(loop);
    enum smp_status status;

    smp_schedule_begin_report(&loop->schedule, now_ns);
    if (!has_room(loop)) {
        merge(loop);
        return;
    }
    if (loop->is_sampling)
        look(loop, now_ns, false);
    status = seal(loop, now_ns, NULL);
    if (status == SMP_OK)
        return;
    smp_log_put(loop->log, SMP_LOG_WARNING, "a report is merged with the next one: %s",
                smp_status_text(status));
    if (refused(loop) != refused_before) /* by our limit: what waits there may be too much */
        smp_windows_ask_to_shed(loop->windows);
    smp_reporter_wake(loop->reporter);
    merge(loop);
}

/* Waits for memory that a report gives back, else sheds some. False: there is none to be had. */
static bool find_memory(struct smp_loop *loop, uint64_t released, size_t refused_before)
{
    return smp_reporter_wait_for_release(loop->reporter, released) ||
           (refused(loop) != refused_before && smp_windows_shed(loop->windows));
}

/* Waiting here is free: nothing is sampled any more. */
static void last_report(struct smp_loop *loop)
{
    const int64_t now_ns = smp_clock_ns();
    const int64_t wall_ms = smp_clock_wall_ms();
    struct smp_snapshot *snapshot = NULL;
    uint64_t released;
    size_t refused_before;

    if (loop->is_sampling) {
        smp_sampler_poll_all(loop->sampler);
        look(loop, now_ns, false);
    }
    do {
        released = smp_reporter_released(loop->reporter);
        refused_before = refused(loop);
        loop->last_status = smp_sampler_seal_last(loop->sampler, now_ns, wall_ms, &snapshot);
    } while (loop->last_status != SMP_OK && find_memory(loop, released, refused_before));
    if (loop->last_status == SMP_OK) {
        complete(loop, snapshot);
        hand_on(loop, snapshot, NULL);
    } else {
        smp_sampler_count(loop->sampler, SMP_COUNTER_FAILED_REPORTS, 1);
        smp_log_put(loop->log, SMP_LOG_ERROR, "the last report could not be made: %s",
                    smp_status_text(loop->last_status));
    }
    publish(loop);
}

/* --- requests --- */

static enum smp_status configure(struct smp_loop *loop, const struct smp_options *options)
{
    const enum smp_status status = smp_sampler_set_options(loop->sampler, options);

    if (status != SMP_OK)
        return status;
    smp_options_fini(&loop->options);
    loop->options = *options;
    return SMP_OK;
}

static enum smp_status report(struct smp_loop *loop, struct smp_request *request)
{
    const int64_t now_ns = smp_clock_ns();

    request->is_full = !has_room(loop);
    if (request->is_full)
        return SMP_EQUOTA;
    if (request->what == SMP_ASK_SAMPLE_ONCE) {
        smp_sampler_tick_once(loop->sampler, now_ns, interval_ns(loop));
        loop->elapsed_ns += interval_ns(loop);
        after_look(loop);
    } else if (loop->is_sampling) {
        look(loop, now_ns, false);
    }
    return seal(loop, now_ns, request->ticket);
}

/* Ends the interval for the windows only; no report waits for it. */
static enum smp_status window(struct smp_loop *loop, struct smp_request *request)
{
    const int64_t now_ns = smp_clock_ns();
    struct smp_snapshot *snapshot = NULL;
    enum smp_status status;

    request->is_full = !smp_windows_has_room(loop->windows);
    if (request->is_full)
        return SMP_EQUOTA;
    if (loop->is_sampling)
        look(loop, now_ns, false);
    status = end_interval(loop, now_ns, &snapshot);
    if (status != SMP_OK)
        return status;
    (void)smp_windows_append(loop->windows, snapshot, 0);
    publish(loop);
    if (smp_windows_is_long(loop->windows))
        smp_reporter_wake(loop->reporter);
    return SMP_OK;
}

/* Opened here, so that no interval can end in between. */
static enum smp_status open_consumer(struct smp_loop *loop, struct smp_request *request)
{
    const enum smp_status status = window(loop, request);

    return status == SMP_OK ? smp_windows_open(loop->windows, &request->consumer) : status;
}

/* On the sampler thread, or before start. */
static enum smp_status do_request(struct smp_loop *loop, struct smp_request *request)
{
    switch (request->what) {
    case SMP_ASK_CONFIGURE:
        catch_up(loop);
        return configure(loop, &request->options);
    case SMP_ASK_SELECT:
        catch_up(loop);
        smp_sampler_select(loop->sampler, request->selection, request->only);
        return SMP_OK;
    case SMP_ASK_PAUSE:
    case SMP_ASK_RESUME:
        loop->is_paused = request->what == SMP_ASK_PAUSE;
        return SMP_OK;
    case SMP_ASK_SAMPLE_ONCE:
        if (loop->is_sampling)
            return SMP_ESTATE;
        return report(loop, request);
    case SMP_ASK_REPORT:
        return report(loop, request);
    case SMP_ASK_OPEN:
        return open_consumer(loop, request);
    case SMP_ASK_WINDOW:
        return window(loop, request);
    }
    return SMP_EINVAL;
}

static void answer(struct smp_loop *loop, struct smp_request *request, enum smp_status status)
{
    lock(loop);
    request->status = status;
    request->is_done = true;
    (void)pthread_cond_broadcast(&loop->done);
    unlock(loop);
}

static void do_requests(struct smp_loop *loop, struct smp_request *request)
{
    while (request != NULL) {
        struct smp_request *next = request->next; /* gone once it is answered */
        const enum smp_status status = do_request(loop, request);
        start_or_pause(loop);
        smp_schedule_set(&loop->schedule, interval_ns(loop), period_ns(loop), smp_clock_ns());
        answer(loop, request, status);
        request = next;
    }
}

/* --- the thread --- */

/* Where nobody is due for longer than until the next tick. */
static void begin_rest(struct smp_loop *loop)
{
    uint64_t ticks;

    if (!loop->is_sampling)
        return;
    ticks = smp_sampler_idle_ticks(loop->sampler);
    if (ticks > 0 && smp_sampler_watch(loop->sampler, &loop->watch))
        loop->rest_ticks = ticks;
}

static bool has_birth(struct smp_loop *loop)
{
    return loop->rest_ticks != 0 && !smp_sampler_watch(loop->sampler, &loop->watch);
}

static void end_rest(struct smp_loop *loop)
{
    uint64_t left_out;

    if (loop->rest_ticks == 0)
        return;
    left_out = smp_schedule_skip_ticks(&loop->schedule, smp_clock_ns(), loop->rest_ticks);
    smp_sampler_unwatch(loop->sampler, &loop->watch, left_out);
    loop->has_rested = loop->has_rested || left_out > 0;
    loop->rest_ticks = 0;
}

static int64_t next_ns(const struct smp_loop *loop)
{
    struct smp_schedule after_rest = loop->schedule;

    (void)smp_schedule_skip_ticks(&after_rest, INT64_MAX, loop->rest_ticks);
    return smp_schedule_next_ns(&after_rest, loop->is_sampling);
}

/* The clock of looks may be a test's; the wait is in real time, and who wakes up looks again. */
static void wait_for(struct smp_loop *loop, int64_t wait_ns, uint32_t *calls)
{
    unlock(loop);
    smp_waker_sleep(&loop->waker, *calls, wait_ns < MAX_WAIT_NS ? wait_ns : MAX_WAIT_NS);
    /* Before there is looked for a birth or a request: one that comes later ends the next sleep. */
    *calls = smp_waker_calls(&loop->waker);
    if (has_birth(loop))
        end_rest(loop);
    lock(loop);
}

/* Returns when something is to be done: the requests, if any. False: the end, after those. */
static bool wait_for_work(struct smp_loop *loop, struct smp_request **requests)
{
    uint32_t calls = smp_waker_calls(&loop->waker); /* likewise */
    bool goes_on;

    begin_rest(loop);
    lock(loop);
    while (loop->phase == RUNNING && loop->first == NULL) {
        const int64_t wait_ns = next_ns(loop) - smp_clock_ns();
        if (wait_ns <= 0)
            break;
        wait_for(loop, wait_ns, &calls);
    }
    *requests = loop->first;
    loop->first = NULL;
    loop->end = &loop->first;
    goes_on = loop->phase == RUNNING;
    unlock(loop);
    end_rest(loop);
    return goes_on;
}

static void tick(struct smp_loop *loop, int64_t now_ns)
{
    const bool late = smp_schedule_begin_tick(&loop->schedule, now_ns);

    look(loop, now_ns, late);
    const int64_t gap_ns = smp_sampler_tick_gap_ns(loop->sampler);
    smp_sampler_count(loop->sampler, SMP_COUNTER_LEFT_OUT_TICKS,
                      smp_schedule_hold_tick(&loop->schedule, now_ns + gap_ns));
}

static void do_what_is_due(struct smp_loop *loop)
{
    const int64_t now_ns = smp_clock_ns();

    if (loop->is_sampling && smp_schedule_tick_is_due(&loop->schedule, now_ns))
        tick(loop, now_ns);
    if (smp_schedule_report_is_due(&loop->schedule, now_ns))
        periodic_report(loop, now_ns);
}

static void run(void *self)
{
    struct smp_loop *loop = self;
    struct smp_request *requests = NULL;
    const int64_t now_ns = smp_clock_ns();

    smp_schedule_init(&loop->schedule, interval_ns(loop), period_ns(loop), now_ns,
                      (uint64_t)now_ns ^ (uint64_t)(uintptr_t)loop);
    start_or_pause(loop);
    publish(loop);
    smp_worker_ready(&loop->worker);
    while (wait_for_work(loop, &requests)) {
        do_requests(loop, requests);
        do_what_is_due(loop);
    }
    do_requests(loop, requests);
    if (loop->wants_last_report) /* constant since the phase is STOPPING */
        last_report(loop);
    /* Here, because it gives threads and names back to the JVM. */
    smp_sampler_destroy(loop->sampler);
    loop->sampler = NULL;
}

/* --- create, destroy --- */

static enum smp_status init_locks(struct smp_loop *loop)
{
    if (pthread_mutex_init(&loop->mutex, NULL) != 0)
        return SMP_ENOMEM;
    if (pthread_cond_init(&loop->done, NULL) == 0)
        return SMP_OK;
    (void)pthread_mutex_destroy(&loop->mutex);
    return SMP_ENOMEM;
}

enum smp_status smp_loop_create(struct smp_quota *quota, struct smp_log *log,
                                const struct smp_vm *vm, const struct smp_host *host,
                                const struct smp_options *options, struct smp_windows *windows,
                                struct smp_reporter *reporter, struct smp_loop **out)
{
    struct smp_loop *loop = smp_alloc(quota, sizeof(*loop));
    enum smp_status status = SMP_ENOMEM;

    if (loop == NULL)
        return SMP_ENOMEM;
    loop->quota = quota;
    loop->log = log;
    loop->windows = windows;
    loop->reporter = reporter;
    loop->end = &loop->first;
    loop->watch.waker = &loop->waker;
    status = smp_sampler_create(quota, log, vm, options, &loop->sampler);
    if (status != SMP_OK)
        goto no_sampler;
    status = smp_worker_init(&loop->worker, host, "threads-sampler", run, loop);
    if (status != SMP_OK)
        goto no_worker;
    status = init_locks(loop);
    if (status != SMP_OK)
        goto no_locks;
    loop->options = *options;
    *out = loop;
    return SMP_OK;
no_locks:
    smp_worker_fini(&loop->worker);
no_worker:
    smp_sampler_destroy(loop->sampler);
no_sampler:
    smp_free(quota, loop);
    return status;
}

void smp_loop_destroy(struct smp_loop *loop)
{
    if (loop == NULL)
        return;
    smp_sampler_destroy(loop->sampler);
    smp_options_fini(&loop->options);
    (void)pthread_cond_destroy(&loop->done);
    (void)pthread_mutex_destroy(&loop->mutex);
    smp_worker_fini(&loop->worker);
    smp_free(loop->quota, loop);
}

/* --- start, stop, ask --- */

/* Before start there is no interval to report, and nobody to wait for. */
static enum smp_status do_new(struct smp_loop *loop, struct smp_request *request)
{
    if (request->what == SMP_ASK_OPEN)
        return smp_windows_open(loop->windows, &request->consumer);
    if (request->what == SMP_ASK_REPORT || request->what == SMP_ASK_SAMPLE_ONCE ||
        request->what == SMP_ASK_WINDOW)
        return SMP_ESTATE;
    return do_request(loop, request);
}

/* Requests that came while a start failed: done as those that came before it. */
static void back_to_new(struct smp_loop *loop)
{
    lock(loop);
    loop->phase = NEW;
    while (loop->first != NULL) {
        struct smp_request *request = loop->first;
        loop->first = request->next;
        request->status = do_new(loop, request);
        request->is_done = true;
    }
    loop->end = &loop->first;
    (void)pthread_cond_broadcast(&loop->done);
    unlock(loop);
}

enum smp_status smp_loop_start(struct smp_loop *loop)
{
    enum smp_status status;

    lock(loop);
    loop->phase = RUNNING;
    unlock(loop);
    status = smp_worker_start(&loop->worker);
    if (status != SMP_OK)
        back_to_new(loop);
    return status;
}

enum smp_status smp_loop_stop(struct smp_loop *loop, bool wants_last_report)
{
    lock(loop);
    loop->phase = STOPPING;
    loop->wants_last_report = wants_last_report;
    smp_waker_call(&loop->waker);
    unlock(loop);
    smp_worker_join(&loop->worker);
    lock(loop);
    loop->phase = STOPPED;
    unlock(loop);
    return loop->last_status;
}

bool smp_loop_is_caller(struct smp_loop *loop)
{
    return smp_worker_is_caller(&loop->worker);
}

static enum smp_status wait_for_answer(struct smp_loop *loop, struct smp_request *request)
{
    request->is_done = false;
    request->next = NULL;
    *loop->end = request;
    loop->end = &request->next;
    smp_waker_call(&loop->waker);
    while (!request->is_done)
        (void)pthread_cond_wait(&loop->done, &loop->mutex);
    return request->status;
}

enum smp_status smp_loop_ask(struct smp_loop *loop, struct smp_request *request)
{
    enum smp_status status = SMP_ESTOPPED;

    lock(loop);
    if (loop->phase == NEW)
        status = do_new(loop, request);
    else if (loop->phase == RUNNING)
        status = wait_for_answer(loop, request);
    unlock(loop);
    return status;
}

void smp_loop_get_stats(struct smp_loop *loop, struct smp_loop_stats *out)
{
    lock(loop);
    *out = loop->stats;
    unlock(loop);
}
