/* SPDX-License-Identifier: Apache-2.0 */
/*
 * byte_writer.h - fills a piece of memory of a fixed size, in the byte order of class files.
 *
 * Owns     no memory.
 * Threads  one at a time.
 * Errors   what does not fit is not written, and is_full is set for good.
 * Cost     a comparison for each write.
 */
#ifndef SMP_CLASSFILE_BYTE_WRITER_H
#define SMP_CLASSFILE_BYTE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct smp_byte_writer {
    uint8_t *bytes;
    size_t length;
    size_t capacity;
    bool is_full;
};

/* Room for count bytes, which the caller fills at once; NULL: it is full. */
static inline uint8_t *smp_byte_writer_take(struct smp_byte_writer *writer, size_t count)
{
    if (writer->is_full || count > writer->capacity - writer->length) {
        writer->is_full = true;
        return NULL;
    }
    writer->length += count;
    return writer->bytes + writer->length - count;
}

static inline void smp_byte_writer_set_u2(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

static inline void smp_byte_writer_set_u4(uint8_t *at, uint32_t value)
{
    smp_byte_writer_set_u2(at, value >> 16);
    smp_byte_writer_set_u2(at + 2, value & 0xffff);
}

static inline void smp_byte_writer_put(struct smp_byte_writer *writer, const void *bytes,
                                       size_t count)
{
    uint8_t *at = smp_byte_writer_take(writer, count);

    if (at != NULL && count > 0)
        memcpy(at, bytes, count);
}

static inline void smp_byte_writer_u1(struct smp_byte_writer *writer, uint32_t value)
{
    uint8_t *at = smp_byte_writer_take(writer, 1);

    if (at != NULL)
        *at = (uint8_t)value;
}

static inline void smp_byte_writer_u2(struct smp_byte_writer *writer, uint32_t value)
{
    uint8_t *at = smp_byte_writer_take(writer, 2);

    if (at != NULL)
        smp_byte_writer_set_u2(at, value);
}

static inline void smp_byte_writer_u4(struct smp_byte_writer *writer, uint32_t value)
{
    uint8_t *at = smp_byte_writer_take(writer, 4);

    if (at != NULL)
        smp_byte_writer_set_u4(at, value);
}

#endif
