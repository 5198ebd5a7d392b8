/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top.c - hot spots and methods as tables for a log: the summary (summary.h); the lines of the
 * user's code with the most active time, callees included; the methods, of any code, with the most
 * own active time. Time is active if it is not idle. The last line has all idle time.
 *
 *   Top 20 methods of 321, by own active time, over 60000 ms
 *   percent    active ms   running ms  runnable ms   blocked ms       I/O ms   waiting ms  method
 *      45.1        27060        26010         1050            0            0            0  A.run
 *
 * With another measure, rows are ordered by it and have its column. The column of active time has
 * error bars (cells.h) if they are known. With the CPU clock, or if states are not known, that
 * column has all time, and there are no columns for states.
 *
 * If calls are counted, a table of the counted methods follows (calls_table.c), which includes
 * roots and has callees' time. With the measure CALLS it is the only table.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"
#include "export/cells.h"
#include "export/export_writers.h"
#include "export/summary.h"

enum { ROWS = 20, ROW_BYTES = 128, TENTHS = 1000, NS_PER_MS = 1000000, WIDTH = 12 };

struct top_table {
    const struct smp_export_job *job;
    enum smp_spot_key key;
    struct smp_hot_spots spots;
    bool has_bars;
    uint32_t columns; /* the measures after the active time */
    struct smp_bytes text;
};

/* --- the head --- */

/* With the CPU clock, the title of wall time is that of CPU time. */
static const struct smp_measure_info *time_info(const struct top_table *table)
{
    return smp_measure_info(smp_profile_measure(table->job->profile, SMP_MEASURE_WALL));
}

static void put_table_title(const struct top_table *table)
{
    const bool by_method = table->key == SMP_SPOT_METHOD;
    const struct smp_export_job *const job = table->job;
    const bool is_active = job->style->measure == SMP_MEASURE_WALL && table->spots.has_states;
    const char *const what = by_method ? "method" : "hot spot";
    char row[ROW_BYTES];

    (void)snprintf(row, sizeof(row), "Top %zu %ss of %zu, by %s%s, over %" PRId64 " ms\n",
                   table->spots.count, what, table->spots.count + table->spots.others,
                   by_method ? "own " : "",
                   is_active ? "active time" : smp_export_measure_title(job),
                   job->profile->elapsed_ns / NS_PER_MS);
    smp_writer_puts(job->out, row);
}

static void put_heads(const struct top_table *table)
{
    smp_writer_puts(table->job->out, "percent");
    smp_cell_put(table->job->out, table->has_bars ? SMP_ERROR_CELL_WIDTH : WIDTH,
                 table->spots.has_states ? "active ms" : time_info(table)->column);
    for (uint32_t left = table->columns; left != 0; left &= left - 1) {
        const enum smp_measure measure = (enum smp_measure)__builtin_ctz(left);
        smp_cell_put(table->job->out, WIDTH, smp_measure_info(measure)->column);
    }
    smp_writer_puts(table->job->out, table->key == SMP_SPOT_METHOD ? "  method\n" : "  line\n");
}

/* --- rows --- */

static void put_time(const struct top_table *table, const struct smp_hot_spot *spot)
{
    const int64_t ns = smp_amounts_sum(&spot->amounts, table->spots.has_states
                                                           ? SMP_ACTIVE_STATES
                                                           : SMP_MEASURE_BIT(SMP_MEASURE_WALL));
    char cell[SMP_ERROR_CELL_BYTES];

    if (!table->has_bars) {
        smp_cell_put_figure(table->job->out, WIDTH, ns / NS_PER_MS);
        return;
    }
    smp_error_cell_print(ns, spot->error, cell);
    smp_cell_put(table->job->out, 0, cell);
}

static void put_amounts(const struct top_table *table, const struct smp_hot_spot *spot)
{
    const double share = (double)spot->ns / (double)table->spots.active_ns;
    const unsigned tenths = (unsigned)(share * TENTHS + 0.5);
    char cell[ROW_BYTES];

    (void)snprintf(cell, sizeof(cell), "%5u.%u", tenths / 10, tenths % 10);
    smp_writer_puts(table->job->out, cell);
    put_time(table, spot);
    for (uint32_t left = table->columns; left != 0; left &= left - 1) {
        const enum smp_measure measure = (enum smp_measure)__builtin_ctz(left);
        smp_cell_put_figure(table->job->out, WIDTH,
                            smp_measure_printed(measure, spot->amounts.of[measure]));
    }
}

