/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collapsed.c - a line per stack: "group;root;...;leaf amount".
 */
#include "export/export_writers.h"
#include "export/line_texts.h"
#include "export/used_frames.h"

struct writer {
    const struct smp_export_job *job;
    struct smp_used_frames frames;
    struct smp_line_texts texts; /* by frame number */
    struct smp_stack_line line;
    struct smp_tree_walk walk;
    struct smp_column amounts;
};

static void put_collapsed_line(struct writer *writer, int64_t amount)
{
    struct smp_writer *const out = writer->job->out;

    smp_writer_put(out, writer->line.text.data, writer->line.text.length - 1);
    smp_writer_put_byte(out, ' ');
    smp_writer_put_i64(out, amount);
    smp_writer_put_byte(out, '\n');
}

static enum smp_status put_collapsed_group(struct writer *writer,
                                           const struct smp_group_info *group)
{
    struct smp_tree_walk *const walk = &writer->walk;
    struct smp_stack_line *const line = &writer->line;

    smp_stack_line_begin(line, smp_hot_group_name(group));
    smp_tree_walk_begin(walk, group->root);
    while (line->text.status == SMP_OK && !writer->job->out->has_failed &&
           smp_tree_walk_next(walk)) {
        const uint32_t node = smp_tree_walk_node(walk);
        const int64_t amount = smp_tree_walk_self(walk, writer->amounts);
        smp_stack_line_put(line, walk->depth, &writer->texts,
                           smp_used_frames_number(&writer->frames, walk->nodes[node].location));
        if (amount != 0 && line->text.status == SMP_OK)
            put_collapsed_line(writer, amount);
    }
    return line->text.status != SMP_OK ? line->text.status : walk->status;
}

static enum smp_status put_collapsed_groups(struct writer *writer)
{
    const struct smp_export_job *const job = writer->job;
    const struct smp_hot_groups *const groups = smp_export_weighed(job);
    enum smp_status status = SMP_OK;

    for (size_t i = 0; i < groups->count && status == SMP_OK; i++)
        status = put_collapsed_group(writer, smp_export_group(job, groups, i));
    return status;
}

enum smp_status smp_export_collapsed(const struct smp_export_job *job)
{
    struct writer writer = { .job = job,
                             .amounts = smp_tree_column(job->profile->tree, job->style->measure) };
    const struct smp_line_form form = { .slashes = job->style->java_slashes,
                                        .types = job->style->frame_types };
    enum smp_status status = smp_used_frames_init(&writer.frames, job->quota, job->profile);

    if (status != SMP_OK)
        return status;
    smp_stack_line_init(&writer.line, job->quota);
    smp_tree_walk_init(&writer.walk, job->quota, job->profile->tree);
    status = smp_line_texts_init_as(&writer.texts, form, job->quota, job->profile,
                                    writer.frames.locations, writer.frames.count);
    if (status == SMP_OK)
        status = put_collapsed_groups(&writer);
    smp_line_texts_fini(&writer.texts);
    smp_tree_walk_fini(&writer.walk);
    smp_stack_line_fini(&writer.line);
    smp_used_frames_fini(&writer.frames);
    return status;
}
