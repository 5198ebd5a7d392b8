/* SPDX-License-Identifier: Apache-2.0 */
#include "hotspot/frame_cache.h"

#include <stdatomic.h>

#include "base/alloc.h"
#include "base/safe_read.h"
#include "hotspot/frame_cache_entry.h"
#include "hotspot/frames.h"
#include "hotspot/memory.h"
#include "hotspot/method_table.h"
#include "hotspot/safepoint_count.h"

enum {
    PARTS = SMP_CODE_MAX_FRAMES / SMP_ENTRY_FRAMES,
    METHODS = 4096,                   /* a power of two */
    MAX_BCI = SMP_ENTRY_BCI_MASK - 1, /* the largest that an entry holds */
    METHOD_WORDS = 16,
    KEY_PART_SHIFT = 57,
    NUMBER_SHIFT = 16, /* of a method's shape */
    NATIVE = 1,
    SURE = 1,    /* of a stamp */
    BLOBS = 256, /* a power of two */
    BLOB_WORDS = 8,
    NEIGHBOURHOOD_BYTES = 256 /* addresses in one such range share an entry of a blob */
};

/* A method's entry is written and read as an entry of frame_cache_entry.h. */
enum method_word {
    METHOD_SEQUENCE,
    METHOD_KEY, /* Method* */
    METHOD_CONST,
    METHOD_SHAPE, /* number, flags */
    METHOD_CODE_BYTES,
    METHOD_ID,
    METHOD_IDS,
    METHOD_STAMP, /* twice the count of safepoints when it was read, plus SURE */
    /* Only a check needs these. */
    METHOD_POOL,
    METHOD_ID_ARRAY,
    METHOD_USED
};

struct smp_method_entry {
    _Alignas(SMP_ENTRY_LINE_BYTES) _Atomic uint64_t words[METHOD_WORDS];
};

/* A blob's words behind the sequence number. Distances count from the blob's start. */
enum blob_word {
    BLOB_START = 1,
    BLOB_METHOD,
    BLOB_CODE_AND_END,
    BLOB_DATA_AND_FRAME, /* where its data end, and the bytes of its frame */
    BLOB_COMPLETE_AND_ID,
    BLOB_EPOCH_AND_KIND,
    BLOB_USED
};

struct smp_blob_entry {
    _Alignas(SMP_ENTRY_LINE_BYTES) _Atomic uint64_t words[BLOB_WORDS];
};

enum smp_status smp_frames_cache_create(struct smp_frames_cache **out)
{
    const size_t codes = SMP_FRAMES_CACHE * sizeof(struct smp_code_entry);
    const size_t methods = METHODS * sizeof(struct smp_method_entry);
    const size_t blobs = BLOBS * sizeof(struct smp_blob_entry);
    struct smp_frames_cache *cache = smp_alloc(NULL, sizeof(*cache));
    uintptr_t aligned = 0;

    *out = NULL;
    if (cache == NULL)
        return SMP_ENOMEM;
    cache->memory = smp_alloc(NULL, codes + methods + blobs + SMP_ENTRY_LINE_BYTES);
    if (cache->memory == NULL) {
        smp_free(NULL, cache);
        return SMP_ENOMEM;
    }
    aligned = ((uintptr_t)cache->memory + SMP_ENTRY_LINE_BYTES - 1) &
              ~(uintptr_t)(SMP_ENTRY_LINE_BYTES - 1);
    cache->codes = (struct smp_code_entry *)aligned; /* NOLINT(performance-no-int-to-ptr) */
    cache->methods = (struct smp_method_entry *)(aligned + codes);       /* NOLINT */
    cache->blobs = (struct smp_blob_entry *)(aligned + codes + methods); /* NOLINT */
    atomic_init(&cache->epoch, 1);
    atomic_flag_clear(&cache->is_written);
    *out = cache;
    return SMP_OK;
}

void smp_frames_cache_destroy(struct smp_frames_cache *cache)
{
    if (cache == NULL)
        return;
    smp_free(NULL, cache->memory);
    smp_free(NULL, cache);
}

