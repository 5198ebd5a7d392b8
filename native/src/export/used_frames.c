/* SPDX-License-Identifier: Apache-2.0 */
#include "export/used_frames.h"

#include "model/tree.h"

/* Skips node 0, which has no location, and roots, whose locations are groups. */
static uint32_t number_locations(uint32_t *numbers, const struct smp_tree *tree)
{
    const struct smp_node *const nodes = smp_tree_nodes(tree);
    const size_t node_count = smp_tree_node_count(tree);
    uint32_t count = 0;

    for (size_t i = 1; i < node_count; i++) {
        const uint32_t location = nodes[i].location;
        if ((location & SMP_LOCATION_GROUP) == 0 && numbers[location] == 0)
            numbers[location] = ++count;
    }
    return count;
}

enum smp_status smp_used_frames_init(struct smp_used_frames *frames, struct smp_quota *quota,
                                     const struct smp_profile *profile)
{
    const size_t location_count = profile->location_count;

    *frames = (struct smp_used_frames){ .quota = quota };
    frames->numbers = smp_alloc(quota, location_count * sizeof(*frames->numbers));
    if (frames->numbers == NULL)
        return SMP_ENOMEM;
    frames->count = number_locations(frames->numbers, profile->tree);
    /* One more than needed, because 0 bytes cannot be allocated. */
    frames->locations = smp_alloc(quota, ((size_t)frames->count + 1) * sizeof(*frames->locations));
    if (frames->locations == NULL) {
        smp_used_frames_fini(frames);
        return SMP_ENOMEM;
    }
    for (uint32_t location = 0; location < location_count; location++) {
        if (frames->numbers[location] != 0)
            frames->locations[frames->numbers[location] - 1] = location;
    }
    return SMP_OK;
}

void smp_used_frames_fini(struct smp_used_frames *frames)
{
    smp_free(frames->quota, frames->locations);
    smp_free(frames->quota, frames->numbers);
    *frames = (struct smp_used_frames){ 0 };
}
