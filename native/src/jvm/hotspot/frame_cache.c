/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/hotspot/frame_cache.h"

#include <stdatomic.h>

#include "base/alloc.h"
#include "base/safe_read.h"
#include "jvm/hotspot/frames.h"
#include "jvm/hotspot/memory.h"
#include "jvm/hotspot/method_table.h"
#include "jvm/hotspot/safepoint_count.h"

enum {
    LINE_BYTES = 64,
    FRAMES_IN_ENTRY = 4,
    PARTS = SMP_CODE_MAX_FRAMES / FRAMES_IN_ENTRY,
    METHODS = 4096, /* a power of two */
    BCI_BITS = 16,
    MAX_BCI = (1 << BCI_BITS) - 2, /* -1 is kept as 0 */
    CODE_WORDS = 16,
    METHOD_WORDS = 16,
    HALF_BITS = 32,
    PART_SHIFT = 57,
    VIRTUAL_ROOT = 1, /* flags */
    SAYS_SIZE = 2,
    NATIVE = 1,
    SURE = 1 /* of a stamp */
};

/*
 * Words of an entry. The first one is odd while it is written, and another one after each
 * writing.
 */
enum code_word {
    CODE_SEQUENCE,
    CODE_KEY, /* the return address, and the part */
    CODE_BLOB,
    CODE_ID_AND_SIZE,
    CODE_SHAPE, /* epoch, count, part, flags */
    CODE_BCIS,
    CODE_FRAMES /* method, id of each */
};

enum method_word {
    METHOD_SEQUENCE,
    METHOD_KEY, /* Method* */
    METHOD_CONST,
    METHOD_SHAPE, /* number, flags */
    METHOD_CODE_BYTES,
    METHOD_ID,
    METHOD_IDS,
    METHOD_STAMP, /* the count of safepoints when it was read, twice; and whether it is sure */
    /* What only a check needs. */
    METHOD_POOL,
    METHOD_ID_ARRAY,
    METHOD_USED
};

struct code_entry {
    _Alignas(LINE_BYTES) _Atomic uint64_t words[CODE_WORDS];
};

struct method_entry {
    _Alignas(LINE_BYTES) _Atomic uint64_t words[METHOD_WORDS];
};

struct smp_frames_cache {
    _Atomic uint32_t epoch;
    atomic_flag is_written;
    size_t turn;  /* of the thread that writes */
    void *memory; /* of the tables, not aligned */
    struct code_entry *codes;
    struct method_entry *methods;
};

enum smp_status smp_frames_cache_create(struct smp_frames_cache **out)
{
    const size_t codes = SMP_FRAMES_CACHE * sizeof(struct code_entry);
    const size_t methods = METHODS * sizeof(struct method_entry);
    struct smp_frames_cache *cache = smp_alloc(NULL, sizeof(*cache));
    uintptr_t aligned = 0;

