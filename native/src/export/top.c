/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top.c - a table for a log: the methods, then the lines, with the most of the style's weight of
 * their own, over all thread groups.
 *
 *   Top 20 methods of 321, by own wall time, in 6 thread groups, over 60000 ms
 *   percent      wall ms  samples  method
 *      45.1        27060      541  com.acme.A.run
 *
 * One pass over the nodes adds up what each frame has, a second over the frames what each method
 * has. What has no weight is in neither table. With the CPU clock, what is wall time elsewhere is
 * called CPU time here.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"
#include "export/export_writers.h"
#include "export/used_frames.h"

enum { ROWS = 20, ROW_BYTES = 128, TENTHS = 1000, NS_PER_MS = 1000000, MAX_TEXT_BYTES = 1 << 20 };

struct entry {
    struct smp_amounts self;
    uint32_t location; /* one of the method's, or the line's */
};

struct top {
    const struct entry *rows[ROWS]; /* most first */
    size_t count;
};

struct writer {
    const struct smp_export_job *job;
    struct smp_used_frames frames;
    struct entry *lines;   /* by frame number */
    struct entry *methods; /* by method id */
    uint32_t method_ids;
    struct smp_bytes text;
};

/* --- adding up --- */

static void add_up_lines(struct writer *writer)
{
    const struct smp_tree *const tree = writer->job->profile->tree;
    const struct smp_node *const nodes = smp_tree_nodes(tree);
    const size_t node_count = smp_tree_node_count(tree);

    for (uint32_t i = 1; i < node_count; i++) {
        struct smp_amounts self;
        if ((nodes[i].location & SMP_LOCATION_GROUP) != 0)
            continue;
        self = smp_tree_self_all(tree, i);
        smp_amounts_add(
            &writer->lines[smp_used_frames_number(&writer->frames, nodes[i].location)].self, &self);
    }
}

static uint32_t method_of(const struct writer *writer, uint32_t location)
{
    struct smp_location_view view;

    smp_methods_view(writer->job->profile->methods, location, &view);
    return view.method;
}

static enum smp_status add_up(struct writer *writer)
{
    const struct smp_used_frames *const frames = &writer->frames;

    /* One more than needed, because there may be none and nothing cannot be allocated. */
    writer->lines =
        smp_alloc(writer->job->quota, ((size_t)frames->count + 1) * sizeof(*writer->lines));
    if (writer->lines == NULL)
        return SMP_ENOMEM;
    add_up_lines(writer);
    for (uint32_t i = 0; i < frames->count; i++) {
        const uint32_t method = method_of(writer, frames->locations[i]);
        writer->lines[i].location = frames->locations[i];
        if (method >= writer->method_ids)
            writer->method_ids = method + 1;
    }
    writer->methods =
        smp_alloc(writer->job->quota, ((size_t)writer->method_ids + 1) * sizeof(*writer->methods));
    if (writer->methods == NULL)
        return SMP_ENOMEM;
    for (uint32_t i = 0; i < frames->count; i++) {
        struct entry *const method = &writer->methods[method_of(writer, frames->locations[i])];
        method->location = frames->locations[i];
        smp_amounts_add(&method->self, &writer->lines[i].self);
    }
    return SMP_OK;
}

/* --- choosing --- */

static struct top top_of(const struct writer *writer, const struct entry *entries, size_t count)
{
    const enum smp_measure weight_by = writer->job->style->weight;
    struct top top = { .count = 0 };

    for (size_t i = 0; i < count; i++) {
        const int64_t weight = entries[i].self.of[weight_by];
        size_t at = top.count < ROWS ? top.count : ROWS;
        if (weight == 0)
            continue;
        for (; at > 0 && top.rows[at - 1]->self.of[weight_by] < weight; at--) {
            if (at < ROWS)
                top.rows[at] = top.rows[at - 1];
        }
        if (at < ROWS)
            top.rows[at] = &entries[i];
        top.count += top.count < ROWS;
    }
    return top;
}

static size_t count_weighty(const struct writer *writer, const struct entry *entries, size_t count)
{
    size_t weighty = 0;

    for (size_t i = 0; i < count; i++)
        weighty += entries[i].self.of[writer->job->style->weight] > 0;
    return weighty;
}

/* --- the tables --- */

