/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/safe_read.h"
#include "jvm/hotspot/code.h"
#include "jvm/hotspot/compressed.h"
#include "jvm/hotspot/memory.h"

enum {
    MAX_DATA_BYTES = 256 * 1024 * 1024,
    PIECE_BYTES = 8192,
    METHODS = 64,       /* of the metadata, read at once */
    BLOCK_RECORDS = 32, /* of pcs, read at once */
    RECORD_WORDS = 4,
    END_PC = INT32_MAX, /* of the record behind the last one */
    NO_SCOPE = 0,       /* where the only frame is that of the method itself, at its entry */
    ENTRY_BCI = -1
};

/* What a compiled method has for debugging, as addresses. */
struct debug_data {
    bool is_outside; /* of the code heap: reads may fault */
    uintptr_t pcs;
    uintptr_t pcs_end;
    uintptr_t scopes;
    uintptr_t scopes_end;
    uintptr_t metadata;
    uintptr_t metadata_end;
};

struct record {
    int32_t pc;
    int32_t scope;
};

/* Some of the metadata, among them methods: reads may be system calls, so many are read at once. */
struct metadata {
    uintptr_t first;
    uintptr_t count; /* 0: none is read yet */
    uintptr_t words[METHODS];
};

static bool is_in_order(const struct debug_data *data)
{
    return data->pcs <= data->pcs_end && data->pcs_end - data->pcs < MAX_DATA_BYTES &&
           data->scopes <= data->scopes_end && data->scopes_end - data->scopes < MAX_DATA_BYTES &&
           data->metadata <= data->metadata_end &&
           data->metadata_end - data->metadata < MAX_DATA_BYTES &&
           data->metadata % sizeof(uintptr_t) == 0;
}

static bool find_inside(const struct smp_layout *layout, const struct smp_blob *blob,
                        struct debug_data *out)
{
    const uintptr_t start = blob->start;
    const uintptr_t end =
        blob->data_end; /* checked: what is read here may be another blob by now */

    out->is_outside = false;
    out->scopes = smp_load_word(start + layout->nmethod.scopes);
    out->scopes_end = start + smp_load_u32(start + layout->nmethod.scopes_end);
    out->pcs = out->scopes_end;
    out->pcs_end = start + smp_load_u32(start + layout->nmethod.pcs_end);
    out->metadata = start + smp_load_u32(start + layout->nmethod.metadata);
    out->metadata_end = out->scopes;
    return out->metadata >= start && out->pcs_end <= end && is_in_order(out);
}

static bool find_outside(const struct smp_layout *layout, const struct smp_blob *blob,
                         struct debug_data *out)
{
    const uintptr_t start = blob->start;
    const uintptr_t data = smp_load_word(start + layout->nmethod.outside);
    const uintptr_t mutable_data = smp_load_word(start + layout->nmethod.mutable_data);

    out->is_outside = !blob->is_data_mapped;
    out->pcs = data + smp_load_u32(start + layout->nmethod.outside_pcs);
    out->pcs_end = data + smp_load_u32(start + layout->nmethod.outside_scopes);
    out->scopes = out->pcs_end;
    out->scopes_end = data + smp_load_u32(start + layout->nmethod.outside_bytes);
    out->metadata = mutable_data + smp_load_u32(start + layout->nmethod.relocation_bytes);
    out->metadata_end = mutable_data + smp_load_u32(start + layout->nmethod.mutable_bytes);
    return data != 0 && mutable_data != 0 && is_in_order(out);
}

/* Within what the caller has checked to be the method's data. */
static bool read_data(const struct debug_data *data, void *to, uintptr_t at, size_t size)
{
    if (data->is_outside)
        return smp_safe_read(to, at, size);
    memcpy(to, (const void *)at, size); /* NOLINT(performance-no-int-to-ptr) */
    return true;
}

static bool read_records(const struct smp_layout *layout, const struct debug_data *data,
                         size_t first, size_t count, struct record *out)
{
    uint32_t words[BLOCK_RECORDS * RECORD_WORDS];
    const size_t bytes = layout->pc_record.bytes;

    if (!read_data(data, words, data->pcs + first * bytes, count * bytes))
        return false;
    for (size_t i = 0; i < count; i++) {
        const char *record = (const char *)words + i * bytes;
        memcpy(&out[i].pc, record + layout->pc_record.pc, sizeof(out[i].pc));
        memcpy(&out[i].scope, record + layout->pc_record.scope, sizeof(out[i].scope));
    }
    return true;
}

/*
 * The record of exactly this pc, counted from the start of the code, or else, if is_near, the first
 * one behind it: records are in order of their pcs. The last one is no place in the code, but marks
 * the end of the list: to what lies behind all places, the last of them is the nearest.
 */