void smp_frames_cache_renew(struct smp_frames_cache *cache)
{
    (void)atomic_fetch_add(&cache->epoch, 1);
}

/* Addresses of a program do not use the highest bits. */
static uint64_t key_of(uintptr_t pc, size_t part)
{
    return pc ^ (uint64_t)part << KEY_PART_SHIFT;
}

/* Neighbouring pairs hold the parts of an address, so that they are mostly in one page. */
static size_t pair_of_part(uintptr_t pc, size_t part)
{
    return (smp_entry_pair_of(pc, SMP_FRAMES_CACHE) + 2 * part) & (SMP_FRAMES_CACHE - 1);
}

/* Returns which entry of a pair to write: the one of this key, else a free one, else each in
 * turn. */
static size_t choose(struct smp_frames_cache *cache, uint64_t first, uint64_t second, uint64_t key)
{
    if (first == key || (first == 0 && second != key))
        return 0;
    if (second == key || second == 0)
        return 1;
    return cache->turn++ & 1;
}

static uint64_t shape_of(uint32_t epoch, size_t count, size_t part, unsigned flags)
{
    return (uint64_t)epoch << SMP_ENTRY_HALF_BITS | (uint64_t)count << SMP_ENTRY_COUNT_SHIFT |
           (uint64_t)part << SMP_ENTRY_PART_SHIFT | flags;
}

static unsigned flags_of(const struct smp_known_code *code)
{
    unsigned flags = SMP_ENTRY_ALL_IDS;

    for (size_t i = 0; i < code->count; i++) {
        if (code->ids[i] == 0)
            flags = 0;
    }
    return flags | (code->is_virtual_root ? SMP_ENTRY_VIRTUAL_ROOT : 0) |
           (code->says_size ? SMP_ENTRY_SAYS_SIZE : 0);
}

/* Reads four frames: the first ones, or the next four. On false *out may be anything. */
static bool read_code_part(const struct smp_frames_cache *cache, uintptr_t pc, size_t part,
                           struct smp_entry_head *head, const struct smp_known_code *out)
{
    const uint64_t key = key_of(pc, part);
    const struct smp_code_entry *pair = &cache->codes[pair_of_part(pc, part)];
    const size_t first = part * SMP_ENTRY_FRAMES;

    for (size_t i = 0; i < 2; i++) {
        if (smp_entry_read(&pair[i], key, head, out->frames + first, out->ids + first) &&
            smp_entry_part(head) == part && smp_entry_count(head) <= SMP_CODE_MAX_FRAMES)
            return true;
    }
    return false;
}

static void put_part(struct smp_frames_cache *cache, uintptr_t pc, size_t part,
                     const struct smp_known_code *code)
{
    const size_t first = part * SMP_ENTRY_FRAMES;
    uint64_t words[SMP_ENTRY_WORDS] = {
        [SMP_ENTRY_KEY] = key_of(pc, part),
        [SMP_ENTRY_BLOB] = code->blob,
        [SMP_ENTRY_ID_AND_SIZE] =
            (uint64_t)code->compile_id << SMP_ENTRY_HALF_BITS | code->frame_bytes,
        [SMP_ENTRY_SHAPE] = shape_of(code->epoch, code->count, part, flags_of(code)),
    };

    for (size_t i = 0; i < SMP_ENTRY_FRAMES && first + i < code->count; i++) {
        words[SMP_ENTRY_BCIS] |= (uint64_t)(code->frames[first + i].bci + 1)
                                 << (i * SMP_ENTRY_BCI_BITS);
        words[SMP_ENTRY_FIRST_FRAME + 2 * i] = code->frames[first + i].method;
        words[SMP_ENTRY_FIRST_FRAME + 2 * i + 1] = code->ids[first + i];
    }
    struct smp_code_entry *pair = &cache->codes[pair_of_part(pc, part)];
    const size_t chosen =
        choose(cache, smp_entry_load(&pair[0].words[SMP_ENTRY_KEY]),
               smp_entry_load(&pair[1].words[SMP_ENTRY_KEY]), words[SMP_ENTRY_KEY]);
    smp_entry_write(pair[chosen].words, words, SMP_ENTRY_WORDS);
}