static bool has_column(const struct writer *writer, enum smp_measure measure)
{
    const uint32_t always =
        SMP_MEASURE_BIT(SMP_MEASURE_WALL) | SMP_MEASURE_BIT(SMP_MEASURE_SAMPLES);

    return smp_export_holds(writer->job, measure) &&
           ((always | writer->job->style->columns) & SMP_MEASURE_BIT(measure)) != 0;
}

/* Times are wider. */
static int width_of(enum smp_measure measure)
{
    return smp_measure_info(measure)->unit == SMP_UNIT_NANOSECONDS ? 12 : 10;
}

/* Put together from whole numbers: "%.1f" would follow the locale the JVM has set. */
static void put_amounts(struct writer *writer, const struct smp_amounts *self, int64_t all)
{
    const double share = (double)self->of[writer->job->style->weight] / (double)all;
    const unsigned tenths = (unsigned)(share * TENTHS + 0.5);
    char cell[ROW_BYTES];

    (void)snprintf(cell, sizeof(cell), "%5u.%u", tenths / 10, tenths % 10);
    smp_writer_puts(writer->job->out, cell);
    for (int i = 0; i < SMP_MEASURE_COUNT; i++) {
        if (!has_column(writer, (enum smp_measure)i))
            continue;
        (void)snprintf(cell, sizeof(cell), " %*" PRId64, width_of((enum smp_measure)i),
                       smp_measure_printed((enum smp_measure)i, self->of[i]));
        smp_writer_puts(writer->job->out, cell);
    }
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

static void put_heads(struct writer *writer, const char *what)
{
    struct smp_writer *const out = writer->job->out;
    char cell[ROW_BYTES];

    smp_writer_puts(out, "percent");
    for (int i = 0; i < SMP_MEASURE_COUNT; i++) {
        const bool is_cpu = i == SMP_MEASURE_WALL && writer->job->profile->is_cpu_clock;
        const enum smp_measure measure = is_cpu ? SMP_MEASURE_CPU : (enum smp_measure)i;
        if (!has_column(writer, (enum smp_measure)i))
            continue;
        (void)snprintf(cell, sizeof(cell), " %*s", width_of(measure),
                       smp_measure_info(measure)->column);
        smp_writer_puts(out, cell);
    }
    smp_writer_puts(out, "  ");
    smp_writer_puts(out, what);
    smp_writer_puts(out, "\n");
}

static void put_head(struct writer *writer, const struct top *top, size_t of, const char *what)
{
    const struct smp_export_job *const job = writer->job;
    char row[ROW_BYTES];

    (void)snprintf(row, sizeof(row),
                   "Top %zu %ss of %zu, by own %s, in %zu thread group%s, over %" PRId64 " ms\n",
                   top->count, what, of, smp_export_weight_title(job), job->groups->count,
                   job->groups->count == 1 ? "" : "s", job->profile->elapsed_ns / NS_PER_MS);
    smp_writer_puts(job->out, row);
    put_heads(writer, what);
}

static enum smp_status put_table(struct writer *writer, const struct entry *entries, size_t count,
                                 bool with_line)
{
    const struct top top = top_of(writer, entries, count);
    struct smp_amounts all = { { 0 } };
    enum smp_status status = SMP_OK;

    for (size_t i = 0; i < count; i++)
        smp_amounts_add(&all, &entries[i].self);
    put_head(writer, &top, count_weighty(writer, entries, count), with_line ? "line" : "method");
    for (size_t i = 0; i < top.count && status == SMP_OK; i++) {
        put_amounts(writer, &top.rows[i]->self, all.of[writer->job->style->weight]);
        status = put_name(writer, top.rows[i]->location, with_line);
    }
    return status;
}

enum smp_status smp_export_top(const struct smp_export_job *job)
{
    struct writer writer = { .job = job };
    enum smp_status status = smp_used_frames_init(&writer.frames, job->quota, job->profile);

    if (status != SMP_OK)
        return status;
    smp_bytes_init(&writer.text, job->quota, MAX_TEXT_BYTES);
    status = add_up(&writer);
    if (status == SMP_OK)
        status = put_table(&writer, writer.methods, writer.method_ids, false);
    smp_writer_puts(job->out, "\n");
    if (status == SMP_OK)
        status = put_table(&writer, writer.lines, writer.frames.count, true);
    smp_bytes_fini(&writer.text);
    smp_free(job->quota, writer.methods);
    smp_free(job->quota, writer.lines);
    smp_used_frames_fini(&writer.frames);
    return status;
}
