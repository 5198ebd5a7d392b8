/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "jvm/hotspot/frame_cache.h"
#include "jvm/hotspot/frame_walk.h"
#include "jvm/hotspot/method.h"

enum { FIRST_VIRTUAL_THREADS = 19 };

static bool go_on(struct smp_frame_walk *walk, const struct smp_known_code *code)
{
    if (code->is_virtual_root)
        return smp_frame_end(walk, SMP_FRAMES_VIRTUAL_ROOT);
    for (size_t i = 0; i < code->count; i++)
        smp_frame_add(walk, code->frames[i], code->ids[i]);
    return smp_frame_go_over(walk, code->frame_bytes);
}

bool smp_frame_step_known(struct smp_frame_walk *walk, bool *is_known)
{
    struct smp_known_code code;

    *is_known = smp_frame_cache_find(walk->cache, walk->layout, walk->pc, &code);
    return *is_known && go_on(walk, &code);
}

/* A virtual thread's frames stand on that of this method, which its carrier has called. */
static bool is_virtual_root(const struct smp_layout *layout, const struct smp_blob *blob)
{
    struct smp_method_names names;

    return blob->kind == SMP_BLOB_NATIVE && layout->version >= FIRST_VIRTUAL_THREADS &&
           smp_method_names(layout, blob->method, &names) &&
           strcmp(names.name, "enterSpecial") == 0 &&
           strcmp(names.class_name, "jdk/internal/vm/Continuation") == 0;
}

static bool step_method(struct smp_frame_walk *walk, const struct smp_blob *blob)
{
    struct smp_known_code code;
    struct smp_method_code unused;

    if (smp_frame_cache_find(walk->cache, walk->layout, walk->pc, &code))
        return go_on(walk, &code);
    code.blob = blob->start;
    code.compile_id = blob->compile_id;
    code.frame_bytes = blob->frame_bytes;
    code.is_virtual_root = is_virtual_root(walk->layout, blob);
    code.count = smp_code_frames(walk->layout, blob, walk->pc, code.frames, SMP_CODE_MAX_FRAMES);
    if (code.count == 0)
        return smp_frame_end(walk, SMP_FRAMES_UNWALKABLE);
    for (size_t i = 0; i < code.count; i++) {
        if (!smp_frame_cache_method(walk->cache, walk->layout, code.frames[i].method, &unused,
                                    &code.ids[i]))
            return smp_frame_end(walk, SMP_FRAMES_UNWALKABLE);
    }
    smp_frame_cache_put(walk->cache, walk->pc, &code);
    return go_on(walk, &code);
}

/* The frame's own pc is in the frame, where its return address leads to the deoptimisation. */
static bool step_compiled(struct smp_frame_walk *walk, const struct smp_blob *blob)
{
    uint32_t offset = 0;
    uintptr_t pc = walk->pc;

    if (smp_code_deoptimised_pc_offset(walk->layout, blob, pc, &offset) &&
        (offset >= blob->frame_bytes || !smp_frame_read(walk, walk->sp + offset, &pc) ||
         pc < blob->code || pc >= blob->end))
        return smp_frame_end(walk, SMP_FRAMES_UNWALKABLE);
    walk->pc = pc;
    return step_method(walk, blob);
}

bool smp_frame_step_blob(struct smp_frame_walk *walk)
{
    struct smp_blob blob;

    if (!smp_code_find(walk->layout, walk->pc, &blob))
        return smp_frame_end(walk, SMP_FRAMES_UNWALKABLE);
    switch (blob.kind) {
    case SMP_BLOB_COMPILED:
    case SMP_BLOB_NATIVE:
        return step_compiled(walk, &blob);
    case SMP_BLOB_INTERPRETER:
        return smp_frame_step_interpreted(walk);
    case SMP_BLOB_UPCALL:
        return smp_frame_step_upcall(walk, &blob);
    case SMP_BLOB_BARRIER:
        return smp_frame_end(walk, SMP_FRAMES_BARRIER);
    default:
        return smp_frame_go_over(walk, blob.frame_bytes);
    }
}
