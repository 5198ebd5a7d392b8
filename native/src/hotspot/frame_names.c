/* SPDX-License-Identifier: Apache-2.0 */
#include "hotspot/frame_names.h"

/* The mark of an equal frame (same method, same place) shortly before this one; 0: none. */
static uint64_t find_equal(const struct smp_frames *frames, size_t at)
{
    const struct smp_raw_frame *wanted = &frames->raw[at];

    for (size_t back = 1; back <= at && back <= SMP_FRAME_NAMES_LOOK_BACK; back++) {
        const struct smp_raw_frame *raw = &frames->raw[at - back];
        if (raw->method == wanted->method && raw->bci == wanted->bci)
            return frames->ids[at - back];
    }
    return 0;
}

void smp_frame_names_copy(const struct smp_layout *layout, struct smp_frames *frames, char *room,
                          size_t bytes)
{
    size_t used = 0;
    size_t copies = 0;

    for (size_t i = 0; i < frames->count; i++) {
        size_t taken = 0;
        if (frames->ids[i] != 0)
            continue;
        frames->ids[i] = find_equal(frames, i);
        if (frames->ids[i] != 0 || copies == SMP_FRAME_NAMES_MOST)
            continue;
        copies++;
        taken = smp_method_copy(layout, frames->raw[i].method, frames->raw[i].bci, room + used,
                                bytes - used);
        if (taken > 0)
            frames->ids[i] = SMP_FRAME_NAME_BIT | (uintptr_t)(room + used);
        used += taken;
    }
}
