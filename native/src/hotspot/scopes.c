/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <string.h>

#include "base/safe_read.h"
#include "hotspot/code.h"
#include "hotspot/code_copies.h"
#include "hotspot/compressed.h"
#include "hotspot/machine_code.h"
#include "hotspot/memory.h"

enum {
    MAX_DATA_BYTES = 256 * 1024 * 1024,
    PIECE_BYTES = 8192,
    METHODS = 64,      /* metadata that are read at once */
    OWN_BYTES = 4096,  /* of records and scopes, if there is no shared copy */
    AFTER_BYTES = 512, /* of scopes: copied behind the start of the innermost one */
    PIVOTS = SMP_SAFE_PARTS,
    END_PC = INT32_MAX, /* the pc of the record that ends the list */
    NO_SCOPE = 0,       /* the only frame is the method itself, at its entry */
    ENTRY_BCI = -1
};

/* Bytes that can be loaded: where they are, or copied. */
struct piece {
    uintptr_t from; /* where they are, or were */
    size_t size;    /* 0: none */
    const char *bytes;
};

/* The debug data of a compiled method, as addresses. */
struct debug_data {
    bool is_outside;        /* of the code heap: reads may fault */
    struct piece pieces[2]; /* readable bytes: of records and scopes; of metadata */
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

/* Metadata that are in no piece. Each read is a system call, so many are read at once. */
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

static struct piece in_place(uintptr_t from, uintptr_t end)
{
    return (struct piece){ from, end - from, (const char *)from }; /* NOLINT */
}

static bool find_inside(const struct smp_layout *layout, const struct smp_blob *blob,
                        struct debug_data *out)
{
    const uintptr_t start = blob->start;
    const uintptr_t end = blob->data_end; /* checked, because this may be another blob by now */

    out->is_outside = false;
    out->scopes = smp_load_word(start + layout->nmethod.scopes);
    out->scopes_end = start + smp_load_u32(start + layout->nmethod.scopes_end);
    out->pcs = out->scopes_end;
    out->pcs_end = start + smp_load_u32(start + layout->nmethod.pcs_end);
    out->metadata = start + smp_load_u32(start + layout->nmethod.metadata);
    out->metadata_end = out->scopes;
    if (out->metadata < start || out->pcs_end > end || !is_in_order(out))
        return false;
    out->pieces[0] = in_place(out->metadata, out->pcs_end); /* one behind the other */
    out->pieces[1] = (struct piece){ 0 };
    return true;
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
    if (data == 0 || mutable_data == 0 || !is_in_order(out))
        return false;
    out->pieces[0] = out->pieces[1] = (struct piece){ 0 };
    if (!out->is_outside) {
        out->pieces[0] = in_place(out->pcs, out->scopes_end);
        out->pieces[1] = in_place(out->metadata, out->metadata_end);
    }
    return true;
}

static bool is_in_piece(const struct piece *piece, uintptr_t at, size_t size)
{
    return at >= piece->from && at - piece->from <= piece->size &&
           size <= piece->size - (at - piece->from);
}

/* Returns NULL if the bytes are in neither piece. */
static const char *find_bytes(const struct debug_data *data, uintptr_t at, size_t size)
{
    for (size_t i = 0; i < 2; i++) {
        const struct piece *piece = &data->pieces[i];
        if (is_in_piece(piece, at, size))
            return piece->bytes + (at - piece->from);
    }
    return NULL;
}

/* Returns how many bytes of metadata are copied, from the first one on. */
static size_t metadata_bytes(const struct debug_data *data, const struct smp_code_copy *copy)
{
    const size_t all = data->metadata_end - data->metadata;

    return all < copy->metadata_room ? all : copy->metadata_room;
}

/*
 * Copies [from, end), for which there is room, and, if wanted, the first metadata, in one read.
 * Another method's data may be there by then, as with reads piece by piece. So reads of the copy
 * are checked against the bounds of data, the caller checks each Method*, and at the end the blob
 * must still be of the same method.
 */
static bool copy_data(struct debug_data *data, uintptr_t from, uintptr_t end, bool with_metadata,
                      struct smp_code_copy *copy)
{
    const struct piece debug = { from, end - from, copy->debug };
    const struct piece metadata = { data->metadata, metadata_bytes(data, copy), copy->metadata };
    const struct smp_safe_part parts[] = {
        { copy->debug, debug.from, debug.size },
        { copy->metadata, metadata.from, metadata.size },
    };

