/* SPDX-License-Identifier: Apache-2.0 */
#include "model/pair_map.h"

enum { MIN_SLOTS_LOG2 = 6 };

static size_t slot_count(const struct smp_pair_map *map)
{
    return map->pairs == NULL ? 0 : map->mask + 1;
}

static bool holds(size_t slots, size_t count)
{
    return count <= slots / 8 * 5;
}

void smp_pair_map_fini(struct smp_pair_map *map, struct smp_memory_budget *room)
{
    smp_memory_budget_give(room, map->pairs, slot_count(map) * sizeof(*map->pairs));
    *map = (struct smp_pair_map){ 0 };
}

bool smp_pair_map_reserve(struct smp_pair_map *map, struct smp_memory_budget *room, size_t more)
{
    unsigned log2 = MIN_SLOTS_LOG2;
    struct smp_pair_map larger = { 0 };

    if (holds(slot_count(map), map->count + more))
        return true;
    while (!holds((size_t)1 << log2, map->count + more))
        log2++;
    larger.mask = ((size_t)1 << log2) - 1;
    larger.shift = 64 - log2;
    larger.pairs = smp_memory_budget_take(room, (larger.mask + 1) * sizeof(*larger.pairs));
    if (larger.pairs == NULL)
        return false;
    for (size_t i = 0; i < slot_count(map); i++) {
        const struct smp_pair *pair = &map->pairs[i];

        if (pair->value != 0)
            smp_pair_map_put(&larger, pair->key, pair->number, pair->value);
    }
    smp_pair_map_fini(map, room);
    *map = larger;
    return true;
}

void smp_pair_map_put(struct smp_pair_map *map, uint64_t key, int32_t number, uint32_t value)
{
    size_t i = smp_pair_map_slot(map, key, number);

    while (map->pairs[i].value != 0)
        i = (i + 1) & map->mask;
    map->pairs[i] = (struct smp_pair){ .key = key, .number = number, .value = value };
    map->count++;
}
