/* SPDX-License-Identifier: Apache-2.0 */
#include "export/summary.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "export/cells.h"
#include "export/hot_groups.h"
#include "export/method_table.h"
#include "export/spot_texts.h"
#include "model/escape.h"

enum {
    AMOUNT_BYTES = 3 * SMP_NUMBER_BYTES,
    STATE_WIDTH = 8,    /* of "runnable", without a share */
    NUMBER_WIDTH = 4,   /* " 1. " */
    CALLEE_WIDTH = 34,  /* the most */
    APART_WIDTH = 45,   /* the most for a line or a method after the list */
    GROUP_WIDTH = 15,   /* the least for a group, if a callee could take more */
    GUESSED_WIDTH = 11, /* " (not seen)" */
    PERCENT = 100,
    MILLI = 1000,
    WIDE_ERROR = 10 /* an error bar is shown if it is more than a tenth */
};

/* --- figures --- */

static void add_summary_group(struct smp_summary *summary, uint32_t index)
{
    const struct smp_group_info *const info = smp_profile_group_info(summary->profile, index);
    struct smp_amounts amounts;

    for (int i = 0; i < SMP_MEASURE_COUNT; i++)
        amounts.of[i] = smp_profile_group_total(summary->profile, index, (enum smp_measure)i);
    smp_amounts_add(&summary->amounts, &amounts);
    summary->threads += info->thread_count;
    summary->groups += info->joined_groups > 0 ? info->joined_groups : 1;
    if (amounts.of[SMP_MEASURE_IDLE] > 0)
        summary->idle_threads += info->thread_count;
}

static void add_jvm_group(struct smp_summary *summary, uint32_t index)
{
    const struct smp_profile *const profile = summary->profile;
    const uint32_t root = smp_profile_group_info(profile, index)->root;
    const uint32_t *const siblings = smp_tree_next_siblings(profile->tree);
    const struct smp_node *const nodes = smp_tree_nodes(profile->tree);
    const struct smp_column wall = smp_tree_column(profile->tree, SMP_MEASURE_WALL);

    summary->has_jvm = true;
    for (uint32_t row = root == 0 ? 0 : nodes[root].last_child; row != 0; row = siblings[row]) {
        struct smp_location_view view;
        smp_profile_view(profile, nodes[row].location, &view);
        if (strcmp(view.class_name, SMP_JVM_GC_NAME) == 0)
            summary->gc_ns = smp_column_at(wall, row);
        else if (strcmp(view.class_name, SMP_JVM_JIT_NAME) == 0)
            summary->jit_ns = smp_column_at(wall, row);
    }
}

enum smp_status smp_summary_init(struct smp_summary *summary, struct smp_quota *quota,
                                 const struct smp_profile *profile)
{
    struct smp_hot_groups groups;
    enum smp_status status;

    *summary = (struct smp_summary){ .profile = profile };
    status = smp_hot_groups_init(&groups, quota, profile, SMP_GROUP_SAMPLED);
    if (status != SMP_OK)
        return status;
    for (size_t i = 0; i < groups.count; i++) {
        const uint32_t index = groups.indices[i];
        if (smp_profile_group_is_jvm(profile, index))
            add_jvm_group(summary, index);
        else
            add_summary_group(summary, index);
        summary->cpu_ns = smp_add_clamped(summary->cpu_ns,
                                          smp_profile_group_total(profile, index, SMP_MEASURE_CPU));
    }
    smp_hot_groups_fini(&groups);
    return smp_hot_spots_init(&summary->spots, quota, profile);
}

/* --- amounts --- */

