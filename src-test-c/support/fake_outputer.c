/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fake_outputer.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct record {
    struct record *next;
    char *title;
    char *rows;
};

struct fake_outputer {
    pthread_mutex_t mutex; /* guards all fields below */
    pthread_cond_t changed;
    struct record *records; /* newest first; a message has no rows */
    struct fake_outputer_counts counts;
    bool is_shut;
    bool is_inside;
    unsigned failing_titles;
    unsigned failing_flushes;
    void (*hook)(void *self);
    void *hook_self;
    int64_t from_wall_ms;
    int64_t till_wall_ms;
};

static void lock(struct fake_outputer *outputer)
{
    pthread_mutex_lock(&outputer->mutex);
}

static void unlock(struct fake_outputer *outputer)
{
    pthread_cond_broadcast(&outputer->changed);
    pthread_mutex_unlock(&outputer->mutex);
}

struct fake_outputer *fake_outputer_create(void)
{
    struct fake_outputer *outputer = calloc(1, sizeof(*outputer));

    if (outputer == NULL)
        abort();
    pthread_mutex_init(&outputer->mutex, NULL);
    pthread_cond_init(&outputer->changed, NULL);
    return outputer;
}

void fake_outputer_destroy(struct fake_outputer *outputer)
{
    while (outputer->records != NULL) {
        struct record *next = outputer->records->next;
        free(outputer->records->title);
        free(outputer->records->rows);
        free(outputer->records);
        outputer->records = next;
    }
    pthread_cond_destroy(&outputer->changed);
    pthread_mutex_destroy(&outputer->mutex);
    free(outputer);
}

/* --- called by the reporter --- */

static void keep(struct fake_outputer *outputer, const char *title, const char *rows)
{
    struct record *record = calloc(1, sizeof(*record));

    if (record == NULL)
        abort();
    record->title = strdup(title);
    record->rows = strdup(rows);
    record->next = outputer->records;
    outputer->records = record;
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
    struct fake_outputer *outputer = self;

    lock(outputer);
    void (*hook)(void *) = outputer->hook;
    void *hook_self = outputer->hook_self;
    unlock(outputer);
    if (hook != NULL)
        hook(hook_self);
    lock(outputer);
    outputer->counts.titles++;
    outputer->from_wall_ms = from_wall_ms;
    outputer->till_wall_ms = till_wall_ms;
    outputer->is_inside = true;
    pthread_cond_broadcast(&outputer->changed);
    while (outputer->is_shut)
        (void)pthread_cond_wait(&outputer->changed, &outputer->mutex);
    outputer->is_inside = false;
    const bool failed = take_failure(&outputer->failing_titles);
    unlock(outputer);
    return !failed;
}

static bool record(void *self, const char *record_title, size_t title_length, const char *rows,
                   size_t rows_length)
{
    struct fake_outputer *outputer = self;

    if (strlen(record_title) != title_length || strlen(rows) != rows_length)
        abort();
    lock(outputer);
    outputer->counts.records++;
    keep(outputer, record_title, rows);
    unlock(outputer);
    return true;
}

static bool flush(void *self)
{
    struct fake_outputer *outputer = self;

    lock(outputer);
    const bool failed = take_failure(&outputer->failing_flushes);
    if (!failed)
        outputer->counts.flushes++;
    unlock(outputer);
    return !failed;
}

static void deadlock(void *self, const char *record_title, size_t title_length, const char *rows,
                     size_t rows_length)
{
    struct fake_outputer *outputer = self;

    if (strlen(record_title) != title_length || strlen(rows) != rows_length)
        abort();
    lock(outputer);
    outputer->counts.deadlocks++;
    keep(outputer, record_title, rows);
    unlock(outputer);
}

static void message(void *self, enum smp_log_level level, const char *text)
{
    struct fake_outputer *outputer = self;

    (void)level;
    lock(outputer);
    outputer->counts.messages++;
    keep(outputer, text, "");
    unlock(outputer);
}

struct smp_outputer fake_outputer_interface(struct fake_outputer *outputer)
{
    return (struct smp_outputer){ .title = title,
                                  .record = record,
                                  .flush = flush,
                                  .deadlock = deadlock,
                                  .message = message,
                                  .self = outputer };
}

/* --- called by the test --- */

void fake_outputer_shut(struct fake_outputer *outputer)
{
    lock(outputer);
    outputer->is_shut = true;
    unlock(outputer);
}

void fake_outputer_open(struct fake_outputer *outputer)
{
    lock(outputer);
    outputer->is_shut = false;
    unlock(outputer);
}

void fake_outputer_wait_inside(struct fake_outputer *outputer)
{
    lock(outputer);
    while (!outputer->is_inside)
        (void)pthread_cond_wait(&outputer->changed, &outputer->mutex);
    unlock(outputer);
}

void fake_outputer_fail_titles(struct fake_outputer *outputer, unsigned count)
{
    lock(outputer);
    outputer->failing_titles = count;
    unlock(outputer);
}

void fake_outputer_fail_flushes(struct fake_outputer *outputer, unsigned count)
{
    lock(outputer);
    outputer->failing_flushes = count;
    unlock(outputer);
}

void fake_outputer_on_title(struct fake_outputer *outputer, void (*hook)(void *self), void *self)
{
    lock(outputer);
    outputer->hook = hook;
    outputer->hook_self = self;
    unlock(outputer);
}

/* --- queries --- */

struct fake_outputer_counts fake_outputer_get_counts(struct fake_outputer *outputer)
{
    lock(outputer);
    const struct fake_outputer_counts counts = outputer->counts;
    unlock(outputer);
    return counts;
}

void fake_outputer_wait_reports(struct fake_outputer *outputer, unsigned count)
{
    lock(outputer);
    while (outputer->counts.flushes < count)
        (void)pthread_cond_wait(&outputer->changed, &outputer->mutex);
    unlock(outputer);
}

void fake_outputer_wait_messages(struct fake_outputer *outputer, unsigned count)
{
    lock(outputer);
    while (outputer->counts.messages < count)
        (void)pthread_cond_wait(&outputer->changed, &outputer->mutex);
    unlock(outputer);
}

bool fake_outputer_has(struct fake_outputer *outputer, const char *text)
{
    bool has = false;

    lock(outputer);
    for (const struct record *at = outputer->records; at != NULL && !has; at = at->next)
        has = strstr(at->title, text) != NULL || strstr(at->rows, text) != NULL;
    unlock(outputer);
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

long fake_outputer_sum_ms(struct fake_outputer *outputer, const char *group)
{
    char start[256];
    long sum = 0;

    (void)snprintf(start, sizeof(start), "Aggregated thread: %s.", group);
    lock(outputer);
    for (const struct record *at = outputer->records; at != NULL; at = at->next) {
        if (strncmp(at->title, start, strlen(start)) == 0)
            sum += sum_of_roots(at->rows);
    }
    unlock(outputer);
    return sum;
}

void fake_outputer_last_title(struct fake_outputer *outputer, int64_t *from_wall_ms,
                              int64_t *till_wall_ms)
{
    lock(outputer);
    *from_wall_ms = outputer->from_wall_ms;
    *till_wall_ms = outputer->till_wall_ms;
    unlock(outputer);
}
