/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf_reader.h - reads protobuf's wire format field by field; malformed input fails the test.
 *
 * Owns     nothing: slices borrow the bytes.
 * Threads  one at a time.
 */
#ifndef SMP_SUPPORT_PROTOBUF_READER_H
#define SMP_SUPPORT_PROTOBUF_READER_H

#include <stddef.h>
#include <stdint.h>

struct slice {
    const unsigned char *at;
    const unsigned char *end;
};

struct slice protobuf_slice(const char *bytes, size_t length);
size_t slice_length(struct slice in);

uint64_t read_varint(struct slice *in);
/* Reads the next field: returns its number and sets either its value or its bytes; for bytes,
 * *value is their count. */
unsigned read_field(struct slice *in, uint64_t *value, struct slice *bytes);

#endif