static void print_spot_amount(const struct smp_hot_spot *spot, char text[AMOUNT_BYTES])
{
    struct smp_error_range range = { .lower = spot->ns, .upper = spot->ns };
    char amount[SMP_NUMBER_BYTES];
    char bar[SMP_NUMBER_BYTES];

    if (spot->error.variance >= 0)
        range = smp_error_range_of(spot->ns, spot->all_ns, spot->error);
    const int64_t half_ns = range.upper / 2 - range.lower / 2;
    smp_number_seconds(spot->ns, amount);
    smp_number_seconds_like(half_ns, spot->ns, bar);
    if (half_ns <= spot->ns / WIDE_ERROR) {
        (void)snprintf(text, AMOUNT_BYTES, "%s s", amount);
    } else if (half_ns < spot->ns) {
        (void)snprintf(text, AMOUNT_BYTES, "%s ± %s s", amount, bar);
    } else {
        smp_number_seconds_like(range.upper, spot->ns, bar);
        (void)snprintf(text, AMOUNT_BYTES, "%s (< %s) s", amount, bar);
    }
}

/* --- cells --- */

/* The lines being written. */
struct summary_page {
    const struct smp_summary *summary;
    struct smp_bytes *out;
    size_t line; /* its offset in out */
    struct smp_bytes cell;
    size_t amount_width;
    size_t state_width;
    size_t place_width;
    size_t callee_width;
};

static void begin_line(struct summary_page *page)
{
    page->line = page->out->length;
}

static size_t line_columns(const struct summary_page *page)
{
    return smp_fitted_columns(smp_bytes_text(page->out) + page->line);
}

/* Ends a line: removes trailing blanks and cuts it to the longest line. */
static void end_line(struct summary_page *page)
{
    struct smp_bytes *const out = page->out;
    const char *const text = smp_bytes_text(out);
    const size_t columns = line_columns(page);
    size_t length = out->length;

    if (columns > SMP_SUMMARY_WIDTH)
        length = (size_t)(smp_fitted_last(text + page->line, columns - SMP_SUMMARY_WIDTH) - text);
    while (length > page->line && text[length - 1] == ' ')
        length--;
    if (out->status == SMP_OK)
        smp_bytes_truncate(out, length);
    smp_bytes_put(out, "\n", 1);
}

static void pad_to(struct summary_page *page, size_t columns)
{
    const size_t width = line_columns(page);

    if (width < columns)
        smp_bytes_fill(page->out, ' ', columns - width);
}

static void put_rest(struct summary_page *page, const char *text)
{
    const size_t width = line_columns(page);

    if (width < SMP_SUMMARY_WIDTH)
        smp_fitted_put_begin(page->out, text, SMP_SUMMARY_WIDTH - width);
}

/* --- hot spots --- */

/* The title of a state is "waiting time"; returns the length of "waiting". */
static int state_length(const char *title)
{
    return (int)strcspn(title, " ");
}

static const char *state_title(const struct smp_profile *profile, enum smp_measure measure)
{
    return smp_measure_info(smp_profile_measure(profile, measure))->title;
}

/* Prints "waiting". A spot that was running and runnable is shown as the state with more time, and
 * its share: "running 60 %". */
static void print_spot_state(const struct smp_profile *profile, const struct smp_hot_spot *spot,
                             char text[AMOUNT_BYTES])
{
    const char *const title = state_title(profile, spot->measure);
    const double share = (double)spot->amounts.of[spot->measure] * PERCENT / (double)spot->ns;
    const int percent = (int)(share + 0.5);

    if (percent < PERCENT)
        (void)snprintf(text, AMOUNT_BYTES, "%.*s %d %%", state_length(title), title, percent);
    else
        (void)snprintf(text, AMOUNT_BYTES, "%.*s", state_length(title), title);
}

static void widen_column(size_t *width, size_t columns, size_t most)
{
    if (columns > most)
        columns = most;
    if (columns > *width)
        *width = columns;
}

