/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot_lines.c - frames with the same text are one line. For each group, own amounts are summed by
 * line, the lines are sorted by time and merged with the best lines of the previous groups.
 */
#include "export/hot_lines.h"

#include "base/sort.h"
#include "export/hot_groups.h"
#include "export/used_frames.h"

struct found {
    uint32_t line;
    uint32_t group;
    struct smp_amounts self;
};

struct counting {
    struct smp_quota *quota;
    const struct smp_profile *profile;
    struct smp_used_frames frames;
    struct smp_hot_groups groups;
    struct smp_line_texts *texts; /* by frame number */
    uint32_t *line_of;            /* by frame number; lines are ordered by their texts */
    uint32_t *frame_of;           /* by line: a frame with its text; the second half is scratch */
    struct smp_amounts *sums;     /* by line; all zero between two groups */
    uint32_t *order;              /* lines of a group; the second half is scratch memory */
    size_t count;                 /* of order */
    size_t most;
    struct found *best;   /* the best lines so far */
    struct found *merged; /* best, merged with the group's lines */
    size_t best_count;
};

static enum smp_status count_group(struct counting *counting, uint32_t root)
{
    struct smp_tree_walk walk;
    enum smp_status status;

    counting->count = 0;
    smp_tree_walk_init(&walk, counting->quota, counting->profile->tree);
    smp_tree_walk_begin(&walk, root);
    while (smp_tree_walk_next(&walk)) {
        const uint32_t node = smp_tree_walk_node(&walk);
        const struct smp_amounts self = smp_tree_self_all(counting->profile->tree, node);
        const uint32_t line =
            counting->line_of[smp_used_frames_number(&counting->frames, walk.nodes[node].location)];
        if (!smp_amounts_has_any(&self))
            continue;
        if (!smp_amounts_has_any(&counting->sums[line]))
            counting->order[counting->count++] = line;
        smp_amounts_add(&counting->sums[line], &self);
    }
    status = walk.status;
    smp_tree_walk_fini(&walk);
    return status;
}

static bool is_hotter_line(const void *context, uint32_t a, uint32_t b)
{
    const struct counting *const counting = context;
    const int64_t left_ns = counting->sums[a].of[SMP_MEASURE_WALL];
    const int64_t right_ns = counting->sums[b].of[SMP_MEASURE_WALL];

    return left_ns != right_ns ? left_ns > right_ns : a < b;
}

/* If a line has the same time in two groups, the earlier group comes first. */
static bool is_before_line(const struct counting *counting, const struct found *best, uint32_t line)
{
    const int64_t left = best->self.of[SMP_MEASURE_WALL];
    const int64_t right = counting->sums[line].of[SMP_MEASURE_WALL];

    return left != right ? left > right : best->line <= line;
}

static void merge_group(struct counting *counting, uint32_t group)
{
    struct found *const merged = counting->merged;
    size_t count = 0;
    size_t from_best = 0;
    size_t from_group = 0;

    while (count < counting->most &&
           (from_best < counting->best_count || from_group < counting->count)) {
        const struct found *const best = &counting->best[from_best];
        if (from_group == counting->count ||
            (from_best < counting->best_count &&
             is_before_line(counting, best, counting->order[from_group]))) {
            merged[count++] = *best;
            from_best++;
        } else {
            const uint32_t line = counting->order[from_group++];
            merged[count++] =
                (struct found){ .line = line, .group = group, .self = counting->sums[line] };
        }
    }
    for (size_t i = 0; i < counting->count; i++)
        counting->sums[counting->order[i]] = (struct smp_amounts){ 0 };
    counting->merged = counting->best;
    counting->best = merged;
    counting->best_count = count;
}

static enum smp_status find_lines(struct counting *counting)
{
    uint32_t *const scratch = counting->order + counting->frames.count;
    enum smp_status status = SMP_OK;

    (void)smp_line_texts_number(counting->texts, counting->frames.count, counting->line_of,
                                counting->frame_of);
    for (size_t i = 0; i < counting->groups.count && status == SMP_OK; i++) {
        const uint32_t group = counting->groups.indices[i];
        status = count_group(counting, smp_profile_group_info(counting->profile, group)->root);
        smp_sort(counting->order, scratch, counting->count, is_hotter_line, counting);
        merge_group(counting, group);
    }
    return status;
}

