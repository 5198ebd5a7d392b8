/* SPDX-License-Identifier: Apache-2.0 */
#include "export/group_record.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "model/escape.h"

enum {
    INDENT = 2,              /* columns per printed ancestor */
    TITLE_FRAME_BYTES = 256, /* of a title: all that is no name */
    ESCAPE_BYTES = 6,        /* \u000a */
    NS_PER_US = 1000,
    US_DIGITS = 3,  /* behind the point */
    TIME_BYTES = 8, /* 12:03:07 */
    SEPARATOR_BYTES = 2
};

static const char total_label[] = " Cumulative time(ms): ";
static const char self_label[] = ", Method time(ms): ";
static const char percent_label[] = ", Percent: ";
static const char call_label[] = ", Time per call(us): ";
static const char min_label[] = ", min ";
static const char max_label[] = ", max ";
static const char since_label[] = ", counted since ";
static const char missing_label[] = ", at most ";
static const char missing_words[] = " calls missing";
static const char over_label[] = " over ";
static const char paths_label[] = " paths";

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

/* Where a walk over the rows of a group is. */
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

/* To the next row in printed order: down, else beside, else beside the nearest row above. */
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

static size_t digits(int64_t value)
{
    size_t count = 1;

    for (; value >= 10; value /= 10)
        count++;
    return count;
}

/* " over 2 paths" behind calls that are those of several callers. */
static size_t bytes_of_paths(const struct smp_row *row, enum smp_measure measure)
{
    if (smp_measure_info(measure)->adding != SMP_ADDING_OWN || row->paths == 1)
        return 0;
    return sizeof(over_label) - 1 + digits(row->paths) + sizeof(paths_label) - 1;
}

/* The title of a state behind another one is short: "Blocked", of "blocked time". 0: it is
 * whole. */
static size_t short_title_length(uint32_t shown, enum smp_measure measure)
{
    const uint32_t before = shown & (SMP_MEASURE_BIT(measure) - 1) & SMP_STATE_MEASURES;

    return before == 0 || (SMP_MEASURE_BIT(measure) & SMP_STATE_MEASURES) == 0
               ? 0
               : strlen(smp_measure_info(measure)->title) - (sizeof(" time") - 1);
}

/* ", CPU time(ms): 12" for each measure that it shows; of states ", Running time(ms): 12, Blocked
 * 3". */
static size_t bytes_of_columns(const struct smp_row *row)
{
    size_t bytes = 0;

    for (uint32_t left = row->shown; left != 0; left &= left - 1) {
        const enum smp_measure measure = (enum smp_measure)__builtin_ctz(left);
        const struct smp_measure_info *const info = smp_measure_info(measure);
        const size_t short_length = short_title_length(row->shown, measure);
        if (short_length > 0) {
            bytes += sizeof(",  ") - 1 + short_length + digits(row->columns.of[measure]);
            continue;
        }
        bytes += sizeof(", : ") - 1 + strlen(info->title) +
                 strlen(smp_unit_info(info->unit)->suffix) + digits(row->columns.of[measure]) +
                 bytes_of_paths(row, measure);
    }
    return bytes;
}

static size_t bytes_of_us(int64_t ns)
{
    return digits(ns / NS_PER_US) + 1 + US_DIGITS;
}

/* ", Time per call(us): 12.345", and where they are known ", min 0.100, max 300.000". */
static size_t bytes_of_call(const struct smp_call_time *call)
{
    if (call->mean_ns == 0)
        return 0;
    if (call->max_ns == 0)
        return sizeof(call_label) - 1 + bytes_of_us(call->mean_ns);
    return sizeof(call_label) - 1 + bytes_of_us(call->mean_ns) + sizeof(min_label) - 1 +
           bytes_of_us(call->min_ns) + sizeof(max_label) - 1 + bytes_of_us(call->max_ns);
}

/* ", counted since 12:03:07", and ", at most 330 calls missing" where that is known. */
static size_t bytes_of_since(const struct smp_since *since)
{
    if (since->wall_ms == 0)
        return 0;
    return sizeof(since_label) - 1 + TIME_BYTES +
           (since->missing < 0
                ? 0
                : sizeof(missing_label) - 1 + digits(since->missing) + sizeof(missing_words) - 1);
}

/* Exact, so that a record's memory is allocated once instead of growing to twice of it. */
static size_t bytes_of_row(const struct smp_row *row, size_t indent)
{
    return indent + row->length + pad_after(indent + row->width) + sizeof(total_label) - 1 +
           digits(row->total_ms) + sizeof(self_label) - 1 + digits(row->self_ms) +
           bytes_of_columns(row) + bytes_of_call(&row->call) + bytes_of_since(&row->since) + 1;
}

/* ", Percent: 12.3"; nothing where tenths is negative. */
static size_t bytes_of_percent(int tenths)
{
    return tenths < 0 ? 0 : sizeof(percent_label) - 1 + digits(tenths / 10) + 2;
}

/* The bytes of all rows, but no more than limit. */
static size_t bytes_of_rows(const struct smp_rows *rows, uint32_t root, size_t limit)
{
    size_t bytes = 0;

    for (struct cursor at = begin_rows(rows, root); at.node != 0 && bytes < limit; advance(&at)) {
        struct smp_row row;
        smp_rows_get(rows, at.node, &row);
        bytes += bytes_of_row(&row, (size_t)at.depth * INDENT) +
                 bytes_of_percent(smp_rows_tenths(rows, root, at.node));
    }
    return bytes < limit ? bytes : limit;
}

