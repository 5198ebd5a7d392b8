/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/session/reporter.h"

#include "base/clock.h"
#include "base/lock.h"
#include "engine/session/worker.h"

enum { SLOTS = SMP_MAX_QUEUED_SNAPSHOTS + 1 }; /* one for the last report */

struct report_entry {
    uint64_t until; /* the number of the report's last interval; 0: no report */
    struct smp_export_style style;
    struct smp_report_ticket *ticket;
};

struct smp_reporter {
    struct smp_quota *quota;
    struct smp_log *log;
    struct smp_interval_queue *intervals;
    unsigned reader; /* of the interval queue */
    struct smp_outputer outputer;
    struct smp_worker worker;
    struct smp_profile *current; /* of the running report; used only by the report thread */
    struct smp_lock lock;        /* guards all below; notified of new and finished work */
    struct report_entry entries[SLOTS];
    unsigned first;
    unsigned count;
    bool is_writing;
    bool is_ending;
    bool has_news;                   /* there are new messages in the log */
    struct smp_reporter_stats stats; /* the sums; other members are set in a copy */
};

/* --- the thread --- */

static void pass_on_deadlocks(struct smp_reporter *reporter)
{
    struct smp_bytes title;
    struct smp_bytes rows;

    while (smp_log_take_record(reporter->log, &title, &rows)) {
        reporter->outputer.deadlock(reporter->outputer.self, smp_bytes_text(&title), title.length,
                                    smp_bytes_text(&rows), rows.length);
        smp_bytes_fini(&title);
        smp_bytes_fini(&rows);
    }
}

static void pass_on_messages(struct smp_reporter *reporter)
{
    char text[SMP_LOG_MESSAGE_BYTES];
    enum smp_log_level level;

    pass_on_deadlocks(reporter);
    while (smp_log_take(reporter->log, &level, text))
        reporter->outputer.message(reporter->outputer.self, level, text);
}

/* Waits for work. Returns false if the thread must end. *entry is empty if there are only
 * messages. */
static bool take_report(struct smp_reporter *reporter, struct report_entry *entry)
{
    *entry = (struct report_entry){ 0 };
    smp_lock_acquire(&reporter->lock);
    while (reporter->count == 0 && !reporter->has_news && !reporter->is_ending)
        smp_lock_wait(&reporter->lock);
    const bool has_work = reporter->count > 0 || reporter->has_news;
    reporter->has_news = false;
    if (reporter->count > 0) {
        *entry = reporter->entries[reporter->first];
        reporter->first = (reporter->first + 1) % SLOTS;
        reporter->count--;
        reporter->is_writing = true;
    }
    smp_lock_release(&reporter->lock);
    return has_work;
}

static void finish_entry(struct smp_reporter *reporter, const struct report_entry *entry,
                         enum smp_status status, bool had_samples, unsigned cut)
{
    const int64_t own_cpu_ns = smp_clock_own_cpu_ns();

    smp_lock_acquire(&reporter->lock);
    reporter->is_writing = false;
    reporter->stats.released++;
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
    smp_lock_notify(&reporter->lock);
    smp_lock_release(&reporter->lock);
}

/* Writes one part, and releases it. */
static enum smp_status write_part(struct smp_reporter *reporter, const struct report_entry *entry,
                                  struct smp_profile *part, unsigned *cut)
{
    enum smp_status status;

    reporter->current = part;
    status = smp_report_text(part, entry->style, reporter->quota, &reporter->outputer, cut);
    reporter->current = NULL;
    smp_profile_release(part);
    return status;
}

/* Writes the next intervals up to the entry's last one, as one part, or as several if memory is
 * short. Returns the first failure. */
static enum smp_status write_parts(struct smp_reporter *reporter, const struct report_entry *entry,
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
    /* SMP_ESTATE means that nothing is left. */
    return first == SMP_OK && taken != SMP_ESTATE ? taken : first;
}

static void write_report(struct smp_reporter *reporter, const struct report_entry *entry)
{
    bool had_samples = false;
    unsigned cut = 0;
    const enum smp_status status = write_parts(reporter, entry, &had_samples, &cut);

    /* An outputer reports its failures itself. This is for failures before it was called. */
    if (status != SMP_OK && status != SMP_EIO)
        smp_log_put(reporter->log, SMP_LOG_ERROR, "a report could not be made: %s",
                    smp_status_text(status));
    pass_on_messages(reporter);
    finish_entry(reporter, entry, status, had_samples, cut);
}

static void run_report_thread(void *self)
{
    struct smp_reporter *reporter = self;
    struct report_entry entry;

    smp_worker_ready(&reporter->worker);
    while (take_report(reporter, &entry)) {
        if (entry.until != 0)
            write_report(reporter, &entry);
        else
            pass_on_messages(reporter);
        smp_interval_queue_compact(reporter->intervals);
    }
    pass_on_messages(reporter);
}

