/* SPDX-License-Identifier: Apache-2.0 */
/*
 * class_bytes.h - numbers in the byte order of class files: read from bytes that may end too
 * early, and written to a buffer that grows.
 *
 * Owns     no memory.
 * Threads  one at a time.
 * Errors   a read beyond the end returns 0 and sets is_past_end for good, so a caller checks it
 *          once, at the end. Writes: as base/bytes.
 * Cost     a comparison for each read.
 */
#ifndef SMP_CLASSFILE_CLASS_BYTES_H
#define SMP_CLASSFILE_CLASS_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

/* A class file in memory. */
struct smp_class_bytes {
    const unsigned char *bytes;
    size_t size;
};

static inline uint16_t smp_class_u2(const uint8_t *at)
{
    return (uint16_t)(at[0] << 8 | at[1]);
}

static inline uint32_t smp_class_u4(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

struct smp_class_reader {
    const uint8_t *at;
    const uint8_t *end;
    bool is_past_end;
};

/* Returns the next count bytes, or NULL if there are fewer. */
static inline const uint8_t *smp_class_skip(struct smp_class_reader *reader, size_t count)
{
    const uint8_t *const bytes = reader->at;

    if (reader->is_past_end || count > (size_t)(reader->end - bytes)) {
        reader->is_past_end = true;
        return NULL;
    }
    reader->at += count;
    return bytes;
}

static inline uint8_t smp_class_next_u1(struct smp_class_reader *reader)
{
    const uint8_t *const at = smp_class_skip(reader, 1);

    return at != NULL ? *at : 0;
}

static inline uint16_t smp_class_next_u2(struct smp_class_reader *reader)
{
    const uint8_t *const at = smp_class_skip(reader, 2);

    return at != NULL ? smp_class_u2(at) : 0;
}

static inline uint32_t smp_class_next_u4(struct smp_class_reader *reader)
{
    const uint8_t *const at = smp_class_skip(reader, 4);

    return at != NULL ? smp_class_u4(at) : 0;
}

static inline void smp_class_set_u2(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

static inline void smp_class_set_u4(uint8_t *at, uint32_t value)
{
    smp_class_set_u2(at, value >> 16);
    smp_class_set_u2(at + 2, value & 0xffff);
}

static inline void smp_class_put(struct smp_bytes *out, const uint8_t *bytes, size_t count)
{
    smp_bytes_put(out, (const char *)bytes, count);
}

static inline void smp_class_put_u1(struct smp_bytes *out, uint32_t value)
{
    smp_bytes_fill(out, (char)value, 1);
}

static inline void smp_class_put_u2(struct smp_bytes *out, uint32_t value)
{
    uint8_t bytes[2];

    smp_class_set_u2(bytes, value);
    smp_class_put(out, bytes, sizeof(bytes));
}

static inline void smp_class_put_u4(struct smp_bytes *out, uint32_t value)
{
    uint8_t bytes[4];

    smp_class_set_u4(bytes, value);
    smp_class_put(out, bytes, sizeof(bytes));
}

/* Returns the bytes from an offset on, valid until the next write; NULL if a write has failed. */
static inline uint8_t *smp_class_written(const struct smp_bytes *out, size_t at)
{
    return out->status == SMP_OK ? (uint8_t *)out->data + at : NULL;
}

#endif
