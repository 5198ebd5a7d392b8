/* SPDX-License-Identifier: Apache-2.0 */
#include "model/id_index.h"

enum { MIN_SLOTS = 64 };

static size_t slot_count(const struct smp_id_index *index)
{
    return index->slots == NULL ? 0 : index->mask + 1;
}

static bool holds(size_t slots, size_t count)
{
    return count <= slots / 4 * 3;
}

void smp_id_index_fini(struct smp_id_index *index, struct smp_memory_budget *room)
{
    smp_memory_budget_give(room, index->slots, slot_count(index) * sizeof(*index->slots));
    *index = (struct smp_id_index){ 0 };
}

bool smp_id_index_reserve(struct smp_id_index *index, struct smp_memory_budget *room, size_t more)
{
    size_t slots = MIN_SLOTS;
    struct smp_id_index larger = { 0 };

    if (holds(slot_count(index), index->count + more))
        return true;
    while (!holds(slots, index->count + more))
        slots *= 2;
    larger.slots = smp_memory_budget_take(room, slots * sizeof(*larger.slots));
    if (larger.slots == NULL)
        return false;
    larger.mask = slots - 1;
    for (size_t i = 0; i < slot_count(index); i++) {
        if (index->slots[i].id != 0)
            smp_id_index_put(&larger, index->slots[i].hash, index->slots[i].id);
    }
    smp_id_index_fini(index, room);
    *index = larger;
    return true;
}

void smp_id_index_put(struct smp_id_index *index, uint32_t hash, uint32_t id)
{
    size_t i = hash & index->mask;

    while (index->slots[i].id != 0)
        i = (i + 1) & index->mask;
    index->slots[i] = (struct smp_id_slot){ .hash = hash, .id = id };
    index->count++;
}

/* The next id with this hash at or after *cursor; leaves *cursor behind it. */
static uint32_t scan(const struct smp_id_index *index, uint32_t hash, size_t *cursor)
{
    for (size_t i = *cursor & index->mask;; i = (i + 1) & index->mask) {
        const struct smp_id_slot *slot = &index->slots[i];

        if (slot->id == 0 || slot->hash == hash) {
            *cursor = i + 1;
            return slot->id;
        }
    }
}

uint32_t smp_id_index_first(const struct smp_id_index *index, uint32_t hash, size_t *cursor)
{
    *cursor = hash;
    return index->slots == NULL ? 0 : scan(index, hash, cursor);
}

uint32_t smp_id_index_next(const struct smp_id_index *index, uint32_t hash, size_t *cursor)
{
    return index->slots == NULL ? 0 : scan(index, hash, cursor);
}

/* FNV-1a, and a last stir because the low bits choose the slot. */
uint32_t smp_id_hash_bytes(uint32_t hash, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 0x01000193u;
    return hash ^ (hash >> 15);
}

uint32_t smp_id_hash_u32(uint32_t hash, uint32_t value)
{
    hash = (hash ^ value) * 0x9e3779b1u;
    return hash ^ (hash >> 15);
}
