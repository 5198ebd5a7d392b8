/* SPDX-License-Identifier: Apache-2.0 */
/*
 * difference_tree.c - the difference as one tree, for the page.
 *
 *   {"frames":[                           each once; its place is its number
 *      {"class":"com.acme.A","method":"run"}, {"pseudo":"[thread ended]"}, ...],
 *    "groups":[[0,2],[1,-1],...],         where the group stands among the groups of the JSON form
 *                                         of before, and of after; -1: it has none
 *    "parent":[-1,0,0,...],               by node: place of its parent in these arrays; -1: a
 *                                         group. Parents come before their children.
 *    "frame":[0,5,6,...],                 number of its frame; of a group: its number in groups
 *    "before":{"wall":[0,1200,...], "cpu":[...], "samples":[...]},
 *    "after":{"wall":[...], "cpu":[...], "samples":[...]},
 *                                         of its own, without its children's, as measured
 *    "error95":{"before":{"wall":[310,-1,...], "cpu":[...]}, "after":{...}},
 *                                         half the width of the error bar of a node's time, with
 *                                         all below it; 0: exact, -1: not known. Their squares add
 *                                         up to that of the change. Only where both sides have
 *                                         error bars, and not in "counted"
 *    "counted":{...}}                     only where calls are counted: the same of the counted
 *                                         groups, which are those of "counted" in the JSON forms;
 *                                         with "calls"
 *
 * Groups and nodes stand in the order of before's JSON form, behind them those that only after has,
 * in the order of its form. As that form, it can stand in an HTML script element.
 */
#include <string.h>

#include "export/difference_writers.h"
#include "export/json_text.h"
#include "export/tree_walk.h"

struct writer {
    const struct smp_difference_job *job;
    const struct smp_hot_groups *groups; /* by side; of one kind */
    uint32_t measures;
    struct smp_writer *out;
    uint32_t *order;   /* places in the order in which they are written */
    uint32_t *numbers; /* by place: where it stands in order, plus one; 0: nowhere yet */
    uint32_t *frames;  /* by location: its number plus one; 0: no node has it */
    uint32_t *ranks[SMP_DIFF_SIDES]; /* of a group's place: its number on that side plus one */
    int64_t *sums;                   /* by place: the column that is written next */
    uint32_t count;                  /* of order */
};

/* --- the order --- */

static void number_place(struct writer *writer, uint32_t place)
{
    if (writer->numbers[place] != 0)
        return;
    writer->order[writer->count++] = place;
    writer->numbers[place] = writer->count;
}

static bool is_group(const struct writer *writer, uint32_t place)
{
    return smp_profile_diff_parent(writer->job->diff, place) == 0;
}

static enum smp_status number_side(struct writer *writer, enum smp_diff_side side)
{
    const struct smp_difference_job *const job = writer->job;
    const struct smp_profile *const profile = job->profiles[side];
    struct smp_tree_walk walk;
    enum smp_status status;

    if (profile == NULL)
        return SMP_OK;
    smp_tree_walk_init(&walk, job->quota, profile->tree);
    for (size_t i = 0; i < writer->groups[side].count; i++) {
        const uint32_t group = writer->groups[side].indices[i];
        const uint32_t place = smp_profile_diff_group(job->diff, side, group);
        writer->ranks[side][place] = (uint32_t)i + 1;
        number_place(writer, place);
        smp_tree_walk_begin(&walk, smp_hot_group_info(profile, group)->root);
        while (smp_tree_walk_next(&walk))
            number_place(writer,
                         smp_profile_diff_place(job->diff, side, smp_tree_walk_node(&walk)));
    }
    status = walk.status;
    smp_tree_walk_fini(&walk);
    return status;
}

/* Of all members but the first of an object: each on a line of its own. */
static void put_key(struct writer *writer, const char *key)
{
    smp_writer_puts(writer->out, ",\n");
    smp_json_put_key(writer->out, key, true);
}

/* --- frames --- */

static void put_place_frame(struct writer *writer, uint32_t location)
{
    struct smp_location_view view;

    smp_methods_view(smp_profile_diff_names(writer->job->diff), location, &view);
    smp_writer_puts(writer->out, view.is_pseudo ? "{\"pseudo\":" : "{\"class\":");
    smp_json_put_string(writer->out, view.class_name);
    if (!view.is_pseudo) {
        smp_json_put_key(writer->out, "method", false);
        smp_json_put_string(writer->out, view.method_name);
    }
    smp_writer_put_byte(writer->out, '}');
}