void smp_frame_cache_put(struct smp_frames_cache *cache, uintptr_t pc,
                         const struct smp_known_code *code)
{
    for (size_t i = 0; i < code->count; i++) {
        if (code->frames[i].bci < -1 || code->frames[i].bci > MAX_BCI)
            return;
    }
    if (cache == NULL || !smp_cache_begin_writing(cache))
        return;
    for (size_t part = 0; part * SMP_ENTRY_FRAMES < code->count; part++)
        put_part(cache, pc, part, code);
    smp_cache_end_writing(cache);
}

/* The parts then arrive at the same time instead of one after the other. */
static void prefetch_parts(const struct smp_frames_cache *cache, uintptr_t pc, size_t count)
{
    for (size_t part = 1; part < PARTS && part * SMP_ENTRY_FRAMES < count; part++) {
        const char *entry = (const char *)&cache->codes[pair_of_part(pc, part)];
        for (size_t at = 0; at < sizeof(struct smp_code_entry); at += SMP_ENTRY_LINE_BYTES)
            __builtin_prefetch(entry + at);
    }
}

/* All parts must be of the same code: they may have been written at different times. */
static bool read_code(const struct smp_frames_cache *cache, uintptr_t pc,
                      struct smp_entry_head *head, struct smp_known_code *out)
{
    if (!read_code_part(cache, pc, 0, head, out))
        return false;
    prefetch_parts(cache, pc, smp_entry_count(head));
    for (size_t part = 1; part * SMP_ENTRY_FRAMES < smp_entry_count(head); part++) {
        struct smp_entry_head other;
        if (!read_code_part(cache, pc, part, &other, out) || other.blob != head->blob ||
            other.id_and_size != head->id_and_size ||
            other.shape != (head->shape | (uint64_t)part << SMP_ENTRY_PART_SHIFT))
            return false;
    }
    out->blob = head->blob;
    out->compile_id = smp_entry_compile_id(head);
    out->frame_bytes = smp_entry_frame_bytes(head);
    out->count = smp_entry_count(head);
    out->is_virtual_root = (head->shape & SMP_ENTRY_VIRTUAL_ROOT) != 0;
    out->says_size = (head->shape & SMP_ENTRY_SAYS_SIZE) != 0;
    return true;
}

/* After a renewal: returns whether the blob still begins at its start. The compile id alone may be
 * a remnant of freed code. */
static bool check_blob(const struct smp_layout *layout, uintptr_t pc,
                       const struct smp_known_code *code)
{
    struct smp_blob blob;

    return smp_blob_find(layout, pc & ~SMP_FRAME_CACHE_LEAF, &blob) && blob.start == code->blob &&
           blob.compile_id == code->compile_id && blob.frame_bytes == code->frame_bytes;
}

/* If ids are pointers: returns whether this is the id of the method. The id may be any number. */
static bool is_new_id_of(uint64_t id, uintptr_t method)
{
    uintptr_t found = 0;

    return id % sizeof(found) == 0 && smp_safe_read(&found, (uintptr_t)id, sizeof(found)) &&
           found == method;
}

static bool is_own_id(uintptr_t method, uint64_t id)
{
    struct smp_known_method known;

    return smp_method_table_find(method, &known) ? known.id == id : is_new_id_of(id, method);
}

/*
 * After a renewal: returns whether the ids belong to the methods. An id read while a class was
 * unloaded may belong to the method at this address before, and would stay as long as the code.
 */
static bool have_own_ids(const struct smp_layout *layout, const struct smp_known_code *code)
{
    if (!smp_method_table_serves(layout))
        return true;
    for (size_t i = 0; i < code->count; i++) {
        if (code->ids[i] != 0 && !is_own_id(code->frames[i].method, code->ids[i]))
            return false;
    }
    return true;
}

/* Fills in ids that the JVM has created meanwhile. */
static bool complete_ids(struct smp_frames_cache *cache, const struct smp_layout *layout,
                         struct smp_known_code *code)
{
    bool is_changed = false;

