/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf.h - writes the wire format of protocol buffers, field by field.
 *
 * The length of a message precedes it, so a caller adds up the bytes of its fields before it writes
 * them: each put has a function that returns how many bytes it writes. A missing number means 0, so
 * 0 is not written.
 *
 * Threads  one writer at a time.
 * Errors   the writer remembers them.
 * Cost     a copy of a few bytes. Inline, because most of an export's time is spent here.
 */
#ifndef SMP_EXPORT_PROTOBUF_H
#define SMP_EXPORT_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

#include "base/writer.h"

/* A tag takes one byte for field numbers up to 15, and no others are used here. */
enum { SMP_PROTOBUF_TAG_BYTES = 1 };

/* The low bits of a tag: the type of the value. */
enum { SMP_WIRE_VARINT = 0, SMP_WIRE_FIXED64 = 1, SMP_WIRE_LENGTH = 2, SMP_WIRE_BITS = 3 };

/* A byte of a varint has 7 bits; the eighth means that more follow. */
enum { SMP_VARINT_BITS = 7, SMP_VARINT_MORE = 0x80, SMP_VARINT_MAX_BYTES = 10 };

static inline size_t smp_protobuf_varint_bytes(uint64_t value)
{
    return (size_t)(63 - __builtin_clzll(value | 1)) / SMP_VARINT_BITS + 1;
}

static inline void smp_protobuf_put_varint(struct smp_writer *out, uint64_t value)
{
    char bytes[SMP_VARINT_MAX_BYTES];
    size_t count = 0;

    while (value >= SMP_VARINT_MORE) {
        bytes[count++] = (char)(unsigned char)(value | SMP_VARINT_MORE);
        value >>= SMP_VARINT_BITS;
    }
    bytes[count++] = (char)value;
    smp_writer_put(out, bytes, count);
}

static inline size_t smp_protobuf_number_bytes(uint64_t value)
{
    return value == 0 ? 0 : SMP_PROTOBUF_TAG_BYTES + smp_protobuf_varint_bytes(value);
}

static inline void smp_protobuf_put_number(struct smp_writer *out, unsigned field, uint64_t value)
{
    if (value == 0)
        return;
    smp_protobuf_put_varint(out, field << SMP_WIRE_BITS | SMP_WIRE_VARINT);
    smp_protobuf_put_varint(out, value);
}

/* Little endian, like the supported processors. */
static inline void smp_protobuf_put_fixed64(struct smp_writer *out, unsigned field, uint64_t value)
{
    if (value == 0)
        return;
    smp_protobuf_put_varint(out, field << SMP_WIRE_BITS | SMP_WIRE_FIXED64);
    smp_writer_put(out, (const char *)&value, sizeof(value));
}

/* Returns the bytes of a message, string or packed numbers of this length, with the head. */
static inline size_t smp_protobuf_field_bytes(size_t length)
{
    return SMP_PROTOBUF_TAG_BYTES + smp_protobuf_varint_bytes(length) + length;
}

/* Writes the head; the caller writes length bytes after it. */
static inline void smp_protobuf_put_length(struct smp_writer *out, unsigned field, size_t length)
{
    smp_protobuf_put_varint(out, field << SMP_WIRE_BITS | SMP_WIRE_LENGTH);
    smp_protobuf_put_varint(out, length);
}

static inline void smp_protobuf_put_string(struct smp_writer *out, unsigned field, const char *text,
                                           size_t length)
{
    smp_protobuf_put_length(out, field, length);
    smp_writer_put(out, text, length);
}

#endif
