/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf_reader.h - reads protobuf's wire format field by field; a test fails at what is none.
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
/* The next field: its number, and either its value or its bytes; *value is then their number. */
unsigned read_field(struct slice *in, uint64_t *value, struct slice *bytes);

#endif
