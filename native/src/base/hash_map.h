/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash_map.h - a table with open addressing that never shrinks, charged to a memory budget.
 *
 * The slots are structs of the owner. A slot type gives their size, and the 64-bit key that chooses
 * the place of each. Two types are ready to use:
 *
 *   ids     from a hash to the ids of the things that have it. The things themselves (texts,
 *           methods, groups) are in arrays of the owner, which compares them:
 *             while ((id = smp_hash_ids_next(&map, hash, &step)) != 0)
 *                 if (the thing with this id is the one) return id;
 *   pairs   from a pair {64-bit key, 32-bit number} to a value that is not 0
 *
 * Owns     its slots.
 * Threads  one at a time.
 * Errors   reserve: false if the table may not grow; the map is unchanged then. put cannot fail.
 * Cost     a find: one multiplication and, nearly always, one cache line. 8 bytes a slot for ids,
 *          with a load of at most 3/4; 16 for pairs, 5/8.
 */
#ifndef SMP_BASE_HASH_MAP_H
#define SMP_BASE_HASH_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory_budget.h"

/* Describes the slots of a map. A free slot is all 0; a used one is not 0 at used_at. */
struct smp_hash_slots {
    size_t bytes;
    size_t used_at;   /* offset of a uint32_t */
    unsigned eighths; /* the highest load */
    uint64_t (*key)(const void *slot);
};

/* Visible so that look-ups can be inlined; use the functions. All zero: an empty map. */
struct smp_hash_map {
    void *slots;    /* NULL while nothing was reserved */
    size_t mask;    /* number of slots - 1; the number is a power of two */
    unsigned shift; /* a hash product shifted right by this is a slot */
    size_t count;   /* used slots */
};

void smp_hash_map_fini(struct smp_hash_map *map, const struct smp_hash_slots *type,
                       struct smp_memory_budget *budget);
/* Makes room for this many more entries. */
bool smp_hash_map_reserve(struct smp_hash_map *map, const struct smp_hash_slots *type,
                          struct smp_memory_budget *budget, size_t more);
/* Returns a reserved slot for this key, which the caller fills at once. */
void *smp_hash_map_put(struct smp_hash_map *map, const struct smp_hash_slots *type, uint64_t key);
/* Returns the slot with this key, or NULL, for types that are compared by the key alone. */
void *smp_hash_map_find(const struct smp_hash_map *map, const struct smp_hash_slots *type,
                        uint64_t key);

/* Returns the slot at which the search for a key begins. */
static inline size_t smp_hash_map_start(const struct smp_hash_map *map, uint64_t key)
{
    return (size_t)(key * 0x9e3779b97f4a7c15u >> map->shift);
}

static inline size_t smp_hash_map_slot_count(const struct smp_hash_map *map)
{
    return map->slots == NULL ? 0 : map->mask + 1;
}

/* --- ids --- */

struct smp_hash_id {
    uint32_t hash;
    uint32_t id; /* 0: free */
};

extern const struct smp_hash_slots smp_hash_ids;

/* id is not 0, and a slot for it is reserved. */
void smp_hash_ids_put(struct smp_hash_map *map, uint32_t hash, uint32_t id);
/* Removes an id that was put with this hash. */
void smp_hash_ids_remove(struct smp_hash_map *map, uint32_t hash, uint32_t id);
/* Returns the ids with this hash in turn, and 0 at the end. *step is 0 at first. */
uint32_t smp_hash_ids_next(const struct smp_hash_map *map, uint32_t hash, size_t *step);

/* Hashes for ids: start from SMP_HASH_START and feed the parts. */
#define SMP_HASH_START 0x811c9dc5u
uint32_t smp_hash_bytes(uint32_t hash, const char *bytes, size_t length);
uint32_t smp_hash_u32(uint32_t hash, uint32_t value);

/* --- pairs --- */

struct smp_hash_pair {
    uint64_t key;
    int32_t number;
    uint32_t value; /* 0: free */
};

extern const struct smp_hash_slots smp_hash_pairs;

/* The pair is not in the map yet, value is not 0, and a slot for it is reserved. */
void smp_hash_pairs_put(struct smp_hash_map *map, uint64_t key, int32_t number, uint32_t value);

/* Combines the two, with the number above the bits in which neighbouring keys differ. */
static inline uint64_t smp_hash_pair_key(uint64_t key, int32_t number)
{
    return key ^ ((uint64_t)(uint32_t)number << 32);
}

/* Returns 0 if the pair is not in the map. */
static inline uint32_t smp_hash_pairs_find(const struct smp_hash_map *map, uint64_t key,
                                           int32_t number)
{
    const struct smp_hash_pair *pairs = map->slots;

    if (pairs == NULL)
        return 0;
    for (size_t i = smp_hash_map_start(map, smp_hash_pair_key(key, number));;
         i = (i + 1) & map->mask) {
        if (pairs[i].value == 0 || (pairs[i].key == key && pairs[i].number == number))
            return pairs[i].value;
    }
}

#endif
