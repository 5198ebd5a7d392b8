/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top.c - a table for a log: the methods, then the lines, with the most of the style's weight of
 * their own, over all thread groups. The summary stands before them (summary.h).
 *
 *   Top 20 methods of 321, by own wall time, in 6 thread groups, over 60000 ms
 *   percent      wall ms  samples  method
 *      45.1        27060      541  com.acme.A.run
 *
 * One pass over the nodes adds up what each frame has, a second over the frames what each method
 * has. What has no weight is in neither table. With the CPU clock, what is wall time elsewhere is
 * called CPU time here.
 *
 * With error bars the columns of wall and CPU time have them (own_errors.h):
 *
 *   percent                  wall ms  samples  method
 *      45.1          27,060 ± 310 ms      541  com.acme.A.run
 *
 * Where calls are counted the table of methods has two columns more: the calls, and how many
 * microseconds of its own one took, by the counted trees alone, as the other times are those of
 * calls from elsewhere, too. Time and samples are those of the sampled trees. Counted trees have no
 * lines: by calls there is no table of lines.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"
#include "export/export_writers.h"
#include "export/own_errors.h"
#include "export/summary.h"
#include "export/used_frames.h"

enum {
    ROWS = 20,
    ROW_BYTES = 128,
    TENTHS = 1000,
    NS_PER_MS = 1000000,
    NS_PER_US = 1000,
    CALL_WIDTH = 12,
    NUMBER_BYTES = 32
};

static const char call_head[] = "own us/call";

/* What there is to choose from, all by one number. */
struct entries {
    struct smp_amounts *selves;
    const uint32_t *locations; /* the line's, or one of the method's */
    const int64_t *counted_ns; /* wall time in counted trees; NULL: not shown, nor are calls */
    const struct smp_error *errors[SMP_ERROR_MEASURES]; /* NULL: without error bars */
    size_t count;
};

struct top {
    size_t rows[ROWS]; /* most first */
    size_t count;
};

struct writer {
    const struct smp_export_job *job;
    struct smp_used_frames frames;
    struct smp_amounts *lines;   /* by frame number + 1, as frames.numbers has it */
    struct smp_amounts *methods; /* by method id */
    struct smp_error *line_errors[SMP_ERROR_MEASURES]; /* as lines and methods; NULL: none */
    struct smp_error *method_errors[SMP_ERROR_MEASURES];
    int64_t *counted_ns; /* likewise; NULL where no calls are counted */
    uint32_t *method_locations;
    uint32_t method_ids;
    struct smp_bytes text;
};

/* --- adding up --- */

static uint32_t method_of(const struct writer *writer, uint32_t location)
{
    struct smp_location_view view;

    smp_methods_view(writer->job->profile->methods, location, &view);
    return view.method;
}

static uint32_t count_method_ids(const struct writer *writer)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < writer->frames.count; i++) {
        const uint32_t method = method_of(writer, writer->frames.locations[i]);
        if (method >= count)
            count = method + 1;
    }
    return count;
}

static void add_up_methods(struct writer *writer)
{
    for (uint32_t i = 0; i < writer->frames.count; i++) {
        const uint32_t method = method_of(writer, writer->frames.locations[i]);
        writer->method_locations[method] = writer->frames.locations[i];
        smp_amounts_add(&writer->methods[method], &writer->lines[i + 1]);
    }
}

/* A sampled tree is the whole of its measures, a counted one of its own (measure.h). */
static void add_node(struct writer *writer, uint32_t node, bool is_counted)
{
    const struct smp_tree *const tree = writer->job->profile->tree;
    const uint32_t location = smp_tree_nodes(tree)[node].location;
    struct smp_amounts self = smp_tree_self_all(tree, node);

    if (is_counted && writer->counted_ns != NULL) {
        int64_t *const sum = &writer->counted_ns[method_of(writer, location)];
        *sum = smp_add_clamped(*sum, self.of[SMP_MEASURE_WALL]);
    }
    smp_amounts_keep(&self, is_counted ? (uint32_t)SMP_OWN_MEASURES : ~(uint32_t)SMP_OWN_MEASURES);
    smp_amounts_add(&writer->lines[writer->frames.numbers[location]], &self);
}

