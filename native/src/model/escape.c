/* SPDX-License-Identifier: Apache-2.0 */
#include "model/escape.h"

#include <stdint.h>
#include <string.h>

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* One of the eight bytes is below 0x20, or 0x7f, or not ASCII. A borrow marks a wrong byte only
 * above one that is marked rightly. */
static bool is_any_special(uint64_t eight)
{
    return ((eight | (eight - EACH(0x20)) | (eight + EACH(0x01))) & EACH(0x80)) != 0;
}

/* At least so many bytes at the start are plain. Nearly all names are plain letters only. */
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

/* The character to escape that text starts with, and its bytes in UTF-8; 0 for all others. */
static unsigned character_to_escape(const unsigned char *text, size_t *length)
{
    *length = 1;
    if (text[0] < 0x20 || text[0] == 0x7f)
        return text[0];
    *length = 2;
    if (text[0] == 0xc2 && text[1] >= 0x80 && text[1] <= 0x9f)
        return text[1];
    *length = 3;
    if (text[0] == 0xe2 && text[1] == 0x80 && (text[2] == 0xa8 || text[2] == 0xa9))
        return text[2] == 0xa8 ? 0x2028 : 0x2029;
    *length = 1;
    return 0;
}

static void put_escape(struct smp_bytes *out, unsigned character)
{
    if (character == '\n')
        smp_bytes_puts(out, "\\n");
    else if (character == '\r')
        smp_bytes_puts(out, "\\r");
    else if (character == '\t')
        smp_bytes_puts(out, "\\t");
    else
        smp_bytes_printf(out, "\\u%04x", character);
}

void smp_escape_put(struct smp_bytes *out, const char *text)
{
    const char *const end = text + strlen(text);
    const char *plain = text; /* from here on nothing was written yet */
    size_t length = 0;

    for (const char *at = text + plain_length(text, (size_t)(end - text)); at < end; at += length) {
        const unsigned character = character_to_escape((const unsigned char *)at, &length);

        if (character == 0)
            continue;
        smp_bytes_put(out, plain, (size_t)(at - plain));
        put_escape(out, character);
        plain = at + length;
    }
    smp_bytes_put(out, plain, (size_t)(end - plain));
}