    copy->key.compile_id = 0;
    if (!smp_safe_read_parts(parts, with_metadata ? 2 : 1))
        return false;
    data->pieces[0] = debug;
    if (with_metadata)
        data->pieces[1] = metadata;
    return true;
}

/* Returns whether records and scopes can be copied at once. The scopes follow the records. */
static bool is_small(const struct debug_data *data, const struct smp_code_copy *copy)
{
    return data->scopes_end - data->pcs <= copy->debug_room;
}

/* Another method may have taken the blob's place meanwhile; it has another compile id. */
static bool is_same_method(const struct smp_layout *layout, const struct smp_blob *blob)
{
    atomic_thread_fence(memory_order_acquire);
    return smp_load_u32(blob->start + layout->nmethod.compile_id) == blob->compile_id;
}

/* The JVM writes a method's data until it installs the method. After that they do not change. */
static bool is_installed(const struct smp_layout *layout, const struct smp_blob *blob)
{
    return layout->nmethod.state != 0 &&
           (int8_t)smp_load_u8(blob->start + layout->nmethod.state) >= 0;
}

/* Finds the data in the copy, or copies them, and keeps the copy if they are constant. */
static bool copy_all(const struct smp_layout *layout, const struct smp_blob *blob,
                     struct debug_data *data, struct smp_code_copy *copy)
{
    const bool is_constant = is_installed(layout, blob);
    const struct smp_code_copy_key key = {
        .blob = blob->start,
        .compile_id = blob->compile_id,
        .debug = data->pcs,
        .debug_bytes = data->scopes_end - data->pcs,
        .metadata = data->metadata,
        .metadata_bytes = metadata_bytes(data, copy),
    };

    atomic_thread_fence(memory_order_acquire);
    if (key.compile_id != 0 && memcmp(&copy->key, &key, sizeof(key)) == 0) {
        data->pieces[0] = (struct piece){ key.debug, key.debug_bytes, copy->debug };
        data->pieces[1] = (struct piece){ key.metadata, key.metadata_bytes, copy->metadata };
        return true;
    }
    if (!copy_data(data, data->pcs, data->scopes_end, true, copy))
        return false;
    if (is_constant && is_same_method(layout, blob))
        copy->key = key;
    return true;
}

/*
 * Narrows [*low, *high), the range of find_record, by PIVOTS records at a time, until its records
 * fit into the room.
 */
static bool narrow_records(const struct smp_layout *layout, const struct debug_data *data,
                           int32_t pc, size_t room, size_t *low, size_t *high)
{
    const size_t bytes = layout->pc_record.bytes;

    while ((*high - *low + 1) * bytes > room) {
        struct smp_safe_part parts[PIVOTS];
        int32_t pcs[PIVOTS];
        const size_t first = *low;
        const size_t step = (*high - first) / (PIVOTS + 1);
        for (size_t i = 0; i < PIVOTS; i++)
            parts[i] = (struct smp_safe_part){ &pcs[i],
                                               data->pcs + (first + (i + 1) * step) * bytes +
                                                   layout->pc_record.pc,
                                               sizeof(pcs[i]) };
        if (!smp_safe_read_parts(parts, PIVOTS))
            return false;
        for (size_t i = 0; i < PIVOTS; i++) {
            if (pcs[i] > pc) {
                *high = first + (i + 1) * step;
                break;
            }
            *low = first + (i + 1) * step;
        }
    }
    return true;
}

/* Copies the records that find_record will read, if not all data are copied. Returns false if they
 * cannot be read. */
static bool copy_records(const struct smp_layout *layout, struct debug_data *data, int32_t pc,
                         struct smp_code_copy *copy, size_t *low, size_t *high)
{
    const size_t bytes = layout->pc_record.bytes;
    const size_t count = *high;