static void measure_columns(struct summary_page *page)
{
    const struct smp_hot_spots *const spots = &page->summary->spots;
    const struct smp_profile *const profile = page->summary->profile;
    char text[AMOUNT_BYTES];

    page->state_width = STATE_WIDTH;
    for (size_t i = 0; i < spots->count; i++) {
        const struct smp_hot_spot *const spot = &spots->list[i];
        const size_t most = smp_spot_text_place(&page->cell, profile, spot->place);
        widen_column(&page->place_width, smp_fitted_columns(smp_bytes_text(&page->cell)), most);
        print_spot_amount(spot, text);
        widen_column(&page->amount_width, smp_fitted_columns(text), AMOUNT_BYTES);
        print_spot_state(profile, spot, text);
        widen_column(&page->state_width, smp_fitted_columns(text), AMOUNT_BYTES);
        if (spot->lock != 0)
            continue;
        smp_spot_text_callee(&page->cell, profile, spot);
        widen_column(&page->callee_width, smp_fitted_columns(smp_bytes_text(&page->cell)),
                     CALLEE_WIDTH);
    }
    const size_t taken = NUMBER_WIDTH + page->amount_width + 1 + page->state_width + 2 +
                         page->place_width + 2 + 2 + GROUP_WIDTH;
    const size_t left = taken < SMP_SUMMARY_WIDTH ? SMP_SUMMARY_WIDTH - taken : 0;
    if (page->callee_width > left)
        page->callee_width = left;
}

static void put_amount_cell(struct summary_page *page, const char *amount)
{
    const size_t columns = smp_fitted_columns(amount);

    smp_bytes_fill(page->out, ' ', columns < page->amount_width ? page->amount_width - columns : 0);
    smp_bytes_puts(page->out, amount);
}

/* Appends "12,345 calls" to the line. */
static void put_calls_behind(struct summary_page *page, int64_t calls)
{
    struct smp_bytes *const cell = &page->cell;
    char number[SMP_NUMBER_BYTES];
    char text[AMOUNT_BYTES] = "";
    const size_t width = line_columns(page);

    if (calls > 0) {
        smp_number_count((uint64_t)calls, number);
        (void)snprintf(text, sizeof(text), ", %s call%s", number, calls == 1 ? "" : "s");
    }
    if (width + smp_fitted_columns(text) < SMP_SUMMARY_WIDTH)
        smp_fitted_put_begin(page->out, smp_bytes_text(cell),
                             SMP_SUMMARY_WIDTH - width - smp_fitted_columns(text));
    smp_bytes_puts(page->out, text);
}

static void put_spot_cells(struct summary_page *page, const struct smp_hot_spot *spot)
{
    const struct smp_profile *const profile = page->summary->profile;
    const size_t place = line_columns(page);
    const size_t callee = place + page->place_width + 2;
    struct smp_bytes *const cell = &page->cell;
    size_t most;

    most = smp_spot_text_place(cell, profile, spot->place);
    smp_fitted_put_end(page->out, smp_bytes_text(cell), most);
    pad_to(page, callee);
    if (spot->lock != 0) {
        smp_spot_text_lock(cell, profile, spot,
                           SMP_SUMMARY_WIDTH > callee ? SMP_SUMMARY_WIDTH - callee : 0);
    } else {
        smp_spot_text_callee(cell, profile, spot);
        if (page->callee_width > 1)
            smp_fitted_put_end(page->out, smp_bytes_text(cell), page->callee_width);
        pad_to(page, callee + page->callee_width + (page->callee_width > 0 ? 2 : 0));
        smp_spot_text_group(cell, profile, spot);
    }
    put_calls_behind(page, spot->calls);
}

static void put_spot_line(struct summary_page *page, size_t rank)
{
    const struct smp_hot_spot *const spot = &page->summary->spots.list[rank];
    char text[AMOUNT_BYTES];

    begin_line(page);
    smp_bytes_printf(page->out, "%2zu. ", rank + 1);
    print_spot_amount(spot, text);
    put_amount_cell(page, text);
    print_spot_state(page->summary->profile, spot, text);
    smp_bytes_printf(page->out, " %s", text);
    pad_to(page, NUMBER_WIDTH + page->amount_width + 1 + page->state_width + 2);
    put_spot_cells(page, spot);
    end_line(page);
}