    for (size_t i = 0; i < code->count; i++) {
        if (code->ids[i] == 0 &&
            smp_frame_cache_id(cache, layout, code->frames[i].method, &code->ids[i]))
            is_changed = is_changed || code->ids[i] != 0;
    }
    return is_changed;
}

bool smp_frame_cache_find(struct smp_frames_cache *cache, const struct smp_layout *layout,
                          uintptr_t pc, struct smp_known_code *out)
{
    struct smp_entry_head head;

    out->epoch = 0;
    if (cache == NULL)
        return false;
    out->epoch = atomic_load_explicit(&cache->epoch, memory_order_acquire);
    if (!read_code(cache, pc, &head, out) ||
        !smp_code_is_in_place(layout, out->blob, out->compile_id))
        return false;
    const bool is_old = smp_entry_epoch(&head) != out->epoch;
    if (is_old && (!check_blob(layout, pc, out) || !have_own_ids(layout, out)))
        return false;
    if (complete_ids(cache, layout, out) || is_old)
        smp_frame_cache_put(cache, pc, out);
    return true;
}

/*
 * Methods are kept here if ids are numbers, which prove nothing. (If ids are pointers, methods are
 * in method_table.h.) So an entry is checked: all words from the Method* to the id are read once
 * more, in one system call. The check is skipped for a sure entry if there has been no safepoint
 * since: a sure method was on a stack, and without a safepoint the JVM frees no such method.
 */
static uint64_t stamp_of(uint64_t safepoints)
{
    return safepoints << 1;
}

static void put_words(struct smp_frames_cache *cache, const uint64_t words[METHOD_USED])
{
    const uint64_t key = words[METHOD_KEY];

    if (!smp_cache_begin_writing(cache))
        return;
    struct smp_method_entry *pair = &cache->methods[smp_entry_pair_of(key, METHODS)];
    const size_t chosen = choose(cache, smp_entry_load(&pair[0].words[METHOD_KEY]),
                                 smp_entry_load(&pair[1].words[METHOD_KEY]), key);
    smp_entry_write(pair[chosen].words, words, METHOD_USED);
    smp_cache_end_writing(cache);
}

static void put_method(struct smp_frames_cache *cache, uintptr_t method,
                       const struct smp_method_code *code, uint64_t id, uint64_t stamp)
{
    const uint64_t words[METHOD_USED] = {
        [METHOD_KEY] = method,
        [METHOD_CONST] = code->const_method,
        [METHOD_SHAPE] = (uint64_t)code->number << NUMBER_SHIFT | (code->is_native ? NATIVE : 0),
        [METHOD_CODE_BYTES] = code->code_bytes,
        [METHOD_ID] = id,
        [METHOD_IDS] = code->ids,
        [METHOD_STAMP] = stamp,
        [METHOD_POOL] = code->pool,
        [METHOD_ID_ARRAY] = code->id_array,
    };

    put_words(cache, words);
}

/* Copies the words up to count. */
static bool copy_method(const struct smp_frames_cache *cache, uintptr_t method, uint64_t *words,
                        size_t count)
{
    const struct smp_method_entry *pair = &cache->methods[smp_entry_pair_of(method, METHODS)];

    return smp_entry_copy(pair[0].words, method, words, count) ||
           smp_entry_copy(pair[1].words, method, words, count);
}

static void take_method(const struct smp_layout *layout, const uint64_t *words,
                        struct smp_method_code *out, uint64_t *id)
{
    *out = (struct smp_method_code){ .const_method = words[METHOD_CONST],
                                     .code = words[METHOD_CONST] + layout->const_method.bytes,
                                     .code_bytes = (uint32_t)words[METHOD_CODE_BYTES],
                                     .is_native = (words[METHOD_SHAPE] & NATIVE) != 0,
                                     .number = (uint16_t)(words[METHOD_SHAPE] >> NUMBER_SHIFT),
                                     .ids = words[METHOD_IDS] };
    *id = words[METHOD_ID];
}