/* Where there are trees of several kinds. Those of holders have no time that is not in others. */
static enum smp_status add_up_kinds(struct writer *writer)
{
    const struct smp_profile *const profile = writer->job->profile;
    const struct smp_node *const nodes = smp_tree_nodes(profile->tree);
    const size_t count = smp_tree_node_count(profile->tree);
    uint8_t *const kinds = smp_alloc(writer->job->quota, count * sizeof(*kinds));

    if (kinds == NULL)
        return SMP_ENOMEM;
    for (uint32_t i = 1; i < count; i++) {
        const struct smp_group group = { .index = smp_node_group(&nodes[i]) };
        if (smp_node_is_group(&nodes[i])) {
            kinds[i] = (uint8_t)smp_thread_groups_kind(profile->groups, group);
            continue;
        }
        kinds[i] = kinds[nodes[i].parent];
        if (kinds[i] != SMP_GROUP_HOLDERS)
            add_node(writer, i, kinds[i] == SMP_GROUP_COUNTED);
    }
    smp_free(writer->job->quota, kinds);
    return SMP_OK;
}

static enum smp_status add_up_lines(struct writer *writer)
{
    if (writer->counted_ns != NULL || writer->job->holders->count > 0)
        return add_up_kinds(writer);
    smp_tree_sum_by_location(writer->job->profile->tree, writer->frames.numbers, writer->lines);
    return SMP_OK;
}

static enum smp_status add_up_errors(struct writer *writer)
{
    struct smp_quota *const quota = writer->job->quota;
    const size_t lines = (size_t)writer->frames.count + 1;
    enum smp_status status = SMP_OK;

    if (!smp_tree_has_errors(writer->job->profile->tree))
        return SMP_OK;
    for (int i = 0; i < SMP_ERROR_MEASURES && status == SMP_OK; i++) {
        struct smp_error *const of_lines = smp_alloc(quota, lines * sizeof(*of_lines));
        struct smp_error *const of_methods =
            smp_alloc(quota, ((size_t)writer->method_ids + 1) * sizeof(*of_methods));
        writer->line_errors[i] = of_lines;
        writer->method_errors[i] = of_methods;
        if (of_lines == NULL || of_methods == NULL)
            return SMP_ENOMEM;
        status =
            smp_own_errors_add(writer->job, (enum smp_measure)i, writer->frames.numbers, of_lines);
        for (uint32_t line = 0; line < writer->frames.count; line++)
            smp_error_add(&of_methods[method_of(writer, writer->frames.locations[line])],
                          of_lines[line + 1]);
    }
    return status;
}

static enum smp_status add_up(struct writer *writer)
{
    struct smp_quota *const quota = writer->job->quota;
    const bool has_counted = writer->job->counted->count > 0;
    enum smp_status status;
    size_t ids;

    writer->method_ids = count_method_ids(writer);
    /* One more than needed, because there may be none and nothing cannot be allocated. */
    ids = (size_t)writer->method_ids + 1;
    writer->lines = smp_alloc(quota, ((size_t)writer->frames.count + 1) * sizeof(*writer->lines));
    writer->methods = smp_alloc(quota, ids * sizeof(*writer->methods));
    writer->method_locations = smp_alloc(quota, ids * sizeof(*writer->method_locations));
    if (writer->lines == NULL || writer->methods == NULL || writer->method_locations == NULL)
        return SMP_ENOMEM;
    if (has_counted)
        writer->counted_ns = smp_alloc(quota, ids * sizeof(*writer->counted_ns));
    if (has_counted && writer->counted_ns == NULL)
        return SMP_ENOMEM;
    status = add_up_lines(writer);
    add_up_methods(writer);
    return status == SMP_OK ? add_up_errors(writer) : status;
}

/* --- choosing --- */

static struct top top_of(const struct entries *entries, enum smp_measure by)
{
    struct top top = { .count = 0 };

    for (size_t i = 0; i < entries->count; i++) {
        const int64_t weight = entries->selves[i].of[by];
        size_t at = top.count < ROWS ? top.count : ROWS;
        if (weight == 0)
            continue;
        for (; at > 0 && entries->selves[top.rows[at - 1]].of[by] < weight; at--) {
            if (at < ROWS)
                top.rows[at] = top.rows[at - 1];
        }
        if (at < ROWS)
            top.rows[at] = i;
        top.count += top.count < ROWS;
    }
    return top;
}

static size_t count_weighty(const struct entries *entries, enum smp_measure by)
{
    size_t weighty = 0;

    for (size_t i = 0; i < entries->count; i++)
        weighty += entries->selves[i].of[by] > 0;
    return weighty;
}