static void put_other_line(struct summary_page *page, int64_t ns, const char *text)
{
    char number[SMP_NUMBER_BYTES];
    char amount[AMOUNT_BYTES];

    begin_line(page);
    smp_number_seconds(ns, number);
    (void)snprintf(amount, sizeof(amount), "%s s", number);
    smp_bytes_fill(page->out, ' ', NUMBER_WIDTH);
    put_amount_cell(page, amount);
    put_rest(page, text);
    end_line(page);
}

static bool is_worth_a_line(const struct smp_hot_spots *spots, int64_t ns)
{
    return ns > 0 && ns >= spots->active_ns / SMP_HOT_SPOT_SHARE;
}

/* Writes a line for time that is not in the list: words, the place with most of it, and its
 * group. */
static void put_apart_line(struct summary_page *page, const struct smp_hot_spot *spot,
                           const char *words, bool with_line)
{
    const struct smp_profile *const profile = page->summary->profile;
    struct smp_bytes text;

    if (!is_worth_a_line(&page->summary->spots, spot->ns))
        return;
    smp_bytes_init(&text, page->out->quota, SMP_MAX_FRAME_TEXT_BYTES);
    smp_bytes_printf(&text, " %s, most of it in ", words);
    if (with_line)
        (void)smp_spot_text_place(&page->cell, profile, spot->callee);
    else
        smp_spot_text_callee(&page->cell, profile, spot);
    smp_fitted_put_end(&text, smp_bytes_text(&page->cell), APART_WIDTH);
    smp_spot_text_group(&page->cell, profile, spot);
    smp_bytes_puts(&text, ", ");
    smp_bytes_puts(&text, smp_bytes_text(&page->cell));
    if (page->out->status == SMP_OK)
        page->out->status = text.status;
    put_other_line(page, spot->ns, smp_bytes_text(&text));
    smp_bytes_fini(&text);
}

static void put_other_lines(struct summary_page *page)
{
    const struct smp_hot_spots *const spots = &page->summary->spots;
    char number[SMP_NUMBER_BYTES];
    char text[AMOUNT_BYTES];

    if (is_worth_a_line(spots, spots->others_ns)) {
        smp_number_count(spots->others, number);
        (void)snprintf(text, sizeof(text), " in %s more place%s", number,
                       spots->others == 1 ? "" : "s");
        put_other_line(page, spots->others_ns, text);
    }
    put_apart_line(page, &spots->waits, "by threads that only wait for others", true);
    put_apart_line(page, &spots->outside, "in no code of yours", false);
}

/* --- the other lines --- */

static void put_count(struct smp_bytes *out, uint64_t count, const char *what)
{
    char number[SMP_NUMBER_BYTES];

    smp_number_count(count, number);
    smp_bytes_printf(out, "%s %s%s", number, what, count == 1 ? "" : "s");
}

static void put_seconds(struct smp_bytes *out, const char *before, int64_t ns, const char *behind)
{
    char number[SMP_NUMBER_BYTES];

    smp_number_seconds(ns, number);
    smp_bytes_printf(out, "%s%s s%s", before, number, behind);
}

static void put_cpus(const struct smp_summary *summary, struct smp_bytes *out)
{
    const struct smp_profile *const profile = summary->profile;
    char used[SMP_NUMBER_BYTES];

    if (summary->cpu_ns == 0 || profile->elapsed_ns <= 0)
        return;
    smp_number_ratio((double)summary->cpu_ns / (double)profile->elapsed_ns, used);
    smp_bytes_printf(out, " CPU: %s", used);
    if (profile->cpu_quota_milli > 0 &&
        (profile->cpus == 0 || profile->cpu_quota_milli < profile->cpus * MILLI)) {
        smp_number_ratio((double)profile->cpu_quota_milli / MILLI, used);
        smp_bytes_printf(out, " of %s (quota)", used);
    } else if (profile->cpus > 0) {
        smp_bytes_printf(out, " of %" PRIu32, profile->cpus);
    }
    smp_bytes_puts(out, summary->has_jvm ? "." : " (Java threads only).");
}