    if (copy == NULL || is_small(data, copy))
        return true;
    if (!narrow_records(layout, data, pc, copy->debug_room, low, high))
        return false;
    return copy_data(data, data->pcs + *low * bytes,
                     data->pcs + (*high < count ? *high + 1 : *high) * bytes, false, copy);
}

/* Copies the scope and those of its callers, which were written before it, as far as they fit. */
static bool copy_scopes(struct debug_data *data, int32_t scope, struct smp_code_copy *copy)
{
    const uintptr_t at = data->scopes + (uint32_t)scope;
    uintptr_t from = data->scopes;
    uintptr_t end = data->scopes_end;

    if (copy == NULL || is_small(data, copy) || at < data->scopes || at >= data->scopes_end)
        return true;
    if (end - at > AFTER_BYTES)
        end = at + AFTER_BYTES;
    if (end - from > copy->debug_room)
        from = end - copy->debug_room;
    return copy_data(data, from, end, true, copy);
}

static bool load_record(const struct smp_layout *layout, const struct debug_data *data,
                        size_t index, struct record *out)
{
    const size_t bytes = layout->pc_record.bytes;
    const char *record = find_bytes(data, data->pcs + index * bytes, bytes);

    if (record == NULL)
        return false;
    memcpy(&out->pc, record + layout->pc_record.pc, sizeof(out->pc));
    memcpy(&out->scope, record + layout->pc_record.scope, sizeof(out->scope));
    return true;
}

/*
 * Finds the record of exactly this pc, which counts from the start of the code, or, if is_near, the
 * first record at or behind it. Records are in order of their pcs. The last one only marks the end
 * of the list: a pc behind all others gets the record before the end mark.
 */
static bool find_record(const struct smp_layout *layout, struct debug_data *data, int32_t pc,
                        bool is_near, struct smp_code_copy *copy, struct record *out)
{
    const size_t count = (data->pcs_end - data->pcs) / layout->pc_record.bytes;
    size_t low = 0;
    size_t high = count;
    struct record before;

    if (count == 0 || !copy_records(layout, data, pc, copy, &low, &high))
        return false;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (!load_record(layout, data, middle, out))
            return false;
        if (out->pc <= pc)
            low = middle;
        else
            high = middle;
    }
    /* low: the last record that is not behind pc, or the first one. */
    if (!load_record(layout, data, low, out))
        return false;
    if (out->pc == pc || (is_near && out->pc > pc))
        return true;
    before = *out;
    if (!is_near || high == count || !load_record(layout, data, high, out))
        return false;
    if (out->pc == END_PC && before.pc >= 0)
        *out = before;
    return true;
}

static const uint8_t *find_scope_bytes(const void *self, uintptr_t at, size_t *length,
                                       uint8_t room[SMP_COMPRESSED_BLOCK])
{
    const struct debug_data *data = self;

    for (size_t i = 0; i < 2; i++) {
        const struct piece *piece = &data->pieces[i];
        if (is_in_piece(piece, at, 1)) {
            const size_t rest = piece->size - (at - piece->from);
            *length = *length < rest ? *length : rest;
            return (const uint8_t *)piece->bytes + (at - piece->from);
        }
    }
    if (*length > SMP_COMPRESSED_BLOCK)
        *length = SMP_COMPRESSED_BLOCK;
    return smp_safe_read(room, at, *length) ? room : NULL;
}

/* index: from 1. */
static uintptr_t read_scope_method(const struct debug_data *data, struct metadata *read,
                                   uint32_t index)
{
    const uintptr_t count = (data->metadata_end - data->metadata) / sizeof(uintptr_t);
    const uintptr_t at = data->metadata + (index - (uintptr_t)1) * sizeof(uintptr_t);
    uintptr_t method = 0;

    if (index == 0 || index > count)
        return 0;
    const char *bytes = find_bytes(data, at, sizeof(method));
    if (bytes != NULL) {
        memcpy(&method, bytes, sizeof(method));
        return method;
    }
    const uintptr_t first = (index - 1) / METHODS * METHODS;
    if (read->count == 0 || read->first != first) {
        read->first = first;
        read->count = count - first < METHODS ? count - first : METHODS;
        if (!smp_safe_read(read->words, data->metadata + first * sizeof(uintptr_t),
                           read->count * sizeof(uintptr_t))) {
            read->count = 0;
            return 0;
        }
    }
    return read->words[index - 1 - first];
}

