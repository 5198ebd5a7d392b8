/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_cache_entry.h - an entry of frame_cache.h's table of return addresses, and how a walk reads
 * an entry of any of its tables, or of method_table.h's, without a lock. Most steps of a walk read
 * one entry and nothing else of the table.
 *
 *   return address ─► a pair of entries ─► one of this key ─► blob, compile id, size, four frames
 *
 * The first word of an entry is odd while the entry is written, and differs after each writing.
 *
 * Threads  any, signal handlers included.
 * Errors   false: the entry is another key's, or was written meanwhile; the output may be anything.
 * Cost     two cache lines for each entry of the pair that is read.
 */
#ifndef SMP_HOTSPOT_FRAME_CACHE_ENTRY_H
#define SMP_HOTSPOT_FRAME_CACHE_ENTRY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hotspot/frame_types.h"
#include "hotspot/layout.h"
#include "hotspot/memory.h"

enum {
    SMP_ENTRY_FRAMES = 4,
    SMP_ENTRY_WORDS = 16,
    SMP_ENTRY_LINE_BYTES = 64,
    SMP_ENTRY_BCI_BITS = 16,
    SMP_ENTRY_BCI_MASK = (1 << SMP_ENTRY_BCI_BITS) - 1, /* -1 is kept as 0 */
    SMP_ENTRY_HALF_BITS = 32,
    SMP_ENTRY_COUNT_SHIFT = 16, /* in the shape, as the next one */
    SMP_ENTRY_PART_SHIFT = 8,
    SMP_ENTRY_BYTE = 0xff
};

/* Flags of the shape. */
enum {
    SMP_ENTRY_VIRTUAL_ROOT = 1,
    SMP_ENTRY_SAYS_SIZE = 2,
    SMP_ENTRY_ALL_IDS = 4, /* each frame of the address has an id */
    SMP_ENTRY_FLAGS = 7
};

enum smp_entry_word {
    SMP_ENTRY_SEQUENCE,
    SMP_ENTRY_KEY, /* the return address, and the part */
    SMP_ENTRY_BLOB,
    SMP_ENTRY_ID_AND_SIZE,
    SMP_ENTRY_SHAPE, /* epoch, count, part, flags */
    SMP_ENTRY_BCIS,
    SMP_ENTRY_FIRST_FRAME /* method, id of each */
};

struct smp_code_entry {
    _Alignas(SMP_ENTRY_LINE_BYTES) _Atomic uint64_t words[SMP_ENTRY_WORDS];
};

struct smp_method_entry; /* frame_cache.c's, as the next one */
struct smp_blob_entry;

/* Code of the JVM that a walk looks for in each frame. The JVM makes it once, at its start. */
struct smp_jvm_code {
    struct smp_code_range interpreter;
    uintptr_t entry_pc;
    uintptr_t barrier_pc; /* 0: this JDK does not export it */
};

struct smp_frames_cache {
    _Atomic uint32_t epoch;
    _Atomic bool has_jvm_code; /* jvm_code is set, and constant from then on */
    struct smp_jvm_code jvm_code;
    struct smp_code_entry *codes; /* SMP_FRAMES_CACHE of them */
    struct smp_method_entry *methods;
    struct smp_blob_entry *blobs;
    void *memory; /* of the tables, not aligned */
    atomic_flag is_written;
    size_t turn; /* of the thread that writes */
};

/* All entries of one address have the same head, but for the part in the shape. */
struct smp_entry_head {
    uint64_t blob;
    uint64_t id_and_size;
    uint64_t shape;
};