/* --- the result --- */

static enum smp_status take_lines(struct smp_hot_lines *hot, const struct counting *counting)
{
    const size_t count = counting->best_count;

    /* One more than needed, because 0 bytes cannot be allocated. */
    hot->lines = smp_alloc(hot->quota, (count + 1) * sizeof(*hot->lines));
    if (hot->lines == NULL)
        return SMP_ENOMEM;
    for (; hot->count < count; hot->count++) {
        const struct found *const found = &counting->best[hot->count];
        const uint32_t frame = counting->frame_of[found->line];
        const size_t length = smp_line_text_length(&hot->texts, frame);
        hot->texts.bytes.data[hot->texts.starts[frame] + length] = '\0';
        hot->lines[hot->count] =
            (struct smp_hot_line){ .text = smp_line_text(&hot->texts, frame),
                                   .group = found->group,
                                   .location = counting->frames.locations[frame],
                                   .self = found->self };
    }
    return SMP_OK;
}

static enum smp_status make_counting_arrays(struct counting *counting)
{
    /* One more than needed, because 0 bytes cannot be allocated. */
    const size_t count = (size_t)counting->frames.count + 1;

    counting->line_of = smp_alloc(counting->quota, count * sizeof(*counting->line_of));
    counting->frame_of = smp_alloc(counting->quota, 2 * count * sizeof(*counting->frame_of));
    counting->sums = smp_alloc(counting->quota, count * sizeof(*counting->sums));
    counting->order = smp_alloc(counting->quota, 2 * count * sizeof(*counting->order));
    counting->best = smp_alloc(counting->quota, (counting->most + 1) * sizeof(*counting->best));
    counting->merged = smp_alloc(counting->quota, (counting->most + 1) * sizeof(*counting->merged));
    return counting->line_of != NULL && counting->frame_of != NULL && counting->sums != NULL &&
                   counting->order != NULL && counting->best != NULL && counting->merged != NULL
               ? SMP_OK
               : SMP_ENOMEM;
}

static enum smp_status count_lines(struct counting *counting, struct smp_hot_lines *hot)
{
    enum smp_status status =
        smp_used_frames_init(&counting->frames, counting->quota, counting->profile);

    if (status == SMP_OK)
        status = smp_hot_groups_init(&counting->groups, counting->quota, counting->profile,
                                     SMP_GROUP_SAMPLED);
    if (status == SMP_OK)
        status = make_counting_arrays(counting);
    if (status == SMP_OK)
        status = smp_line_texts_init_as(&hot->texts, (struct smp_line_form){ 0 }, counting->quota,
                                        counting->profile, counting->frames.locations,
                                        counting->frames.count);
    if (status == SMP_OK)
        status = find_lines(counting);
    return status;
}

enum smp_status smp_hot_lines_init(struct smp_hot_lines *hot, struct smp_quota *quota,
                                   const struct smp_profile *profile, size_t most)
{
    /* There are at most as many lines as nodes. */
    const size_t nodes = smp_tree_node_count(profile->tree);
    struct counting counting = { .quota = quota,
                                 .profile = profile,
                                 .texts = &hot->texts,
                                 .most = most < nodes ? most : nodes };
    enum smp_status status;

    *hot = (struct smp_hot_lines){ .quota = quota };
    status = count_lines(&counting, hot);
    if (status == SMP_OK)
        status = take_lines(hot, &counting);
    smp_free(quota, counting.merged);
    smp_free(quota, counting.best);
    smp_free(quota, counting.order);
    smp_free(quota, counting.sums);
    smp_free(quota, counting.frame_of);
    smp_free(quota, counting.line_of);
    smp_hot_groups_fini(&counting.groups);
    smp_used_frames_fini(&counting.frames);
    if (status != SMP_OK)
        smp_hot_lines_fini(hot);
    return status;
}

void smp_hot_lines_fini(struct smp_hot_lines *hot)
{
    smp_free(hot->quota, hot->lines);
    smp_line_texts_fini(&hot->texts);
    *hot = (struct smp_hot_lines){ 0 };
}