/* --- the tables --- */

static bool has_column(const struct writer *writer, const struct entries *entries,
                       enum smp_measure measure)
{
    const uint32_t always =
        SMP_MEASURE_BIT(SMP_MEASURE_WALL) | SMP_MEASURE_BIT(SMP_MEASURE_SAMPLES) | SMP_OWN_MEASURES;

    if (entries->counted_ns == NULL && smp_profile_kind_of(measure) == SMP_GROUP_COUNTED)
        return false;
    return smp_export_holds(writer->job, measure) &&
           ((always | writer->job->style->columns) & SMP_MEASURE_BIT(measure)) != 0;
}

static bool has_bars(const struct entries *entries, enum smp_measure measure)
{
    return (int)measure < (int)SMP_ERROR_MEASURES && entries->errors[measure] != NULL;
}

/* Times are wider, and so are calls: a thousand million of them take seconds. */
static int column_width(const struct entries *entries, enum smp_measure measure)
{
    if (has_bars(entries, measure))
        return SMP_ERROR_CELL_WIDTH;
    if (smp_profile_kind_of(measure) == SMP_GROUP_COUNTED)
        return 14;
    return smp_measure_info(measure)->unit == SMP_UNIT_NANOSECONDS ? 12 : 10;
}

/* Put together from whole numbers: "%.1f" would follow the locale the JVM has set. */
static void put_call_time(struct writer *writer, int64_t counted_ns, int64_t calls)
{
    const int64_t ns = calls == 0 ? 0 : counted_ns / calls;
    char number[NUMBER_BYTES] = "";
    char cell[ROW_BYTES];

    if (ns > 0)
        (void)snprintf(number, sizeof(number), "%" PRId64 ".%03d", ns / NS_PER_US,
                       (int)(ns % NS_PER_US));
    (void)snprintf(cell, sizeof(cell), " %*s", CALL_WIDTH, number);
    smp_writer_puts(writer->job->out, cell);
}

static void put_amount(struct writer *writer, const struct entries *entries, size_t row,
                       enum smp_measure measure)
{
    const int64_t amount = entries->selves[row].of[measure];
    char cell[ROW_BYTES];

    smp_writer_puts(writer->job->out, " ");
    if (has_bars(entries, measure))
        smp_own_errors_print(amount, entries->errors[measure][row], cell);
    else
        (void)snprintf(cell, sizeof(cell), "%*" PRId64, column_width(entries, measure),
                       smp_measure_printed(measure, amount));
    smp_writer_puts(writer->job->out, cell);
}

static void put_amounts(struct writer *writer, const struct entries *entries, size_t row,
                        int64_t all)
{
    const struct smp_amounts *const self = &entries->selves[row];
    const double share = (double)self->of[writer->job->style->weight] / (double)all;
    const unsigned tenths = (unsigned)(share * TENTHS + 0.5);
    char cell[ROW_BYTES];

    (void)snprintf(cell, sizeof(cell), "%5u.%u", tenths / 10, tenths % 10);
    smp_writer_puts(writer->job->out, cell);
    for (int i = 0; i < SMP_MEASURE_COUNT; i++) {
        if (!has_column(writer, entries, (enum smp_measure)i))
            continue;
        put_amount(writer, entries, row, (enum smp_measure)i);
    }
    if (entries->counted_ns != NULL)
        put_call_time(writer, entries->counted_ns[row], self->of[SMP_MEASURE_CALLS]);
    smp_writer_puts(writer->job->out, "  ");
}

static enum smp_status put_name(struct writer *writer, uint32_t location, bool with_line)
{
    struct smp_bytes *const text = &writer->text;

    smp_bytes_clear(text);
    if (with_line)
        smp_methods_frame_text(writer->job->profile->methods, location, text);
    else
        smp_methods_method_text(writer->job->profile->methods, location, text);
    smp_bytes_put(text, "\n", 1);
    smp_writer_put(writer->job->out, smp_bytes_text(text), text->length);
    return text->status;
}

