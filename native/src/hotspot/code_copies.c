/* SPDX-License-Identifier: Apache-2.0 */
#include "hotspot/code_copies.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>

enum {
    ALIGNMENT = 4096, /* memory is returned to the system in pages */
    BLOB_SHIFT = 3,
    HASH_SHIFT = 32
};

struct copy_room {
    char debug[SMP_CODE_COPY_DEBUG];
    char metadata[SMP_CODE_COPY_METADATA];
};

static struct {
    _Alignas(ALIGNMENT) struct copy_room rooms[SMP_CODE_COPIES];
    struct smp_code_copy copies[SMP_CODE_COPIES];
    atomic_flag is_taken[SMP_CODE_COPIES];
} kept;

static bool take_at(size_t at)
{
    return !atomic_flag_test_and_set_explicit(&kept.is_taken[at], memory_order_acquire);
}

static void give_back_at(size_t at)
{
    atomic_flag_clear_explicit(&kept.is_taken[at], memory_order_release);
}

/* Returns the first of the two copies that may belong to this blob. */
static size_t pair_of_blob(uintptr_t blob)
{
    const uint64_t mixed = (blob >> BLOB_SHIFT) * 0xd6e8feb86659fd93U;

    return (size_t)(mixed >> HASH_SHIFT) & (SMP_CODE_COPIES - 2);
}

static struct smp_code_copy *with_room(size_t at)
{
    struct smp_code_copy *copy = &kept.copies[at];

    copy->debug = kept.rooms[at].debug;
    copy->debug_room = SMP_CODE_COPY_DEBUG;
    copy->metadata = kept.rooms[at].metadata;
    copy->metadata_room = SMP_CODE_COPY_METADATA;
    return copy;
}

/* Keeps one of two copies that this thread owns, and releases the other. Keeps the copy of this
 * blob; without one, the two are used in turn. */
static size_t choose_copy(size_t pair, uintptr_t blob)
{
    static _Atomic size_t turn;
    size_t chosen = pair;

    if (kept.copies[pair + 1].key.blob == blob)
        chosen = pair + 1;
    else if (kept.copies[pair].key.blob != blob)
        chosen = pair + (atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed) & 1);
    give_back_at(chosen == pair ? pair + 1 : pair);
    return chosen;
}

struct smp_code_copy *smp_code_copies_take(uintptr_t blob)
{
    const size_t pair = pair_of_blob(blob);
    const bool has_first = take_at(pair);
    const bool has_second = take_at(pair + 1);

    if (has_first && has_second)
        return with_room(choose_copy(pair, blob));
    if (has_first || has_second)
        return with_room(has_first ? pair : pair + 1);
    return NULL;
}

void smp_code_copies_give_back(struct smp_code_copy *copy)
{
    give_back_at((size_t)(copy - kept.copies));
}

/* Memory is returned only if no copy is in use, so that all pages are zero afterwards. */
void smp_code_copies_empty(void)
{
    bool is_mine[SMP_CODE_COPIES];
    bool are_all_mine = true;

    for (size_t i = 0; i < SMP_CODE_COPIES; i++) {
        is_mine[i] = take_at(i);
        are_all_mine = are_all_mine && is_mine[i];
        if (is_mine[i])
            kept.copies[i].key = (struct smp_code_copy_key){ 0 };
    }
    if (are_all_mine)
        (void)madvise(kept.rooms, sizeof(kept.rooms), MADV_DONTNEED);
    for (size_t i = 0; i < SMP_CODE_COPIES; i++) {
        if (is_mine[i])
            give_back_at(i);
    }
}