/* Called if ids are numbers. safepoints: the count now; 0: not known. */
static bool find_by_words(struct smp_frames_cache *cache, const struct smp_layout *layout,
                          uintptr_t method, uint64_t safepoints, struct smp_method_code *out,
                          uint64_t *id)
{
    uint64_t words[METHOD_USED];

    if (!copy_method(cache, method, words, METHOD_POOL))
        return false;
    if (safepoints != 0 && words[METHOD_STAMP] == (stamp_of(safepoints) | SURE)) {
        take_method(layout, words, out, id);
        return true;
    }
    if (!copy_method(cache, method, words, METHOD_USED))
        return false;
    take_method(layout, words, out, id);
    out->pool = words[METHOD_POOL];
    out->id_array = words[METHOD_ID_ARRAY];
    if (!smp_method_is_same(layout, method, out, *id))
        return false;
    out->is_unsure = safepoints != 0;
    if (out->is_unsure && words[METHOD_STAMP] != stamp_of(safepoints)) {
        words[METHOD_STAMP] = stamp_of(safepoints);
        put_words(cache, words);
    }
    return true;
}

/*
 * Reads for the first time where the byte codes of a known method are. The id's word held the
 * Method* before; if it still does, the method and its byte codes existed in between.
 */
static bool read_known(const struct smp_layout *layout, uintptr_t method,
                       struct smp_known_method *known)
{
    struct smp_method_code code;
    struct smp_known_method after;

    if (!smp_method_byte_codes(layout, method, &code) || !smp_method_table_find(method, &after) ||
        after.id != known->id)
        return false;
    known->const_method = code.const_method;
    known->code_bytes = (uint16_t)code.code_bytes;
    known->is_native = code.is_native;
    smp_method_table_put(method, known);
    return true;
}

static bool find_or_read(const struct smp_frames_cache *cache, const struct smp_layout *layout,
                         uintptr_t method, struct smp_method_code *out, uint64_t *id)
{
    struct smp_known_method known;

    if (smp_method_table_find(method, &known) &&
        (known.const_method != 0 || read_known(layout, method, &known))) {
        *out = (struct smp_method_code){ .const_method = known.const_method,
                                         .code = known.const_method + layout->const_method.bytes,
                                         .code_bytes = known.code_bytes,
                                         .is_native = known.is_native };
        *id = known.id;
        return true;
    }
    if (!smp_method_code(layout, method, out))
        return false;
    *id = smp_method_code_id(out);
    if (cache == NULL || *id == 0 || !is_new_id_of(*id, method))
        return true;
    known = (struct smp_known_method){ .id = *id,
                                       .const_method = out->const_method,
                                       .code_bytes = (uint16_t)out->code_bytes,
                                       .is_native = out->is_native };
    smp_method_table_put(method, &known);
    return true;
}

bool smp_frame_cache_method(struct smp_frames_cache *cache, const struct smp_layout *layout,
                            uintptr_t method, struct smp_method_code *out, uint64_t *id)
{
    if (smp_method_table_serves(layout))
        return find_or_read(cache, layout, method, out, id);
    const uint64_t safepoints = smp_safepoint_count(layout->safepoints);
    if (cache != NULL && find_by_words(cache, layout, method, safepoints, out, id))
        return true;
    if (!smp_method_code(layout, method, out))
        return false;
    *id = smp_method_code_id(out);
    if (cache == NULL || *id == 0)
        return true;
    out->is_unsure = safepoints != 0;
    put_method(cache, method, out, *id, stamp_of(safepoints));
    return true;
}

bool smp_frame_cache_id(struct smp_frames_cache *cache, const struct smp_layout *layout,
                        uintptr_t method, uint64_t *id)
{
    struct smp_known_method known;
    struct smp_method_code unused;

    if (!smp_method_table_serves(layout) || !smp_method_table_find(method, &known))
        return smp_frame_cache_method(cache, layout, method, &unused, id);
    *id = known.id;
    return true;
}

