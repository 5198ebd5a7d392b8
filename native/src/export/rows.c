/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.c - passes over the nodes, downwards or upwards, and a sort of each family of siblings.
 *
 * A child has a higher index than its parent. So one pass downwards finds the chains, and one
 * upwards decides which nodes stay and below which row. Another pass downwards puts each row in
 * front of its siblings, so that they are in the order in which they were first seen. Only siblings
 * are compared: most rows have none, and sorting all texts of a large report took longer than the
 * rest of it.
 *
 * Hidden rows keep no place among their siblings. The row that replaces them is computed from the
 * row above, its other rows and its own time, so only their number is kept.
 */
#include "export/rows.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/sort.h"
#include "base/utf8.h"
#include "export/hot_groups.h"
#include "export/line_texts.h"
#include "export/row_calls.h"
#include "export/used_frames.h"

#define TENTHS 1000.0 /* tenths of a percent in the whole */
#define PER_MILLE 1000.0

/* Marks of a node while rows are chosen. */
enum {
    CONTINUES = 1, /* continues the chain of its parent */
    USERS = 2,     /* continues a chain and is the user's code */
    HAS_INNER = 4, /* its chain has a node of the user's code further down */
    SMALL = 8,     /* a row with too little time to be shown */
    HIDDEN = 16,   /* hidden: the row, or a row above it, is small */
    ALONE = 32     /* a row with all the time of its idle group; no row is shown below it */
};

/* Marks the number of a row that replaces hidden rows; the other bits are the first of their
 * nodes. */
#define HIDES (UINT32_C(1) << 31)
_Static_assert((uint32_t)SMP_MAX_NODES <= HIDES, "a bit that no node's number has");

struct link {
    /* The node itself, or the row into which it was merged. For a hidden row: the first of the rows
     * that are hidden together. */
    uint32_t shown;
    uint32_t first; /* HIDES: only hidden rows */
    union {
        uint32_t next;  /* for the first hidden row: the number of rows hidden together */
        uint32_t marks; /* while rows are chosen */
    };
};

struct smp_rows {
    const struct smp_profile *profile;
    const struct smp_node *nodes;
    const uint32_t *siblings;
    struct link *links; /* by node */
    uint32_t *kept;     /* nodes that are rows; only during create */
    size_t kept_count;
    struct smp_used_frames frames;
    struct smp_line_texts texts; /* by frame number */
    struct smp_row_calls calls;
    struct smp_row_since since;
    struct smp_column wall;
    struct smp_column idle;
    struct smp_export_style style; /* its columns: those that the profile holds */
    uint32_t own;                  /* the profile's measures that add up as OWN */
    bool has_call_cpu;             /* rows of counted trees have CPU time */
    struct smp_quota *quota;
};

static int64_t total_ms(const struct smp_rows *rows, uint32_t node)
{
    return smp_measure_printed(SMP_MEASURE_WALL, smp_column_at(rows->wall, node));
}

static inline int64_t self_ms(const struct smp_rows *rows, uint32_t node)
{
    return smp_measure_printed(SMP_MEASURE_WALL,
                               smp_column_self(rows->wall, rows->nodes, rows->siblings, node));
}

/* Returns whether the node has own calls, so that it is in a counted tree. */
static bool has_own_amount(const struct smp_rows *rows, uint32_t node)
{
    bool has_any = false;

    for (uint32_t left = rows->own; left != 0 && !has_any; left &= left - 1)
        has_any =
            smp_tree_self(rows->profile->tree, node, (enum smp_measure)__builtin_ctz(left)) != 0;
    return has_any;
}

static bool has_printed_column(const struct smp_rows *rows, uint32_t node)
{
    bool has_any = false;

    for (uint32_t left = rows->style.columns | rows->own | SMP_MEASURE_BIT(SMP_MEASURE_SAMPLES);
         left != 0 && !has_any; left &= left - 1) {
        const enum smp_measure measure = (enum smp_measure)__builtin_ctz(left);
        has_any = smp_column_at(smp_tree_column(rows->profile->tree, measure), node) != 0;
    }
    return has_any;
}

/* Returns whether the node has no samples and none of the figures that a row shows: it was prepared
 * for time that never came, or has only CPU time of a poll. */
