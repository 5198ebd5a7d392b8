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
    struct smp_line_texts texts; /* by location of the difference's names */
    int64_t *before;             /* by place: what no line has shown yet */
};

static void put_text(const struct writer *writer, uint32_t place, bool is_last)
{
    smp_line_text_put(writer->job->out, &writer->texts,
                      smp_profile_diff_location(writer->job->diff, place), is_last);
}

/* As the collapsed form has it: something stands for an empty name. */
static void put_group_text(const struct writer *writer, uint32_t place)
{
    const uint32_t name = smp_profile_diff_location(writer->job->diff, place);

    if (smp_line_text_length(&writer->texts, name) == 0)
        smp_writer_puts(writer->job->out, "[unnamed]");
    put_text(writer, place, false);
}

static uint32_t place_at(const struct writer *writer, size_t depth)
{
    return smp_profile_diff_place(writer->job->diff, writer->side, writer->walk.path[depth]);
}

static void put_line(const struct writer *writer, uint32_t group, int64_t before, int64_t after)
{
    struct smp_writer *const out = writer->job->out;

    put_group_text(writer, group);
    for (size_t i = 0; i < writer->walk.depth; i++)
        put_text(writer, place_at(writer, i), i + 1 == writer->walk.depth);
    smp_writer_put_byte(out, ' ');
    smp_writer_put_i64(out, before);
    smp_writer_put_byte(out, ' ');
    smp_writer_put_i64(out, after);
    smp_writer_put_byte(out, '\n');
}

static void put_group(struct writer *writer, uint32_t index)
{
    const struct smp_difference_job *const job = writer->job;
    const struct smp_profile *const profile = job->profiles[writer->side];
    const uint32_t group = smp_profile_diff_group(job->diff, writer->side, index);
    const bool is_after = writer->side == SMP_DIFF_AFTER;

    smp_tree_walk_begin(&writer->walk, smp_hot_group_info(profile, index)->root);
    while (!job->out->has_failed && smp_tree_walk_next(&writer->walk)) {
        const int64_t amount = smp_tree_walk_self(&writer->walk, job->weight);
        int64_t *const before = &writer->before[place_at(writer, writer->walk.depth - 1)];
        if (amount == 0 || (!is_after && *before == 0))
            continue;
        put_line(writer, group, *before, is_after ? amount : 0);
        *before = 0;
    }
}

static enum smp_status put_side(struct writer *writer, enum smp_diff_side side)
{
    const struct smp_difference_job *const job = writer->job;
    enum smp_status status;

    if (job->profiles[side] == NULL)
        return SMP_OK;
    writer->side = side;
    smp_tree_walk_init(&writer->walk, job->quota, job->profiles[side]->tree);
    for (size_t i = 0; i < job->groups[side].count && writer->walk.status == SMP_OK; i++)
        put_group(writer, job->groups[side].indices[i]);
    status = writer->walk.status;
    smp_tree_walk_fini(&writer->walk);
    return status;
}

enum smp_status smp_difference_lines(const struct smp_difference_job *job)
{
    const struct smp_methods *const names = smp_profile_diff_names(job->diff);
    struct writer writer = { .job = job };
    enum smp_status status = smp_line_texts_init(&writer.texts, job->quota, names, NULL,
                                                 smp_methods_location_count(names));

    if (status != SMP_OK)
        return status;
    writer.before =
        smp_alloc(job->quota, smp_profile_diff_count(job->diff) * sizeof(*writer.before));
    if (writer.before == NULL) {
        status = SMP_ENOMEM;
        goto done;
    }
    smp_profile_diff_sum(job->diff, SMP_DIFF_BEFORE, job->weight, writer.before);
    status = put_side(&writer, SMP_DIFF_AFTER);
    if (status == SMP_OK)
        status = put_side(&writer, SMP_DIFF_BEFORE);
done:
    smp_free(job->quota, writer.before);
    smp_line_texts_fini(&writer.texts);
    return status;
}
