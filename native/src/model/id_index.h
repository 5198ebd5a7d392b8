/* SPDX-License-Identifier: Apache-2.0 */
/*
 * id_index.h - from a hash to the ids of the things that have it; only ever grows.
 *
 * The things themselves (texts, methods, groups) lie in arrays of the owner, who compares them:
 *
 *   for (id = smp_id_index_first(&index, hash, &cursor); id != 0;
 *        id = smp_id_index_next(&index, hash, &cursor))
 *           if (the thing with this id is the one) return id;
 *
 * Owns     its table.
 * Threads  one at a time.
 * Errors   reserve: false where the table may not grow; the index is as it was. put cannot fail.
 * Cost     8 bytes a slot, a load of at most 3/4.
 */
#ifndef SMP_MODEL_ID_INDEX_H
#define SMP_MODEL_ID_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory_budget.h"

struct smp_id_slot {
    uint32_t hash;
    uint32_t id; /* 0: free */
};

/* All zero: an empty index. */
struct smp_id_index {
    struct smp_id_slot *slots; /* NULL while nothing was reserved */
    size_t mask;
    size_t count;
};

void smp_id_index_fini(struct smp_id_index *index, struct smp_memory_budget *room);
/* A place for each of more further ids. */
bool smp_id_index_reserve(struct smp_id_index *index, struct smp_memory_budget *room, size_t more);
/* id is not 0, and there is a reserved place for it. */
void smp_id_index_put(struct smp_id_index *index, uint32_t hash, uint32_t id);
/* The ids with this hash, one after the other; 0 ends them. */
uint32_t smp_id_index_first(const struct smp_id_index *index, uint32_t hash, size_t *cursor);
uint32_t smp_id_index_next(const struct smp_id_index *index, uint32_t hash, size_t *cursor);

/* Hashes to use with it. Start from SMP_ID_HASH_START, feed the parts. */
#define SMP_ID_HASH_START 0x811c9dc5u
uint32_t smp_id_hash_bytes(uint32_t hash, const char *bytes, size_t length);
uint32_t smp_id_hash_u32(uint32_t hash, uint32_t value);

#endif
