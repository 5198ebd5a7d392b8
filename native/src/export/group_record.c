/* SPDX-License-Identifier: Apache-2.0 */
#include "export/group_record.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "model/escape.h"

enum {
    INDENT = 2,              /* columns per printed ancestor */
    TITLE_FRAME_BYTES = 256, /* all of a title but the names */
    ESCAPE_BYTES = 6,        /* \u000a */
    NS_PER_US = 1000,
    SEPARATOR_BYTES = 2,
    FIGURES_BYTES = 96, /* most rows, after the frame */
    COLUMN_BYTES = 24   /* most further columns */
};

/* --- title --- */

static void put_listed(const struct smp_group_info *group, uint64_t count, struct smp_bytes *out)
{
    for (uint32_t i = 0; i < group->listed; i++) {
        if (i > 0)
            smp_bytes_puts(out, ", ");
        smp_escape_put(out, group->names[i]);
    }
    if (count > group->listed) {
        smp_bytes_printf(out, "%s\u2026 %" PRIu64 " more", group->listed > 0 ? ", " : "",
                         count - group->listed);
    }
}

/* "Locks: 1 [com.acme.StockLedger]. Blocked threads: 9" */
static void put_holders(const struct smp_group_info *group, struct smp_bytes *out)
{
    smp_bytes_printf(out, ". Locks: %" PRIu64 " [", group->lock_count);
    put_listed(group, group->lock_count, out);
    smp_bytes_printf(out, "]. Blocked threads: %" PRIu64, group->thread_count);
}

static void put_thread_list(const struct smp_group_info *group, struct smp_bytes *out)
{
    smp_bytes_printf(out, ". Max depth: %" PRIu64 ". Distinct threads: %" PRIu64 " [",
                     group->max_depth, group->thread_count);
    put_listed(group, group->thread_count, out);
    smp_bytes_puts(out, "]");
}

void smp_group_record_title(const struct smp_group_info *group, struct smp_bytes *out)
{
    static const char *const labels[SMP_GROUP_KINDS] = {
        [SMP_GROUP_SAMPLED] = "Aggregated thread: ",
        [SMP_GROUP_COUNTED] = "Counted thread: ",
        [SMP_GROUP_HOLDERS] = "Lock holders: ",
    };

    smp_bytes_puts(out, labels[group->kind]);
    smp_escape_put(out, group->name);
    if (group->kind == SMP_GROUP_HOLDERS)
        put_holders(group, out);
    else
        put_thread_list(group, out);
    if (group->joined_groups > 0)
        smp_bytes_printf(out, " of %" PRIu64 " groups", group->joined_groups);
}

size_t smp_group_record_title_limit(const struct smp_group_info *group)
{
    size_t names = strlen(group->name);

    for (uint32_t i = 0; i < group->listed; i++)
        names += strlen(group->names[i]) + SEPARATOR_BYTES;
    return TITLE_FRAME_BYTES + ESCAPE_BYTES * names;
}

void smp_group_record_hooks(const struct smp_group_info *group, int64_t total_ns,
                            struct smp_bytes *out)
{
    const double all_ns = (double)group->hook_ns + (double)total_ns;

    if (group->hook_ns > 0)
        smp_bytes_printf(out, "hook share: %d %%\n",
                         (int)((double)group->hook_ns * 100.0 / all_ns + 0.5));
}

/* --- rows --- */

/* The position of a walk over the rows of a group. */
struct cursor {
    const struct smp_rows *rows;
    uint32_t root;
    uint32_t node;  /* 0 = past the last row */
    uint32_t depth; /* printed ancestors */
};

static struct cursor begin_rows(const struct smp_rows *rows, uint32_t root)
{
    return (struct cursor){ .rows = rows, .root = root, .node = smp_rows_first(rows, root) };
}

/* Moves to the next row in printed order: the first one below, else the next sibling, else the next
 * sibling of the nearest row above. */
static void advance(struct cursor *cursor)
{
    const uint32_t below = smp_rows_first(cursor->rows, cursor->node);

    if (below != 0) {
        cursor->node = below;
        cursor->depth++;
        return;
    }
    uint32_t at = cursor->node;
    while (smp_rows_next(cursor->rows, at) == 0) {
        at = smp_rows_up(cursor->rows, at);
        if (at == cursor->root) {
            cursor->node = 0;
            return;
        }
        cursor->depth--;
    }
    cursor->node = smp_rows_next(cursor->rows, at);
}

static size_t pad_after(size_t width)
{
    return width < SMP_REPORT_WIDTH ? SMP_REPORT_WIDTH - width + 1 : 1;
}

/* The title of a state after another state is short: "Blocked" instead of "blocked time". 0: the
 * whole title. */
static size_t short_title_length(uint32_t shown, enum smp_measure measure)
{
    const uint32_t before = shown & (SMP_MEASURE_BIT(measure) - 1) & SMP_STATE_MEASURES;

    return before == 0 || (SMP_MEASURE_BIT(measure) & SMP_STATE_MEASURES) == 0
               ? 0
               : strlen(smp_measure_info(measure)->title) - (sizeof(" time") - 1);
}

/* Estimates the bytes of all rows, up to limit. Reserving them avoids most of the doubling of the
 * record's buffer. */