/* Reads from the innermost scope outwards. A caller's scope was written before its callee's. */
static size_t read_scopes(const struct smp_layout *layout, const struct debug_data *data,
                          int32_t scope, struct smp_raw_frame *out, size_t room)
{
    struct smp_compressed scopes;
    struct metadata metadata;
    uint32_t at = (uint32_t)scope;
    size_t count = 0;

    smp_compressed_begin(&scopes, layout->compressed_base, data->scopes, data->scopes_end,
                         find_scope_bytes, data);
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

/* Returns whether all bytes can be read. */
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

/* The place whose frames are wanted, and the room for them. */
struct wanted {
    int32_t pc;   /* counted from the start of the code */
    bool is_near; /* the first record at or behind pc counts; false: that of exactly pc */
    struct smp_raw_frame *out;
    size_t room;
};

int32_t smp_code_poll_record(const struct smp_blob *blob, int32_t offset)
{
    uint32_t distance = 0;

    if (offset >= 0 && (uintptr_t)offset < blob->end - blob->code)
        distance = smp_machine_code_poll_load(blob->code + (uintptr_t)offset, blob->end);
    return distance > 0 ? offset + (int32_t)distance : 0;
}

/* Finds the record of the wanted place. */
static bool find_wanted(const struct smp_layout *layout, const struct smp_blob *blob,
                        struct debug_data *data, const struct wanted *wanted,
                        struct smp_code_copy *copy, struct record *out)
{
    int32_t poll = 0;

    if (!find_record(layout, data, wanted->pc, wanted->is_near, copy, out))
        return false;
    if (wanted->is_near)
        poll = smp_code_poll_record(blob, out->pc);
    return poll == 0 || find_record(layout, data, poll, true, copy, out);
}

/* copy: the room for data outside of the code heap; NULL: all data are in pieces. */
static size_t read_from_data(const struct smp_layout *layout, const struct smp_blob *blob,
                             struct debug_data *data, const struct wanted *wanted,
                             struct smp_code_copy *copy)
{
    struct record record;

    if (!find_wanted(layout, blob, data, wanted, copy, &record))
        return 0;
    if (record.scope == NO_SCOPE) {
        *wanted->out = (struct smp_raw_frame){ .method = blob->method, .bci = 0 };
        return 1;
    }
    return copy_scopes(data, record.scope, copy)
               ? read_scopes(layout, data, record.scope, wanted->out, wanted->room)
               : 0;
}

static size_t read_with(const struct smp_layout *layout, const struct smp_blob *blob,
                        struct debug_data *data, const struct wanted *wanted,
                        struct smp_code_copy *copy)
{
    return is_small(data, copy) && !copy_all(layout, blob, data, copy)
               ? 0
               : read_from_data(layout, blob, data, wanted, copy);
}

/* Reads with a copy on this thread's stack, which is not kept. */
static size_t read_alone(const struct smp_layout *layout, const struct smp_blob *blob,
                         struct debug_data *data, const struct wanted *wanted)
{
    char debug[OWN_BYTES];
    char metadata[METHODS * sizeof(uintptr_t)];
    struct smp_code_copy own = { .debug = debug,
                                 .debug_room = sizeof(debug),
                                 .metadata = metadata,
                                 .metadata_room = sizeof(metadata) };

    return read_with(layout, blob, data, wanted, &own);
}

static size_t read_outside(const struct smp_layout *layout, const struct smp_blob *blob,
                           struct debug_data *data, const struct wanted *wanted)
{
    const bool is_kept = data->scopes_end - data->pcs <= SMP_CODE_COPY_DEBUG;
    struct smp_code_copy *copy = is_kept ? smp_code_copies_take(blob->start) : NULL;

    if (copy == NULL)
        return read_alone(layout, blob, data, wanted);
    const size_t count = read_with(layout, blob, data, wanted, copy);
    smp_code_copies_give_back(copy);
    return count;
}

static size_t read_compiled(const struct smp_layout *layout, const struct smp_blob *blob,
                            const struct wanted *wanted)
{
    struct debug_data data;

    if (layout->nmethod.outside == 0)
        return find_inside(layout, blob, &data) ? read_from_data(layout, blob, &data, wanted, NULL)
                                                : 0;
    if (!find_outside(layout, blob, &data))
        return 0;
    return data.is_outside ? read_outside(layout, blob, &data, wanted)
                           : read_from_data(layout, blob, &data, wanted, NULL);
}

static size_t read_frames(const struct smp_layout *layout, const struct smp_blob *blob,
                          uintptr_t pc, bool is_near, struct smp_raw_frame *out, size_t room)
{
    const struct wanted wanted = {
        .pc = (int32_t)(pc - blob->code), .is_near = is_near, .out = out, .room = room
    };
    size_t count = 0;

    if (room == 0 || blob->method == 0)
        return 0;
    if (blob->kind == SMP_BLOB_NATIVE) {
        *out = (struct smp_raw_frame){ .method = blob->method, .bci = -1 };
        return 1;
    }
    if (blob->kind == SMP_BLOB_COMPILED)
        count = read_compiled(layout, blob, &wanted);
    return count > 0 && is_same_method(layout, blob) ? count : 0;
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
