/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pair_map.h - from a pair {64-bit key, 32-bit number} to a non-zero 32-bit value; only ever grows.
 *
 *   {method key, byte code index} -> location          {thread serial, group} -> seen
 *
 * Owns     its table.
 * Threads  one at a time.
 * Errors   reserve: false where the table may not grow; the map is as it was. put cannot fail.
 * Cost     find: one multiplication and, nearly always, one cache line. 16 bytes a slot, a load of
 * at most 5/8.
 */
#ifndef SMP_MODEL_PAIR_MAP_H
#define SMP_MODEL_PAIR_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory_budget.h"

/* value 0: the slot is free, and its other fields are 0 as well. */
struct smp_pair {
    uint64_t key;
    int32_t number;
    uint32_t value;
};

/* Visible so that find can be inlined; touch it through the functions. All zero: an empty map. */
struct smp_pair_map {
    struct smp_pair *pairs; /* NULL while nothing was reserved */
    size_t mask;            /* slots - 1, slots is a power of two */
    unsigned shift;         /* 64 - log2(slots): the high bits of the product choose the slot */
    size_t count;
};

void smp_pair_map_fini(struct smp_pair_map *map, struct smp_memory_budget *room);
/* A place for each of more further pairs. */
bool smp_pair_map_reserve(struct smp_pair_map *map, struct smp_memory_budget *room, size_t more);
/* The pair is not in the map, value is not 0, and there is a reserved place for it. */
void smp_pair_map_put(struct smp_pair_map *map, uint64_t key, int32_t number, uint32_t value);

static inline size_t smp_pair_map_slot(const struct smp_pair_map *map, uint64_t key, int32_t number)
{
    /* The top bits of the product depend on every bit of both: the number is set above the bits in
     * which neighbouring keys differ. */
    const uint64_t both = key ^ ((uint64_t)(uint32_t)number << 32);

    return (size_t)(both * 0x9e3779b97f4a7c15u >> map->shift);
}

/* 0 when the pair is not in the map. */
static inline uint32_t smp_pair_map_find(const struct smp_pair_map *map, uint64_t key,
                                         int32_t number)
{
    if (map->pairs == NULL)
        return 0;
    for (size_t i = smp_pair_map_slot(map, key, number);; i = (i + 1) & map->mask) {
        const struct smp_pair *pair = &map->pairs[i];

        if (pair->value == 0 || (pair->key == key && pair->number == number))
            return pair->value;
    }
}

#endif