static void mark_frames(struct writer *writer)
{
    for (uint32_t i = 0; i < writer->count; i++) {
        const uint32_t place = writer->order[i];
        if (!is_group(writer, place))
            writer->frames[smp_profile_diff_location(writer->job->diff, place)] = 1;
    }
}

static void put_place_frames(struct writer *writer)
{
    const uint32_t locations =
        smp_methods_location_count(smp_profile_diff_names(writer->job->diff));
    uint32_t count = 0;

    mark_frames(writer);
    smp_writer_puts(writer->out, "{\"frames\":[");
    for (uint32_t i = 0; i < locations && !writer->out->has_failed; i++) {
        if (writer->frames[i] == 0)
            continue;
        if (count > 0)
            smp_writer_puts(writer->out, ",\n");
        put_place_frame(writer, i);
        writer->frames[i] = ++count;
    }
    smp_writer_put_byte(writer->out, ']');
}

static void put_place_groups(struct writer *writer)
{
    bool is_first = true;

    put_key(writer, "groups");
    smp_writer_put_byte(writer->out, '[');
    for (uint32_t i = 0; i < writer->count && !writer->out->has_failed; i++) {
        const uint32_t place = writer->order[i];
        if (!is_group(writer, place))
            continue;
        smp_writer_puts(writer->out, is_first ? "[" : ",[");
        is_first = false;
        smp_writer_put_i64(writer->out, (int64_t)writer->ranks[SMP_DIFF_BEFORE][place] - 1);
        smp_writer_put_byte(writer->out, ',');
        smp_writer_put_i64(writer->out, (int64_t)writer->ranks[SMP_DIFF_AFTER][place] - 1);
        smp_writer_put_byte(writer->out, ']');
    }
    smp_writer_put_byte(writer->out, ']');
}

/* --- columns --- */

/* A column is made in sums and written from there. */
static void make_parents(struct writer *writer)
{
    for (uint32_t i = 0; i < writer->count; i++) {
        const uint32_t place = writer->order[i];
        const uint32_t parent = smp_profile_diff_parent(writer->job->diff, place);
        writer->sums[place] = parent == 0 ? -1 : (int64_t)writer->numbers[parent] - 1;
    }
}

static void make_frames(struct writer *writer)
{
    int64_t groups = 0;

    for (uint32_t i = 0; i < writer->count; i++) {
        const uint32_t place = writer->order[i];
        const uint32_t location = smp_profile_diff_location(writer->job->diff, place);
        writer->sums[place] =
            is_group(writer, place) ? groups++ : (int64_t)writer->frames[location] - 1;
    }
}

static void put_place_column(struct writer *writer)
{
    struct smp_writer *const out = writer->out;

    smp_writer_put_byte(out, '[');
    for (uint32_t i = 0; i < writer->count && !out->has_failed; i++) {
        if (i > 0)
            smp_writer_put_byte(out, ',');
        smp_writer_put_i64(out, writer->sums[writer->order[i]]);
    }
    smp_writer_put_byte(out, ']');
}

static void put_side(struct writer *writer, enum smp_diff_side side)
{
    bool is_first = true;

    put_key(writer, side == SMP_DIFF_BEFORE ? "before" : "after");
    smp_writer_put_byte(writer->out, '{');
    for (uint32_t left = writer->measures; left != 0; left &= left - 1) {
        const enum smp_measure measure = (enum smp_measure)__builtin_ctz(left);
        smp_profile_diff_sum(writer->job->diff, side, measure, writer->sums);
        smp_json_put_key(writer->out, smp_measure_info(measure)->name, is_first);
        put_place_column(writer);
        is_first = false;
    }
    smp_writer_put_byte(writer->out, '}');
}

static bool has_error_bars(const struct writer *writer)
{
    const struct smp_profile *const *const profiles = writer->job->profiles;

    for (int side = 0; side < SMP_DIFF_SIDES; side++) {
        if (profiles[side] != NULL && !smp_tree_has_errors(profiles[side]->tree))
            return false;
    }
    return (writer->measures & SMP_OWN_MEASURES) == 0 &&
           (profiles[SMP_DIFF_BEFORE] != NULL || profiles[SMP_DIFF_AFTER] != NULL);
}

static void put_error_side(struct writer *writer, enum smp_diff_side side)
{
    static const enum smp_measure measures[] = { SMP_MEASURE_WALL, SMP_MEASURE_CPU };

    smp_json_put_key(writer->out, side == SMP_DIFF_BEFORE ? "before" : "after",
                     side == SMP_DIFF_BEFORE);
    for (size_t i = 0; i < sizeof(measures) / sizeof(measures[0]); i++) {
        smp_profile_diff_errors(writer->job->diff, side, measures[i], writer->sums);
        smp_writer_puts(writer->out, i == 0 ? "{" : "");
        smp_json_put_key(writer->out, smp_measure_info(measures[i])->name, i == 0);
        put_place_column(writer);
    }
    smp_writer_put_byte(writer->out, '}');
}

