/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compressed.h - the numbers that libjvm compresses (UNSIGNED5): up to five bytes of six bits each,
 * the lowest first; a byte below the limit is the last one.
 *
 * Data are read a block at a time, so that few of the reads are system calls.
 *
 * Threads  any, signal handlers included: no lock, no allocation.
 * Errors   is_broken, for good: the end was passed, memory cannot be read, or a byte is not part of
 *          a number. The functions then return 0.
 * Cost     a call of find for each block.
 */
#ifndef SMP_HOTSPOT_COMPRESSED_H
#define SMP_HOTSPOT_COMPRESSED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SMP_COMPRESSED_BLOCK = 512,
    SMP_COMPRESSED_LAST_LIMIT = 192,
    SMP_COMPRESSED_MAX_BYTES = 5,
    SMP_COMPRESSED_BITS = 6
};

/* Returns readable bytes from at on, in place or copied to room: *length of them, or fewer, which
 * it sets. Returns NULL if none can be read. */
typedef const uint8_t *smp_compressed_find(const void *self, uintptr_t at, size_t *length,
                                           uint8_t room[SMP_COMPRESSED_BLOCK]);

/* A position in such data. A caller may move at to another place behind the start. room is written
 * only when needed. */
struct smp_compressed {
    uint32_t base; /* see layout.h */
    smp_compressed_find *find;
    const void *self; /* find's */
    bool is_broken;
    uintptr_t end;
    uintptr_t at;
    uintptr_t block;
    size_t length;        /* bytes that were read from block on */
    const uint8_t *bytes; /* their address */
    uint8_t room[SMP_COMPRESSED_BLOCK];
};

/* The data are [start, end); reading begins at start. */
static inline void smp_compressed_begin(struct smp_compressed *data, uint32_t base, uintptr_t start,
                                        uintptr_t end, smp_compressed_find *find, const void *self)
{
    data->base = base;
    data->find = find;
    data->self = self;
    data->is_broken = false;
    data->at = data->block = start;
    data->end = end;
    data->length = 0;
}

static inline bool smp_compressed_fill(struct smp_compressed *data)
{
    data->block = data->at;
    data->length = data->end - data->at;
    data->bytes = data->find(data->self, data->at, &data->length, data->room);
    if (data->bytes == NULL)
        data->length = 0;
    return data->length > 0;
}

static inline uint8_t smp_compressed_byte(struct smp_compressed *data)
{
    if (data->at >= data->end ||
        (data->at - data->block >= data->length && !smp_compressed_fill(data))) {
        data->is_broken = true;
        return 0;
    }
    return data->bytes[data->at++ - data->block];
}

static inline uint32_t smp_compressed_number(struct smp_compressed *data)
{
    uint32_t sum = 0;

    for (unsigned i = 0; i < SMP_COMPRESSED_MAX_BYTES; i++) {
        const uint8_t byte = smp_compressed_byte(data);
        if (byte < data->base)
            data->is_broken = true;
        sum += (byte - data->base) << (i * SMP_COMPRESSED_BITS);
        if (data->is_broken || byte < SMP_COMPRESSED_LAST_LIMIT)
            break;
    }
    return data->is_broken ? 0 : sum;
}

#endif
