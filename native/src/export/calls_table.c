/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls_table.c - counted calls as a table for people, one line a method, class or package:
 *
 *   Counted methods: 2 of 2, by total time, over 9 ms: 9002 calls, 2 of them by no counted method
 *       calls   total ms     own ms    us/call     min us     max us  method <- callers
 *           2      5.100      0.900   2550.000   1900.000   3200.000  A.handle <- [root] 2
 *        9000      4.200      4.200      0.466                        A.price <- A.handle 9000
 *
 * (Real columns are wider.) us/call is the mean of the calls that are not inside another call of
 * the same row (method_table.h). A cell is empty if its figure is not known. Without times their
 * columns are missing.
 *
 * All levels of a recursion are in the row of their method, so folding recursions changes nothing.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "export/cells.h"
#include "export/export_writers.h"
#include "export/method_table.h"
#include "export/row_since.h"

enum {
    CELL_BYTES = 48,
    TITLE_BYTES = 256,
    CALLS_WIDTH = 13,
    WIDTH = 12,
    SHOWN_CALLERS = 3,
    NS_PER_MS = 1000000,
    NS_PER_US = 1000
};

struct calls_page {
    const struct smp_export_job *job;
    struct smp_method_table table;
};

static const char *const unit_names[] = {
    [SMP_PER_METHOD] = "method", [SMP_PER_CLASS] = "class", [SMP_PER_PACKAGE] = "package"
};
static const char *const unit_plurals[] = {
    [SMP_PER_METHOD] = "methods", [SMP_PER_CLASS] = "classes", [SMP_PER_PACKAGE] = "packages"
};

/* --- cells --- */

/* Uses whole numbers: "%.3f" would follow the locale that the JVM has set. */
static void put_time_cell(const struct calls_page *page, int64_t ns, int64_t ns_per_unit)
{
    const int64_t thousandths = ns / (ns_per_unit / 1000);
    char text[CELL_BYTES] = "";

    if (ns >= 0)
        (void)snprintf(text, sizeof(text), "%" PRId64 ".%03d", thousandths / 1000,
                       (int)(thousandths % 1000));
    smp_cell_put(page->job->out, WIDTH, text);
}

/* --- the head --- */

static void put_page_title(const struct calls_page *page, size_t shown)
{
    const struct smp_method_table *const table = &page->table;
    const struct smp_export_style *const style = page->job->style;
    struct smp_writer *const out = page->job->out;
    const bool by_calls = style->measure == SMP_MEASURE_CALLS || !table->has_times;
    char text[TITLE_BYTES];

    (void)snprintf(text, sizeof(text), "Counted %s: %zu of %zu, by %s, over %" PRId64 " ms",
                   unit_plurals[style->per], shown, table->count, by_calls ? "calls" : "total time",
                   page->job->profile->elapsed_ns / NS_PER_MS);
    smp_writer_puts(out, text);
    if (style->focus != NULL) {
        smp_writer_puts(out, ", inside of ");
        smp_writer_puts(out, style->focus);
    }
    (void)snprintf(text, sizeof(text),
                   ": %" PRId64 " calls, %" PRId64 " of them by no counted method\n", table->calls,
                   table->root_calls);
    smp_writer_puts(out, text);
}

static void put_page_heads(const struct calls_page *page)
{
    static const char *const times[] = { "total ms", "own ms", "us/call", "min us", "max us" };

    smp_cell_put(page->job->out, CALLS_WIDTH, "calls");
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]) && page->table.has_times; i++)
        smp_cell_put(page->job->out, WIDTH, times[i]);
    smp_writer_puts(page->job->out, "  ");
    smp_writer_puts(page->job->out, unit_names[page->job->style->per]);
    smp_writer_puts(page->job->out, " <- callers\n");
}

/* --- rows --- */

static void put_caller(const struct calls_page *page, size_t rank, const char *name, int64_t calls)
{
    char text[CELL_BYTES];

    smp_writer_puts(page->job->out, rank == 0 ? " <- " : ", ");
    smp_writer_puts(page->job->out, name);
    (void)snprintf(text, sizeof(text), " %" PRId64, calls);
    smp_writer_puts(page->job->out, text);
}

/* Writes the callers with the most calls, and the sum of the others. */
static void put_callers(const struct calls_page *page, const struct smp_method_row *row)
{
    const struct smp_method_table *const table = &page->table;
    char others[CELL_BYTES];
    int64_t left = row->calls;

    for (size_t i = 0; i < row->caller_count; i++) {
        const struct smp_method_edge *const edge = &table->edges[row->callers + i];
        if (i == SHOWN_CALLERS && row->caller_count > SHOWN_CALLERS + 1) {
            (void)snprintf(others, sizeof(others), "%zu more", row->caller_count - i);
            put_caller(page, i, others, left);
            return;
        }
        put_caller(page, i,
                   edge->caller == SMP_NO_CALLER ? "[root]"
                                                 : smp_method_row_name(table, edge->caller),
                   edge->calls);
        left -= edge->calls;
    }
}

static void put_calls_row(const struct calls_page *page, uint32_t number)
{
    const struct smp_method_row *const row = &page->table.rows[number];

    smp_cell_put_figure(page->job->out, CALLS_WIDTH, row->calls);
    if (page->table.has_times) {
        put_time_cell(page, row->total_ns, NS_PER_MS);
        put_time_cell(page, row->own_ns, NS_PER_MS);
        put_time_cell(page,
                      row->entries > 0 && row->total_ns > 0 ? row->total_ns / row->entries : -1,
                      NS_PER_US);
        put_time_cell(page, row->min_ns, NS_PER_US);
        put_time_cell(page, row->min_ns < 0 ? -1 : row->max_ns, NS_PER_US);
    }
    smp_writer_puts(page->job->out, "  ");
    smp_writer_puts(page->job->out, smp_method_row_name(&page->table, number));
    put_callers(page, row);
    if (row->since_ms != 0) {
        char time[SMP_SINCE_BYTES];
        smp_since_time(row->since_ms, time);
        smp_writer_puts(page->job->out, "; counted since ");
        smp_writer_puts(page->job->out, time);
    }
    smp_writer_puts(page->job->out, "\n");
}

static void put_page(const struct calls_page *page, size_t most)
{
    const struct smp_method_table *const table = &page->table;
    const size_t shown = table->count < most ? table->count : most;

    put_page_title(page, shown);
    put_page_heads(page);
    for (size_t i = 0; i < shown && !page->job->out->has_failed; i++)
        put_calls_row(page, table->order[i]);
}

enum smp_status smp_calls_table_put(const struct smp_export_job *job, size_t most)
{
    const struct smp_table_choice choice = { .per = job->style->per,
                                             .by_calls = job->style->measure == SMP_MEASURE_CALLS,
                                             .focus = job->style->focus };
    struct calls_page page = { .job = job };
    const enum smp_status status =
        smp_method_table_init(&page.table, job->quota, job->whole, &choice);

    if (status != SMP_OK)
        return status;
    if (!page.table.has_focus) {
        smp_writer_puts(job->out, "No counted row is called ");
        smp_writer_puts(job->out, choice.focus);
        smp_writer_puts(job->out, "; names are as this table has them without a focus.\n");
    } else {
        put_page(&page, most);
    }
    smp_method_table_fini(&page.table);
    return SMP_OK;
}

enum smp_status smp_export_calls(const struct smp_export_job *job)
{
    if (smp_export_has_counted(job))
        return smp_calls_table_put(job, SIZE_MAX);
    smp_writer_puts(job->out, "No calls were counted: rootMethods names the methods from which on "
                              "they are.\n");
    return SMP_OK;
}
