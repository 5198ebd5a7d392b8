/* SPDX-License-Identifier: Apache-2.0 */
/*
 * speedscope.c - the file format of speedscope: shared frames, and one sampled profile per
 * thread group. A profile's stacks and weights are two arrays, so each group is walked twice.
 *
 *   {"$schema":..., "name":<what is weighed>, "shared":{"frames":[{"name","file","line"}, ...]},
 *    "profiles":[{"type":"sampled", "name", "unit", "startValue":0, "endValue":<sum>,
 *                 "samples":[[root, ..., leaf], ...], "weights":[w, ...]}, ...]}
 */
#include "export/export_writers.h"
#include "export/json_text.h"
#include "export/used_frames.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

struct writer {
    const struct smp_export_job *job;
    struct smp_writer *out;
    struct smp_used_frames frames;
    struct smp_tree_walk walk;
    struct smp_column weights;
};

static void put_speedscope_frame(struct writer *writer, uint32_t location)
{
    struct smp_writer *const out = writer->out;
    struct smp_location_view view;

    smp_profile_view(writer->job->profile, location, &view);
    smp_writer_puts(out, "{\"name\":\"");
    smp_json_put_text(out, view.class_name);
    if (view.method_name != NULL) {
        smp_writer_put_byte(out, '.');
        smp_json_put_text(out, view.method_name);
    }
    smp_writer_put_byte(out, '"');
    if (view.file != NULL) {
        smp_json_put_member(out, "file", view.file);
    }
    if (view.line > 0) {
        smp_json_put_number(out, "line", view.line);
    }
    smp_writer_put_byte(out, '}');
}

static void put_stack(struct writer *writer)
{
    const struct smp_tree_walk *const walk = &writer->walk;

    for (size_t i = 0; i < walk->depth; i++) {
        smp_writer_put_byte(writer->out, i == 0 ? '[' : ',');
        smp_writer_put_u64(writer->out, smp_used_frames_number(
                                            &writer->frames, walk->nodes[walk->path[i]].location));
    }
    smp_writer_put_byte(writer->out, ']');
}

/* Writes the stacks of a group that have an amount, or their amounts. Returns the sum. */
static uint64_t put_stacks(struct writer *writer, uint32_t root, bool as_weights)
{
    struct smp_tree_walk *const walk = &writer->walk;
    uint64_t sum = 0;
    bool is_first = true;

    smp_tree_walk_begin(walk, root);
    while (!writer->out->has_failed && smp_tree_walk_next(walk)) {
        const uint64_t weight = (uint64_t)smp_tree_walk_self(walk, writer->weights);
        if (weight == 0)
            continue;
        if (!is_first)
            smp_writer_put_byte(writer->out, ',');
        is_first = false;
        if (as_weights)
            smp_writer_put_u64(writer->out, weight);
        else
            put_stack(writer);
        sum += weight;
    }
    return sum;
}

static void put_profile(struct writer *writer, const struct smp_group_info *group)
{
    const enum smp_unit unit = smp_measure_info(writer->job->style->measure)->unit;
    struct smp_writer *const out = writer->out;
    uint64_t sum;

    smp_writer_puts(out, "{\"type\":\"sampled\",\"name\":");
    smp_json_put_string(out, smp_hot_group_name(group));
    smp_writer_puts(out, ",\"unit\":");
    smp_json_put_string(out, smp_unit_info(unit)->speedscope);
    smp_writer_puts(out, ",\"samples\":[");
    (void)put_stacks(writer, group->root, false);
    smp_writer_puts(out, "],\"weights\":[");
    sum = put_stacks(writer, group->root, true);
    smp_writer_puts(out, "],\"startValue\":0,\"endValue\":");
    smp_writer_put_u64(out, sum);
    smp_writer_puts(out, "}");
}

static enum smp_status put_document(struct writer *writer)
{
    const struct smp_export_job *const job = writer->job;
    const struct smp_hot_groups *const groups = smp_export_weighed(job);
    struct smp_writer *const out = writer->out;

    smp_writer_puts(out, "{\"$schema\":\"" SCHEMA "\",\"exporter\":\"threads-sampler\",\"name\":");
    smp_json_put_string(out, smp_export_measure_title(job));
    smp_writer_puts(out, ",\"activeProfileIndex\":0,\"shared\":{\"frames\":[");
    for (uint32_t i = 0; i < writer->frames.count && !out->has_failed; i++) {
        if (i > 0)
            smp_writer_puts(out, ",\n");
        put_speedscope_frame(writer, writer->frames.locations[i]);
    }
    smp_writer_puts(out, "]},\n\"profiles\":[");
    for (size_t i = 0; i < groups->count && writer->walk.status == SMP_OK; i++) {
        if (i > 0)
            smp_writer_puts(out, ",\n");
        put_profile(writer, smp_export_group(job, groups, i));
    }
    smp_writer_puts(out, "]}\n");
    return writer->walk.status;
}

enum smp_status smp_export_speedscope(const struct smp_export_job *job)
{
    struct writer writer = { .job = job,
                             .out = job->out,
                             .weights = smp_tree_column(job->profile->tree, job->style->measure) };
    enum smp_status status = smp_used_frames_init(&writer.frames, job->quota, job->profile);

    if (status != SMP_OK)
        return status;
    smp_tree_walk_init(&writer.walk, job->quota, job->profile->tree);
    status = put_document(&writer);
    smp_tree_walk_fini(&writer.walk);
    smp_used_frames_fini(&writer.frames);
    return status;
}