static void put_place_errors(struct writer *writer)
{
    if (!has_error_bars(writer))
        return;
    put_key(writer, "error95");
    smp_writer_put_byte(writer->out, '{');
    put_error_side(writer, SMP_DIFF_BEFORE);
    put_error_side(writer, SMP_DIFF_AFTER);
    smp_writer_put_byte(writer->out, '}');
}

static void put_place_columns(struct writer *writer)
{
    make_parents(writer);
    put_key(writer, "parent");
    put_place_column(writer);
    make_frames(writer);
    put_key(writer, "frame");
    put_place_column(writer);
    put_side(writer, SMP_DIFF_BEFORE);
    put_side(writer, SMP_DIFF_AFTER);
    put_place_errors(writer);
}

/* --- public --- */

static enum smp_status make_place_arrays(struct writer *writer)
{
    struct smp_quota *const quota = writer->job->quota;
    const struct smp_profile_diff *const diff = writer->job->diff;
    const size_t places = smp_profile_diff_count(diff);
    const size_t locations = smp_methods_location_count(smp_profile_diff_names(diff));

    writer->order = smp_alloc(quota, places * sizeof(*writer->order));
    writer->numbers = smp_alloc(quota, places * sizeof(*writer->numbers));
    writer->frames = smp_alloc(quota, locations * sizeof(*writer->frames));
    writer->ranks[SMP_DIFF_BEFORE] = smp_alloc(quota, places * sizeof(*writer->ranks[0]));
    writer->ranks[SMP_DIFF_AFTER] = smp_alloc(quota, places * sizeof(*writer->ranks[0]));
    writer->sums = smp_alloc(quota, places * sizeof(*writer->sums));
    return writer->order != NULL && writer->numbers != NULL && writer->frames != NULL &&
                   writer->ranks[SMP_DIFF_BEFORE] != NULL &&
                   writer->ranks[SMP_DIFF_AFTER] != NULL && writer->sums != NULL
               ? SMP_OK
               : SMP_ENOMEM;
}

/* All of one kind of groups, but for the brace at its end. */
static enum smp_status put_tree(struct writer *writer, const struct smp_hot_groups *groups,
                                uint32_t measures)
{
    const struct smp_profile_diff *const diff = writer->job->diff;
    const size_t places = smp_profile_diff_count(diff);
    enum smp_status status = SMP_OK;

    writer->groups = groups;
    writer->measures = measures;
    writer->count = 0;
    memset(writer->numbers, 0, places * sizeof(*writer->numbers));
    memset(writer->frames, 0,
           smp_methods_location_count(smp_profile_diff_names(diff)) * sizeof(*writer->frames));
    for (int side = 0; side < SMP_DIFF_SIDES && status == SMP_OK; side++)
        status = number_side(writer, (enum smp_diff_side)side);
    if (status == SMP_OK) {
        put_place_frames(writer);
        put_place_groups(writer);
        put_place_columns(writer);
    }
    return status;
}

enum smp_status smp_difference_tree(const struct smp_difference_job *job)
{
    const uint32_t measures = smp_profile_diff_measures(job->diff);
    const bool has_counted =
        job->counted[SMP_DIFF_BEFORE].count + job->counted[SMP_DIFF_AFTER].count > 0;
    struct writer writer = { .job = job, .out = job->out };
    enum smp_status status = make_place_arrays(&writer);

    /* The sampled measures also where there is no profile on either side. */
    if (status == SMP_OK)
        status = put_tree(&writer, job->groups,
                          (measures | SMP_SAMPLED_MEASURES) & ~(uint32_t)SMP_OWN_MEASURES);
    if (status == SMP_OK && has_counted) {
        put_key(&writer, "counted");
        status = put_tree(&writer, job->counted, measures);
        smp_writer_put_byte(writer.out, '}');
    }
    if (status == SMP_OK)
        smp_writer_puts(writer.out, "}\n");
    smp_free(job->quota, writer.sums);
    smp_free(job->quota, writer.ranks[SMP_DIFF_AFTER]);
    smp_free(job->quota, writer.ranks[SMP_DIFF_BEFORE]);
    smp_free(job->quota, writer.frames);
    smp_free(job->quota, writer.numbers);
    smp_free(job->quota, writer.order);
    return status;
}
