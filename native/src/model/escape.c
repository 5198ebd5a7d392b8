/* SPDX-License-Identifier: Apache-2.0 */
#include "model/escape.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Returns whether one of the eight bytes is below 0x20, 0x7f, or not ASCII. A borrow may mark a
 * wrong byte, but only above a byte that is marked correctly. */
static bool is_any_special(uint64_t eight)
{
    return ((eight | (eight - EACH(0x20)) | (eight + EACH(0x01))) & EACH(0x80)) != 0;
}

/* Returns a length at the start that needs no escape. It covers nearly all names. */
static size_t plain_length(const char *text, size_t length)
{
    size_t at = 0;
    uint64_t eight;

    for (; length - at >= sizeof(eight); at += sizeof(eight)) {
        memcpy(&eight, text + at, sizeof(eight));
        if (is_any_special(eight))
            break;
    }
    return at;
}

/* Controls, separators of lines and paragraphs, and Unicode's category Cf, in ascending order. */
static const struct {
    uint32_t first;
    uint32_t last;
} hidden[] = {
    { 0x00, 0x1f },       { 0x7f, 0x9f },       { 0xad, 0xad },       { 0x600, 0x605 },
    { 0x61c, 0x61c },     { 0x6dd, 0x6dd },     { 0x70f, 0x70f },     { 0x890, 0x891 },
    { 0x8e2, 0x8e2 },     { 0x180e, 0x180e },   { 0x200b, 0x200f },   { 0x2028, 0x202e },
    { 0x2060, 0x2064 },   { 0x2066, 0x206f },   { 0xfeff, 0xfeff },   { 0xfff9, 0xfffb },
    { 0x110bd, 0x110bd }, { 0x110cd, 0x110cd }, { 0x13430, 0x1343f }, { 0x1bca0, 0x1bca3 },
    { 0x1d173, 0x1d17a }, { 0xe0001, 0xe0001 }, { 0xe0020, 0xe007f },
};

bool smp_escape_is_needed(uint32_t character)
{
    size_t i = 0;

    while (i < sizeof(hidden) / sizeof(hidden[0]) && character > hidden[i].last)
        i++;
    return i < sizeof(hidden) / sizeof(hidden[0]) && character >= hidden[i].first;
}

void smp_escape_format(char out[SMP_ESCAPE_BYTES], uint32_t character)
{
    const uint32_t rest = character - 0x10000;

    if (character < 0x10000)
        (void)snprintf(out, SMP_ESCAPE_BYTES, "\\u%04x", character);
    else
        (void)snprintf(out, SMP_ESCAPE_BYTES, "\\u%04x\\u%04x", 0xd800 | (rest >> 10 & 0x3ff),
                       0xdc00 | (rest & 0x3ff));
}

static void put_escape(struct smp_bytes *out, uint32_t character)
{
    char text[SMP_ESCAPE_BYTES];

    if (character == '\n')
        smp_bytes_puts(out, "\\n");
    else if (character == '\r')
        smp_bytes_puts(out, "\\r");
    else if (character == '\t')
        smp_bytes_puts(out, "\\t");
    else {
        smp_escape_format(text, character);
        smp_bytes_puts(out, text);
    }
}

void smp_escape_put(struct smp_bytes *out, const char *text)
{
    const char *const end = text + strlen(text);
    const char *plain = text; /* the part that is not written yet */
    size_t length = 0;

    for (const char *at = text + plain_length(text, (size_t)(end - text)); at < end; at += length) {
        const uint32_t character = smp_utf8_next(at, &length);

        if (!smp_escape_is_needed(character))
            continue;
        smp_bytes_put(out, plain, (size_t)(at - plain));
        put_escape(out, character);
        plain = at + length;
    }
    smp_bytes_put(out, plain, (size_t)(end - plain));
}