static void put_extent_line(struct summary_page *page)
{
    const struct smp_summary *const summary = page->summary;
    struct smp_bytes *const out = page->out;
    const int64_t idle_ns = summary->amounts.of[SMP_MEASURE_IDLE];

    begin_line(page);
    put_seconds(out, "", summary->profile->elapsed_ns, ", ");
    put_count(out, summary->threads, "thread");
    smp_bytes_puts(out, " in ");
    put_count(out, summary->groups, "group");
    smp_bytes_puts(out, ".");
    put_cpus(summary, out);
    if (summary->spots.has_states) {
        put_seconds(out, " Active: ", summary->spots.active_ns, ".");
        put_seconds(out, " Idle: ", idle_ns, "");
        if (idle_ns > 0) {
            smp_bytes_puts(out, " in ");
            put_count(out, summary->idle_threads, "thread");
        }
        smp_bytes_puts(out, ".");
    }
    end_line(page);
}

static void put_packages(struct summary_page *page)
{
    const struct smp_hot_spots *const spots = &page->summary->spots;
    struct smp_bytes *const cell = &page->cell;

    for (size_t i = 0; i < spots->package_count; i++) {
        const struct smp_hot_package *const package = &spots->packages[i];
        char *const name = smp_strndup(page->out->quota, package->class_name, package->length);
        smp_bytes_puts(cell, i > 0 ? ", " : "");
        if (package->length == 0)
            smp_bytes_puts(cell, "[no package]");
        else if (name != NULL)
            smp_escape_put(cell, name);
        else if (page->out->status == SMP_OK)
            page->out->status = SMP_ENOMEM;
        smp_free(page->out->quota, name);
    }
    if (spots->other_packages > 0)
        smp_bytes_printf(cell, " and %zu more", spots->other_packages);
}

/* "; your code: com.acme (guessed)" */
static void put_your_code(struct summary_page *page)
{
    const struct smp_profile *const profile = page->summary->profile;
    const bool is_guessed = smp_profile_guesses_application(profile);
    size_t width;

    smp_bytes_puts(page->out, "; your code: ");
    smp_bytes_restart(&page->cell);
    if (!is_guessed)
        smp_escape_put(&page->cell, profile->packages);
    else
        put_packages(page);
    width = line_columns(page) + GUESSED_WIDTH;
    smp_fitted_put_begin(page->out, smp_bytes_text(&page->cell),
                         width < SMP_SUMMARY_WIDTH ? SMP_SUMMARY_WIDTH - width : 0);
    if (page->summary->spots.package_count == 0)
        smp_bytes_puts(page->out, is_guessed ? "not seen" : " (not seen)");
    else if (is_guessed)
        smp_bytes_puts(page->out, " (guessed)");
}

static void put_state(struct summary_page *page, enum smp_measure measure)
{
    const char *const title = state_title(page->summary->profile, measure);

    smp_bytes_put(page->out, title, (size_t)state_length(title));
}

static void put_states_line(struct summary_page *page)
{
    const struct smp_summary *const summary = page->summary;
    struct smp_bytes *const out = page->out;

    begin_line(page);
    if (summary->amounts.of[SMP_MEASURE_WALL] == 0) {
        smp_bytes_puts(out, "No time was sampled.");
        end_line(page);
        return;
    }
    for (int i = 0; i < SMP_STATE_IDLE && summary->spots.has_states; i++) {
        const enum smp_measure measure = smp_measure_of_state((enum smp_thread_state)i);
        smp_bytes_puts(out, i > 0 ? ", " : "");
        put_state(page, measure);
        put_seconds(out, " ", summary->amounts.of[measure], "");
    }
    if (!summary->spots.has_states) {
        put_state(page, SMP_MEASURE_WALL);
        put_seconds(out, " time ", summary->spots.active_ns, "");
        smp_bytes_puts(out, summary->profile->is_cpu_clock ? "" : " (states are not known)");
    }
    put_your_code(page);
    end_line(page);
}