static bool find_record(const struct smp_layout *layout, const struct debug_data *data, int32_t pc,
                        bool is_near, struct record *out)
{
    struct record block[BLOCK_RECORDS];
    const size_t count = (data->pcs_end - data->pcs) / layout->pc_record.bytes;
    size_t low = 0;
    size_t high = count;

    while (high - low >= BLOCK_RECORDS) {
        const size_t middle = low + (high - low) / 2;
        if (!read_records(layout, data, middle, 1, block))
            return false;
        if (block[0].pc <= pc)
            low = middle;
        else
            high = middle;
    }
    /* The first one behind pc is at high, where that is not the end. */
    if (is_near && high < count)
        high++;
    if (!read_records(layout, data, low, high - low, block))
        return false;
    for (size_t i = 0; i < high - low; i++) {
        if (block[i].pc == pc || (is_near && block[i].pc > pc)) {
            const bool is_end = is_near && block[i].pc == END_PC;
            *out = is_end && i > 0 && block[i - 1].pc >= 0 ? block[i - 1] : block[i];
            return true;
        }
    }
    return false;
}

static bool read_scope_bytes(const void *data, void *to, uintptr_t at, size_t size)
{
    return read_data(data, to, at, size);
}

/* The index counts from 1. */
static uintptr_t read_scope_method(const struct debug_data *data, struct metadata *read,
                                   uint32_t index)
{
    const uintptr_t count = (data->metadata_end - data->metadata) / sizeof(uintptr_t);

    if (index == 0 || index > count)
        return 0;
    const uintptr_t first = (index - 1) / METHODS * METHODS;
    if (read->count == 0 || read->first != first) {
        read->first = first;
        read->count = count - first < METHODS ? count - first : METHODS;
        if (!read_data(data, read->words, data->metadata + first * sizeof(uintptr_t),
                       read->count * sizeof(uintptr_t))) {
            read->count = 0;
            return 0;
        }
    }
    return read->words[index - 1 - first];
}

/* From the innermost scope out; a caller's scope was written before the one that it calls. */
static size_t read_scopes(const struct smp_layout *layout, const struct debug_data *data,
                          int32_t scope, struct smp_raw_frame *out, size_t room)
{
    struct smp_compressed scopes;
    struct metadata metadata;
    uint32_t at = (uint32_t)scope;
    size_t count = 0;

    smp_compressed_begin(&scopes, layout->compressed_base, data->scopes, data->scopes_end,
                         read_scope_bytes, data);
    metadata.count = 0;
    while (at != NO_SCOPE) {
        uint32_t caller = 0;
        if (count == room)
            return 0;
        scopes.at = data->scopes + at;
        caller = smp_compressed_number(&scopes);
        out[count].method = read_scope_method(data, &metadata, smp_compressed_number(&scopes));
        out[count].bci = (int32_t)smp_compressed_number(&scopes) + ENTRY_BCI;
        if (scopes.is_broken || out[count].method == 0 || caller >= at)
            return 0;
        if (out[count].bci == ENTRY_BCI)
            out[count].bci = 0;
        at = caller;
        count++;
    }
    return count;
}

/* Reads all of it, a piece at a time. */
static bool can_read(uintptr_t at, uintptr_t end)
{
    char piece[PIECE_BYTES];
    bool can = true;

    for (; can && at < end; at += PIECE_BYTES)
        can = smp_safe_read(piece, at, end - at < PIECE_BYTES ? end - at : PIECE_BYTES);
    return can;
}

bool smp_code_map_data(const struct smp_layout *layout, struct smp_blob *blob)
{
    struct debug_data data;

    if (blob->kind != SMP_BLOB_COMPILED || layout->nmethod.outside == 0)
        return true;
    if (!find_outside(layout, blob, &data) || !can_read(data.pcs, data.scopes_end) ||
        !can_read(data.metadata, data.metadata_end))
        return false;
    blob->is_data_mapped = true;
    return true;
}

static size_t read_frames(const struct smp_layout *layout, const struct smp_blob *blob,
                          uintptr_t pc, bool is_near, struct smp_raw_frame *out, size_t room)
{
    struct debug_data data;
    struct record record;

    if (room == 0 || blob->method == 0)
        return 0;
    if (blob->kind == SMP_BLOB_NATIVE) {
        *out = (struct smp_raw_frame){ .method = blob->method, .bci = -1 };
        return 1;
    }
    if (blob->kind != SMP_BLOB_COMPILED ||
        !(layout->nmethod.outside != 0 ? find_outside(layout, blob, &data)
                                       : find_inside(layout, blob, &data)) ||
        !find_record(layout, &data, (int32_t)(pc - blob->code), is_near, &record))
        return 0;
    if (record.scope == NO_SCOPE) {
        *out = (struct smp_raw_frame){ .method = blob->method, .bci = 0 };
        return 1;
    }
    return read_scopes(layout, &data, record.scope, out, room);
}

size_t smp_code_frames(const struct smp_layout *layout, const struct smp_blob *blob, uintptr_t pc,
                       struct smp_raw_frame *out, size_t room)
{
    return read_frames(layout, blob, pc, false, out, room);
}

size_t smp_code_frames_near(const struct smp_layout *layout, const struct smp_blob *blob,
                            uintptr_t pc, struct smp_raw_frame *out, size_t room)
{
    return read_frames(layout, blob, pc, true, out, room);
}
