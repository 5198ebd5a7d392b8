/* SPDX-License-Identifier: Apache-2.0 */
#include "hotspot/code.h"

#include <stdatomic.h>
#include <string.h>

#include "base/safe_read.h"
#include "hotspot/memory.h"

enum {
    MAX_HEAPS = 16,
    MAX_SHIFT = 20, /* log2 of a segment's bytes */
    MAX_HOPS = 1024 * 1024,
    SEGMENT_FREE = 0xff,
    HEADER_BYTES = 384, /* more than a blob's header has; the last blobs of a heap are not found */
    MAX_BLOB_BYTES = 64 * 1024 * 1024,
    MAX_FRAME_WORDS = 128 * 1024,
    NAME_BYTES = 96,
    PAGE_BYTES = 4096,
    KNOWN_NAMES = 64, /* a power of two */
    KIND_SHIFT = 58   /* above the bits of any address of a program */
};

/*
 * The kinds of blobs by the addresses of their names. An entry stays true: names are constants of
 * libjvm, so their addresses never hold another text.
 */
static _Atomic uint64_t known_names[KNOWN_NAMES];

struct smp_code_range smp_code_interpreter(const struct smp_layout *layout)
{
    struct smp_code_range range = { 0 };
    const uintptr_t code = smp_load_word(layout->interpreter.code);

    if (code == 0)
        return range;
    range.low = smp_load_word(code + layout->interpreter.start);
    range.high = range.low + smp_load_u32(code + layout->interpreter.bytes);
    return range;
}

/* Returns the code heap that contains the pc, or 0. */
static uintptr_t find_heap(const struct smp_layout *layout, uintptr_t pc)
{
    const uintptr_t list = smp_load_word(layout->heap.list);
    uint32_t count = 0;

    if (list == 0)
        return 0;
    count = smp_load_u32(list + layout->heap.length);
    for (uint32_t i = 0; i < count && i < MAX_HEAPS; i++) {
        const uintptr_t heap =
            smp_load_word(smp_load_word(list + layout->heap.data) + i * sizeof(uintptr_t));
        const uintptr_t space = heap + layout->heap.memory;
        if (pc >= smp_load_word(space + layout->heap.low) &&
            pc < smp_load_word(space + layout->heap.high))
            return heap;
    }
    return 0;
}

/* Returns the start of the pc's block, to which the map leads in hops of up to 254 segments. */
static uintptr_t find_block(const struct smp_layout *layout, uintptr_t heap, uintptr_t pc)
{
    const uintptr_t low = smp_load_word(heap + layout->heap.memory + layout->heap.low);
    const uintptr_t map = smp_load_word(heap + layout->heap.map + layout->heap.low);
    const uintptr_t map_end = smp_load_word(heap + layout->heap.map + layout->heap.high);
    const uint32_t shift = smp_load_u32(heap + layout->heap.shift);
    uintptr_t segment = 0;
    uint8_t hop = 0;

    if (shift > MAX_SHIFT || map > map_end || (pc - low) >> shift >= map_end - map)
        return 0;
    segment = (pc - low) >> shift;
    hop = smp_load_u8(map + segment);
    for (int hops = 0; hop != 0; hops++) {
        if (hop == SEGMENT_FREE || hop > segment || hops == MAX_HOPS)
            return 0;
        segment -= hop;
        hop = smp_load_u8(map + segment);
    }
    return low + (segment << shift);
}

/* Returns false if the text cannot be read up to its end. A longer text is cut. */
static bool read_text(uintptr_t address, char text[NAME_BYTES])
{
    size_t length = 0;

    memset(text, 0, NAME_BYTES);
    while (length < NAME_BYTES - 1) {
        const size_t in_page = PAGE_BYTES - (address + length) % PAGE_BYTES;
        const size_t room = NAME_BYTES - 1 - length;
        const size_t size = in_page < room ? in_page : room;
        if (!smp_safe_read(text + length, address + length, size))
            return false;
        if (memchr(text + length, 0, size) != NULL)
            return true;
        length += size;
    }
    return true;
}

static bool read_kind(uintptr_t name, enum smp_blob_kind *kind)
{
    char text[NAME_BYTES];

    if (name == 0 || !read_text(name, text))
        return false;
    if (strcmp(text, "nmethod") == 0)
        *kind = SMP_BLOB_COMPILED;
    else if (strcmp(text, "native nmethod") == 0)
        *kind = SMP_BLOB_NATIVE;
    else if (strstr(text, "ontinuation") != NULL)
        *kind = SMP_BLOB_BARRIER;
    else if (strstr(text, "eopt") != NULL || strstr(text, "ncommon") != NULL)
        *kind = SMP_BLOB_DEOPT; /* DeoptimizationBlob, UncommonTrapBlob */
    else
        *kind = SMP_BLOB_STUB;
    return true;
}