static inline bool is_unused(const struct smp_rows *rows, uint32_t node)
{
    return rows->nodes[node].last_child == 0 && smp_column_at(rows->wall, node) == 0 &&
           !has_printed_column(rows, node);
}

/* --- nodes without a row --- */

static bool is_same_package(const struct smp_methods *methods, uint32_t a, uint32_t b)
{
    struct smp_location_view left;
    struct smp_location_view right;

    smp_methods_view(methods, a, &left);
    smp_methods_view(methods, b, &right);
    const size_t length = smp_location_package_length(&left);
    return length == smp_location_package_length(&right) &&
           memcmp(left.class_name, right.class_name, length) == 0;
}

/* Without the row "[64..127 frames omitted]" the frames above and below it would look like caller
 * and callee. */
static bool is_pseudo(const struct smp_methods *methods, uint32_t location)
{
    struct smp_location_view view;

    smp_methods_view(methods, location, &view);
    return view.is_pseudo;
}

/* Returns whether this is a kind of the JVM's own threads that would be printed with 0 ms. */
static bool is_idle_kind(const struct smp_rows *rows, uint32_t node)
{
    const struct smp_node *const parent = &rows->nodes[rows->nodes[node].parent];

    return smp_node_is_group(parent) && total_ms(rows, node) == 0 &&
           smp_profile_group_is_jvm(rows->profile, smp_node_group(parent));
}

/* Returns whether the style keeps the row because its package differs from its parent's. */
static bool is_package_change(const struct smp_rows *rows, uint32_t node)
{
    const struct smp_node *const at = &rows->nodes[node];

    return rows->style.zero_time_packages &&
           !is_same_package(rows->profile->methods, at->location, rows->nodes[at->parent].location);
}

/* Returns whether the node is always a row. */
static bool stays(const struct smp_rows *rows, uint32_t node)
{
    const struct smp_node *const at = &rows->nodes[node];

    return smp_node_is_group(&rows->nodes[at->parent]) ||
           is_pseudo(rows->profile->methods, at->location) || is_package_change(rows, node) ||
           has_own_amount(rows, node);
}

static bool continues_chain(const struct smp_rows *rows, uint32_t node)
{
    return total_ms(rows, node) == total_ms(rows, rows->nodes[node].parent) &&
           self_ms(rows, node) == 0 && !stays(rows, node);
}

static bool has_packages(const struct smp_rows *rows)
{
    return rows->profile->packages[0] != '\0';
}

/* node continues a chain, so it is not a pseudo-frame. */
static bool is_users(const struct smp_rows *rows, uint32_t node)
{
    struct smp_location_view view;

    smp_profile_view(rows->profile, rows->nodes[node].location, &view);
    return has_packages(rows) ? view.is_monitored : !smp_wait_rules_is_jdk(view.class_name);
}

/* Children before parents. */
static void mark_chains(struct smp_rows *rows, size_t node_count)
{
    for (uint32_t node = (uint32_t)node_count - 1; node > 0; node--) {
        struct link *const link = &rows->links[node];
        if (smp_node_is_group(&rows->nodes[node]) || is_unused(rows, node) ||
            !continues_chain(rows, node))
            continue;
        link->marks |= CONTINUES;
        if (is_users(rows, node))
            link->marks |= USERS;
        if ((link->marks & (USERS | HAS_INNER)) != 0)
            rows->links[rows->nodes[node].parent].marks |= HAS_INNER;
    }
}

static bool is_row(const struct smp_rows *rows, uint32_t node)
{
    const unsigned marks = rows->links[node].marks;

    if (is_unused(rows, node) || is_idle_kind(rows, node))
        return false;
    if ((marks & CONTINUES) != 0)
        return (marks & (USERS | HAS_INNER)) == USERS;
    return !has_packages(rows) || (marks & HAS_INNER) == 0 || stays(rows, node);
}

static void choose_rows(struct smp_rows *rows, size_t node_count)
{
    mark_chains(rows, node_count);
    for (uint32_t node = 1; node < node_count; node++) {
        if (smp_node_is_group(&rows->nodes[node])) {
            rows->links[node].shown = node;
        } else if (is_row(rows, node)) {
            rows->links[node].shown = node;
            rows->kept[rows->kept_count++] = node;
        } else {
            rows->links[node].shown = rows->links[rows->nodes[node].parent].shown;
        }
    }
}

