/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/utf8.h"

/* Number of kinds in memory. The library has fewer formats. */
enum { SMP_LOG_KINDS = 64 };

struct kind {
    const char *format; /* NULL: free */
    int64_t kept_ns;    /* when a message of this kind was last kept */
    uint64_t held_back; /* since then */
};

struct message {
    enum smp_log_level level;
    char text[SMP_LOG_MESSAGE_BYTES];
};

struct record {
    struct smp_bytes title;
    struct smp_bytes rows;
};

struct smp_log {
    struct smp_quota *quota;
    pthread_mutex_t mutex; /* guards all below */
    bool has_news;         /* something was added since take_news */
    size_t first;          /* index of the oldest message */
    size_t count;
    uint64_t dropped; /* by a full ring, not yet reported */
    struct kind kinds[SMP_LOG_KINDS];
    struct message messages[SMP_LOG_MESSAGES];
    size_t record_count;
    struct record records[SMP_LOG_RECORDS]; /* the oldest first */
};

enum smp_status smp_log_create(struct smp_quota *quota, struct smp_log **out)
{
    struct smp_log *log = smp_alloc(quota, sizeof(*log));

    if (log == NULL)
        return SMP_ENOMEM;
    if (pthread_mutex_init(&log->mutex, NULL) != 0) {
        smp_free(quota, log);
        return SMP_ENOMEM;
    }
    log->quota = quota;
    *out = log;
    return SMP_OK;
}

void smp_log_destroy(struct smp_log *log)
{
    if (log == NULL)
        return;
    for (size_t i = 0; i < log->record_count; i++) {
        smp_bytes_fini(&log->records[i].title);
        smp_bytes_fini(&log->records[i].rows);
    }
    (void)pthread_mutex_destroy(&log->mutex);
    smp_free(log->quota, log);
}

/* Returns the entry of format, or else the entry to replace: a free one, or the one silent for
 * longest. */
static struct kind *find_message_kind(struct smp_log *log, const char *format)
{
    struct kind *oldest = &log->kinds[0];

    for (size_t i = 0; i < SMP_LOG_KINDS; i++) {
        struct kind *kind = &log->kinds[i];
        if (kind->format == format || kind->format == NULL)
            return kind; /* entries are never freed, so there is none behind a free one */
        if (kind->kept_ns < oldest->kept_ns)
            oldest = kind;
    }
    return oldest;
}

/* The byte behind the cut must also have been written: it shows whether a character ends there. */
static size_t cut_at(size_t room)
{
    const size_t last = SMP_LOG_MESSAGE_BYTES - 2;

    return room < last ? room : last;
}

__attribute__((format(printf, 3, 0))) static void
write_message(struct message *message, uint64_t held_back, const char *format, va_list arguments)
{
    char suffix[48] = "";
    char *text = message->text;

    if (held_back > 0)
        (void)snprintf(suffix, sizeof(suffix), " (%llu more like it held back)",
                       (unsigned long long)held_back);
    const size_t room = sizeof(message->text) - 1 - strlen(suffix);
    const int length = vsnprintf(text, sizeof(message->text), format, arguments);
    if (length < 0)
        text[0] = '\0';
    else if ((size_t)length > room)
        text[smp_utf8_prefix(text, (size_t)length, cut_at(room))] = '\0';
    (void)memcpy(text + strlen(text), suffix, strlen(suffix) + 1);
}

/* Returns false if the ring is full. */
__attribute__((format(printf, 4, 0))) static bool
keep_message(struct smp_log *log, enum smp_log_level level, uint64_t held_back, const char *format,
             va_list arguments)
{
    struct message *message = &log->messages[(log->first + log->count) % SMP_LOG_MESSAGES];

    if (log->count == SMP_LOG_MESSAGES) {
        log->dropped++;
        return false;
    }
    message->level = level;
    write_message(message, held_back, format, arguments);
    log->count++;
    log->has_news = true;
    return true;
}

__attribute__((format(printf, 3, 0))) static void put(struct smp_log *log, enum smp_log_level level,
                                                      const char *format, va_list arguments)
{
    const int64_t now = smp_clock_ns();
    struct kind *kind = find_message_kind(log, format);
    const bool known = kind->format == format;

    if (known && now - kind->kept_ns < SMP_LOG_QUIET_NS) {
        kind->held_back++;
        return;
    }
    if (keep_message(log, level, known ? kind->held_back : 0, format, arguments))
        *kind = (struct kind){ .format = format, .kept_ns = now };
}

void smp_log_put(struct smp_log *log, enum smp_log_level level, const char *format, ...)
{
    va_list arguments;

    if (log == NULL)
        return;
    va_start(arguments, format);
    (void)pthread_mutex_lock(&log->mutex);
    put(log, level, format, arguments);
    (void)pthread_mutex_unlock(&log->mutex);
    va_end(arguments);
}

void smp_log_put_once(struct smp_log *log, enum smp_log_level level, const char *format, ...)
{
    va_list arguments;

    if (log == NULL)
        return;
    va_start(arguments, format);
    (void)pthread_mutex_lock(&log->mutex);
    (void)keep_message(log, level, 0, format, arguments);
    (void)pthread_mutex_unlock(&log->mutex);
    va_end(arguments);
}

/* Reports what a full ring dropped, once all earlier messages are taken. */
static bool take_message(struct smp_log *log, enum smp_log_level *level, char *text)
{
    if (log->count > 0) {
        const struct message *message = &log->messages[log->first];
        *level = message->level;
        memcpy(text, message->text, sizeof(message->text));
        log->first = (log->first + 1) % SMP_LOG_MESSAGES;
        log->count--;
        return true;
    }
    if (log->dropped == 0)
        return false;
    *level = SMP_LOG_WARNING;
    (void)snprintf(text, SMP_LOG_MESSAGE_BYTES, "messages dropped because the log was full: %llu",
                   (unsigned long long)log->dropped);
    log->dropped = 0;
    return true;
}

bool smp_log_take(struct smp_log *log, enum smp_log_level *level, char text[SMP_LOG_MESSAGE_BYTES])
{
    (void)pthread_mutex_lock(&log->mutex);
    const bool taken = take_message(log, level, text);
    (void)pthread_mutex_unlock(&log->mutex);
    return taken;
}

bool smp_log_take_news(struct smp_log *log)
{
    if (log == NULL)
        return false;
    (void)pthread_mutex_lock(&log->mutex);
    const bool has_news = log->has_news;
    log->has_news = false;
    (void)pthread_mutex_unlock(&log->mutex);
    return has_news;
}

/* --- records --- */

bool smp_log_put_record(struct smp_log *log, struct smp_bytes *title, struct smp_bytes *rows)
{
    bool is_kept;

    if (log == NULL)
        return false;
    (void)pthread_mutex_lock(&log->mutex);
    is_kept = log->record_count < SMP_LOG_RECORDS;
    if (is_kept)
        log->records[log->record_count++] = (struct record){ .title = *title, .rows = *rows };
    log->has_news = log->has_news || is_kept;
    (void)pthread_mutex_unlock(&log->mutex);
    return is_kept;
}

bool smp_log_take_record(struct smp_log *log, struct smp_bytes *title, struct smp_bytes *rows)
{
    (void)pthread_mutex_lock(&log->mutex);
    const bool is_taken = log->record_count > 0;
    if (is_taken) {
        *title = log->records[0].title;
        *rows = log->records[0].rows;
        log->record_count--;
        memmove(log->records, log->records + 1, log->record_count * sizeof(log->records[0]));
    }
    (void)pthread_mutex_unlock(&log->mutex);
    return is_taken;
}
