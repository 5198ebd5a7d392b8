/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot_lines.c - what each frame has itself is added up by frame number; frames in the order of
 * their texts, those with one text as one; then sorted by time.
 */
#include "export/hot_lines.h"

#include <string.h>

#include "base/sort.h"
#include "export/hot_groups.h"
#include "export/used_frames.h"

struct counting {
    struct smp_quota *quota;
    const struct smp_profile *profile;
    struct smp_used_frames frames;
    struct smp_hot_groups groups;
    struct smp_amounts *sums; /* by frame number */
    uint32_t *order;          /* frame numbers; the second half is for sorting */
    size_t count;             /* of order */
    const struct smp_line_texts *texts;
};

/* --- adding up --- */

static enum smp_status count_groups(const struct counting *counting)
{
    const struct smp_profile *const profile = counting->profile;
    struct smp_tree_walk walk;
    enum smp_status status;

    smp_tree_walk_init(&walk, counting->quota, profile->tree);
    for (size_t i = 0; i < counting->groups.count; i++) {
        smp_tree_walk_begin(&walk, smp_hot_group_info(profile, counting->groups.indices[i])->root);
        while (smp_tree_walk_next(&walk)) {
            const struct smp_amounts self =
                smp_tree_self_all(profile->tree, smp_tree_walk_node(&walk));
            const uint32_t location = walk.nodes[smp_tree_walk_node(&walk)].location;
            smp_amounts_add(&counting->sums[smp_used_frames_number(&counting->frames, location)],
                            &self);
        }
    }
    status = walk.status;
    smp_tree_walk_fini(&walk);
    return status;
}

/* --- ordering --- */

static int compare_texts(const struct smp_line_texts *texts, uint32_t a, uint32_t b)
{
    const size_t left = smp_line_text_length(texts, a);
    const size_t right = smp_line_text_length(texts, b);
    const int order =
        memcmp(smp_line_text(texts, a), smp_line_text(texts, b), left < right ? left : right);

    return order != 0 ? order : (left > right) - (left < right);
}

static bool is_text_before(const void *context, uint32_t a, uint32_t b)
{
    const struct counting *const counting = context;

    return compare_texts(counting->texts, a, b) < 0;
}

static bool is_hotter_line(const void *context, uint32_t a, uint32_t b)
{
    const struct counting *const counting = context;

    return counting->sums[a].of[SMP_MEASURE_WALL] > counting->sums[b].of[SMP_MEASURE_WALL];
}

/* One frame stands for all that have its text. */
static void fold_equal_texts(struct counting *counting)
{
    size_t kept = 0;

    for (size_t i = 0; i < counting->count; i++) {
        const uint32_t frame = counting->order[i];
        if (kept > 0 && compare_texts(counting->texts, counting->order[kept - 1], frame) == 0)
            smp_amounts_add(&counting->sums[counting->order[kept - 1]], &counting->sums[frame]);
        else
            counting->order[kept++] = frame;
    }
    counting->count = kept;
}

static void order_lines(struct counting *counting)
{
    uint32_t *const scratch = counting->order + counting->frames.count;

    for (uint32_t i = 0; i < counting->frames.count; i++) {
        if (smp_amounts_has_any(&counting->sums[i]))
            counting->order[counting->count++] = i;
    }
    smp_sort(counting->order, scratch, counting->count, is_text_before, counting);
    fold_equal_texts(counting);
    smp_sort(counting->order, scratch, counting->count, is_hotter_line, counting);
}

/* --- the result --- */

static enum smp_status take_lines(struct smp_hot_lines *hot, const struct counting *counting,
                                  size_t most)
{
    const size_t count = counting->count < most ? counting->count : most;

    /* One more than needed, because there may be none and nothing cannot be allocated. */
    hot->lines = smp_alloc(hot->quota, (count + 1) * sizeof(*hot->lines));
    if (hot->lines == NULL)
        return SMP_ENOMEM;
    for (; hot->count < count; hot->count++) {
        const uint32_t frame = counting->order[hot->count];
        const size_t length = smp_line_text_length(&hot->texts, frame);
        hot->texts.bytes.data[hot->texts.starts[frame] + length] = '\0';
        hot->lines[hot->count] = (struct smp_hot_line){ .text = smp_line_text(&hot->texts, frame),
                                                        .self = counting->sums[frame] };
    }
    return SMP_OK;
}

static enum smp_status make_counting_arrays(struct counting *counting)
{
    const size_t count = counting->frames.count;

    counting->sums = smp_alloc(counting->quota, (count + 1) * sizeof(*counting->sums));
    counting->order = smp_alloc(counting->quota, (2 * count + 1) * sizeof(*counting->order));
    return counting->sums != NULL && counting->order != NULL ? SMP_OK : SMP_ENOMEM;
}

static enum smp_status count_lines(struct counting *counting, struct smp_hot_lines *hot)
{
    enum smp_status status =
        smp_used_frames_init(&counting->frames, counting->quota, counting->profile);

    if (status == SMP_OK)
        status = smp_hot_groups_init(&counting->groups, counting->quota, counting->profile);
    if (status == SMP_OK)
        status = make_counting_arrays(counting);
    if (status == SMP_OK)
        status = count_groups(counting);
    if (status == SMP_OK)
        status = smp_line_texts_init(&hot->texts, counting->quota, counting->profile->methods,
                                     counting->frames.locations, counting->frames.count);
    if (status == SMP_OK)
        order_lines(counting);
    return status;
}

enum smp_status smp_hot_lines_init(struct smp_hot_lines *hot, struct smp_quota *quota,
                                   const struct smp_profile *profile, size_t most)
{
    struct counting counting = { .quota = quota, .profile = profile, .texts = &hot->texts };
    enum smp_status status;

    *hot = (struct smp_hot_lines){ .quota = quota };
    status = count_lines(&counting, hot);
    if (status == SMP_OK)
        status = take_lines(hot, &counting, most);
    smp_free(quota, counting.order);
    smp_free(quota, counting.sums);
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