static inline uint64_t smp_entry_load(const _Atomic uint64_t *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

static inline uint32_t smp_entry_epoch(const struct smp_entry_head *head)
{
    return (uint32_t)(head->shape >> SMP_ENTRY_HALF_BITS);
}

static inline uint32_t smp_entry_compile_id(const struct smp_entry_head *head)
{
    return (uint32_t)(head->id_and_size >> SMP_ENTRY_HALF_BITS);
}

static inline uint32_t smp_entry_frame_bytes(const struct smp_entry_head *head)
{
    return (uint32_t)head->id_and_size;
}

static inline size_t smp_entry_count(const struct smp_entry_head *head)
{
    return (uint16_t)(head->shape >> SMP_ENTRY_COUNT_SHIFT);
}

static inline size_t smp_entry_part(const struct smp_entry_head *head)
{
    return head->shape >> SMP_ENTRY_PART_SHIFT & SMP_ENTRY_BYTE;
}

/*
 * A table consists of pairs, and a key may be in either entry of its pair. The parts of one address
 * differ in the highest bits of the key, which a product alone would lose.
 */
static inline size_t smp_entry_pair_of(uint64_t key, size_t size)
{
    const uint64_t folded = key ^ key >> SMP_ENTRY_HALF_BITS;

    return (size_t)((folded * 0xd6e8feb86659fd93U) >> SMP_ENTRY_HALF_BITS) & (size - 1) &
           ~(size_t)1;
}

/* Copies the words from the second one, the key, on. */
static inline bool smp_entry_copy(const _Atomic uint64_t *words, uint64_t key, uint64_t *to,
                                  size_t count)
{
    const uint64_t sequence = atomic_load_explicit(&words[0], memory_order_acquire);

    /* A key of 0, as a word of a stack may be, matches an entry that was never written. */
    if (smp_entry_load(&words[1]) != key || (sequence & 1) != 0 || sequence == 0)
        return false;
    for (size_t i = 1; i < count; i++)
        to[i] = smp_entry_load(&words[i]);
    atomic_thread_fence(memory_order_acquire);
    return smp_entry_load(&words[0]) == sequence;
}

static inline void smp_entry_write(_Atomic uint64_t *words, const uint64_t *from, size_t count)
{
    const uint64_t sequence = smp_entry_load(&words[0]);

    atomic_store_explicit(&words[0], sequence + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    for (size_t i = 1; i < count; i++)
        atomic_store_explicit(&words[i], from[i], memory_order_relaxed);
    atomic_store_explicit(&words[0], sequence + 2, memory_order_release);
}

/* Returns false if another thread is writing: one thread writes at a time. */
static inline bool smp_cache_begin_writing(struct smp_frames_cache *cache)
{
    return !atomic_flag_test_and_set_explicit(&cache->is_written, memory_order_acquire);
}

static inline void smp_cache_end_writing(struct smp_frames_cache *cache)
{
    atomic_flag_clear_explicit(&cache->is_written, memory_order_release);
}

/*
 * raw and ids have room for four frames. Also reads frames beyond the entry's count, whose values
 * mean nothing: a branch that differs from one return address to the next would take longer.
 */
static inline __attribute__((always_inline)) bool
smp_entry_read(const struct smp_code_entry *entry, uint64_t key, struct smp_entry_head *head,
               struct smp_raw_frame *raw, uint64_t *ids)
{
    const _Atomic uint64_t *const words = entry->words;
    const uint64_t sequence =
        atomic_load_explicit(&words[SMP_ENTRY_SEQUENCE], memory_order_acquire);

    /* A key of 0, as a word of a stack may be, matches an entry that was never written. */
    if (smp_entry_load(&words[SMP_ENTRY_KEY]) != key || (sequence & 1) != 0 || sequence == 0)
        return false;
    const uint64_t bcis = smp_entry_load(&words[SMP_ENTRY_BCIS]);
    head->blob = smp_entry_load(&words[SMP_ENTRY_BLOB]);
    head->id_and_size = smp_entry_load(&words[SMP_ENTRY_ID_AND_SIZE]);
    head->shape = smp_entry_load(&words[SMP_ENTRY_SHAPE]);
    for (unsigned i = 0; i < SMP_ENTRY_FRAMES; i++) {
        raw[i].method = smp_entry_load(&words[SMP_ENTRY_FIRST_FRAME + 2 * i]);
        raw[i].bci = (int32_t)(bcis >> i * SMP_ENTRY_BCI_BITS & SMP_ENTRY_BCI_MASK) - 1;
        ids[i] = smp_entry_load(&words[SMP_ENTRY_FIRST_FRAME + 2 * i + 1]);
    }
    atomic_thread_fence(memory_order_acquire);
    return smp_entry_load(&words[SMP_ENTRY_SEQUENCE]) == sequence;
}

/*
 * Returns whether the blob with this compile id, which was found before, is still at its start.
 * Freed code keeps its bytes, including the compile id, and other code may begin behind its header;
 * but before that the JVM marks the block as free.
 */
static inline bool smp_code_is_in_place(const struct smp_layout *layout, uintptr_t start,
                                        uint32_t compile_id)
{
    return smp_load_u8(start - layout->heap.block_bytes + layout->heap.block_used) != 0 &&
           smp_load_u32(start + layout->nmethod.compile_id) == compile_id;
}

#endif
