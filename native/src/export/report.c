/* SPDX-License-Identifier: Apache-2.0 */
#include "export/report.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "export/account_record.h"
#include "export/hot_groups.h"
#include "export/rows.h"
#include "export/summary.h"
#include "model/escape.h"
#include "model/profile_merge.h"

enum {
    REPORT_WIDTH = 150,      /* of indent and frame; figures begin two columns after */
    RECORD_TAIL_BYTES = 64,  /* the most for the last line of a record that was cut */
    INDENT = 2,              /* columns per printed ancestor */
    TITLE_FRAME_BYTES = 256, /* a title without its names */
    ESCAPE_BYTES = 6,        /* \u000a */
    NS_PER_US = 1000,
    SEPARATOR_BYTES = 2,
    FIGURES_BYTES = 96, /* most rows, after the frame */
    COLUMN_BYTES = 24   /* most further columns */
};

/* --- the title of a group's record --- */

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

/* Writes "Aggregated thread: <group>. Max depth: <n>. Distinct threads: <k> [<names>, … <m> more]".
 * Names are escaped to one line. */
static void put_group_title(const struct smp_group_info *group, struct smp_bytes *out)
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

/* Returns the most bytes that put_group_title appends. */
static size_t title_limit(const struct smp_group_info *group)
{
    size_t names = strlen(group->name);

    for (uint32_t i = 0; i < group->listed; i++)
        names += strlen(group->names[i]) + SEPARATOR_BYTES;
    return TITLE_FRAME_BYTES + ESCAPE_BYTES * names;
}

/* Writes "hook share: 12 %", the hooks' share of the time inside the group's roots, hooks included;
 * nothing if it is not known. total_ns: the total of the group's tree. At most
 * RECORD_TAIL_BYTES. */
static void put_hook_share(const struct smp_group_info *group, int64_t total_ns,
                           struct smp_bytes *out)
{
    const double all_ns = (double)group->hook_ns + (double)total_ns;

    if (group->hook_ns > 0)
        smp_bytes_printf(out, "hook share: %d %%\n",
                         (int)((double)group->hook_ns * 100.0 / all_ns + 0.5));
}

/* --- its rows --- */

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
    return width < REPORT_WIDTH ? REPORT_WIDTH - width + 1 : 1;
}

/* Returns the length of a short title, "Blocked" instead of "blocked time", for a state after
 * another state; 0 for the whole title. */
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

/* Uses whole numbers: "%.3f" would follow the locale that the JVM has set. */
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
    const bool fits = out->status == SMP_OK && smp_bytes_reserve(out, RECORD_TAIL_BYTES);
    if (!fits)
        smp_bytes_truncate(out, length);
    return fits;
}

/* Appends the rows below root to out, which contains at most the line of hooks and has 2 *
 * RECORD_TAIL_BYTES allocated. If rows do not fit, a last line counts them. Returns their
 * number. */
static uint64_t put_group_rows(const struct smp_rows *rows, uint32_t root, struct smp_bytes *out)
{
    struct cursor at = begin_rows(rows, root);
    uint64_t missing = 0;

    (void)smp_bytes_reserve(out,
                            estimate_bytes(rows, root, SMP_MAX_RECORD_BYTES - RECORD_TAIL_BYTES) +
                                RECORD_TAIL_BYTES);
    while (at.node != 0 && try_row(&at, out))
        advance(&at);
    for (; at.node != 0; advance(&at))
        missing++;
    if (missing > 0)
        smp_bytes_printf(out, "[%" PRIu64 " more rows: over the size limit]\n", missing);
    return missing;
}

/* --- the report --- */

/* A report that is being written. */
struct report {
    const struct smp_profile *profile;
    const struct smp_outputer *outputer;
    struct smp_quota *quota;
    bool short_account;
    struct smp_rows *rows;
    struct smp_hot_groups groups[SMP_GROUP_KINDS];
    struct smp_bytes title;
    struct smp_bytes text;
    struct smp_bytes summary; /* empty: no summary */
};

static size_t longest_title(const struct report *report)
{
    size_t longest = sizeof(SMP_ACCOUNT_RECORD_TITLE);

    for (int kind = 0; kind < SMP_GROUP_KINDS; kind++) {
        const struct smp_hot_groups *const groups = &report->groups[kind];
        for (size_t i = 0; i < groups->count; i++) {
            const size_t limit =
                title_limit(smp_profile_group_info(report->profile, groups->indices[i]));
            longest = limit > longest ? limit : longest;
        }
    }
    return longest;
}

/*
 * Allocates all memory that every record needs before anything is sent, so that a report that has
 * begun is cut only if rows do not fit.
 */
static enum smp_status reserve(struct report *report)
{
    const size_t title_bytes = longest_title(report);

