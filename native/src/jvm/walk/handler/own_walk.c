/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/walk/handler/own_walk.h"

#include <string.h>

#include "jvm/hotspot/method.h"

_Static_assert(sizeof(struct smp_raw_frame) == sizeof(struct smp_jvm_frame),
               "one takes the other's place");

/* In place. */
static void name_frames(const struct smp_layout *layout, struct smp_jvm_frame *frames, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct smp_raw_frame raw;
        memcpy(&raw, &frames[i], sizeof(raw));
        frames[i] = (struct smp_jvm_frame){
            .bci = raw.bci >= 0 ? raw.bci : SMP_JVM_NATIVE_BCI,
            .method = (void *)(uintptr_t)smp_method_id(layout, raw.method), /* NOLINT */
        };
    }
}

static uint32_t walk_frames(const struct smp_own_walk *self, struct smp_frames_start from,
                            uintptr_t stack_high, struct smp_jvm_frame *frames, uint32_t capacity)
{
    struct smp_frames found = { .raw = (struct smp_raw_frame *)(void *)frames,
                                .capacity = capacity };

    smp_frames_walk(self->layout, self->cache, from, stack_high, &found);
    if (found.end != SMP_FRAMES_ROOT && found.end != SMP_FRAMES_BARRIER)
        return 0;
    name_frames(self->layout, frames, found.count);
    return (uint32_t)found.count;
}

struct smp_own_walk smp_own_walk_make(const struct smp_layout *layout,
                                      struct smp_frames_cache *cache)
{
    return (struct smp_own_walk){ .walk = walk_frames, .layout = layout, .cache = cache };
}