/* --- create, destroy --- */

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
    status = smp_worker_init(&reporter->worker, attach, "threads-sampler-report", run_report_thread,
                             reporter);
    if (status != SMP_OK)
        goto no_worker;
    status = smp_lock_init(&reporter->lock);
    if (status != SMP_OK)
        goto no_lock;
    status = smp_interval_queue_open(intervals, &reporter->reader);
    if (status != SMP_OK)
        goto no_reader;
    *out = reporter;
    return SMP_OK;
no_reader:
    smp_lock_fini(&reporter->lock);
no_lock:
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
    smp_lock_fini(&reporter->lock);
    smp_worker_fini(&reporter->worker);
    smp_free(reporter->quota, reporter);
}

/* --- start, finish --- */

enum smp_status smp_reporter_start(struct smp_reporter *reporter)
{
    reporter->is_ending = false;
    return smp_worker_start(&reporter->worker);
}

/* Empties the queue. Callers that wait for these reports get SMP_ESTOPPED. */
static void drop_queued(struct smp_reporter *reporter)
{
    while (reporter->count > 0) {
        struct report_entry *entry = &reporter->entries[reporter->first];
        if (entry->ticket != NULL) {
            entry->ticket->status = SMP_ESTOPPED;
            entry->ticket->is_done = true;
        }
        reporter->first = (reporter->first + 1) % SLOTS;
        reporter->count--;
    }
    smp_lock_notify(&reporter->lock);
}

void smp_reporter_finish(struct smp_reporter *reporter, bool drain)
{
    smp_lock_acquire(&reporter->lock);
    reporter->is_ending = true;
    if (!drain)
        drop_queued(reporter);
    smp_lock_notify(&reporter->lock);
    smp_lock_release(&reporter->lock);
    smp_worker_join(&reporter->worker);
}

bool smp_reporter_is_caller(struct smp_reporter *reporter)
{
    return smp_worker_is_caller(&reporter->worker);
}

/* --- the queue --- */

bool smp_reporter_has_room(struct smp_reporter *reporter)
{
    smp_lock_acquire(&reporter->lock);
    const bool has_room = reporter->count < SMP_MAX_QUEUED_SNAPSHOTS;
    smp_lock_release(&reporter->lock);
    return has_room;
}

void smp_reporter_offer(struct smp_reporter *reporter, struct smp_profile *profile,
                        struct smp_export_style style, struct smp_report_ticket *ticket)
{
    const uint64_t until =
        smp_interval_queue_append(reporter->intervals, profile, reporter->reader);

    smp_lock_acquire(&reporter->lock);
    reporter->entries[(reporter->first + reporter->count) % SLOTS] =
        (struct report_entry){ .until = until, .style = style, .ticket = ticket };
    reporter->count++;
    smp_lock_notify(&reporter->lock);
    smp_lock_release(&reporter->lock);
}

enum smp_status smp_reporter_wait(struct smp_reporter *reporter, struct smp_report_ticket *ticket)
{
    smp_lock_acquire(&reporter->lock);
    while (!ticket->is_done)
        smp_lock_wait(&reporter->lock);
    const enum smp_status status = ticket->status;
    smp_lock_release(&reporter->lock);
    return status;
}

struct smp_profile *smp_reporter_current(struct smp_reporter *reporter)
{
    if (!smp_worker_is_caller(&reporter->worker) || reporter->current == NULL)
        return NULL;
    return smp_profile_hold(reporter->current);
}

bool smp_reporter_wait_for_release(struct smp_reporter *reporter, uint64_t released)
{
    smp_lock_acquire(&reporter->lock);
    while (reporter->stats.released == released && (reporter->count > 0 || reporter->is_writing))
        smp_lock_wait(&reporter->lock);
    const bool has_released = reporter->stats.released != released;
    smp_lock_release(&reporter->lock);
    return has_released;
}

void smp_reporter_wake(struct smp_reporter *reporter)
{
    smp_lock_acquire(&reporter->lock);
    reporter->has_news = true;
    smp_lock_notify(&reporter->lock);
    smp_lock_release(&reporter->lock);
}

void smp_reporter_get_stats(struct smp_reporter *reporter, struct smp_reporter_stats *out)
{
    struct smp_interval_queue_figures intervals;

    smp_lock_acquire(&reporter->lock);
    *out = reporter->stats;
    out->queued = reporter->count;
    out->is_writing = reporter->is_writing;
    out->is_ending = reporter->is_ending;
    smp_lock_release(&reporter->lock);
    smp_interval_queue_get_figures(reporter->intervals, &intervals);
    out->dropped = intervals.dropped;
    out->coarse = intervals.coarse;
}