    *out = NULL;
    if (cache == NULL)
        return SMP_ENOMEM;
    cache->memory = smp_alloc(NULL, codes + methods + LINE_BYTES);
    if (cache->memory == NULL) {
        smp_free(NULL, cache);
        return SMP_ENOMEM;
    }
    aligned = ((uintptr_t)cache->memory + LINE_BYTES - 1) & ~(uintptr_t)(LINE_BYTES - 1);
    cache->codes = (struct code_entry *)aligned; /* NOLINT(performance-no-int-to-ptr) */
    cache->methods = (struct method_entry *)(aligned + codes); /* NOLINT */
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

/*
 * A table is made of pairs: what belongs to a key is in either entry of its pair. The highest bits
 * count as well, by which the parts of one address differ: a product alone carries them up and out.
 */
static size_t pair_of(uint64_t key, size_t size)
{
    const uint64_t folded = key ^ key >> HALF_BITS;

    return (size_t)((folded * 0xd6e8feb86659fd93U) >> HALF_BITS) & (size - 1) & ~(size_t)1;
}

/* Addresses of a program leave the highest bits free. */
static uint64_t key_of(uintptr_t pc, size_t part)
{
    return pc ^ (uint64_t)part << PART_SHIFT;
}

static uint64_t load(const _Atomic uint64_t *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

/*
 * Copies the words from the second one on, which is the key; false: it is just written, or of
 * another key.
 */
static bool copy_entry(const _Atomic uint64_t *words, uint64_t key, uint64_t *to, size_t count)
{
    const uint64_t sequence = atomic_load_explicit(&words[0], memory_order_acquire);

    /* Nothing has been written yet: the key of such an entry is 0, as a word of a stack may be. */
    if (load(&words[1]) != key || (sequence & 1) != 0 || sequence == 0)
        return false;
    for (size_t i = 1; i < count; i++)
        to[i] = load(&words[i]);
    atomic_thread_fence(memory_order_acquire);
    return load(&words[0]) == sequence;
}

/*
 * Which entry of a pair is written: the one of this key, or one that is free, else they take
 * turns.
 */
static size_t choose(struct smp_frames_cache *cache, uint64_t first, uint64_t second, uint64_t key)
{
    if (first == key || (first == 0 && second != key))
        return 0;
    if (second == key || second == 0)
        return 1;
    return cache->turn++ & 1;
}

static void write_entry(_Atomic uint64_t *words, const uint64_t *from, size_t count)
{
    const uint64_t sequence = load(&words[0]);

    atomic_store_explicit(&words[0], sequence + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    for (size_t i = 1; i < count; i++)
        atomic_store_explicit(&words[i], from[i], memory_order_relaxed);
    atomic_store_explicit(&words[0], sequence + 2, memory_order_release);
}

static bool begin_writing(struct smp_frames_cache *cache)
{
    return !atomic_flag_test_and_set_explicit(&cache->is_written, memory_order_acquire);
}

static void end_writing(struct smp_frames_cache *cache)
{
    atomic_flag_clear_explicit(&cache->is_written, memory_order_release);
}

static uint64_t shape_of(uint32_t epoch, size_t count, size_t part, unsigned flags)
{
    return (uint64_t)epoch << HALF_BITS | (uint64_t)count << 16 | (uint64_t)part << 8 | flags;
}

static unsigned flags_of(const struct smp_known_code *code)
{
    return (code->is_virtual_root ? VIRTUAL_ROOT : 0) | (code->says_size ? SAYS_SIZE : 0);
}

/* Where an entry is of another key, or is written meanwhile: false, and out may be anything. */
static bool read_entry_part(const _Atomic uint64_t *words, uint64_t key, size_t part,
                            struct smp_known_code *out, uint32_t *epoch)
{
    const uint64_t sequence = atomic_load_explicit(&words[0], memory_order_acquire);
    const size_t first = part * FRAMES_IN_ENTRY;

    /* Nothing has been written yet: the key of such an entry is 0, as a word of a stack may be. */
    if (load(&words[CODE_KEY]) != key || (sequence & 1) != 0 || sequence == 0)
        return false;
    const uint64_t id_and_size = load(&words[CODE_ID_AND_SIZE]);
    const uint64_t shape = load(&words[CODE_SHAPE]);
    uint64_t bcis = load(&words[CODE_BCIS]);
    out->blob = load(&words[CODE_BLOB]);
    out->compile_id = (uint32_t)(id_and_size >> HALF_BITS);
    out->frame_bytes = (uint32_t)id_and_size;
    out->count = shape >> 16 & 0xffff;
    out->is_virtual_root = (shape & VIRTUAL_ROOT) != 0;
    out->says_size = (shape & SAYS_SIZE) != 0;
    *epoch = (uint32_t)(shape >> HALF_BITS);
    if (out->count > SMP_CODE_MAX_FRAMES || (shape >> 8 & 0xff) != part)
        return false;
    for (size_t i = 0; i < FRAMES_IN_ENTRY && first + i < out->count; i++) {
        out->frames[first + i].method = load(&words[CODE_FRAMES + 2 * i]);
        out->frames[first + i].bci = (int32_t)(bcis & (MAX_BCI + 1)) - 1;
        out->ids[first + i] = load(&words[CODE_FRAMES + 2 * i + 1]);
        bcis >>= BCI_BITS;
    }
    atomic_thread_fence(memory_order_acquire);
    return load(&words[0]) == sequence;
}

static bool read_either(const struct smp_frames_cache *cache, uintptr_t pc, size_t part,
                        struct smp_known_code *out, uint32_t *epoch)
{
    const uint64_t key = key_of(pc, part);
    const struct code_entry *pair = &cache->codes[pair_of(key, SMP_FRAMES_CACHE)];

    return read_entry_part(pair[0].words, key, part, out, epoch) ||
           read_entry_part(pair[1].words, key, part, out, epoch);
}

static void put_part(struct smp_frames_cache *cache, uintptr_t pc, size_t part,
                     const struct smp_known_code *code)
{
    const size_t first = part * FRAMES_IN_ENTRY;
    uint64_t words[CODE_WORDS] = {
        [CODE_KEY] = key_of(pc, part),
        [CODE_BLOB] = code->blob,
        [CODE_ID_AND_SIZE] = (uint64_t)code->compile_id << HALF_BITS | code->frame_bytes,
        [CODE_SHAPE] = shape_of(code->epoch, code->count, part, flags_of(code)),
    };

    for (size_t i = 0; i < FRAMES_IN_ENTRY && first + i < code->count; i++) {
        words[CODE_BCIS] |= (uint64_t)(code->frames[first + i].bci + 1) << (i * BCI_BITS);
        words[CODE_FRAMES + 2 * i] = code->frames[first + i].method;
        words[CODE_FRAMES + 2 * i + 1] = code->ids[first + i];
    }
    struct code_entry *pair = &cache->codes[pair_of(words[CODE_KEY], SMP_FRAMES_CACHE)];
    const size_t chosen = choose(cache, load(&pair[0].words[CODE_KEY]),
                                 load(&pair[1].words[CODE_KEY]), words[CODE_KEY]);
    write_entry(pair[chosen].words, words, CODE_WORDS);
}

void smp_frame_cache_put(struct smp_frames_cache *cache, uintptr_t pc,
                         const struct smp_known_code *code)
{
    for (size_t i = 0; i < code->count; i++) {
        if (code->frames[i].bci < -1 || code->frames[i].bci > MAX_BCI)
            return;
    }
    if (cache == NULL || !begin_writing(cache))
        return;
    for (size_t part = 0; part * FRAMES_IN_ENTRY < code->count; part++)
        put_part(cache, pc, part, code);
    end_writing(cache);
}

static bool is_same_code(const struct smp_known_code *a, const struct smp_known_code *b)
{
    return a->blob == b->blob && a->compile_id == b->compile_id &&
           a->frame_bytes == b->frame_bytes && a->count == b->count &&
           a->is_virtual_root == b->is_virtual_root && a->says_size == b->says_size;
}

/* epoch: of part 0. */
static bool read_code(const struct smp_frames_cache *cache, uintptr_t pc,
                      struct smp_known_code *out, uint32_t *epoch)
{
    if (!read_either(cache, pc, 0, out, epoch))
        return false;
    for (size_t part = 1; part * FRAMES_IN_ENTRY < out->count; part++) {
        const struct smp_known_code first = *out;
        uint32_t unused = 0;
        if (!read_either(cache, pc, part, out, &unused) || !is_same_code(&first, out))
            return false;
    }
    return true;
}

/*
 * Freed code keeps its bytes, the compile id among them, and other code may begin behind its
 * header; but its block is marked as free before that.
 */
static bool is_in_place(const struct smp_layout *layout, const struct smp_known_code *code)
{
    return smp_load_u8(code->blob - layout->heap.block_bytes + layout->heap.block_used) != 0 &&
           smp_load_u32(code->blob + layout->nmethod.compile_id) == code->compile_id;
}

/*
 * After a renewal: is the blob still there, from its start? The compile id alone may be a
 * remnant.
 */
static bool check_blob(const struct smp_layout *layout, uintptr_t pc,
                       const struct smp_known_code *code)
{
    struct smp_blob blob;

    return smp_blob_find(layout, pc & ~SMP_FRAME_CACHE_LEAF, &blob) && blob.start == code->blob &&
           blob.compile_id == code->compile_id && blob.frame_bytes == code->frame_bytes;
}

/* Is this the id of the method? For an id that may be anything, where ids are pointers. */
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
 * After a renewal, too: an id that was read while a class was unloaded may be that of the method
 * that lay there before, and would stay for as long as the code.
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

/* Ids that have been made meanwhile. */
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
    uint32_t epoch = 0;

    out->epoch = 0;
    if (cache == NULL)
        return false;
    out->epoch = atomic_load_explicit(&cache->epoch, memory_order_acquire);
    if (!read_code(cache, pc, out, &epoch) || !is_in_place(layout, out))
        return false;
    const bool is_old = epoch != out->epoch;
    if (is_old && (!check_blob(layout, pc, out) || !have_own_ids(layout, out)))
        return false;
    if (complete_ids(cache, layout, out) || is_old)
        smp_frame_cache_put(cache, pc, out);
    return true;
}

/*
 * Where ids are pointers, methods are in method_table.h. Later ids are numbers, which say nothing.
 * There an entry is checked: all words on the way from the Method* to the id are read once more, in
 * one system call. That is left out as long as there was no safepoint since: without one no method
 * is freed that was on a stack, and this one was, as the entry is sure.
 */
static uint64_t stamp_of(uint64_t safepoints)
{
    return safepoints << 1;
}

static void put_words(struct smp_frames_cache *cache, const uint64_t words[METHOD_USED])
{
    const uint64_t key = words[METHOD_KEY];

    if (!begin_writing(cache))
        return;
    struct method_entry *pair = &cache->methods[pair_of(key, METHODS)];
    const size_t chosen =
        choose(cache, load(&pair[0].words[METHOD_KEY]), load(&pair[1].words[METHOD_KEY]), key);
    write_entry(pair[chosen].words, words, METHOD_USED);
    end_writing(cache);
}

static void put_method(struct smp_frames_cache *cache, uintptr_t method,
                       const struct smp_method_code *code, uint64_t id, uint64_t stamp)
{
    const uint64_t words[METHOD_USED] = {
        [METHOD_KEY] = method,
        [METHOD_CONST] = code->const_method,
        [METHOD_SHAPE] = shape_of(0, code->number, 0, code->is_native ? NATIVE : 0),
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
    const struct method_entry *pair = &cache->methods[pair_of(method, METHODS)];

    return copy_entry(pair[0].words, method, words, count) ||
           copy_entry(pair[1].words, method, words, count);
}

static void take_method(const struct smp_layout *layout, const uint64_t *words,
                        struct smp_method_code *out, uint64_t *id)
{
    *out = (struct smp_method_code){ .const_method = words[METHOD_CONST],
                                     .code = words[METHOD_CONST] + layout->const_method.bytes,
                                     .code_bytes = (uint32_t)words[METHOD_CODE_BYTES],
                                     .is_native = (words[METHOD_SHAPE] & NATIVE) != 0,
                                     .number = (uint16_t)(words[METHOD_SHAPE] >> 16),
                                     .ids = words[METHOD_IDS] };
    *id = words[METHOD_ID];
}

/* Where ids are numbers. safepoints: counted just now; 0: not known. */
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
 * Where the byte codes of a known method are, read for the first time. Its id's word had the
 * Method* before, and if it still has, the method was alive all the while, and so was what was read
 * of it.
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
