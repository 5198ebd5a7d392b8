/* SPDX-License-Identifier: Apache-2.0 */
#include "model/lock_times.h"

#include <stdbool.h>

#include "base/hash_map.h"
#include "base/memory_budget.h"
#include "model/measure.h"

enum { MOST_BYTES = 256 * 1024 };

struct smp_lock_times {
    struct smp_memory_budget budget;
    uint32_t other;
    struct smp_hash_map by_lines; /* id is the row's index + 1 */
    struct smp_grown grown;       /* the memory of rows */
    struct smp_lock_time *rows;
    size_t count;
};

enum smp_status smp_lock_times_create(struct smp_quota *quota, uint32_t other,
                                      struct smp_lock_times **out)
{
    struct smp_lock_times *times = smp_alloc(quota, sizeof(*times));

    if (times == NULL)
        return SMP_ENOMEM;
    times->budget = (struct smp_memory_budget){ .quota = quota, .max_bytes = MOST_BYTES };
    times->other = other;
    *out = times;
    return SMP_OK;
}

void smp_lock_times_destroy(struct smp_lock_times *times)
{
    struct smp_quota *quota;

    if (times == NULL)
        return;
    quota = times->budget.quota;
    smp_memory_budget_give(&times->budget, times->grown.items, times->grown.bytes);
    smp_hash_map_fini(&times->by_lines, &smp_hash_ids, &times->budget);
    smp_free(quota, times);
}

static bool reserve_row(struct smp_lock_times *times)
{
    if (!smp_hash_map_reserve(&times->by_lines, &smp_hash_ids, &times->budget, 1) ||
        !smp_memory_budget_fit(&times->budget, &times->grown,
                               (times->count + 1) * sizeof(*times->rows)))
        return false;
    times->rows = times->grown.items;
    return true;
}

static uint32_t hash_of_row(const struct smp_lock_time *row)
{
    const uint32_t lines[] = { row->lock, row->waiting, row->holding };

    return smp_hash_bytes(SMP_HASH_START, (const char *)lines, sizeof(lines));
}

/* Returns NULL if there is no such row. */
static struct smp_lock_time *find_lock_row(struct smp_lock_times *times,
                                           const struct smp_lock_time *key, uint32_t hash)
{
    size_t step = 0;
    uint32_t id;

    while ((id = smp_hash_ids_next(&times->by_lines, hash, &step)) != 0) {
        struct smp_lock_time *row = &times->rows[id - 1];
        if (row->lock == key->lock && row->waiting == key->waiting && row->holding == key->holding)
            return row;
    }
    return NULL;
}

enum smp_status smp_lock_times_add(struct smp_lock_times *times, const struct smp_lock_time *time)
{
    struct smp_lock_time key = *time;
    uint32_t hash = hash_of_row(&key);
    struct smp_lock_time *row = find_lock_row(times, &key, hash);

    if (row == NULL && times->count >= SMP_MAX_LOCK_TIMES - 1) {
        key.lock = key.waiting = key.holding = times->other;
        hash = hash_of_row(&key);
        row = find_lock_row(times, &key, hash);
    }
    if (row == NULL) {
        if (!reserve_row(times))
            return SMP_ENOMEM;
        row = &times->rows[times->count++];
        *row = key;
        row->ns = 0;
        smp_hash_ids_put(&times->by_lines, hash, (uint32_t)times->count);
    }
    row->ns = smp_add_clamped(row->ns, time->ns);
    return SMP_OK;
}

uint32_t smp_lock_times_other(const struct smp_lock_times *times)
{
    return times->other;
}

size_t smp_lock_times_count(const struct smp_lock_times *times)
{
    return times == NULL ? 0 : times->count;
}

const struct smp_lock_time *smp_lock_times_at(const struct smp_lock_times *times, size_t index)
{
    return &times->rows[index];
}