static void put_overhead_line(struct summary_page *page)
{
    const struct smp_summary *const summary = page->summary;
    const struct smp_profile *const profile = summary->profile;
    const double share =
        profile->elapsed_ns <= 0 ? 0 : (double)profile->own_cpu_ns / (double)profile->elapsed_ns;
    char percent[SMP_NUMBER_BYTES];

    begin_line(page);
    if (summary->has_jvm) {
        put_seconds(page->out, "Garbage collection ", summary->gc_ns, ", ");
        put_seconds(page->out, "JIT ", summary->jit_ns, ", ");
    }
    put_seconds(page->out, summary->has_jvm ? "sampler " : "Sampler ", profile->own_cpu_ns, "");
    smp_number_ratio(share * 100, percent);
    smp_bytes_printf(page->out, " (%s %% of a CPU).", percent);
    end_line(page);
}

/* Writes ", most of Tax.of: 12.5 for each of 1,200 root calls"; without a root call in the
 * interval, the number of calls. */
static void put_most_called(struct summary_page *page, const struct smp_method_table *table)
{
    const uint32_t most = table->order[0];
    const int64_t calls = table->rows[most].calls;
    char number[SMP_NUMBER_BYTES];
    char behind[SMP_SUMMARY_WIDTH];

    smp_bytes_puts(page->out, ", most of ");
    if (table->root_calls > 0) {
        smp_number_ratio((double)calls / (double)table->root_calls, number);
        (void)snprintf(behind, sizeof(behind), ": %s for each of ", number);
        smp_number_count((uint64_t)table->root_calls, number);
        (void)snprintf(behind + strlen(behind), sizeof(behind) - strlen(behind), "%s root call%s",
                       number, table->root_calls == 1 ? "" : "s");
    } else {
        smp_number_count((uint64_t)calls, number);
        (void)snprintf(behind, sizeof(behind), ": %s", number);
    }
    smp_fitted_put_end(page->out, smp_method_row_name(table, most),
                       SMP_SUMMARY_WIDTH - line_columns(page) - strlen(behind) - 1);
    smp_bytes_puts(page->out, behind);
}

static void put_counted_line(struct summary_page *page)
{
    const struct smp_table_choice choice = { .by_calls = true };
    struct smp_method_table table = { 0 };
    enum smp_status status;

    if (smp_profile_total(page->summary->profile, SMP_MEASURE_CALLS) == 0)
        return;
    status = smp_method_table_init(&table, page->out->quota, page->summary->profile, &choice);
    if (status == SMP_OK && table.count > 0) {
        begin_line(page);
        put_count(page->out, (uint64_t)table.calls, "call");
        smp_bytes_puts(page->out, " counted");
        put_most_called(page, &table);
        smp_bytes_puts(page->out, ".");
        end_line(page);
    }
    smp_method_table_fini(&table);
    if (page->out->status == SMP_OK)
        page->out->status = status;
}

void smp_summary_lines(const struct smp_summary *summary, struct smp_bytes *out)
{
    struct summary_page page = { .summary = summary, .out = out };

    smp_bytes_init(&page.cell, out->quota, SMP_MAX_FRAME_TEXT_BYTES);
    put_extent_line(&page);
    put_states_line(&page);
    measure_columns(&page);
    for (size_t i = 0; i < summary->spots.count; i++)
        put_spot_line(&page, i);
    put_other_lines(&page);
    put_counted_line(&page);
    put_overhead_line(&page);
    if (out->status == SMP_OK)
        out->status = page.cell.status;
    smp_bytes_fini(&page.cell);
}

enum smp_status smp_summary_make(struct smp_summary *summary, const struct smp_profile *profile,
                                 struct smp_bytes *out)
{
    enum smp_status status = smp_summary_init(summary, out->quota, profile);

    if (status == SMP_OK) {
        smp_summary_lines(summary, out);
        status = out->status;
    }
    summary->is_made = status == SMP_OK;
    if (!summary->is_made) {
        smp_bytes_clear(out);
        smp_bytes_printf(out, "not made: %s\n", smp_status_text(status));
    }
    return out->status;
}