/* --- what is hidden --- */

static int64_t node_active_ns(const struct smp_rows *rows, uint32_t node)
{
    return smp_subtract_clamped(smp_column_at(rows->wall, node), smp_column_at(rows->idle, node));
}

static bool hides_rows(const struct smp_rows *rows, uint32_t root)
{
    const uint32_t index = smp_node_group(&rows->nodes[root]);

    return smp_profile_group_info(rows->profile, index)->kind != SMP_GROUP_COUNTED &&
           !smp_profile_group_is_jvm(rows->profile, index);
}

/* In floating point, so that the products cannot overflow. */
static bool has_little_time(const struct smp_rows *rows, uint32_t node, uint32_t root)
{
    return (double)node_active_ns(rows, node) * PER_MILLE <
           (double)node_active_ns(rows, root) * rows->style.min_per_mille;
}

/* While rows are marked, first is the root of the node's group. In the root of an idle group, next
 * is its outermost row with the most time; HIDES until it is found. */
static void find_roots(struct smp_rows *rows, size_t node_count)
{
    for (uint32_t node = 1; node < node_count; node++) {
        const struct smp_node *const at = &rows->nodes[node];
        rows->links[node].first = smp_node_is_group(at) ? node : rows->links[at->parent].first;
        if (smp_node_is_group(at) && hides_rows(rows, node) &&
            smp_hot_group_is_idle(rows->profile, smp_node_group(at)))
            rows->links[node].next = HIDES;
    }
    for (size_t i = 0; i < rows->kept_count; i++) {
        const uint32_t row = rows->kept[i];
        const uint32_t root = rows->links[row].first;
        uint32_t *const most = &rows->links[root].next;
        if (*most != 0 && smp_rows_up(rows, row) == root &&
            (*most == HIDES || smp_column_at(rows->wall, row) > smp_column_at(rows->wall, *most)))
            *most = row;
    }
}

static void mark_small(struct smp_rows *rows, size_t node_count)
{
    find_roots(rows, node_count);
    for (size_t i = 0; i < rows->kept_count; i++) {
        const uint32_t row = rows->kept[i];
        const uint32_t root = rows->links[row].first;
        if (rows->links[root].next == row)
            rows->links[row].marks |= ALONE;
        else if (rows->links[root].next != 0 ||
                 (hides_rows(rows, root) && has_little_time(rows, row, root)))
            rows->links[row].marks |= SMALL;
    }
    for (uint32_t node = 1; node < node_count; node++) {
        rows->links[node].first = 0;
        if (smp_node_is_group(&rows->nodes[node]))
            rows->links[node].next = 0;
    }
}

/* first of the row above becomes the row that replaces its hidden rows, and first of the first
 * hidden row counts them. */
static void hide_row(struct smp_rows *rows, uint32_t row)
{
    struct link *const link = &rows->links[row];
    struct link *const above = &rows->links[smp_rows_up(rows, row)];

    link->marks |= HIDDEN;
    if ((above->marks & HIDDEN) != 0)
        link->shown = above->shown;
    else if ((above->marks & ALONE) != 0)
        above->first = HIDES;
    else if (above->first == 0)
        above->first = HIDES | row;
    else
        link->shown = above->first & ~HIDES;
    rows->links[link->shown].first++;
}

/* Parents before children. */
static void hide_small(struct smp_rows *rows, size_t node_count)
{
    size_t shown = 0;

    mark_small(rows, node_count);
    for (size_t i = 0; i < rows->kept_count; i++) {
        const uint32_t row = rows->kept[i];
        const uint32_t above_marks = rows->links[smp_rows_up(rows, row)].marks;
        if ((rows->links[row].marks & SMALL) != 0 || (above_marks & HIDDEN) != 0)
            hide_row(rows, row);
        else
            rows->kept[shown++] = row;
    }
    rows->kept_count = shown;
}

static void forget_marks(struct smp_rows *rows, size_t node_count)
{
    for (uint32_t node = 1; node < node_count; node++) {
        struct link *const link = &rows->links[node];
        const bool is_hidden = (link->marks & HIDDEN) != 0;
        link->next = is_hidden ? link->first : 0;
        link->first = is_hidden ? 0 : link->first;
    }
}

