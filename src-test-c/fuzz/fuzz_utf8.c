/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes any bytes as modified UTF-8, as UTF-8 and as UTF-16. The result must be valid UTF-8 that
 * fits, must be equal to that of the naive version, and must survive the way to UTF-16 and back.
 * The first byte of the input selects the size of the output. */
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

#include "../support/reference_utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_INPUT = 4096, MIN_SIZE = 4 };

/* The stack trace that libFuzzer prints shows which condition failed. */
static void require(int holds)
{
    if (!holds)
        abort();
}

static void check_output(const char *out, size_t size, size_t length)
{
    require(length < size);
    require(out[length] == '\0');
    require(reference_utf8_is_valid(out, length));
}

/* Allocates exactly size bytes, so that the sanitizer reports a write beyond the end. */
static char *make_buffer(size_t size)
{
    char *buffer = malloc(size);

    if (buffer == NULL)
        abort();
    return buffer;
}

static void check_modified(const char *in, size_t length, size_t size)
{
    static uint32_t scratch[MAX_INPUT];
    char *out = make_buffer(size);
    char *expected = make_buffer(size);

    const size_t written = smp_utf8_from_modified(out, size, in, length);
    check_output(out, size, written);
    require(written == reference_utf8_from_modified(expected, size, in, length, scratch));
    require(memcmp(out, expected, written) == 0);
    const size_t prefix = smp_utf8_prefix(out, written, size / 2);
    require(prefix <= size / 2 || prefix == written);
    require(reference_utf8_is_valid(out, prefix));
    free(expected);
    free(out);
}

static void check_units(const uint16_t *units, size_t count, size_t size)
{
    char *out = make_buffer(size);

    check_output(out, size, smp_utf8_from_utf16(out, size, units, count));
    free(out);
}

static void check_round_trip(const char *in, size_t length)
{
    /* room for the whole text: a byte becomes at most three */
    const size_t size = 3 * length + MIN_SIZE;
    char *text = make_buffer(size);
    char *back = make_buffer(size);
    uint16_t *units = (uint16_t *)(void *)make_buffer(size * sizeof(*units));

    const size_t written = smp_utf8_from_modified(text, size, in, length);
    const size_t count = smp_utf8_to_utf16(units, text, written);
    require(count <= written);
    require(smp_utf8_from_utf16(back, size, units, count) == written);
    require(strcmp(text, back) == 0);
    require(smp_utf8_to_utf16(units, in, length) <= length); /* also for invalid text */
    free(units);
    free(back);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint16_t units[MAX_INPUT / 2];

    if (size == 0 || size > MAX_INPUT)
        return 0;
    const size_t out_size = MIN_SIZE + data[0];
    const char *in = (const char *)data + 1;
    const size_t length = size - 1;

    check_modified(in, length, out_size);
    check_round_trip(in, length);
    if (length >= 2)
        memcpy(units, in, length / 2 * 2);
    check_units(units, length / 2, out_size);
    return 0;
}
