/* SPDX-License-Identifier: Apache-2.0 */
/*
 * difference.c - two writers: lines for COLLAPSED, a tree for JSON.
 *
 * Lines: each side is walked as in its collapsed form, after first. The amount that before has at a
 * place is in the first line that is written for the place, so it is counted once.
 *
 * Tree, for the page:
 *
 *   {"frames":[                           each once; its index is its number
 *      {"class":"com.acme.A","method":"run"}, {"pseudo":"[thread ended]"}, ...],
 *    "groups":[[0,2],[1,-1],...],         index of the group in the JSON forms of before and of
 *                                         after; -1: not there
 *    "parent":[-1,0,0,...],               by node: index of its parent in these arrays; -1: a
 *                                         group. Parents come before their children.
 *    "frame":[0,5,6,...],                 by node: number of its frame; for a group its number in
 *                                         groups
 *    "before":{"wall":[0,1200,...], "cpu":[...], "samples":[...]},
 *    "after":{"wall":[...], "cpu":[...], "samples":[...]},
 *                                         own amounts, without children, as measured
 *    "error95":{"before":{"wall":[310,-1,...], "cpu":[...]}, "after":{...}},
 *                                         half the width of the error bar of a node's total time;
 *                                         0: exact, -1: not known. Their squares add up to that
 *                                         of the change. Only if both sides have error bars, and
 *                                         not in "counted"
 *    "counted":{...}}                     only if calls are counted: the same for the counted
 *                                         groups ("counted" in the JSON forms), with "calls"
 *
 * Groups and nodes are in the order of before's JSON form; those that only after has follow in the
 * order of its form. The document can be embedded in an HTML script element, as those forms can.
 */
#include "export/difference.h"

#include <string.h>

#include "export/hot_groups.h"
#include "export/json_text.h"
#include "export/line_texts.h"
#include "export/tree_walk.h"

struct difference {
    const struct smp_profile *profiles[SMP_DIFF_SIDES];            /* NULL: nothing was sampled */
    struct smp_hot_groups groups[SMP_DIFF_SIDES][SMP_GROUP_KINDS]; /* empty without a profile */
    struct smp_profile_diff *diff;
    enum smp_measure measure;
    struct smp_quota *quota;
    struct smp_writer *out;
};

/* --- lines --- */

struct line_writer {
    const struct difference *job;
    enum smp_diff_side side; /* the side being walked */
    struct smp_tree_walk walk;
    struct smp_column amounts;
    struct smp_line_texts texts; /* by location of the difference's names */
    struct smp_stack_line line;
    int64_t *before; /* by place: the amount that no line has shown yet */
};

static void put_difference_line(const struct line_writer *writer, int64_t before, int64_t after)
{
    struct smp_writer *const out = writer->job->out;

    smp_writer_put(out, writer->line.text.data, writer->line.text.length - 1);
    smp_writer_put_byte(out, ' ');
    smp_writer_put_i64(out, before);
    smp_writer_put_byte(out, ' ');
    smp_writer_put_i64(out, after);
    smp_writer_put_byte(out, '\n');
}

/* Puts the current stack into the line, and writes the line if there is an amount. */
static void put_place(struct line_writer *writer)
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

static enum smp_status put_group_lines(struct line_writer *writer,
                                       const struct smp_group_info *group)
{
    struct smp_stack_line *const line = &writer->line;

    smp_stack_line_begin(line, smp_hot_group_name(group));
    smp_tree_walk_begin(&writer->walk, group->root);
    while (line->text.status == SMP_OK && !writer->job->out->has_failed &&
           smp_tree_walk_next(&writer->walk))
        put_place(writer);
    return line->text.status != SMP_OK ? line->text.status : writer->walk.status;
}

static enum smp_status put_side_lines(struct line_writer *writer, enum smp_diff_side side)
{
    const struct difference *const job = writer->job;
    const struct smp_hot_groups *const groups =
        &job->groups[side][smp_profile_kind_of(job->measure)];
    const struct smp_profile *const profile = job->profiles[side];
    enum smp_status status = SMP_OK;

    if (profile == NULL)
        return SMP_OK;
    writer->side = side;
    writer->amounts = smp_tree_column(profile->tree, job->measure);
    smp_tree_walk_init(&writer->walk, job->quota, profile->tree);
    for (size_t i = 0; i < groups->count && status == SMP_OK; i++)
        status = put_group_lines(writer, smp_profile_group_info(profile, groups->indices[i]));
    smp_tree_walk_fini(&writer->walk);
    return status;
}