    smp_bytes_init(&report->title, report->quota, title_bytes);
    smp_bytes_fill(&report->title, ' ', title_bytes);
    smp_bytes_fill(&report->text, ' ', smp_account_record_limit(report->profile));
    return report->title.status != SMP_OK ? report->title.status : report->text.status;
}

static enum smp_status make_summary(struct report *report)
{
    struct smp_summary summary;

    return smp_summary_make(&summary, report->profile, &report->summary);
}

static bool send_summary(const struct report *report)
{
    const struct smp_outputer *const outputer = report->outputer;

    return report->summary.length == 0 ||
           outputer->record(outputer->self, SMP_SUMMARY_TITLE, sizeof(SMP_SUMMARY_TITLE) - 1,
                            smp_bytes_text(&report->summary), report->summary.length);
}

static bool send_record(struct report *report)
{
    const struct smp_outputer *const outputer = report->outputer;

    return outputer->record(outputer->self, smp_bytes_text(&report->title), report->title.length,
                            smp_bytes_text(&report->text), report->text.length);
}

static bool send_group(struct report *report, uint32_t index, unsigned *records_cut)
{
    const struct smp_group_info *const group = smp_profile_group_info(report->profile, index);

    smp_bytes_clear(&report->title);
    smp_bytes_clear(&report->text);
    put_group_title(group, &report->title);
    put_hook_share(group, smp_profile_group_total(report->profile, index, SMP_MEASURE_WALL),
                   &report->text);
    if (group->root != 0 && put_group_rows(report->rows, group->root, &report->text) > 0)
        (*records_cut)++;
    return send_record(report);
}

static bool send_account(struct report *report)
{
    smp_bytes_clear(&report->title);
    smp_bytes_clear(&report->text);
    smp_bytes_puts(&report->title, SMP_ACCOUNT_RECORD_TITLE);
    smp_account_record_rows(report->profile, report->short_account, &report->text);
    return send_record(report);
}

static enum smp_status send_all(struct report *report, unsigned *records_cut)
{
    const struct smp_profile *const profile = report->profile;
    const struct smp_outputer *const outputer = report->outputer;
    bool sent = outputer->title(outputer->self, profile->from_wall_ms, profile->till_wall_ms) &&
                send_summary(report) && send_account(report);

    for (int kind = 0; kind < SMP_GROUP_KINDS; kind++) {
        for (size_t i = 0; sent && i < report->groups[kind].count; i++)
            sent = send_group(report, report->groups[kind].indices[i], records_cut);
    }
    sent = sent && outputer->flush(outputer->self);
    return sent ? SMP_OK : SMP_EIO;
}

static enum smp_status report_profile(const struct smp_profile *profile,
                                      struct smp_export_style style, struct smp_quota *quota,
                                      const struct smp_outputer *outputer, unsigned *records_cut)
{
    struct report report = { .profile = profile,
                             .outputer = outputer,
                             .quota = quota,
                             .short_account = style.short_account };
    enum smp_status status;

    smp_bytes_init(&report.title, quota, 0);
    smp_bytes_init(&report.text, quota, SMP_MAX_RECORD_BYTES);
    smp_bytes_init(&report.summary, quota, SMP_SUMMARY_BYTES);
    status = smp_hot_groups_init_all(report.groups, quota, profile);
    if (status == SMP_OK && style.summary)
        status = make_summary(&report);
    if (status != SMP_OK)
        goto done;
    smp_hot_groups_sort_active(&report.groups[SMP_GROUP_SAMPLED], profile);
    status = smp_rows_create(profile, style, quota, &report.rows);
    if (status != SMP_OK)
        goto done;
    status = reserve(&report);
    if (status == SMP_OK)
        status = send_all(&report, records_cut);
done:
    smp_rows_destroy(report.rows);
    smp_bytes_fini(&report.summary);
    smp_bytes_fini(&report.text);
    smp_bytes_fini(&report.title);
    smp_hot_groups_fini_all(report.groups);
    return status;
}

enum smp_status smp_report_text(const struct smp_profile *profile, struct smp_export_style style,
                                struct smp_quota *quota, const struct smp_outputer *outputer,
                                unsigned *records_cut)
{
    struct smp_profile *folded = NULL;
    enum smp_status status;

    *records_cut = 0;
    if (smp_profile_is_empty(profile))
        return SMP_OK;
    /* Without memory for the folded profile all levels of a recursion are shown. */
    if (style.fold_recursion)
        (void)!smp_profile_fold_recursion(quota, profile, &folded);
    status = report_profile(folded != NULL ? folded : profile, style, quota, outputer, records_cut);
    smp_profile_release(folded);
    return status;
}