/* --- order --- */

static uint32_t row_frame(const struct smp_rows *rows, uint32_t node)
{
    return smp_used_frames_number(&rows->frames, rows->nodes[node].location);
}

static bool is_first_by_text(const void *context, uint32_t a, uint32_t b)
{
    const struct smp_rows *const rows = context;

    return smp_line_texts_compare(&rows->texts, row_frame(rows, a), row_frame(rows, b)) < 0;
}

static bool is_first_by_time(const void *context, uint32_t a, uint32_t b)
{
    const struct smp_column wall = ((const struct smp_rows *)context)->wall;

    if (smp_column_at(wall, a) != smp_column_at(wall, b))
        return smp_column_at(wall, a) > smp_column_at(wall, b);
    return is_first_by_text(context, a, b);
}

static void hang(struct smp_rows *rows)
{
    for (size_t i = rows->kept_count; i-- > 0;) {
        struct link *const link = &rows->links[rows->kept[i]];
        struct link *const above = &rows->links[smp_rows_up(rows, rows->kept[i])];
        link->next = above->first;
        above->first = rows->kept[i];
    }
}

/* Equal siblings stay in the order in which they were first seen. Each half of family has room for
 * all rows. */
static void sort_family(struct smp_rows *rows, struct link *parent, smp_index_before *before,
                        uint32_t *family)
{
    uint32_t *next = &parent->first;
    uint32_t row = parent->first;
    size_t count = 0;

    for (; row != 0 && (row & HIDES) == 0; row = rows->links[row].next)
        family[count++] = row;
    smp_sort(family, family + rows->kept_count, count, before, rows);
    for (size_t i = 0; i < count; i++) {
        *next = family[i];
        next = &rows->links[family[i]].next;
    }
    *next = row;
}

static enum smp_status sort(struct smp_rows *rows, enum smp_report_order by, size_t node_count)
{
    smp_index_before *const before = by == SMP_ORDER_BY_TIME ? is_first_by_time : is_first_by_text;
    /* One more than needed, because 0 bytes cannot be allocated. */
    uint32_t *const family = smp_alloc(rows->quota, (2 * rows->kept_count + 1) * sizeof(*family));

    if (family == NULL)
        return SMP_ENOMEM;
    hang(rows);
    for (size_t node = 0; node < node_count; node++) {
        struct link *const parent = &rows->links[node];
        if (parent->first != 0 && (parent->first & HIDES) == 0 &&
            rows->links[parent->first].next != 0)
            sort_family(rows, parent, before, family);
    }
    smp_free(rows->quota, family);
    return SMP_OK;
}

/* --- calls --- */

/* Claims the rows below each row together. */
static void claim_calls(struct smp_rows *rows, size_t node_count)
{
    for (uint32_t above = 0; rows->calls.counted != NULL && above < node_count; above++) {
        for (uint32_t row = rows->links[above].first; row != 0 && (row & HIDES) == 0;
             row = rows->links[row].next)
            smp_row_calls_claim(&rows->calls, above, row);
    }
}

/* --- public --- */

enum smp_status smp_rows_create(const struct smp_profile *profile, struct smp_export_style style,
                                struct smp_quota *quota, struct smp_rows **out)
{
    const size_t node_count = smp_tree_node_count(profile->tree);
    enum smp_status status = SMP_ENOMEM;
    struct smp_rows *rows = smp_alloc(quota, sizeof(*rows));

