/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/session/reporter.h"

#include <pthread.h>

#include "base/clock.h"
#include "engine/session/worker.h"

enum { SLOTS = SMP_MAX_QUEUED_SNAPSHOTS + 1 }; /* one is kept free for the last report */

struct entry {
    uint64_t until; /* the number of the report's last interval; 0: none */
    struct smp_report_style style;
    struct smp_report_ticket *ticket;
};

struct smp_reporter {
    struct smp_quota *quota;
    struct smp_log *log;
    struct smp_interval_queue *intervals;
    unsigned reader; /* of windows */
    struct smp_outputer outputer;
    struct smp_worker worker;
    struct smp_profile *current; /* the thread's own: what is being written */
    pthread_mutex_t mutex;       /* guards all below; a leaf: nothing is called while it is held */
    pthread_cond_t work;         /* for the thread */
    pthread_cond_t done;         /* for those who wait for it */
    struct entry entries[SLOTS];
    unsigned first;
    unsigned count;
    bool is_writing;
    bool is_ending;
    bool has_news; /* something in the log */
    uint64_t released;
    struct smp_reporter_stats stats;
};

static void lock(struct smp_reporter *reporter)
{
    (void)pthread_mutex_lock(&reporter->mutex);
}

static void unlock(struct smp_reporter *reporter)
{
    (void)pthread_mutex_unlock(&reporter->mutex);
}

/* --- the thread --- */

static void tell_messages(struct smp_reporter *reporter)
{
    char text[SMP_LOG_MESSAGE_BYTES];
    enum smp_log_level level;

    while (smp_log_take(reporter->log, &level, text))
        reporter->outputer.message(reporter->outputer.self, level, text);
}

/* False: asked to end, and nothing is left to do. *entry is empty where there are only messages. */
static bool take_work(struct smp_reporter *reporter, struct entry *entry)
{
    bool has_work;

    *entry = (struct entry){ 0 };
    lock(reporter);
    while (reporter->count == 0 && !reporter->has_news && !reporter->is_ending)
        (void)pthread_cond_wait(&reporter->work, &reporter->mutex);
    has_work = reporter->count > 0 || reporter->has_news;
    reporter->has_news = false;
    if (reporter->count > 0) {
        *entry = reporter->entries[reporter->first];
        reporter->first = (reporter->first + 1) % SLOTS;
        reporter->count--;
        reporter->is_writing = true;
    }
    unlock(reporter);
    return has_work;
}

static void finish_entry(struct smp_reporter *reporter, const struct entry *entry,
                         enum smp_status status, bool had_samples, unsigned cut)
{
    const int64_t own_cpu_ns = smp_clock_own_cpu_ns();

    lock(reporter);
    reporter->is_writing = false;
    reporter->released++;
    reporter->stats.own_cpu_ns = own_cpu_ns;
    reporter->stats.cut += cut;
    if (status != SMP_OK)
        reporter->stats.failed++;
    else if (had_samples)
        reporter->stats.written++;
    if (entry->ticket != NULL) {
        entry->ticket->status = status;
        entry->ticket->is_done = true;
    }
    (void)pthread_cond_broadcast(&reporter->done);
    unlock(reporter);
}

/* One part, which is let go of. */
static enum smp_status write_part(struct smp_reporter *reporter, const struct entry *entry,
                                  struct smp_profile *part, unsigned *cut)
{
    enum smp_status status;

    reporter->current = part;
    status = smp_report_text(part, entry->style, reporter->quota, &reporter->outputer, cut);
    reporter->current = NULL;
    smp_profile_release(part);
    return status;
}

/* All that no report has had up to the entry's last interval: one part, but where memory is short.
 * The first failure is the report's. */
static enum smp_status write_parts(struct smp_reporter *reporter, const struct entry *entry,
                                   bool *had_samples, unsigned *cut)
{
    struct smp_profile *part = NULL;
    enum smp_status first = SMP_OK;
    enum smp_status taken =
        smp_interval_queue_take(reporter->intervals, reporter->reader, entry->until, &part);

    while (taken == SMP_OK) {
        enum smp_status status;
        unsigned more = 0;
        *had_samples |= !smp_profile_is_empty(part);
        status = write_part(reporter, entry, part, &more);
        *cut += more;
        if (first == SMP_OK)
            first = status;
        taken = smp_interval_queue_take(reporter->intervals, reporter->reader, entry->until, &part);
    }
    /* SMP_ESTATE is the end. */
    return first == SMP_OK && taken != SMP_ESTATE ? taken : first;
}

static void write_report(struct smp_reporter *reporter, const struct entry *entry)
{
    bool had_samples = false;
    unsigned cut = 0;
    const enum smp_status status = write_parts(reporter, entry, &had_samples, &cut);

    /* A outputer that failed knows why; what happened before it was reached is told here. */
    if (status != SMP_OK && status != SMP_EIO)
        smp_log_put(reporter->log, SMP_LOG_ERROR, "a report could not be made: %s",
                    smp_status_text(status));
    tell_messages(reporter);
    finish_entry(reporter, entry, status, had_samples, cut);
}

static void run(void *self)
{
    struct smp_reporter *reporter = self;
    struct entry entry;

    smp_worker_ready(&reporter->worker);
    while (take_work(reporter, &entry)) {
        if (entry.until != 0)
            write_report(reporter, &entry);
        else
            tell_messages(reporter);
        smp_interval_queue_compact(reporter->intervals);
    }
    tell_messages(reporter);
}

/* --- create, destroy --- */