static bool find_kind(uintptr_t name, enum smp_blob_kind *kind)
{
    _Atomic uint64_t *known = &known_names[(name >> 3) % KNOWN_NAMES];
    const uint64_t found = atomic_load_explicit(known, memory_order_relaxed);

    if (name >> KIND_SHIFT != 0)
        return false;
    if ((found & ((UINT64_C(1) << KIND_SHIFT) - 1)) == name && found != 0) {
        *kind = (enum smp_blob_kind)(found >> KIND_SHIFT);
        return true;
    }
    if (!read_kind(name, kind))
        return false;
    atomic_store_explicit(known, name | (uint64_t)*kind << KIND_SHIFT, memory_order_relaxed);
    return true;
}

static void read_bounds(const struct smp_layout *layout, uintptr_t start, struct smp_blob *out)
{
    if (layout->blob.code_start != 0) {
        out->code = smp_load_word(start + layout->blob.code_start);
        out->end = smp_load_word(start + layout->blob.code_end);
    } else {
        out->code = start + smp_load_u32(start + layout->blob.code_start_offset);
        out->end = start + smp_load_u32(start + layout->blob.code_end_offset);
    }
}

static int32_t read_frame_complete(const struct smp_layout *layout, uintptr_t start)
{
    if (layout->blob.frame_complete_short != 0)
        return (int16_t)smp_load_u16(start + layout->blob.frame_complete_short);
    return (int32_t)smp_load_u32(start + layout->blob.frame_complete);
}

/* high: the end of the heap's memory. */
static bool read_blob(const struct smp_layout *layout, uintptr_t start, uintptr_t high,
                      struct smp_blob *out)
{
    const uint32_t bytes = smp_load_u32(start + layout->blob.bytes);
    const uint32_t words = smp_load_u32(start + layout->blob.frame_words);

    *out = (struct smp_blob){ .start = start, .data_end = start + bytes };
    if (bytes > MAX_BLOB_BYTES || bytes > high - start)
        return false;
    read_bounds(layout, start, out);
    if (out->code < start || out->end < out->code || out->end > start + bytes ||
        !find_kind(smp_load_word(start + layout->blob.name), &out->kind))
        return false;
    out->frame_bytes = words < MAX_FRAME_WORDS ? words * (uint32_t)sizeof(uintptr_t) : 0;
    out->frame_complete = read_frame_complete(layout, start);
    if (out->kind == SMP_BLOB_COMPILED || out->kind == SMP_BLOB_NATIVE) {
        out->compile_id = smp_load_u32(start + layout->nmethod.compile_id);
        out->method = smp_load_word(start + layout->nmethod.method);
    } else if (layout->upcall.is_known &&
               smp_load_u8(start + layout->blob.kind) == (uint32_t)layout->upcall.kind) {
        out->kind = SMP_BLOB_UPCALL;
    }
    return true;
}

bool smp_blob_find(const struct smp_layout *layout, uintptr_t pc, struct smp_blob *out)
{
    uintptr_t heap = 0;
    uintptr_t high = 0;
    uintptr_t block = 0;

    if (smp_blob_is_interpreter(smp_code_interpreter(layout), pc, out))
        return true;
    heap = find_heap(layout, pc);
    if (heap == 0)
        return false;
    high = smp_load_word(heap + layout->heap.memory + layout->heap.high);
    block = find_block(layout, heap, pc);
    if (block == 0 || high - block < layout->heap.block_bytes + HEADER_BYTES ||
        smp_load_u8(block + layout->heap.block_used) == 0)
        return false;
    return read_blob(layout, block + layout->heap.block_bytes, high, out) && pc >= out->code &&
           pc < out->end;
}

bool smp_code_deoptimised_pc_offset(const struct smp_layout *layout, const struct smp_blob *blob,
                                    uintptr_t pc, uint32_t *offset)
{
    const uintptr_t start = blob->start;
    bool is_deoptimised = false;

    *offset = 0;
    if (blob->kind != SMP_BLOB_COMPILED)
        return false;
    if (layout->nmethod.deopt != 0) {
        is_deoptimised = pc == smp_load_word(start + layout->nmethod.deopt) ||
                         pc == smp_load_word(start + layout->nmethod.deopt_mh);
    } else {
        is_deoptimised = pc == start + smp_load_u32(start + layout->nmethod.deopt_offset) ||
                         (layout->nmethod.deopt_mh_offset != 0 &&
                          pc == start + smp_load_u32(start + layout->nmethod.deopt_mh_offset));
    }
    if (is_deoptimised)
        *offset = smp_load_u32(start + layout->nmethod.original_pc);
    return is_deoptimised;
}
