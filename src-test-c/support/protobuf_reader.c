/* SPDX-License-Identifier: Apache-2.0 */
#include "support/protobuf_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { VARINT = 0, FIXED64 = 1, LENGTH = 2 };

struct slice protobuf_slice(const char *bytes, size_t length)
{
    const unsigned char *const at = (const unsigned char *)bytes;

    return (struct slice){ at, at + length };
}

size_t slice_length(struct slice in)
{
    return (size_t)(in.end - in.at);
}

uint64_t read_varint(struct slice *in)
{
    uint64_t value = 0;

    for (unsigned shift = 0;; shift += 7) {
        assert_true(in->at < in->end && shift < 64);
        value |= (uint64_t)(*in->at & 0x7fu) << shift;
        if ((*in->at++ & 0x80u) == 0)
            return value;
    }
}

unsigned read_field(struct slice *in, uint64_t *value, struct slice *bytes)
{
    const uint64_t tag = read_varint(in);

    if ((tag & 7) == FIXED64) {
        assert_true(slice_length(*in) >= sizeof(*value));
        memcpy(value, in->at, sizeof(*value));
        in->at += sizeof(*value);
    } else {
        *value = read_varint(in);
    }
    assert_true((tag & 7) <= LENGTH);
    if ((tag & 7) == LENGTH) {
        assert_true(*value <= slice_length(*in));
        *bytes = (struct slice){ in->at, in->at + *value };
        in->at += *value;
    }
    return (unsigned)(tag >> 3);
}
