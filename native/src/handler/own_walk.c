/* SPDX-License-Identifier: Apache-2.0 */
#include "handler/walk_data.h"

#include <string.h>

#include "hotspot/frame_cache.h"
#include "hotspot/frames.h"

_Static_assert(sizeof(struct smp_raw_frame) == sizeof(struct smp_jvm_frame),
               "one takes the other's place");
_Static_assert(sizeof(struct smp_jvm_frame) == 2 * sizeof(uint64_t), "a frame and half of one");

/* Returns the index of the ids, which follow the frames and the names of their methods. */
static uint32_t own_walk_ids_at(uint32_t capacity)
{
    return capacity - capacity / SMP_OWN_WALK_ROOM / 2 - 1;
}

/* Converts raw frames in place. */
static void name_frames(struct smp_jvm_frame *frames, const uint64_t *ids, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct smp_raw_frame raw;
        memcpy(&raw, &frames[i], sizeof(raw));
        frames[i] = (struct smp_jvm_frame){
            .bci = raw.bci >= 0 ? raw.bci : SMP_JVM_NATIVE_BCI,
            .method = (void *)(uintptr_t)ids[i], /* NOLINT(performance-no-int-to-ptr) */
        };
    }
}

/* Names are between the frames and the ids. One frame is left free for the virtual root. */
static void copy_names(const struct smp_own_walk *self, struct smp_frames *found,
                       struct smp_jvm_frame *frames, uint32_t room)
{
    const size_t used = found->count + 1;

    if (used < room)
        smp_frame_names_copy(self->layout, found, (char *)(frames + used),
                             (room - used) * sizeof(*frames));
}

/* Adds the frame of the carrier on which a virtual thread's frames stand. */
static int32_t add_virtual_root(const struct smp_own_walk *self, struct smp_jvm_frame *frames,
                                uint32_t count)
{
    if (self->virtual_root == NULL)
        return SMP_OWN_WALK_FAILED;
    frames[count] =
        (struct smp_jvm_frame){ .bci = SMP_JVM_NATIVE_BCI, .method = self->virtual_root };
    return (int32_t)count + 1;
}

/* See prefetch_frames in stack_walk.c. */
static void prefetch_ids(const uint64_t *ids, size_t capacity)
{
    enum { PER_LINE = 8 };

    for (size_t i = 0; i < SMP_WALK_PREFETCHED && i < capacity; i += PER_LINE)
        __builtin_prefetch(&ids[i], 1);
}

static int32_t walk_frames(const struct smp_own_walk *self, struct smp_frames_start from,
                           uintptr_t stack_high, struct smp_jvm_frame *frames, uint32_t capacity,
                           struct smp_stack_cut *cut)
{
    /* Half of the memory is for frames, a quarter for their ids and a quarter for names. */
    const uint32_t room = own_walk_ids_at(capacity);
    uint64_t *const ids = (uint64_t *)(void *)(frames + room);
    struct smp_frames found = { .raw = (struct smp_raw_frame *)(void *)frames,
                                .ids = ids,
                                .capacity = capacity / SMP_OWN_WALK_ROOM,
                                .words = self->words };

    prefetch_ids(ids, found.capacity);
    smp_frames_walk(self->layout, self->cache, from, stack_high, &found);
    if (found.end == SMP_FRAMES_UNWALKABLE)
        return SMP_OWN_WALK_FAILED;
    *cut = (struct smp_stack_cut){ .root_count = (uint32_t)(found.count - found.leaf_count),
                                   .omitted = (uint32_t)found.omitted };
    if (self->words == NULL) /* the walked thread is this one and cannot move */
        smp_frames_confirm(self->cache, &found);
    copy_names(self, &found, frames, room);
    name_frames(frames, ids, found.count);
    if (found.end == SMP_FRAMES_ROOT || found.end == SMP_FRAMES_FULL)
        return (int32_t)found.count;
    if (cut->omitted > 0)
        cut->root_count++;
    return add_virtual_root(self, frames, (uint32_t)found.count);
}

static bool find_code(const struct smp_own_walk *self, uintptr_t pc, struct smp_blob *out)
{
    return smp_blob_cache_find(self->cache, self->layout, pc, out);
}

/* Copies the names of a leaf. The walk has ended, so the memory of its ids is free, except for one
 * frame that a virtual thread's root may use. */
static void copy_leaf(const struct smp_own_walk *self, uintptr_t method,
                      struct smp_jvm_frame *frames, uint32_t capacity, uint64_t *id)
{
    const uint32_t room = own_walk_ids_at(capacity) + 1;
    struct smp_raw_frame raw = { .method = method, .bci = 0 };
    struct smp_frames leaf = { .raw = &raw, .ids = id, .count = 1 };

    if (room < capacity)
        smp_frame_names_copy(self->layout, &leaf, (char *)(frames + room),
                             (capacity - room) * sizeof(*frames));
}

static bool find_id(const struct smp_own_walk *self, uintptr_t method, struct smp_jvm_frame *frames,
                    uint32_t capacity, uint64_t *id)
{
    if (method == 0 || !smp_frame_cache_id(self->cache, self->layout, method, id))
        return false;
    if (*id == 0)
        copy_leaf(self, method, frames, capacity, id);
    return true;
}

struct smp_own_walk smp_own_walk_make(const struct smp_layout *layout,
                                      struct smp_frames_cache *cache, uint64_t virtual_root)
{
    return (struct smp_own_walk){
        .walk = walk_frames,
        .find = find_code,
        .id_of = find_id,
        .layout = layout,
        .cache = cache,
        .virtual_root = (void *)(uintptr_t)virtual_root, /* NOLINT(performance-no-int-to-ptr) */
    };
}
