/* SPDX-License-Identifier: Apache-2.0 */
#include "hotspot/blob_cache.h"

enum {
    NEIGHBOURHOOD_BYTES = 256 /* addresses in one such range share an entry */
};

/* Words of an entry, behind the sequence number. Distances count from the blob's start. */
enum blob_word {
    BLOB_START = 1,
    BLOB_METHOD,
    BLOB_CODE_AND_END,
    BLOB_DATA_AND_FRAME, /* where its data end, and the bytes of its frame */
    BLOB_COMPLETE_AND_ID,
    BLOB_EPOCH_AND_KIND,
    BLOB_USED
};

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
    return &cache->blobs[pc / NEIGHBOURHOOD_BYTES % SMP_BLOB_CACHE];
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