/* job->diff is by line. */
static enum smp_status put_difference_lines(const struct difference *job)
{
    const struct smp_methods *const names = smp_profile_diff_names(job->diff);
    struct line_writer writer = { .job = job };
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

/* --- the tree: its order --- */

struct tree_writer {
    const struct difference *job;
    enum smp_group_kind kind; /* of all groups */
    uint32_t measures;
    struct smp_writer *out;
    uint32_t *order;   /* places in the order of output */
    uint32_t *numbers; /* by place: its index in order, plus one; 0: not in order yet */
    uint32_t *frames;  /* by location: its number plus one; 0: not used */
    uint32_t *ranks[SMP_DIFF_SIDES]; /* by a group's place: its number on that side, plus one */
    int64_t *sums;                   /* by place: the next column */
    uint32_t count;                  /* of order */
};

static void number_place(struct tree_writer *writer, uint32_t place)
{
    if (writer->numbers[place] != 0)
        return;
    writer->order[writer->count++] = place;
    writer->numbers[place] = writer->count;
}

static bool is_group(const struct tree_writer *writer, uint32_t place)
{
    return smp_profile_diff_parent(writer->job->diff, place) == 0;
}

static enum smp_status number_side(struct tree_writer *writer, enum smp_diff_side side)
{
    const struct difference *const job = writer->job;
    const struct smp_hot_groups *const groups = &job->groups[side][writer->kind];
    const struct smp_profile *const profile = job->profiles[side];
    struct smp_tree_walk walk;
    enum smp_status status;