/* Allocates so many bytes behind what is there. False: all is as it was. */
static bool can_hold(struct smp_bytes *out, size_t bytes)
{
    const size_t length = out->length;

    smp_bytes_fill(out, ' ', bytes);
    const bool fits = out->status == SMP_OK;
    smp_bytes_truncate(out, length);
    return fits;
}

static void put_percent(int tenths, struct smp_bytes *out)
{
    if (tenths < 0)
        return;
    smp_bytes_put(out, percent_label, sizeof(percent_label) - 1);
    smp_bytes_put_i64(out, tenths / 10);
    smp_bytes_put(out, ".", 1);
    smp_bytes_put_i64(out, tenths % 10);
}

/* With a capital, as all that stands before a number of a row. */
static void put_title(const char *title, size_t length, struct smp_bytes *out)
{
    const char first = title[0] >= 'a' && title[0] <= 'z' ? (char)(title[0] - 'a' + 'A') : title[0];

    smp_bytes_put(out, &first, 1);
    smp_bytes_put(out, title + 1, length - 1);
}

static void put_paths(const struct smp_row *row, enum smp_measure measure, struct smp_bytes *out)
{
    if (bytes_of_paths(row, measure) == 0)
        return;
    smp_bytes_put(out, over_label, sizeof(over_label) - 1);
    smp_bytes_put_i64(out, row->paths);
    smp_bytes_put(out, paths_label, sizeof(paths_label) - 1);
}

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
        smp_bytes_puts(out, " ");
        smp_bytes_put_i64(out, row->columns.of[measure]);
        put_paths(row, measure, out);
    }
}

/* Put together from whole numbers: "%.3f" would follow the locale the JVM has set. */
static void put_us(int64_t ns, struct smp_bytes *out)
{
    smp_bytes_put_i64(out, ns / NS_PER_US);
    smp_bytes_printf(out, ".%03d", (int)(ns % NS_PER_US));
}

static void put_call(const struct smp_call_time *call, struct smp_bytes *out)
{
    if (call->mean_ns == 0)
        return;
    smp_bytes_put(out, call_label, sizeof(call_label) - 1);
    put_us(call->mean_ns, out);
    if (call->max_ns == 0)
        return;
    smp_bytes_put(out, min_label, sizeof(min_label) - 1);
    put_us(call->min_ns, out);
    smp_bytes_put(out, max_label, sizeof(max_label) - 1);
    put_us(call->max_ns, out);
}

static void put_since(const struct smp_since *since, struct smp_bytes *out)
{
    char time[SMP_SINCE_BYTES];

    if (since->wall_ms == 0)
        return;
    smp_since_time(since->wall_ms, time);
    smp_bytes_put(out, since_label, sizeof(since_label) - 1);
    smp_bytes_puts(out, time);
    if (since->missing < 0)
        return;
    smp_bytes_put(out, missing_label, sizeof(missing_label) - 1);
    smp_bytes_put_i64(out, since->missing);
    smp_bytes_put(out, missing_words, sizeof(missing_words) - 1);
}

static void put_row(const struct smp_row *row, size_t indent, struct smp_bytes *out)
{
    smp_bytes_fill(out, ' ', indent);
    smp_bytes_put(out, row->text, row->length);
    smp_bytes_fill(out, ' ', pad_after(indent + row->width));
    smp_bytes_put(out, total_label, sizeof(total_label) - 1);
    smp_bytes_put_i64(out, row->total_ms);
    smp_bytes_put(out, self_label, sizeof(self_label) - 1);
    smp_bytes_put_i64(out, row->self_ms);
    put_row_columns(row, out);
    put_call(&row->call, out);
    put_since(&row->since, out);
}

/* The whole row, if it and the last line fit; or nothing of it. */
static bool try_row(const struct cursor *at, struct smp_bytes *out)
{
    const size_t length = out->length;
    const size_t indent = (size_t)at->depth * INDENT;
    struct smp_row row;

    smp_rows_get(at->rows, at->node, &row);
    put_row(&row, indent, out);
    put_percent(smp_rows_tenths(at->rows, at->root, at->node), out);
    smp_bytes_put(out, "\n", 1);
    const bool fits = out->status == SMP_OK && can_hold(out, SMP_RECORD_TAIL_BYTES);
    if (!fits)
        smp_bytes_truncate(out, length);
    return fits;
}

uint64_t smp_group_record_rows(const struct smp_rows *rows, uint32_t root, struct smp_bytes *out)
{
    struct cursor at = begin_rows(rows, root);
    uint64_t missing = 0;

    (void)can_hold(out, bytes_of_rows(rows, root, SMP_MAX_RECORD_BYTES - SMP_RECORD_TAIL_BYTES) +
                            SMP_RECORD_TAIL_BYTES);
    while (at.node != 0 && try_row(&at, out))
        advance(&at);
    for (; at.node != 0; advance(&at))
        missing++;
    if (missing > 0)
        smp_bytes_printf(out, "[%" PRIu64 " more rows: over the size limit]\n", missing);
    return missing;
}
