/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_walk.h - the state of a walk, and the steps from a frame to its caller, one for each kind
 * of frame.
 *
 * Threads  any, signal handlers included; a walk is one thread's.
 * Errors   a step returns false if the walk ends there, and has set its end.
 */
#ifndef SMP_HOTSPOT_FRAME_WALK_H
#define SMP_HOTSPOT_FRAME_WALK_H

#include "hotspot/code.h"
#include "hotspot/frame_types.h"
#include "hotspot/layout.h"
#include "hotspot/memory.h"

enum { SMP_FRAME_AHEAD_BYTES = 1024 };

struct smp_frame_walk {
    const struct smp_layout *layout;
    struct smp_frames_cache *cache;
    uintptr_t low; /* words that may be read */
    uintptr_t high;
    /* The current frame. sp: before a callee extended it, HotSpot's "unextended" one. */
    uintptr_t sp;
    uintptr_t fp;
    uintptr_t pc;
    uintptr_t leaf_bcp; /* see smp_frames_start; 0 from the second frame on */
    struct smp_frames *out;
    size_t added;                    /* frames, omitted ones included */
    const struct smp_chunks *chunks; /* see smp_frames_start */
    /* In the heap: */
    uintptr_t continuation; /* 0: on the stack */
    uintptr_t parent;       /* of the chunk, see chunks.h; 0: it has none */
    size_t on_stack;        /* frames that lie on the stack */
    size_t chunk_count;
};

static inline bool smp_frame_end(struct smp_frame_walk *walk, enum smp_frames_end end)
{
    walk->out->end = end;
    return false;
}

static inline void smp_frame_keep_word(const struct smp_frame_walk *walk, uintptr_t address,
                                       uintptr_t value)
{
    struct smp_frames_words *words = walk->out->words;

    if (words == NULL)
        return;
    if (words->count < words->capacity)
        words->read[words->count] = (struct smp_frames_word){ address, value };
    words->count++;
}

/* Reads a word of the stack. Returns false if the address is not on it. */
static inline bool smp_frame_read(struct smp_frame_walk *walk, uintptr_t address, uintptr_t *out)
{
    if (address < walk->low || address >= walk->high || walk->high - address < sizeof(uintptr_t) ||
        address % sizeof(uintptr_t) != 0)
        return false;
    *out = smp_load_word(address);
    smp_frame_keep_word(walk, address, *out);
    return true;
}

/* Returns a pointer into the stack. In the heap it is stored as a distance from base, in words. */
static inline uintptr_t smp_frame_pointer(const struct smp_frame_walk *walk, uintptr_t base,
                                          uintptr_t word)
{
    return walk->continuation == 0 ? word : base + word * sizeof(uintptr_t);
}

static inline bool smp_frame_read_pointer(struct smp_frame_walk *walk, uintptr_t address,
                                          uintptr_t base, uintptr_t *out)
{
    if (!smp_frame_read(walk, address, out))
        return false;
    *out = smp_frame_pointer(walk, base, *out);
    return true;
}

/* Returns whether all of the chunk's frames are walked. Up to two words may be behind the last. */
static inline bool smp_frame_is_at_bottom(const struct smp_frame_walk *walk)
{
    return walk->continuation != 0 && walk->high - walk->sp <= 2 * sizeof(uintptr_t);
}

static inline uintptr_t smp_frame_slot(uintptr_t base, int slot)
{
    return base + (uintptr_t)(slot * (int)sizeof(uintptr_t));
}

/* Goes to the caller, whose frame is always at a higher address. */
static inline bool smp_frame_go(struct smp_frame_walk *walk, uintptr_t sp, uintptr_t fp,
                                uintptr_t pc)
{
    if (sp <= walk->sp || sp > walk->high || sp % sizeof(uintptr_t) != 0)
        return smp_frame_end(walk, SMP_FRAMES_UNWALKABLE);
    /* Each frame has the address of the next one. Prefetching avoids waiting for each. */
    __builtin_prefetch((const void *)(sp + SMP_FRAME_AHEAD_BYTES)); /* NOLINT */
    walk->sp = sp;
    walk->fp = fp;
    walk->pc = pc;
    return true;
}

/* Goes to the caller of a frame whose size is known. */
static inline bool smp_frame_go_over(struct smp_frame_walk *walk, uint32_t bytes)
{
    const uintptr_t sp = walk->sp + bytes;
    const uintptr_t pc_at = sp - sizeof(uintptr_t);
    const uintptr_t fp_at = pc_at - sizeof(uintptr_t);

    if (bytes == 0 || sp % sizeof(uintptr_t) != 0 || sp > walk->high || fp_at < walk->low)
        return smp_frame_end(walk, SMP_FRAMES_UNWALKABLE);
    const uintptr_t pc = smp_load_word(pc_at);
    const uintptr_t fp = smp_load_word(fp_at);
    smp_frame_keep_word(walk, pc_at, pc);
    smp_frame_keep_word(walk, fp_at, fp);
    return smp_frame_go(walk, sp, smp_frame_pointer(walk, fp_at, fp), pc);
}

/*
 * Keeps the first half of the frames as they come. In the second half the newest frames replace the
 * oldest ones in turn.
 */
static inline void smp_frame_add(struct smp_frame_walk *walk, struct smp_raw_frame frame,
                                 uint64_t id)
{
    struct smp_frames *out = walk->out;
    size_t at = walk->added++;

    if (at >= out->capacity) {
        const size_t leaves = out->capacity - out->capacity / 2;
        at = leaves + (at - leaves) % (out->capacity - leaves);
    }
    out->raw[at] = frame;
    out->ids[at] = id;
}

/* frame_compiled.c: compiled and native methods, their deoptimised frames; stubs. */
bool smp_frame_step_known(struct smp_frame_walk *walk, bool *is_known);
bool smp_frame_step_blob(struct smp_frame_walk *walk);
bool smp_frame_step_leaf(struct smp_frame_walk *walk, uintptr_t line_pc);
/* frame_interpreted.c */
bool smp_frame_step_interpreted(struct smp_frame_walk *walk);
/* frames.c: where native code called Java. */
bool smp_frame_step_entry(struct smp_frame_walk *walk);
bool smp_frame_step_upcall(struct smp_frame_walk *walk, const struct smp_blob *blob);
/* frame_chunk.c: into the heap, from chunk to chunk. */
bool smp_frame_step_barrier(struct smp_frame_walk *walk);
bool smp_frame_next_chunk(struct smp_frame_walk *walk);
/* After the walk: drops the frames from the heap unless they lead to the virtual thread's root. */
void smp_frame_leave_heap(struct smp_frame_walk *walk);

#endif