void smp_frames_confirm(struct smp_frames_cache *cache, const struct smp_frames *frames)
{
    const uint64_t stamp = stamp_of(frames->safepoints);
    uint64_t words[METHOD_USED];

    if (cache == NULL || frames->unsure == 0 || stamp == 0)
        return;
    for (size_t i = 0; i < frames->count; i++) {
        if (!copy_method(cache, frames->raw[i].method, words, METHOD_USED) ||
            words[METHOD_ID] != frames->ids[i] || words[METHOD_STAMP] != stamp)
            continue;
        words[METHOD_STAMP] = stamp | SURE;
        put_words(cache, words);
    }
}

/* --- blobs --- */

static uint64_t both(uint64_t high, uint32_t low)
{
    return high << SMP_ENTRY_HALF_BITS | low;
}

static uint32_t high_of(uint64_t word)
{
    return (uint32_t)(word >> SMP_ENTRY_HALF_BITS);
}

static struct smp_blob_entry *blob_entry_of(const struct smp_frames_cache *cache, uintptr_t pc)
{
    return &cache->blobs[pc / NEIGHBOURHOOD_BYTES % BLOBS];
}

static bool read_blob_entry(const struct smp_blob_entry *entry, uint32_t epoch,
                            struct smp_blob *out)
{
    const uint64_t start = smp_entry_load(&entry->words[BLOB_START]);
    uint64_t words[BLOB_USED];

    if (!smp_entry_copy(entry->words, start, words, BLOB_USED) ||
        high_of(words[BLOB_EPOCH_AND_KIND]) != epoch)
        return false;
    *out = (struct smp_blob){
        .start = start,
        .code = start + high_of(words[BLOB_CODE_AND_END]),
        .end = start + (uint32_t)words[BLOB_CODE_AND_END],
        .data_end = start + high_of(words[BLOB_DATA_AND_FRAME]),
        .kind = (enum smp_blob_kind)(uint32_t)words[BLOB_EPOCH_AND_KIND],
        .frame_bytes = (uint32_t)words[BLOB_DATA_AND_FRAME],
        .frame_complete = (int32_t)high_of(words[BLOB_COMPLETE_AND_ID]),
        .compile_id = (uint32_t)words[BLOB_COMPLETE_AND_ID],
        .method = words[BLOB_METHOD],
    };
    return true;
}

/* epoch: the cache's, read before the blob. */
static void put_blob(struct smp_frames_cache *cache, uintptr_t pc, uint32_t epoch,
                     const struct smp_blob *blob)
{
    const uint64_t words[BLOB_USED] = {
        [BLOB_START] = blob->start,
        [BLOB_METHOD] = blob->method,
        [BLOB_CODE_AND_END] = both(blob->code - blob->start, (uint32_t)(blob->end - blob->start)),
        [BLOB_DATA_AND_FRAME] = both(blob->data_end - blob->start, blob->frame_bytes),
        [BLOB_COMPLETE_AND_ID] = both((uint32_t)blob->frame_complete, blob->compile_id),
        [BLOB_EPOCH_AND_KIND] = both(epoch, (uint32_t)blob->kind),
    };

    if (!smp_cache_begin_writing(cache))
        return;
    smp_entry_write(blob_entry_of(cache, pc)->words, words, BLOB_USED);
    smp_cache_end_writing(cache);
}

bool smp_blob_cache_find(struct smp_frames_cache *cache, const struct smp_layout *layout,
                         uintptr_t pc, struct smp_blob *out)
{
    if (cache == NULL)
        return smp_blob_find(layout, pc, out);
    if (atomic_load_explicit(&cache->has_jvm_code, memory_order_acquire) &&
        smp_blob_is_interpreter(cache->jvm_code.interpreter, pc, out))
        return true;
    const uint32_t epoch = atomic_load_explicit(&cache->epoch, memory_order_acquire);
    if (read_blob_entry(blob_entry_of(cache, pc), epoch, out) && pc >= out->code && pc < out->end &&
        smp_code_is_in_place(layout, out->start, out->compile_id))
        return true;
    if (!smp_blob_find(layout, pc, out))
        return false;
    if (out->kind == SMP_BLOB_COMPILED || out->kind == SMP_BLOB_NATIVE)
        put_blob(cache, pc, epoch, out);
    return true;
}