static size_t estimate_bytes(const struct smp_rows *rows, uint32_t root, size_t limit)
{
    size_t bytes = 0;

    for (struct cursor at = begin_rows(rows, root); at.node != 0 && bytes < limit; advance(&at)) {
        const size_t indent = (size_t)at.depth * INDENT;
        struct smp_row row;
        smp_rows_get(rows, at.node, &row);
        bytes += indent + row.length + pad_after(indent + row.width) + FIGURES_BYTES +
                 COLUMN_BYTES * (size_t)__builtin_popcount(row.shown);
    }
    return bytes < limit ? bytes : limit;
}

static void put_figure_of(const char *label, int64_t value, struct smp_bytes *out)
{
    smp_bytes_puts(out, label);
    smp_bytes_put_i64(out, value);
}

/* Writes nothing if tenths is negative. */
static void put_percent(int tenths, struct smp_bytes *out)
{
    if (tenths < 0)
        return;
    put_figure_of(", Percent: ", tenths / 10, out);
    put_figure_of(".", tenths % 10, out);
}

/* Labels of numbers begin with a capital. */
static void put_title(const char *title, size_t length, struct smp_bytes *out)
{
    const char first = title[0] >= 'a' && title[0] <= 'z' ? (char)(title[0] - 'a' + 'A') : title[0];

    smp_bytes_put(out, &first, 1);
    smp_bytes_put(out, title + 1, length - 1);
}

/* ", CPU time(ms): 12" for each shown measure; for states ", Running time(ms): 12, Blocked 3".
 * Calls with several callers end in " over 2 paths". */
static void put_row_columns(const struct smp_row *row, struct smp_bytes *out)
{
    for (uint32_t left = row->shown; left != 0; left &= left - 1) {
        const enum smp_measure measure = (enum smp_measure)__builtin_ctz(left);
        const struct smp_measure_info *const info = smp_measure_info(measure);
        const size_t short_length = short_title_length(row->shown, measure);
        smp_bytes_puts(out, ", ");
        put_title(info->title, short_length > 0 ? short_length : strlen(info->title), out);
        if (short_length == 0) {
            smp_bytes_puts(out, smp_unit_info(info->unit)->suffix);
            smp_bytes_puts(out, ":");
        }
        put_figure_of(" ", row->columns.of[measure], out);
        if (info->adding == SMP_ADDING_OWN && row->paths != 1) {
            put_figure_of(" over ", row->paths, out);
            smp_bytes_puts(out, " paths");
        }
    }
}

/* Composed of whole numbers: "%.3f" would follow the locale that the JVM has set. */
static void put_us(const char *label, int64_t ns, struct smp_bytes *out)
{
    put_figure_of(label, ns / NS_PER_US, out);
    smp_bytes_printf(out, ".%03d", (int)(ns % NS_PER_US));
}

/* ", Time per call(us): 12.345", and ", min 0.100, max 300.000" if known. */
static void put_call(const struct smp_call_time *call, struct smp_bytes *out)
{
    if (call->mean_ns == 0)
        return;
    put_us(", Time per call(us): ", call->mean_ns, out);
    if (call->max_ns == 0)
        return;
    put_us(", min ", call->min_ns, out);
    put_us(", max ", call->max_ns, out);
}

/* ", counted since 12:03:07", and ", at most 330 calls missing" if known. */
static void put_since(const struct smp_since *since, struct smp_bytes *out)
{
    char time[SMP_SINCE_BYTES];

    if (since->wall_ms == 0)
        return;
    smp_since_time(since->wall_ms, time);
    smp_bytes_puts(out, ", counted since ");
    smp_bytes_puts(out, time);
    if (since->missing < 0)
        return;
    put_figure_of(", at most ", since->missing, out);
    smp_bytes_puts(out, " calls missing");
}

static void put_row(const struct smp_row *row, size_t indent, struct smp_bytes *out)
{
    smp_bytes_fill(out, ' ', indent);
    smp_bytes_put(out, row->text, row->length);
    smp_bytes_fill(out, ' ', pad_after(indent + row->width));
    put_figure_of(" Cumulative time(ms): ", row->total_ms, out);
    put_figure_of(", Method time(ms): ", row->self_ms, out);
    put_row_columns(row, out);
    put_call(&row->call, out);
    put_since(&row->since, out);
    if (row->levels != 0)
        put_figure_of(", Recursion depth: ", row->levels, out);
}

/* Writes the whole row if it and the last line fit, or nothing. */
static bool try_row(const struct cursor *at, struct smp_bytes *out)
{
    const size_t length = out->length;
    const size_t indent = (size_t)at->depth * INDENT;
    struct smp_row row;

    smp_rows_get(at->rows, at->node, &row);
    put_row(&row, indent, out);
    put_percent(smp_rows_tenths(at->rows, at->root, at->node), out);
    smp_bytes_put(out, "\n", 1);
    const bool fits = out->status == SMP_OK && smp_bytes_reserve(out, SMP_RECORD_TAIL_BYTES);
    if (!fits)
        smp_bytes_truncate(out, length);
    return fits;
}

uint64_t smp_group_record_rows(const struct smp_rows *rows, uint32_t root, struct smp_bytes *out)
{
    struct cursor at = begin_rows(rows, root);
    uint64_t missing = 0;

    (void)smp_bytes_reserve(
        out, estimate_bytes(rows, root, SMP_MAX_RECORD_BYTES - SMP_RECORD_TAIL_BYTES) +
                 SMP_RECORD_TAIL_BYTES);
    while (at.node != 0 && try_row(&at, out))
        advance(&at);
    for (; at.node != 0; advance(&at))
        missing++;
    if (missing > 0)
        smp_bytes_printf(out, "[%" PRIu64 " more rows: over the size limit]\n", missing);
    return missing;
}