static enum smp_status put_name(struct top_table *table, uint32_t location)
{
    struct smp_bytes *const text = &table->text;

    smp_bytes_restart(text);
    smp_bytes_puts(text, "  ");
    if (table->key == SMP_SPOT_METHOD)
        smp_profile_method_text(table->job->profile, location, text);
    else
        smp_profile_frame_text(table->job->profile, location, text);
    smp_bytes_put(text, "\n", 1);
    smp_writer_put(table->job->out, smp_bytes_text(text), text->length);
    return text->status;
}

/* Returns the states of active time, the style's columns, and the measure of the order. */
static uint32_t table_columns(const struct top_table *table)
{
    const struct smp_export_style *const style = table->job->style;
    uint32_t columns = (SMP_ACTIVE_STATES | style->columns | SMP_MEASURE_BIT(style->measure)) &
                       ~(uint32_t)SMP_OWN_MEASURES & ~SMP_MEASURE_BIT(SMP_MEASURE_WALL) &
                       smp_tree_measures(table->job->profile->tree);

    if (!table->spots.has_states)
        columns &= ~SMP_STATE_MEASURES;
    return columns;
}

static enum smp_status put_table(const struct smp_export_job *job, enum smp_spot_key key)
{
    const struct smp_spot_choice choice = {
        .key = key, .most = ROWS, .share = INT64_MAX, .measure = job->style->measure
    };
    struct top_table table = { .job = job,
                               .key = key,
                               .has_bars = choice.measure == SMP_MEASURE_WALL &&
                                           smp_tree_has_errors(job->profile->tree) };
    enum smp_status status = smp_hot_spots_choose(&table.spots, job->quota, job->profile, &choice);

    /* Without the user's code there is only the table of methods. */
    if (status != SMP_OK || (key == SMP_SPOT_PLACE && table.spots.count == 0))
        return status;
    table.columns = table_columns(&table);
    smp_bytes_init(&table.text, job->quota, SMP_MAX_FRAME_TEXT_BYTES);
    put_table_title(&table);
    put_heads(&table);
    for (size_t i = 0; i < table.spots.count && status == SMP_OK; i++) {
        put_amounts(&table, &table.spots.list[i]);
        status = put_name(&table, table.spots.list[i].place);
    }
    smp_bytes_fini(&table.text);
    if (key == SMP_SPOT_PLACE)
        smp_writer_puts(job->out, "\n");
    return status;
}

/* --- all of it --- */

static enum smp_status put_top_summary(const struct smp_export_job *job)
{
    struct smp_summary summary;
    struct smp_bytes lines;
    enum smp_status status;

    if (!job->style->summary || smp_profile_is_empty(job->profile))
        return SMP_OK;
    smp_bytes_init(&lines, job->quota, SMP_SUMMARY_BYTES);
    status = smp_summary_make(&summary, job->profile, &lines);
    if (status == SMP_OK) {
        smp_writer_puts(job->out, SMP_SUMMARY_TITLE "\n");
        smp_writer_put(job->out, smp_bytes_text(&lines), lines.length);
        smp_writer_puts(job->out, "\n");
    }
    smp_bytes_fini(&lines);
    return status;
}

static void put_idle_time(const struct smp_export_job *job)
{
    const int64_t idle_ns = smp_profile_total(job->profile, SMP_MEASURE_IDLE);
    char row[ROW_BYTES];

    if (idle_ns == 0 || job->style->measure != SMP_MEASURE_WALL)
        return;
    (void)snprintf(row, sizeof(row), "\nIdle, in no row: %" PRId64 " ms\n", idle_ns / NS_PER_MS);
    smp_writer_puts(job->out, row);
}

static enum smp_status put_sampled(const struct smp_export_job *job)
{
    enum smp_status status = put_table(job, SMP_SPOT_PLACE);

    if (status == SMP_OK)
        status = put_table(job, SMP_SPOT_METHOD);
    if (status == SMP_OK)
        put_idle_time(job);
    return status;
}

enum smp_status smp_export_top(const struct smp_export_job *job)
{
    const bool by_calls = smp_profile_kind_of(job->style->measure) == SMP_GROUP_COUNTED;
    enum smp_status status = put_top_summary(job);

    if (status == SMP_OK && !by_calls)
        status = put_sampled(job);
    if (status != SMP_OK || !smp_export_has_counted(job))
        return by_calls && status == SMP_OK ? smp_export_calls(job) : status;
    smp_writer_puts(job->out, by_calls ? "" : "\n");
    return smp_calls_table_put(job, ROWS);
}
