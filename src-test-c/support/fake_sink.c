/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fake_sink.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PATIENCE_SECONDS = 60 };

struct record {
    struct record *next;
    char *title;
    char *rows;
};

struct fake_sink {
    pthread_mutex_t mutex; /* guards all below */
    pthread_cond_t changed;
    struct record *records; /* newest first; a message has no rows */
    struct fake_sink_counts counts;
    bool is_shut;
    bool is_inside;
    unsigned failing_titles;
    unsigned failing_flushes;
    void (*hook)(void *self);
    void *hook_self;
    int64_t from_wall_ms;
    int64_t till_wall_ms;
};

static void lock(struct fake_sink *sink)
{
    pthread_mutex_lock(&sink->mutex);
}

static void unlock(struct fake_sink *sink)
{
    pthread_cond_broadcast(&sink->changed);
    pthread_mutex_unlock(&sink->mutex);
}

/* With the mutex held: until something changes. A test that waits for ever has failed. */
static void wait_for_change(struct fake_sink *sink)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_SECONDS;
    if (pthread_cond_timedwait(&sink->changed, &sink->mutex, &until) != 0) {
        (void)fprintf(stderr, "fake_sink: waited for nothing\n");
        abort();
    }
}

struct fake_sink *fake_sink_create(void)
{
    struct fake_sink *sink = calloc(1, sizeof(*sink));

    if (sink == NULL)
        abort();
    pthread_mutex_init(&sink->mutex, NULL);
    pthread_cond_init(&sink->changed, NULL);
    return sink;
}

void fake_sink_destroy(struct fake_sink *sink)
{
    while (sink->records != NULL) {
        struct record *next = sink->records->next;
        free(sink->records->title);
        free(sink->records->rows);
        free(sink->records);
        sink->records = next;
    }
    pthread_cond_destroy(&sink->changed);
    pthread_mutex_destroy(&sink->mutex);
    free(sink);
}

/* --- what the reporter calls --- */

static void keep(struct fake_sink *sink, const char *title, const char *rows)
{
    struct record *record = calloc(1, sizeof(*record));

    if (record == NULL)
        abort();
    record->title = strdup(title);
    record->rows = strdup(rows);
    record->next = sink->records;
    sink->records = record;
}

static bool take_failure(unsigned *failing)
{
    if (*failing == 0)
        return false;
    (*failing)--;
    return true;
}

static bool title(void *self, int64_t from_wall_ms, int64_t till_wall_ms)
{
    struct fake_sink *sink = self;

    lock(sink);
    void (*hook)(void *) = sink->hook;
    void *hook_self = sink->hook_self;
    unlock(sink);
    if (hook != NULL)
        hook(hook_self);
    lock(sink);
    sink->counts.titles++;
    sink->from_wall_ms = from_wall_ms;
    sink->till_wall_ms = till_wall_ms;
    sink->is_inside = true;
    pthread_cond_broadcast(&sink->changed);
    while (sink->is_shut)
        wait_for_change(sink);
    sink->is_inside = false;
    const bool failed = take_failure(&sink->failing_titles);
    unlock(sink);
    return !failed;
}

static bool record(void *self, const char *record_title, size_t title_length, const char *rows,
                   size_t rows_length)
{
    struct fake_sink *sink = self;

    if (strlen(record_title) != title_length || strlen(rows) != rows_length)
        abort();
    lock(sink);
    sink->counts.records++;
    keep(sink, record_title, rows);
    unlock(sink);
    return true;
}

static bool flush(void *self)
{
    struct fake_sink *sink = self;

    lock(sink);
    const bool failed = take_failure(&sink->failing_flushes);
    if (!failed)
        sink->counts.flushes++;
    unlock(sink);
    return !failed;
}

static void message(void *self, enum smp_log_level level, const char *text)
{
    struct fake_sink *sink = self;

    (void)level;
    lock(sink);
    sink->counts.messages++;
    keep(sink, text, "");
    unlock(sink);
}

struct smp_sink fake_sink_interface(struct fake_sink *sink)
{
    return (struct smp_sink){
        .title = title, .record = record, .flush = flush, .message = message, .self = sink
    };
}

/* --- what the test says --- */

void fake_sink_shut(struct fake_sink *sink)
{
    lock(sink);
    sink->is_shut = true;
    unlock(sink);
}

void fake_sink_open(struct fake_sink *sink)
{
    lock(sink);
    sink->is_shut = false;
    unlock(sink);
}

void fake_sink_wait_inside(struct fake_sink *sink)
{
    lock(sink);
    while (!sink->is_inside)
        wait_for_change(sink);
    unlock(sink);
}

void fake_sink_fail_titles(struct fake_sink *sink, unsigned count)
{
    lock(sink);
    sink->failing_titles = count;
    unlock(sink);
}

void fake_sink_fail_flushes(struct fake_sink *sink, unsigned count)
{
    lock(sink);
    sink->failing_flushes = count;
    unlock(sink);
}

void fake_sink_on_title(struct fake_sink *sink, void (*hook)(void *self), void *self)
{
    lock(sink);
    sink->hook = hook;
    sink->hook_self = self;
    unlock(sink);
}

/* --- what it asks --- */

struct fake_sink_counts fake_sink_get_counts(struct fake_sink *sink)
{
    lock(sink);
    const struct fake_sink_counts counts = sink->counts;
    unlock(sink);
    return counts;
}

void fake_sink_wait_reports(struct fake_sink *sink, unsigned count)
{
    lock(sink);
    while (sink->counts.flushes < count)
        wait_for_change(sink);
    unlock(sink);
}

void fake_sink_wait_messages(struct fake_sink *sink, unsigned count)
{
    lock(sink);
    while (sink->counts.messages < count)
        wait_for_change(sink);
    unlock(sink);
}

bool fake_sink_has(struct fake_sink *sink, const char *text)
{
    bool has = false;

    lock(sink);
    for (const struct record *at = sink->records; at != NULL && !has; at = at->next)
        has = strstr(at->title, text) != NULL || strstr(at->rows, text) != NULL;
    unlock(sink);
    return has;
}

static long sum_of_roots(const char *rows)
{
    static const char label[] = "Cumulative time(ms): ";
    long sum = 0;

    for (const char *line = rows; *line != '\0'; line = strchr(line, '\n') + 1) {
        const char *figure = strstr(line, label);
        if (line[0] != ' ' && figure != NULL)
            sum += strtol(figure + sizeof(label) - 1, NULL, 10);
    }
    return sum;
}

long fake_sink_sum_ms(struct fake_sink *sink, const char *group)
{
    char start[256];
    long sum = 0;

    (void)snprintf(start, sizeof(start), "Aggregated thread: %s.", group);
    lock(sink);
    for (const struct record *at = sink->records; at != NULL; at = at->next) {
        if (strncmp(at->title, start, strlen(start)) == 0)
            sum += sum_of_roots(at->rows);
    }
    unlock(sink);
    return sum;
}

void fake_sink_last_title(struct fake_sink *sink, int64_t *from_wall_ms, int64_t *till_wall_ms)
{
    lock(sink);
    *from_wall_ms = sink->from_wall_ms;
    *till_wall_ms = sink->till_wall_ms;
    unlock(sink);
}
