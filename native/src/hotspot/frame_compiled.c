/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <string.h>

#include "hotspot/frame_cache.h"
#include "hotspot/frame_walk.h"
#include "hotspot/frames.h"
#include "hotspot/machine_code.h"
#include "hotspot/method.h"

enum {
    FIRST_VIRTUAL_THREADS = 19,
    ROOT_BYTES = 256, /* more than a copy of enterSpecial takes */
    ROOT_BCI = -1,    /* it is native */
    MAX_FRAME_BYTES = 1024 * 1024
};

static _Atomic uint64_t virtual_root_id; /* 0: not known */

/* Frames are read here first if the walk's own arrays may have no room for them. */
struct own_frames {
    struct smp_raw_frame raw[SMP_CODE_MAX_FRAMES];
    uint64_t ids[SMP_CODE_MAX_FRAMES];
};

static void set_frames(const struct smp_frame_walk *walk, struct own_frames *own,
                       struct smp_known_code *code)
{
    const struct smp_frames *out = walk->out;
    const bool has_room =
        walk->added < out->capacity && out->capacity - walk->added >= SMP_CODE_MAX_FRAMES;

    code->frames = has_room ? out->raw + walk->added : own->raw;
    code->ids = has_room ? out->ids + walk->added : own->ids;
}

/* least: bytes of a frame that was not extended for its arguments. */
static bool go_over_said(struct smp_frame_walk *walk, uint32_t least)
{
    const uint32_t rest = 2 * (uint32_t)sizeof(uintptr_t);
    uintptr_t bytes = 0;

    if (least < SMP_SAID_SIZE_BYTES ||
        !smp_frame_read(walk, walk->sp + least - SMP_SAID_SIZE_BYTES, &bytes) ||
        bytes < least - rest || bytes > MAX_FRAME_BYTES || bytes % sizeof(uintptr_t) != 0)
        return smp_frame_end(walk, SMP_FRAMES_UNWALKABLE);
    return smp_frame_go_over(walk, (uint32_t)bytes + rest);
}

static bool go_on(struct smp_frame_walk *walk, const struct own_frames *own,
                  const struct smp_known_code *code)
{
    if (code->is_virtual_root)
        return smp_frame_end(walk, SMP_FRAMES_VIRTUAL_ROOT);
    if (code->frames != own->raw) {
        walk->added += code->count;
    } else {
        for (size_t i = 0; i < code->count; i++)
            smp_frame_add(walk, code->frames[i], code->ids[i]);
    }
    return code->says_size ? go_over_said(walk, code->frame_bytes)
                           : smp_frame_go_over(walk, code->frame_bytes);
}

bool smp_frame_step_known(struct smp_frame_walk *walk, bool *is_known)
{
    struct own_frames own;
    struct smp_known_code code;

    set_frames(walk, &own, &code);
    *is_known = smp_frame_cache_find(walk->cache, walk->layout, walk->pc, &code);
    return *is_known && go_on(walk, &own, &code);
}

void smp_frames_set_virtual_root(uint64_t id)
{
    atomic_store_explicit(&virtual_root_id, id, memory_order_relaxed);
}

static bool has_names_of_root(const struct smp_layout *layout, uintptr_t method)
{
    static const char owner[] = "jdk/internal/vm/Continuation";
    static const char texts[] = "jdk/internal/vm/ContinuationenterSpecial"; /* owner, name */
    _Alignas(uintptr_t) char room[ROOT_BYTES];
    const struct smp_method_copy *const copy = (const struct smp_method_copy *)(void *)room;

    return smp_method_copy(layout, method, ROOT_BCI, room, sizeof(room)) > 0 &&
           copy->class_bytes == sizeof(owner) - 1 &&
           copy->class_bytes + copy->name_bytes == sizeof(texts) - 1 &&
           memcmp(copy->texts, texts, sizeof(texts) - 1) == 0;
}

/*
 * Returns whether this is Continuation.enterSpecial, by which a carrier runs a virtual thread.
 * Compares ids if both are known, else names, which takes some system calls. id: of blob's method.
 */
static bool is_virtual_root(const struct smp_layout *layout, const struct smp_blob *blob,
                            uint64_t id)
{
    const uint64_t root = atomic_load_explicit(&virtual_root_id, memory_order_relaxed);

    if (blob->kind != SMP_BLOB_NATIVE || layout->version < FIRST_VIRTUAL_THREADS)
        return false;
    if (root != 0 && id != 0)
        return id == root;
    return has_names_of_root(layout, blob->method);
}

