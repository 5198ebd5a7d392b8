/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash_map.h"

#include <string.h>

enum { FIRST_SLOTS_LOG2 = 6, KEY_BITS = 64 };

static bool holds_count(size_t slots, const struct smp_hash_slots *type, size_t count)
{
    return count <= slots / 8 * type->eighths;
}

static char *slot_at(const struct smp_hash_map *map, const struct smp_hash_slots *type, size_t i)
{
    return (char *)map->slots + i * type->bytes;
}

static bool is_slot_used(const char *slot, const struct smp_hash_slots *type)
{
    uint32_t used = 0;

    memcpy(&used, slot + type->used_at, sizeof(used));
    return used != 0;
}

void smp_hash_map_fini(struct smp_hash_map *map, const struct smp_hash_slots *type,
                       struct smp_memory_budget *budget)
{
    smp_memory_budget_give(budget, map->slots, smp_hash_map_slot_count(map) * type->bytes);
    *map = (struct smp_hash_map){ 0 };
}

bool smp_hash_map_reserve(struct smp_hash_map *map, const struct smp_hash_slots *type,
                          struct smp_memory_budget *budget, size_t more)
{
    unsigned log2 = FIRST_SLOTS_LOG2;
    struct smp_hash_map larger = { 0 };

    if (holds_count(smp_hash_map_slot_count(map), type, map->count + more))
        return true;
    while (!holds_count((size_t)1 << log2, type, map->count + more))
        log2++;
    larger.mask = ((size_t)1 << log2) - 1;
    larger.shift = KEY_BITS - log2;
    larger.slots = smp_memory_budget_take(budget, (larger.mask + 1) * type->bytes);
    if (larger.slots == NULL)
        return false;
    for (size_t i = 0; i < smp_hash_map_slot_count(map); i++) {
        const char *slot = slot_at(map, type, i);
        if (is_slot_used(slot, type))
            memcpy(smp_hash_map_put(&larger, type, type->key(slot)), slot, type->bytes);
    }
    smp_hash_map_fini(map, type, budget);
    *map = larger;
    return true;
}

void *smp_hash_map_put(struct smp_hash_map *map, const struct smp_hash_slots *type, uint64_t key)
{
    size_t i = smp_hash_map_start(map, key);

    while (is_slot_used(slot_at(map, type, i), type))
        i = (i + 1) & map->mask;
    map->count++;
    return slot_at(map, type, i);
}

void *smp_hash_map_find(const struct smp_hash_map *map, const struct smp_hash_slots *type,
                        uint64_t key)
{
    if (map->slots == NULL)
        return NULL;
    for (size_t i = smp_hash_map_start(map, key);; i = (i + 1) & map->mask) {
        char *slot = slot_at(map, type, i);
        if (!is_slot_used(slot, type))
            return NULL;
        if (type->key(slot) == key)
            return slot;
    }
}

/* --- ids --- */

static uint64_t id_key(const void *slot)
{
    return ((const struct smp_hash_id *)slot)->hash;
}

const struct smp_hash_slots smp_hash_ids = { .bytes = sizeof(struct smp_hash_id),
                                             .used_at = offsetof(struct smp_hash_id, id),
                                             .eighths = 6,
                                             .key = id_key };

void smp_hash_ids_put(struct smp_hash_map *map, uint32_t hash, uint32_t id)
{
    struct smp_hash_id *slot = smp_hash_map_put(map, &smp_hash_ids, hash);

    *slot = (struct smp_hash_id){ .hash = hash, .id = id };
}

/* Later entries move up into the hole if their search begins before it; otherwise the search would
 * end at the hole and miss them. */
void smp_hash_ids_remove(struct smp_hash_map *map, uint32_t hash, uint32_t id)
{
    struct smp_hash_id *const ids = map->slots;
    size_t hole = smp_hash_map_start(map, hash);

    while (ids[hole].id != id)
        hole = (hole + 1) & map->mask;
    for (size_t i = (hole + 1) & map->mask; ids[i].id != 0; i = (i + 1) & map->mask) {
        const size_t start = smp_hash_map_start(map, ids[i].hash);
        if (((i - start) & map->mask) < ((i - hole) & map->mask))
            continue;
        ids[hole] = ids[i];
        hole = i;
    }
    ids[hole] = (struct smp_hash_id){ 0 };
    map->count--;
}

uint32_t smp_hash_ids_next(const struct smp_hash_map *map, uint32_t hash, size_t *step)
{
    const struct smp_hash_id *ids = map->slots;

    if (ids == NULL)
        return 0;
    for (size_t i = smp_hash_map_start(map, hash) + *step;; i++) {
        const struct smp_hash_id *slot = &ids[i & map->mask];
        ++*step;
        if (slot->id == 0 || slot->hash == hash)
            return slot->id;
    }
}

/* FNV-1a, and a final mix. */
uint32_t smp_hash_bytes(uint32_t hash, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 0x01000193u;
    return hash ^ (hash >> 15);
}

uint32_t smp_hash_u32(uint32_t hash, uint32_t value)
{
    hash = (hash ^ value) * 0x9e3779b1u;
    return hash ^ (hash >> 15);
}

/* --- pairs --- */

static uint64_t pair_key(const void *slot)
{
    const struct smp_hash_pair *pair = slot;

    return smp_hash_pair_key(pair->key, pair->number);
}

const struct smp_hash_slots smp_hash_pairs = { .bytes = sizeof(struct smp_hash_pair),
                                               .used_at = offsetof(struct smp_hash_pair, value),
                                               .eighths = 5,
                                               .key = pair_key };

void smp_hash_pairs_put(struct smp_hash_map *map, uint64_t key, int32_t number, uint32_t value)
{
    struct smp_hash_pair *slot =
        smp_hash_map_put(map, &smp_hash_pairs, smp_hash_pair_key(key, number));

    *slot = (struct smp_hash_pair){ .key = key, .number = number, .value = value };
}
