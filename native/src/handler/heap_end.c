/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs inside a signal handler: see heap_end.h.
 */
#include "handler/heap_end.h"

#include <stddef.h>

#include "handler/caller.h"
#include "hotspot/chunks.h"
#include "hotspot/code.h"
#include "hotspot/memory.h"

/* Frames of the virtual thread before the one on which they stand; count: there is none. */
static uint32_t count_own(const struct smp_jvm_frame *frames, uint32_t count, const void *root)
{
    uint32_t own = 0;

    while (own < count && frames[own].method != root)
        own++;
    return own;
}

static bool is_parking(const struct smp_chunks *chunks, const struct smp_jvm_frame *frames,
                       uint32_t own)
{
    bool is = false;

    for (uint32_t i = 0; i < own && i < 2; i++)
        is = is || smp_chunks_is_yield(chunks, (uint64_t)(uintptr_t)frames[i].method);
    return is;
}

static bool is_barrier(const struct smp_own_walk *own, uintptr_t pc)
{
    struct smp_blob blob;

    return own->find(own, pc, &blob) && blob.kind == SMP_BLOB_BARRIER;
}

/* What looks like the barrier's address may be a remnant: then no entry lies above it. */
static void walk_heap(struct smp_walk *walk, const struct smp_chunks *chunks, uint32_t own_frames)
{
    const struct smp_own_walk *own = walk->target->own;
    struct smp_jvm_frame *to = walk->frames + walk->answer->first + own_frames;
    const uint32_t room = walk->capacity - walk->answer->first - own_frames;

    for (uintptr_t i = 0; i < SMP_HEAP_END_WORDS; i++) {
        const uintptr_t slot = walk->at.sp + i * sizeof(uintptr_t);
        if (!smp_caller_on_stack(walk, slot))
            break;
        const struct smp_frames_start from = { .sp = slot + sizeof(uintptr_t),
                                               .pc = smp_load_word(slot),
                                               .chunks = chunks,
                                               .has_callee = true };
        if (!is_barrier(own, from.pc))
            continue;
        /* Without frames of the heap it is the last one alone. */
        const int32_t count =
            own->walk(own, from, walk->target->stack_high, to, room, &walk->answer->cut);
        if (count > 1) {
            walk->answer->count = own_frames + (uint32_t)count;
            break;
        }
        *to = (struct smp_jvm_frame){ .bci = SMP_JVM_NATIVE_BCI, .method = own->virtual_root };
        walk->answer->count = own_frames + 1;
    }
}

void smp_heap_end_add(struct smp_walk *walk)
{
    const struct smp_own_walk *own = walk->target->own;
    const struct smp_jvm_frame *frames = walk->frames + walk->answer->first;
    const uint32_t count = walk->answer->count;

    if (own == NULL || own->chunks == NULL || own->virtual_root == NULL)
        return;
    const uint32_t own_frames = count_own(frames, count, own->virtual_root);
    const struct smp_chunks *chunks = own_frames < count ? smp_walk_chunks(walk) : NULL;
    if (chunks == NULL || own_frames == 0 || is_parking(chunks, frames, own_frames))
        return;
    walk_heap(walk, chunks, own_frames);
}