static enum smp_status init_locks(struct smp_reporter *reporter)
{
    if (pthread_mutex_init(&reporter->mutex, NULL) != 0)
        goto no_mutex;
    if (pthread_cond_init(&reporter->work, NULL) != 0)
        goto no_work;
    if (pthread_cond_init(&reporter->done, NULL) != 0)
        goto no_done;
    return SMP_OK;
no_done:
    (void)pthread_cond_destroy(&reporter->work);
no_work:
    (void)pthread_mutex_destroy(&reporter->mutex);
no_mutex:
    return SMP_ENOMEM;
}

static void fini_locks(struct smp_reporter *reporter)
{
    (void)pthread_cond_destroy(&reporter->done);
    (void)pthread_cond_destroy(&reporter->work);
    (void)pthread_mutex_destroy(&reporter->mutex);
}

enum smp_status smp_reporter_create(struct smp_quota *quota, struct smp_log *log,
                                    struct smp_interval_queue *intervals,
                                    const struct smp_attach *attach,
                                    const struct smp_outputer *outputer, struct smp_reporter **out)
{
    struct smp_reporter *reporter = smp_alloc(quota, sizeof(*reporter));
    enum smp_status status = SMP_ENOMEM;

    if (reporter == NULL)
        return SMP_ENOMEM;
    reporter->quota = quota;
    reporter->log = log;
    reporter->intervals = intervals;
    reporter->outputer = *outputer;
    status = smp_worker_init(&reporter->worker, attach, "threads-sampler-report", run, reporter);
    if (status != SMP_OK)
        goto no_worker;
    status = init_locks(reporter);
    if (status != SMP_OK)
        goto no_locks;
    status = smp_interval_queue_open(intervals, &reporter->reader);
    if (status != SMP_OK)
        goto no_reader;
    *out = reporter;
    return SMP_OK;
no_reader:
    fini_locks(reporter);
no_locks:
    smp_worker_fini(&reporter->worker);
no_worker:
    smp_free(quota, reporter);
    return status;
}

void smp_reporter_destroy(struct smp_reporter *reporter)
{
    if (reporter == NULL)
        return;
    smp_interval_queue_close(reporter->intervals, reporter->reader);
    fini_locks(reporter);
    smp_worker_fini(&reporter->worker);
    smp_free(reporter->quota, reporter);
}

/* --- start, finish --- */

enum smp_status smp_reporter_start(struct smp_reporter *reporter)
{
    reporter->is_ending = false;
    return smp_worker_start(&reporter->worker);
}

/* Empties the queue; whoever waits for a report waits no longer. */
static void forget_all(struct smp_reporter *reporter)
{
    while (reporter->count > 0) {
        struct entry *entry = &reporter->entries[reporter->first];
        if (entry->ticket != NULL) {
            entry->ticket->status = SMP_ESTOPPED;
            entry->ticket->is_done = true;
        }
        reporter->first = (reporter->first + 1) % SLOTS;
        reporter->count--;
    }
    (void)pthread_cond_broadcast(&reporter->done);
}

void smp_reporter_finish(struct smp_reporter *reporter, bool drain)
{
    lock(reporter);
    reporter->is_ending = true;
    if (!drain)
        forget_all(reporter);
    (void)pthread_cond_signal(&reporter->work);
    unlock(reporter);
    smp_worker_join(&reporter->worker);
}

bool smp_reporter_is_caller(struct smp_reporter *reporter)
{
    return smp_worker_is_caller(&reporter->worker);
}

/* --- the queue --- */

bool smp_reporter_has_room(struct smp_reporter *reporter)
{
    bool has_room;

    lock(reporter);
    has_room = reporter->count < SMP_MAX_QUEUED_SNAPSHOTS;
    unlock(reporter);
    return has_room;
}

void smp_reporter_offer(struct smp_reporter *reporter, struct smp_profile *profile,
                        struct smp_report_style style, struct smp_report_ticket *ticket)
{
    const uint64_t until =
        smp_interval_queue_append(reporter->intervals, profile, reporter->reader);

    lock(reporter);
    reporter->entries[(reporter->first + reporter->count) % SLOTS] =
        (struct entry){ .until = until, .style = style, .ticket = ticket };
    reporter->count++;
    (void)pthread_cond_signal(&reporter->work);
    unlock(reporter);
}

enum smp_status smp_reporter_wait(struct smp_reporter *reporter, struct smp_report_ticket *ticket)
{
    enum smp_status status;

    lock(reporter);
    while (!ticket->is_done)
        (void)pthread_cond_wait(&reporter->done, &reporter->mutex);
    status = ticket->status;
    unlock(reporter);
    return status;
}

struct smp_profile *smp_reporter_current(struct smp_reporter *reporter)
{
    if (!smp_worker_is_caller(&reporter->worker) || reporter->current == NULL)
        return NULL;
    return smp_profile_hold(reporter->current);
}

uint64_t smp_reporter_released(struct smp_reporter *reporter)
{
    uint64_t released;

    lock(reporter);
    released = reporter->released;
    unlock(reporter);
    return released;
}

bool smp_reporter_wait_for_release(struct smp_reporter *reporter, uint64_t released)
{
    bool has_released;

    lock(reporter);
    while (reporter->released == released && (reporter->count > 0 || reporter->is_writing))
        (void)pthread_cond_wait(&reporter->done, &reporter->mutex);
    has_released = reporter->released != released;
    unlock(reporter);
    return has_released;
}

void smp_reporter_wake(struct smp_reporter *reporter)
{
    lock(reporter);
    reporter->has_news = true;
    (void)pthread_cond_signal(&reporter->work);
    unlock(reporter);
}

void smp_reporter_get_stats(struct smp_reporter *reporter, struct smp_reporter_stats *out)
{
    lock(reporter);
    *out = reporter->stats;
    unlock(reporter);
}