static void put_heads(struct writer *writer, const struct entries *entries, const char *what)
{
    struct smp_writer *const out = writer->job->out;
    char cell[ROW_BYTES];

    smp_writer_puts(out, "percent");
    for (int i = 0; i < SMP_MEASURE_COUNT; i++) {
        const enum smp_measure measure =
            smp_profile_measure(writer->job->profile, (enum smp_measure)i);
        if (!has_column(writer, entries, (enum smp_measure)i))
            continue;
        (void)snprintf(cell, sizeof(cell), " %*s", column_width(entries, measure),
                       smp_measure_info(measure)->column);
        smp_writer_puts(out, cell);
    }
    if (entries->counted_ns != NULL) {
        (void)snprintf(cell, sizeof(cell), " %*s", CALL_WIDTH, call_head);
        smp_writer_puts(out, cell);
    }
    smp_writer_puts(out, "  ");
    smp_writer_puts(out, what);
    smp_writer_puts(out, "\n");
}

static void put_table_head(struct writer *writer, const struct entries *entries,
                           const struct top *top, const char *what)
{
    const struct smp_export_job *const job = writer->job;
    const size_t of = count_weighty(entries, job->style->weight);
    const size_t groups = smp_export_weighed(job)->count;
    char row[ROW_BYTES];

    (void)snprintf(row, sizeof(row),
                   "Top %zu %ss of %zu, by own %s, in %zu thread group%s, over %" PRId64 " ms\n",
                   top->count, what, of, smp_export_weight_title(job), groups,
                   groups == 1 ? "" : "s", job->profile->elapsed_ns / NS_PER_MS);
    smp_writer_puts(job->out, row);
    put_heads(writer, entries, what);
}

static enum smp_status put_table(struct writer *writer, const struct entries *entries,
                                 bool with_line)
{
    const enum smp_measure weight = writer->job->style->weight;
    const struct top top = top_of(entries, weight);
    enum smp_status status = SMP_OK;
    int64_t all = 0;

    for (size_t i = 0; i < entries->count; i++)
        all = smp_add_clamped(all, entries->selves[i].of[weight]);
    put_table_head(writer, entries, &top, with_line ? "line" : "method");
    for (size_t i = 0; i < top.count && status == SMP_OK; i++) {
        put_amounts(writer, entries, top.rows[i], all);
        status = put_name(writer, entries->locations[top.rows[i]], with_line);
    }
    return status;
}

/* Frame numbers begin with 1 there. */
static const struct smp_error *lines_behind_first(const struct writer *writer,
                                                  enum smp_measure measure)
{
    return writer->line_errors[measure] == NULL ? NULL : writer->line_errors[measure] + 1;
}

static enum smp_status put_tables(struct writer *writer)
{
    const struct entries methods = { .selves = writer->methods,
                                     .locations = writer->method_locations,
                                     .counted_ns = writer->counted_ns,
                                     .errors = { writer->method_errors[SMP_MEASURE_WALL],
                                                 writer->method_errors[SMP_MEASURE_CPU] },
                                     .count = writer->method_ids };
    const struct entries lines = { .selves = writer->lines + 1,
                                   .locations = writer->frames.locations,
                                   .errors = { lines_behind_first(writer, SMP_MEASURE_WALL),
                                               lines_behind_first(writer, SMP_MEASURE_CPU) },
                                   .count = writer->frames.count };
    const enum smp_status status = put_table(writer, &methods, false);

    if (smp_profile_kind_of(writer->job->style->weight) == SMP_GROUP_COUNTED)
        return status;
    smp_writer_puts(writer->job->out, "\n");
    return status == SMP_OK ? put_table(writer, &lines, true) : status;
}

/* --- the summary --- */

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

enum smp_status smp_export_top(const struct smp_export_job *job)
{
    struct writer writer = { .job = job };
    enum smp_status status = put_top_summary(job);

    if (status == SMP_OK)
        status = smp_used_frames_init(&writer.frames, job->quota, job->profile);
    if (status != SMP_OK)
        return status;
    smp_bytes_init(&writer.text, job->quota, SMP_MAX_FRAME_TEXT_BYTES);
    status = add_up(&writer);
    if (status == SMP_OK)
        status = put_tables(&writer);
    smp_bytes_fini(&writer.text);
    for (int i = 0; i < SMP_ERROR_MEASURES; i++) {
        smp_free(job->quota, writer.line_errors[i]);
        smp_free(job->quota, writer.method_errors[i]);
    }
    smp_free(job->quota, writer.counted_ns);
    smp_free(job->quota, writer.method_locations);
    smp_free(job->quota, writer.methods);
    smp_free(job->quota, writer.lines);
    smp_used_frames_fini(&writer.frames);
    return status;
}
