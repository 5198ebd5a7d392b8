/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.c - the report that people read, as a PrintStreamSamplingOutputer writes it: a blank line
 * and the title; then each record's title, rows and a blank line.
 *
 * The times in the title are in the form of java.util.Date: always in English, in the time zone of
 * the process.
 */
#include <stdio.h>
#include <time.h>

#include "export/export_writers.h"
#include "export/report.h"

enum { MS_PER_SECOND = 1000, DATE_BYTES = 64, FIRST_YEAR = 1900 };

static const char day_names[][4] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };
static const char month_names[][4] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };

/* strftime would write names in the locale that the JVM has set. */
static void put_date(struct smp_writer *out, int64_t wall_ms)
{
    const time_t seconds = (time_t)(wall_ms / MS_PER_SECOND);
    char text[DATE_BYTES];
    struct tm at = { 0 };

    if (localtime_r(&seconds, &at) == NULL)
        return;
    (void)snprintf(text, sizeof(text), "%s %s %02d %02d:%02d:%02d %s %d", day_names[at.tm_wday % 7],
                   month_names[at.tm_mon % 12], at.tm_mday, at.tm_hour, at.tm_min, at.tm_sec,
                   at.tm_zone != NULL ? at.tm_zone : "", at.tm_year + FIRST_YEAR);
    smp_writer_puts(out, text);
}

static bool on_title(void *self, int64_t from_wall_ms, int64_t till_wall_ms)
{
    struct smp_writer *const out = self;

    smp_writer_puts(out, "\nReport interval: from ");
    put_date(out, from_wall_ms);
    smp_writer_puts(out, " till ");
    put_date(out, till_wall_ms);
    smp_writer_puts(out, "\n");
    return !out->has_failed;
}

static bool on_record(void *self, const char *title, size_t title_length, const char *rows,
                      size_t rows_length)
{
    struct smp_writer *const out = self;

    smp_writer_put(out, title, title_length);
    smp_writer_puts(out, "\n");
    smp_writer_put(out, rows, rows_length);
    smp_writer_puts(out, "\n");
    return !out->has_failed;
}

static bool on_flush(void *self)
{
    const struct smp_writer *const out = self;

    return !out->has_failed;
}

static void on_message(void *self, enum smp_log_level level, const char *text)
{
    (void)self;
    (void)level;
    (void)text;
}

enum smp_status smp_export_text(const struct smp_export_job *job)
{
    struct smp_export_style style = *job->style;
    const struct smp_outputer outputer = { .title = on_title,
                                           .record = on_record,
                                           .flush = on_flush,
                                           .message = on_message,
                                           .self = job->out };
    unsigned cut = 0; /* not needed: a cut record has a line about it */

    style.fold_recursion = false; /* the job's profile is already folded */
    return smp_report_text(job->profile, style, job->quota, &outputer, &cut);
}