    if (rows == NULL)
        goto done;
    rows->profile = profile;
    rows->nodes = smp_tree_nodes(profile->tree);
    rows->siblings = smp_tree_next_siblings(profile->tree);
    rows->wall = smp_tree_column(profile->tree, SMP_MEASURE_WALL);
    rows->idle = smp_tree_column(profile->tree, SMP_MEASURE_IDLE);
    rows->style = style;
    rows->own = smp_tree_measures(profile->tree) & SMP_OWN_MEASURES;
    rows->has_call_cpu =
        profile->counts.account == NULL ||
        smp_counting_account_figure(profile->counts.account, SMP_COUNTING_NO_CPU_TIME) == 0;
    rows->style.columns &=
        smp_tree_measures(profile->tree) & ~SMP_MEASURE_BIT(SMP_MEASURE_WALL) & ~rows->own;
    rows->quota = quota;
    rows->links = smp_alloc(quota, node_count * sizeof(*rows->links));
    if (rows->links == NULL)
        goto done;
    rows->kept = smp_alloc(quota, node_count * sizeof(*rows->kept));
    if (rows->kept == NULL)
        goto done;
    choose_rows(rows, node_count);
    if (style.min_per_mille > 0)
        hide_small(rows, node_count);
    forget_marks(rows, node_count);
    status = smp_used_frames_init(&rows->frames, quota, profile);
    if (status == SMP_OK)
        status = smp_line_texts_init_as(&rows->texts, (struct smp_line_form){ .is_plain = true },
                                        quota, profile, rows->frames.locations, rows->frames.count);
    if (status == SMP_OK)
        status = sort(rows, style.order, node_count);
    if (status == SMP_OK)
        status = smp_row_calls_init(&rows->calls, quota, profile);
    if (status == SMP_OK)
        status = smp_row_since_init(&rows->since, quota, profile);
    if (status != SMP_OK)
        goto done;
    claim_calls(rows, node_count);
    smp_free(quota, rows->kept);
    rows->kept = NULL;
    *out = rows;
    rows = NULL;
done:
    smp_rows_destroy(rows);
    return status;
}

void smp_rows_destroy(struct smp_rows *rows)
{
    if (rows == NULL)
        return;
    smp_row_since_fini(&rows->since);
    smp_row_calls_fini(&rows->calls);
    smp_line_texts_fini(&rows->texts);
    smp_used_frames_fini(&rows->frames);
    smp_free(rows->quota, rows->kept);
    smp_free(rows->quota, rows->links);
    smp_free(rows->quota, rows);
}

uint32_t smp_rows_first(const struct smp_rows *rows, uint32_t node)
{
    const uint32_t first = (node & HIDES) != 0 ? 0 : rows->links[node].first;

    return first == HIDES ? 0 : first;
}

uint32_t smp_rows_next(const struct smp_rows *rows, uint32_t node)
{
    return (node & HIDES) != 0 ? 0 : rows->links[node].next;
}

uint32_t smp_rows_up(const struct smp_rows *rows, uint32_t node)
{
    return rows->links[rows->nodes[node & ~HIDES].parent].shown;
}

/* Returns the amount of the row above, less its own and that of the rows shown. */
static int64_t hidden_amount(const struct smp_rows *rows, uint32_t hides, struct smp_column column)
{
    const uint32_t above = smp_rows_up(rows, hides);
    int64_t amount = smp_subtract_clamped(
        smp_column_at(column, above), smp_column_self(column, rows->nodes, rows->siblings, above));

    for (uint32_t row = smp_rows_first(rows, above); row != hides; row = rows->links[row].next)
        amount = smp_subtract_clamped(amount, smp_column_at(column, row));
    return amount;
}

/* As above, in milliseconds as printed. */
static int64_t hidden_ms(const struct smp_rows *rows, uint32_t hides)
{
    const uint32_t above = smp_rows_up(rows, hides);
    int64_t ms = smp_subtract_clamped(total_ms(rows, above), self_ms(rows, above));

    for (uint32_t row = smp_rows_first(rows, above); row != hides; row = rows->links[row].next)
        ms = smp_subtract_clamped(ms, total_ms(rows, row));
    return ms;
}

static int64_t row_amount(const struct smp_rows *rows, uint32_t row, struct smp_column column)
{
    return (row & HIDES) != 0 ? hidden_amount(rows, row, column) : smp_column_at(column, row);
}

int smp_rows_tenths(const struct smp_rows *rows, uint32_t root, uint32_t node)
{
    const double all_ns = (double)smp_column_at(rows->wall, root);

    if (!rows->style.percent)
        return -1;
    return all_ns > 0 ? (int)((double)row_amount(rows, node, rows->wall) * TENTHS / all_ns + 0.5)
                      : 0;
}

/* Omits measures that were not taken: they would be 0. Holders' trees have only wall time. */
static uint32_t columns_of(const struct smp_rows *rows, uint32_t node)
{
    const uint32_t cpu = SMP_MEASURE_BIT(SMP_MEASURE_CPU);
    const enum smp_group_kind kind = rows->style.columns != 0
                                         ? smp_profile_node_kind(rows->profile, node & ~HIDES)
                                         : SMP_GROUP_SAMPLED;

    if (kind == SMP_GROUP_HOLDERS)
        return 0;
    return kind == SMP_GROUP_COUNTED && !rows->has_call_cpu ? rows->style.columns & ~cpu
                                                            : rows->style.columns;
}