static bool find_size(const struct smp_layout *layout, const struct smp_blob *blob, bool *says_size)
{
    enum smp_frame_size size = SMP_FRAME_FIXED;

    if (layout->version >= SMP_FRAMES_SAY_SIZE && blob->kind == SMP_BLOB_COMPILED)
        size = smp_machine_code_frame_size((const void *)blob->code, /* NOLINT */
                                           blob->end - blob->code, blob->frame_bytes);
    *says_size = size == SMP_FRAME_SAYS_SIZE;
    return size != SMP_FRAME_NOT_KNOWN;
}

/* Reads the frames of pc. line_pc: see smp_frames_start. */
static bool read_code_frames(struct smp_frame_walk *walk, const struct smp_blob *blob,
                             uintptr_t line_pc, struct smp_known_code *code)
{
    code->blob = blob->start;
    code->compile_id = blob->compile_id;
    code->frame_bytes = blob->frame_bytes;
    if (!find_size(walk->layout, blob, &code->says_size))
        return false;
    if (line_pc != 0)
        code->count =
            smp_code_frames_near(walk->layout, blob, line_pc, code->frames, SMP_CODE_MAX_FRAMES);
    else
        code->count =
            smp_code_frames(walk->layout, blob, walk->pc, code->frames, SMP_CODE_MAX_FRAMES);
    for (size_t i = 0; i < code->count; i++) {
        if (!smp_frame_cache_id(walk->cache, walk->layout, code->frames[i].method, &code->ids[i]))
            return false;
    }
    if (code->count == 0)
        return false;
    code->is_virtual_root = is_virtual_root(walk->layout, blob, code->ids[0]);
    return true;
}

static bool step_method(struct smp_frame_walk *walk, const struct smp_blob *blob)
{
    struct own_frames own;
    struct smp_known_code code;

    set_frames(walk, &own, &code);
    if (smp_frame_cache_find(walk->cache, walk->layout, walk->pc, &code))
        return go_on(walk, &own, &code);
    if (!read_code_frames(walk, blob, 0, &code))
        return smp_frame_end(walk, SMP_FRAMES_UNWALKABLE);
    smp_frame_cache_put(walk->cache, walk->pc, &code);
    return go_on(walk, &own, &code);
}

bool smp_frame_step_leaf(struct smp_frame_walk *walk, uintptr_t line_pc)
{
    const uintptr_t key = smp_frame_cache_leaf(line_pc);
    struct own_frames own;
    struct smp_known_code code;
    struct smp_blob blob;

    set_frames(walk, &own, &code);
    if (smp_frame_cache_find(walk->cache, walk->layout, key, &code))
        return go_on(walk, &own, &code);
    if (!smp_blob_find(walk->layout, walk->pc, &blob) || blob.kind != SMP_BLOB_COMPILED ||
        !read_code_frames(walk, &blob, line_pc, &code))
        return smp_frame_end(walk, SMP_FRAMES_UNWALKABLE);
    smp_frame_cache_put(walk->cache, key, &code);
    return go_on(walk, &own, &code);
}

/* If the JVM has deoptimised the frame, its own pc is in the frame. */
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

/*
 * The caller of this stub is the compiled frame that it replaces. If the caller is interpreted, the
 * stub is filling the new frames, which still hold old words.
 */
static bool step_deopt(struct smp_frame_walk *walk, const struct smp_blob *blob)
{
    const struct smp_code_range interpreter = smp_code_interpreter(walk->layout);

    if (!smp_frame_go_over(walk, blob->frame_bytes))
        return false;
    return (walk->pc >= interpreter.low && walk->pc < interpreter.high)
               ? smp_frame_end(walk, SMP_FRAMES_UNWALKABLE)
               : true;
}

bool smp_frame_step_blob(struct smp_frame_walk *walk)
{
    struct smp_blob blob;

    if (!smp_blob_find(walk->layout, walk->pc, &blob))
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
        return smp_frame_step_barrier(walk);
    case SMP_BLOB_DEOPT:
        return step_deopt(walk, &blob);
    default:
        return smp_frame_go_over(walk, blob.frame_bytes);
    }
}
