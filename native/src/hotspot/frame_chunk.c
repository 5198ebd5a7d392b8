/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/safe_read.h"
#include "hotspot/chunks.h"
#include "hotspot/frame_walk.h"

enum {
    MAX_ARGUMENT_WORDS = 256, /* of a method */
    MAX_CHUNKS = 1024,
    MAX_CHUNK_WORDS = 128 * 1024 * 1024, /* stacks are smaller than 1 GB */
    ENTRY_ALIGNMENT = 16,
    FLAGS_AND_ARGUMENTS = 16, /* in an entry: bytes behind its reference to the Continuation */
    SAVED_WORDS = 2           /* below a frame: its pc, and a frame pointer */
};

/* Offsets of an entry's reference to its Continuation: it follows the pointer to the next entry,
 * and on newer JDKs a word of padding. */
static const uint32_t continuation_at[] = { 8, 16 };

/* A StackChunk that was read. */
struct chunk {
    uintptr_t parent; /* 0: this is the oldest one */
    uintptr_t sp;
    uintptr_t bottom;
};

static uintptr_t reference_at(const struct smp_chunks *chunks, const char *from)
{
    uintptr_t word = 0;
    uint32_t narrow = 0;

    if (!chunks->reference.is_compressed) {
        memcpy(&word, from, sizeof(word));
        return word;
    }
    memcpy(&narrow, from, sizeof(narrow));
    return narrow == 0 ? 0
                       : chunks->reference.base + ((uintptr_t)narrow << chunks->reference.shift);
}

static size_t reference_bytes(const struct smp_chunks *chunks)
{
    return chunks->reference.is_compressed ? sizeof(uint32_t) : sizeof(uintptr_t);
}

static uint32_t number_at(const char *object, uint32_t offset)
{
    uint32_t value = 0;

    memcpy(&value, object + offset, sizeof(value));
    return value;
}

static bool refers_to(const struct smp_chunks *chunks, const char *object, uintptr_t to)
{
    const size_t step = reference_bytes(chunks);

    for (size_t at = sizeof(uintptr_t); at + step <= chunks->frames; at += step) {
        if (reference_at(chunks, object + at) == to)
            return true;
    }
    return false;
}

/* Returns false if a chunk cannot have these sizes. */
static bool read_sizes(const struct smp_chunks *chunks, const char *object, uintptr_t address,
                       struct chunk *out)
{
    const uint32_t size = number_at(object, chunks->size);
    const uint32_t sp = number_at(object, chunks->sp);
    const uint32_t field = number_at(object, chunks->bottom);
    const uint32_t bottom = chunks->is_bottom_from_end ? size - field : field;
    const uintptr_t words = address + chunks->frames;

    if (size > MAX_CHUNK_WORDS || bottom > size || sp > size || (sp < bottom && sp < SAVED_WORDS))
        return false;
    out->sp = words + sp * sizeof(uintptr_t);
    out->bottom = words + bottom * sizeof(uintptr_t);
    return true;
}

static bool read_chunk(const struct smp_chunks *chunks, uintptr_t address, uintptr_t continuation,
                       struct chunk *out)
{
    char object[SMP_CHUNKS_MAX_HEADER];

    if (address == 0 || address % sizeof(uintptr_t) != 0 ||
        !smp_safe_read(object, address, chunks->frames) || !refers_to(chunks, object, continuation))
        return false;
    out->parent = reference_at(chunks, object + chunks->parent);
    return read_sizes(chunks, object, address, out);
}

static bool read_newest(const struct smp_chunks *chunks, uintptr_t continuation, struct chunk *out)
{
    char tail[sizeof(uintptr_t)];

    return continuation != 0 && continuation % sizeof(uintptr_t) == 0 &&
           smp_safe_read(tail, continuation + chunks->tail, reference_bytes(chunks)) &&
           read_chunk(chunks, reference_at(chunks, tail), continuation, out);
}

/*
 * The entry is above the oldest frame on the stack. The arguments of that frame are between the
 * two; the entry holds their number of words.
 */
static bool find_continuation(struct smp_frame_walk *walk, struct chunk *newest)
{
    enum { ARGUMENTS_SHIFT = 32 };
    const uintptr_t up = ENTRY_ALIGNMENT - 1;

    for (uintptr_t words = 0; words < MAX_ARGUMENT_WORDS; words++) {
        const uintptr_t entry = (walk->sp + words * sizeof(uintptr_t) + up) & ~up;
        for (size_t i = 0; i < sizeof(continuation_at) / sizeof(continuation_at[0]); i++) {
            const uintptr_t at = entry + continuation_at[i];
            uintptr_t both = 0;
            uintptr_t found = 0;
            if (!smp_frame_read(walk, at + FLAGS_AND_ARGUMENTS, &both))
                return false;
            if (both >> ARGUMENTS_SHIFT == words && smp_frame_read(walk, at, &found) &&
                read_newest(walk->chunks, found, newest)) {
                walk->continuation = found;
                return true;
            }
        }
    }
    return false;
}

/* From now on only words of this chunk may be read. */
static bool enter_chunk(struct smp_frame_walk *walk, const struct chunk *chunk)
{
    const uintptr_t pc_at = chunk->sp - sizeof(uintptr_t);
    const uintptr_t fp_at = chunk->sp - SAVED_WORDS * sizeof(uintptr_t);

    walk->parent = chunk->parent;
    walk->sp = walk->high = chunk->bottom;
    if (chunk->sp >= chunk->bottom) /* it is empty */
        return true;
    walk->low = fp_at;
    walk->sp = chunk->sp;
    return (smp_frame_read(walk, pc_at, &walk->pc) &&
            smp_frame_read_pointer(walk, fp_at, fp_at, &walk->fp)) ||
           smp_frame_end(walk, SMP_FRAMES_UNWALKABLE);
}

static bool is_chunk_parking(const struct smp_frame_walk *walk)
{
    bool is = false;

    for (size_t i = 0; i < walk->added && i < 2; i++)
        is = is || smp_chunks_is_yield(walk->chunks, walk->out->ids[i]);
    return is;
}

/* If no frame returns to the barrier, the barrier itself runs, and changes the newest chunk. */
bool smp_frame_step_barrier(struct smp_frame_walk *walk)
{
    struct chunk newest = { 0 };

    if (walk->chunks == NULL || walk->continuation != 0 || walk->added == 0 ||
        is_chunk_parking(walk) || !find_continuation(walk, &newest))
        return smp_frame_end(walk, SMP_FRAMES_BARRIER);
    walk->on_stack = walk->added;
    return enter_chunk(walk, &newest);
}

bool smp_frame_next_chunk(struct smp_frame_walk *walk)
{
    struct chunk next = { 0 };

    if (walk->parent == 0)
        return smp_frame_end(walk, SMP_FRAMES_VIRTUAL_ROOT);
    if (++walk->chunk_count == MAX_CHUNKS ||
        !read_chunk(walk->chunks, walk->parent, walk->continuation, &next))
        return smp_frame_end(walk, SMP_FRAMES_UNWALKABLE);
    return enter_chunk(walk, &next);
}

void smp_frame_leave_heap(struct smp_frame_walk *walk)
{
    struct smp_frames *out = walk->out;

    if (walk->continuation == 0 || out->end == SMP_FRAMES_VIRTUAL_ROOT ||
        walk->added > out->capacity)
        return;
    walk->added = walk->on_stack;
    out->end = SMP_FRAMES_BARRIER;
}