static void show_columns(const struct smp_rows *rows, uint32_t node, struct smp_row *row)
{
    row->shown = columns_of(rows, node);
    for (uint32_t left = row->shown; left != 0; left &= left - 1) {
        const enum smp_measure measure = (enum smp_measure)__builtin_ctz(left);
        const struct smp_column column = smp_tree_column(rows->profile->tree, measure);
        row->columns.of[measure] = smp_measure_printed(measure, row_amount(rows, node, column));
        if (row->columns.of[measure] == 0)
            row->shown &= ~(SMP_MEASURE_BIT(measure) & SMP_STATE_MEASURES);
    }
}

static struct smp_call_time call_time(const struct smp_rows *rows, uint32_t node, int64_t calls)
{
    const struct smp_root_time *const time =
        smp_root_times_find(rows->profile->counts.root_times, node);

    if (time != NULL)
        return (struct smp_call_time){ .mean_ns = time->total_ns / time->calls,
                                       .min_ns = time->min_ns,
                                       .max_ns = time->max_ns };
    return (struct smp_call_time){ .mean_ns = smp_column_at(rows->wall, node) / calls };
}

/* Shows the own amounts of a node of a counted tree. Also called for a row of a sampled tree that
 * corresponds to it. */
static void show_calls(const struct smp_rows *rows, uint32_t node, struct smp_row *row)
{
    const uint32_t counted = smp_row_calls_node(&rows->calls, node);
    const uint32_t from = counted != 0 ? counted : node;

    row->paths = counted != 0 ? rows->calls.paths[counted] : 1;
    for (uint32_t left = rows->own; left != 0; left &= left - 1) {
        const enum smp_measure measure = (enum smp_measure)__builtin_ctz(left);
        const int64_t amount = smp_tree_self(rows->profile->tree, from, measure);
        if (amount == 0)
            continue;
        row->shown |= SMP_MEASURE_BIT(measure);
        row->columns.of[measure] = smp_measure_printed(measure, amount);
        if (measure == SMP_MEASURE_CALLS && counted == 0)
            row->call = call_time(rows, node, amount);
    }
}

/* "[4 rows below 0.5 %]" */
static void show_hidden(const struct smp_rows *rows, uint32_t hides, struct smp_row *out)
{
    const unsigned count = rows->links[hides & ~HIDES].next;
    const unsigned whole = rows->style.min_per_mille / 10;
    const unsigned tenths = rows->style.min_per_mille % 10;
    char digit[4] = "";

    if (tenths > 0)
        (void)snprintf(digit, sizeof(digit), ".%u", tenths % 10);
    *out = (struct smp_row){ .total_ms = hidden_ms(rows, hides) };
    out->self_ms = out->total_ms;
    out->length = (uint32_t)snprintf(out->hidden, sizeof(out->hidden), "[%u %s below %u%s %%]",
                                     count, count == 1 ? "row" : "rows", whole, digit);
    out->width = out->length;
    out->text = out->hidden;
    show_columns(rows, hides, out);
}

void smp_rows_get(const struct smp_rows *rows, uint32_t node, struct smp_row *out)
{
    if ((node & HIDES) != 0) {
        show_hidden(rows, node, out);
        return;
    }
    const uint32_t frame = row_frame(rows, node);
    const bool is_alone = rows->links[node].first == HIDES;

    *out = (struct smp_row){ .total_ms = total_ms(rows, node),
                             .self_ms = is_alone ? total_ms(rows, node) : self_ms(rows, node),
                             .levels = smp_profile_levels(rows->profile, node),
                             .text = smp_line_text(&rows->texts, frame),
                             .length = (uint32_t)smp_line_text_length(&rows->texts, frame) };
    out->width = (uint32_t)smp_utf8_columns(out->text, out->length);
    out->since = smp_row_since_get(&rows->since, node);
    show_columns(rows, node, out);
    if (rows->own != 0)
        show_calls(rows, node, out);
}