    if (profile == NULL)
        return SMP_OK;
    smp_tree_walk_init(&walk, job->quota, profile->tree);
    for (size_t i = 0; i < groups->count; i++) {
        const uint32_t group = groups->indices[i];
        const uint32_t place = smp_profile_diff_group(job->diff, side, group);
        writer->ranks[side][place] = (uint32_t)i + 1;
        number_place(writer, place);
        smp_tree_walk_begin(&walk, smp_profile_group_info(profile, group)->root);
        while (smp_tree_walk_next(&walk))
            number_place(writer,
                         smp_profile_diff_place(job->diff, side, smp_tree_walk_node(&walk)));
    }
    status = walk.status;
    smp_tree_walk_fini(&walk);
    return status;
}

/* Begins a member of an object on a new line; not for the first member. */
static void put_key(struct tree_writer *writer, const char *key)
{
    smp_writer_puts(writer->out, ",\n");
    smp_json_put_key(writer->out, key, true);
}

/* --- the tree: its frames --- */

static void put_place_frame(struct tree_writer *writer, uint32_t location)
{
    struct smp_location_view view;

    smp_methods_view(smp_profile_diff_names(writer->job->diff), location, &view);
    smp_writer_puts(writer->out, view.is_pseudo ? "{\"pseudo\":" : "{\"class\":");
    smp_json_put_string(writer->out, view.class_name);
    if (!view.is_pseudo) {
        smp_json_put_member(writer->out, "method", view.method_name);
    }
    smp_writer_put_byte(writer->out, '}');
}

static void mark_frames(struct tree_writer *writer)
{
    for (uint32_t i = 0; i < writer->count; i++) {
        const uint32_t place = writer->order[i];
        if (!is_group(writer, place))
            writer->frames[smp_profile_diff_location(writer->job->diff, place)] = 1;
    }
}

static void put_place_frames(struct tree_writer *writer)
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

static void put_place_groups(struct tree_writer *writer)
{
    bool is_first = true;

    put_key(writer, "groups");
    smp_writer_put_byte(writer->out, '[');
    for (uint32_t i = 0; i < writer->count && !writer->out->has_failed; i++) {
        const uint32_t place = writer->order[i];
        if (!is_group(writer, place))
            continue;
        smp_writer_puts(writer->out, is_first ? "" : ",");
        is_first = false;
        smp_json_put_pair(writer->out, (int64_t)writer->ranks[SMP_DIFF_BEFORE][place] - 1,
                          (int64_t)writer->ranks[SMP_DIFF_AFTER][place] - 1);
    }
    smp_writer_put_byte(writer->out, ']');
}

/* --- the tree: its columns --- */

/* Columns are computed in sums and written from there. */
static void make_parents(struct tree_writer *writer)
{
    for (uint32_t i = 0; i < writer->count; i++) {
        const uint32_t place = writer->order[i];
        const uint32_t parent = smp_profile_diff_parent(writer->job->diff, place);
        writer->sums[place] = parent == 0 ? -1 : (int64_t)writer->numbers[parent] - 1;
    }
}

static void make_frames(struct tree_writer *writer)
{
    int64_t groups = 0;

    for (uint32_t i = 0; i < writer->count; i++) {
        const uint32_t place = writer->order[i];
        const uint32_t location = smp_profile_diff_location(writer->job->diff, place);
        writer->sums[place] =
            is_group(writer, place) ? groups++ : (int64_t)writer->frames[location] - 1;
    }
}

static void put_place_column(struct tree_writer *writer)
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

static void put_side(struct tree_writer *writer, enum smp_diff_side side)
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

static bool has_error_bars(const struct tree_writer *writer)
{
    const struct smp_profile *const *const profiles = writer->job->profiles;

    for (int side = 0; side < SMP_DIFF_SIDES; side++) {
        if (profiles[side] != NULL && !smp_tree_has_errors(profiles[side]->tree))
            return false;
    }
    return (writer->measures & SMP_OWN_MEASURES) == 0 &&
           (profiles[SMP_DIFF_BEFORE] != NULL || profiles[SMP_DIFF_AFTER] != NULL);
}

static void put_error_side(struct tree_writer *writer, enum smp_diff_side side)
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

static void put_place_errors(struct tree_writer *writer)
{
    if (!has_error_bars(writer))
        return;
    put_key(writer, "error95");
    smp_writer_put_byte(writer->out, '{');
    put_error_side(writer, SMP_DIFF_BEFORE);
    put_error_side(writer, SMP_DIFF_AFTER);
    smp_writer_put_byte(writer->out, '}');
}

static void put_place_columns(struct tree_writer *writer)
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

static enum smp_status make_place_arrays(struct tree_writer *writer)
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

/* Writes the tree of one kind of groups, without the closing brace. */
static enum smp_status put_tree(struct tree_writer *writer, enum smp_group_kind kind,
                                uint32_t measures)
{
    const struct smp_profile_diff *const diff = writer->job->diff;
    const size_t places = smp_profile_diff_count(diff);
    enum smp_status status = SMP_OK;

    writer->kind = kind;
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

/* job->diff is by method. */
static enum smp_status put_difference_tree(const struct difference *job)
{
    const uint32_t measures = smp_profile_diff_measures(job->diff);
    const bool has_counted = job->groups[SMP_DIFF_BEFORE][SMP_GROUP_COUNTED].count +
                                 job->groups[SMP_DIFF_AFTER][SMP_GROUP_COUNTED].count >
                             0;
    struct tree_writer writer = { .job = job, .out = job->out };
    enum smp_status status = make_place_arrays(&writer);

    /* The sampled measures are shown even if neither side has a profile. */
    if (status == SMP_OK)
        status = put_tree(&writer, SMP_GROUP_SAMPLED,
                          (measures | SMP_SAMPLED_MEASURES) & ~(uint32_t)SMP_OWN_MEASURES);
    if (status == SMP_OK && has_counted) {
        put_key(&writer, "counted");
        status = put_tree(&writer, SMP_GROUP_COUNTED, measures);
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

/* --- public --- */

/* Both come from Java and may be any number. */
static bool is_known_difference(enum smp_format format, enum smp_measure measure)
{
    return (format == SMP_FORMAT_COLLAPSED || format == SMP_FORMAT_JSON) &&
           (unsigned)measure < SMP_MEASURE_COUNT;
}

static enum smp_status find_groups(struct difference *job)
{
    enum smp_status status = SMP_OK;

    for (int side = 0; side < SMP_DIFF_SIDES && status == SMP_OK; side++) {
        if (job->profiles[side] != NULL)
            status = smp_hot_groups_init_all(job->groups[side], job->quota, job->profiles[side]);
    }
    return status;
}

enum smp_status smp_export_difference(const struct smp_profile *const profiles[SMP_DIFF_SIDES],
                                      enum smp_format format, enum smp_measure measure,
                                      struct smp_quota *quota, const struct smp_output *output)
{
    const bool is_lines = format == SMP_FORMAT_COLLAPSED;
    struct smp_writer out = { 0 };
    struct difference job = { .measure = measure, .quota = quota, .out = &out };
    enum smp_status status;
    enum smp_status written;

    if (!is_known_difference(format, measure))
        return SMP_EINVAL;
    memcpy(job.profiles, profiles, sizeof(job.profiles));
    status = smp_writer_init(&out, quota, output);
    if (status == SMP_OK)
        status = find_groups(&job);
    if (status == SMP_OK)
        status = smp_profile_diff_create(quota, profiles, is_lines, &job.diff);
    if (status != SMP_OK)
        goto done;
    status = is_lines ? put_difference_lines(&job) : put_difference_tree(&job);
    written = smp_writer_finish(&out);
    if (status == SMP_OK)
        status = written;
done:
    smp_profile_diff_destroy(job.diff);
    for (int side = 0; side < SMP_DIFF_SIDES; side++)
        smp_hot_groups_fini_all(job.groups[side]);
    smp_writer_fini(&out);
    return status;
}
