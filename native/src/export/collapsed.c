/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collapsed.c - a line per stack: "group;root;...;leaf weight".
 * Each frame's text is made once and then copied into every line it is in.
 */
#include "base/bytes.h"
#include "export/export_writers.h"
#include "export/line_texts.h"
#include "export/used_frames.h"
#include "model/escape.h"

struct writer {
    const struct smp_export_job *job;
    struct smp_used_frames frames;
    struct smp_line_texts texts; /* by frame number */
    struct smp_bytes group;
    struct smp_tree_walk walk;
};

static enum smp_status make_group(struct writer *writer, const char *name)
{
    smp_bytes_clear(&writer->group);
    smp_escape_put(&writer->group, name);
    smp_line_text_end(&writer->group, 0);
    return writer->group.status;
}

static void put_line(struct writer *writer, uint64_t weight)
{
    const struct smp_tree_walk *const walk = &writer->walk;
    struct smp_writer *const out = writer->job->out;

    smp_writer_put(out, smp_bytes_text(&writer->group), writer->group.length);
    for (size_t i = 0; i < walk->depth; i++) {
        const uint32_t frame =
            smp_used_frames_number(&writer->frames, walk->nodes[walk->path[i]].location);
        smp_line_text_put(out, &writer->texts, frame, i + 1 == walk->depth);
    }
    smp_writer_put_byte(out, ' ');
    smp_writer_put_u64(out, weight);
    smp_writer_put_byte(out, '\n');
}

static void put_group(struct writer *writer, uint32_t root)
{
    smp_tree_walk_begin(&writer->walk, root);
    while (!writer->job->out->has_failed && smp_tree_walk_next(&writer->walk)) {
        const int64_t weight = smp_tree_walk_self(&writer->walk, writer->job->style->weight);
        if (weight != 0)
            put_line(writer, (uint64_t)weight);
    }
}

static enum smp_status put_groups(struct writer *writer)
{
    const struct smp_export_job *const job = writer->job;

    for (size_t i = 0; i < job->groups->count; i++) {
        const enum smp_status status = make_group(writer, smp_export_group_name(job, i));
        if (status != SMP_OK)
            return status;
        put_group(writer, smp_export_group(job, i)->root);
        if (writer->walk.status != SMP_OK)
            return writer->walk.status;
    }
    return SMP_OK;
}

enum smp_status smp_export_collapsed(const struct smp_export_job *job)
{
    struct writer writer = { .job = job };
    enum smp_status status = smp_used_frames_init(&writer.frames, job->quota, job->profile);

    if (status != SMP_OK)
        return status;
    smp_bytes_init(&writer.group, job->quota, SMP_MAX_LINE_TEXTS_BYTES);
    smp_tree_walk_init(&writer.walk, job->quota, job->profile->tree);
    status = smp_line_texts_init(&writer.texts, job->quota, job->profile->methods,
                                 writer.frames.locations, writer.frames.count);
    if (status == SMP_OK)
        status = put_groups(&writer);
    smp_line_texts_fini(&writer.texts);
    smp_tree_walk_fini(&writer.walk);
    smp_bytes_fini(&writer.group);
    smp_used_frames_fini(&writer.frames);
    return status;
}
