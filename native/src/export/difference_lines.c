/* SPDX-License-Identifier: Apache-2.0 */
/*
 * difference_lines.c - a line per stack: "group;root;...;leaf before after".
 *
 * Each side is walked as its collapsed form is, after first. What before has at a place stands in
 * the first line that is written for the place, so it is counted once.
 */
#include "export/difference_writers.h"
#include "export/line_texts.h"
#include "export/tree_walk.h"

struct writer {
    const struct smp_difference_job *job;
    enum smp_diff_side side; /* that is walked */
    struct smp_tree_walk walk;
    struct smp_column amounts;
    struct smp_line_texts texts; /* by location of the difference's names */
    struct smp_stack_line line;
    int64_t *before; /* by place: what no line has shown yet */
};

static void put_difference_line(const struct writer *writer, int64_t before, int64_t after)
{
    struct smp_writer *const out = writer->job->out;

    smp_writer_put(out, writer->line.text.data, writer->line.text.length - 1);
    smp_writer_put_byte(out, ' ');
    smp_writer_put_i64(out, before);
    smp_writer_put_byte(out, ' ');
    smp_writer_put_i64(out, after);
    smp_writer_put_byte(out, '\n');
}

/* Puts the current stack into the line, and prints it where there is something to print. */
static void put_place(struct writer *writer)
{
    const struct smp_profile_diff *const diff = writer->job->diff;
    const bool is_after = writer->side == SMP_DIFF_AFTER;
    const int64_t amount = smp_tree_walk_self(&writer->walk, writer->amounts);
    const uint32_t place =
        smp_profile_diff_place(diff, writer->side, smp_tree_walk_node(&writer->walk));
    int64_t *const before = &writer->before[place];

    smp_stack_line_put(&writer->line, writer->walk.depth, &writer->texts,
                       smp_profile_diff_location(diff, place));
    if (writer->line.text.status != SMP_OK || amount == 0 || (!is_after && *before == 0))
        return;
    put_difference_line(writer, *before, is_after ? amount : 0);
    *before = 0;
}

static enum smp_status put_group_lines(struct writer *writer, const struct smp_group_info *group)
{
    struct smp_stack_line *const line = &writer->line;

    smp_stack_line_begin(line, group->name);
    smp_tree_walk_begin(&writer->walk, group->root);
    while (line->text.status == SMP_OK && !writer->job->out->has_failed &&
           smp_tree_walk_next(&writer->walk))
        put_place(writer);
    return line->text.status != SMP_OK ? line->text.status : writer->walk.status;
}

static enum smp_status put_side_lines(struct writer *writer, enum smp_diff_side side)
{
    const struct smp_difference_job *const job = writer->job;
    const bool is_counted = smp_profile_kind_of(job->measure) == SMP_GROUP_COUNTED;
    const struct smp_hot_groups *const groups =
        is_counted ? &job->counted[side] : &job->groups[side];
    const struct smp_profile *const profile = job->profiles[side];
    enum smp_status status = SMP_OK;

    if (profile == NULL)
        return SMP_OK;
    writer->side = side;
    writer->amounts = smp_tree_column(profile->tree, job->measure);
    smp_tree_walk_init(&writer->walk, job->quota, profile->tree);
    for (size_t i = 0; i < groups->count && status == SMP_OK; i++)
        status = put_group_lines(writer, smp_hot_group_info(profile, groups->indices[i]));
    smp_tree_walk_fini(&writer->walk);
    return status;
}

enum smp_status smp_difference_lines(const struct smp_difference_job *job)
{
    const struct smp_methods *const names = smp_profile_diff_names(job->diff);
    struct writer writer = { .job = job };
    enum smp_status status =
        smp_line_texts_init(&writer.texts, job->quota, names, smp_methods_location_count(names));

    if (status != SMP_OK)
        return status;
    writer.before =
        smp_alloc(job->quota, smp_profile_diff_count(job->diff) * sizeof(*writer.before));
    if (writer.before == NULL) {
        status = SMP_ENOMEM;
        goto done;
    }
    smp_stack_line_init(&writer.line, job->quota);
    smp_profile_diff_sum(job->diff, SMP_DIFF_BEFORE, job->measure, writer.before);
    status = put_side_lines(&writer, SMP_DIFF_AFTER);
    if (status == SMP_OK)
        status = put_side_lines(&writer, SMP_DIFF_BEFORE);
done:
    smp_stack_line_fini(&writer.line);
    smp_free(job->quota, writer.before);
    smp_line_texts_fini(&writer.texts);
    return status;
}
