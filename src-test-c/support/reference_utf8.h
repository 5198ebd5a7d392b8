/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference_utf8.h - a naive version of base/utf8.h to compare with, and an independent validator
 * of UTF-8 made of the rows of the Unicode standard's table 3-7.
 *
 * A header alone, because the fuzz targets link nothing but the core.
 */
#ifndef SMP_SUPPORT_REFERENCE_UTF8_H
#define SMP_SUPPORT_REFERENCE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct reference_utf8_row {
    uint8_t bytes;
    uint8_t lead_from, lead_to;
    uint8_t second_from, second_to; /* the third and the fourth byte are 80..BF */
};

/* Returns the length of the well-formed character at text, or 0. */
static inline size_t reference_utf8_char(const uint8_t *text, size_t left)
{
    static const struct reference_utf8_row rows[] = {
        { 1, 0x00, 0x7F, 0x00, 0x00 }, { 2, 0xC2, 0xDF, 0x80, 0xBF }, { 3, 0xE0, 0xE0, 0xA0, 0xBF },
        { 3, 0xE1, 0xEC, 0x80, 0xBF }, { 3, 0xED, 0xED, 0x80, 0x9F }, { 3, 0xEE, 0xEF, 0x80, 0xBF },
        { 4, 0xF0, 0xF0, 0x90, 0xBF }, { 4, 0xF1, 0xF3, 0x80, 0xBF }, { 4, 0xF4, 0xF4, 0x80, 0x8F },
    };

    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        const struct reference_utf8_row *row = &rows[r];
        if (left < row->bytes || text[0] < row->lead_from || text[0] > row->lead_to)
            continue;
        if (row->bytes >= 2 && (text[1] < row->second_from || text[1] > row->second_to))
            continue;
        if (row->bytes >= 3 && (text[2] < 0x80 || text[2] > 0xBF))
            continue;
        if (row->bytes >= 4 && (text[3] < 0x80 || text[3] > 0xBF))
            continue;
        return row->bytes;
    }
    return 0;
}

/* Well-formed UTF-8 without a NUL inside, as the core requires. */
static inline bool reference_utf8_is_valid(const char *text, size_t length)
{
    const uint8_t *bytes = (const uint8_t *)text;

    for (size_t at = 0; at < length;) {
        const size_t count = reference_utf8_char(bytes + at, length - at);
        if (count == 0 || bytes[at] == 0)
            return false;
        at += count;
    }
    return true;
}

/* Uses arithmetic instead of bit operations: a UTF-8 form is a number to the base 64. */
static inline size_t reference_utf8_encode(uint8_t *out, uint32_t c)
{
    if (c < 128) {
        out[0] = (uint8_t)c;
        return 1;
    }
    if (c < 64 * 32) {
        out[0] = (uint8_t)(192 + c / 64);
        out[1] = (uint8_t)(128 + c % 64);
        return 2;
    }
    if (c < 64 * 64 * 16) {
        out[0] = (uint8_t)(224 + c / 64 / 64);
        out[1] = (uint8_t)(128 + c / 64 % 64);
        out[2] = (uint8_t)(128 + c % 64);
        return 3;
    }
    out[0] = (uint8_t)(240 + c / 64 / 64 / 64);
    out[1] = (uint8_t)(128 + c / 64 / 64 % 64);
    out[2] = (uint8_t)(128 + c / 64 % 64);
    out[3] = (uint8_t)(128 + c % 64);
    return 4;
}

/* Encodes a UTF-16 unit in the JVM's modified UTF-8: NUL takes two bytes, each half of a surrogate
 * pair three. */
static inline size_t reference_utf8_encode_modified(uint8_t *out, uint16_t unit)
{
    if (unit == 0) {
        out[0] = 0xC0;
        out[1] = 0x80;
        return 2;
    }
    return reference_utf8_encode(out, unit);
}

/* Decodes one character; left > 0. Only bytes that the encoder would write for the decoded number
 * are accepted. Anything else becomes one U+FFFD for a lead byte and its continuation bytes. */
static inline uint32_t reference_utf8_decode(const uint8_t *in, size_t left, size_t *taken)
{
    const size_t want = in[0] < 0xC0 || in[0] > 0xF7 ? 1 : in[0] < 0xE0 ? 2 : in[0] < 0xF0 ? 3 : 4;
    uint8_t form[4];
    size_t have = 1;

    while (have < want && have < left && in[have] >= 0x80 && in[have] <= 0xBF)
        have++;
    *taken = have;
    if (have < want || (want == 1 && in[0] >= 128))
        return 0xFFFD;
    uint32_t c = in[0] % (want == 1 ? 128U : want == 2 ? 32U : want == 3 ? 16U : 8U);
    for (size_t i = 1; i < want; i++)
        c = c * 64 + in[i] % 64U;
    if (c > 0x10FFFF || reference_utf8_encode(form, c) != want || memcmp(form, in, want) != 0)
        return 0xFFFD;
    return c;
}

/* Writes all bytes of the characters if they fit in size - 1, otherwise as many characters as
 * leave room for the ellipsis. */
static inline size_t reference_utf8_write(char *out, size_t size, const uint32_t *chars,
                                          size_t count)
{
    uint8_t bytes[4];
    size_t total = 0;
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        total += reference_utf8_encode(bytes, chars[i]);
    const bool fits = total <= size - 1;
    for (size_t i = 0; i < count; i++) {
        const size_t more = reference_utf8_encode(bytes, chars[i]);
        if (kept + more > (fits ? size - 1 : size - 4))
            break;
        memcpy(out + kept, bytes, more);
        kept += more;
    }
    if (!fits) {
        memcpy(out + kept, "\xE2\x80\xA6", 3);
        kept += 3;
    }
    out[kept] = '\0';
    return kept;
}

static inline bool reference_utf8_is_between(uint32_t c, uint32_t from, uint32_t to)
{
    return c >= from && c <= to;
}

/* Does the same as smp_utf8_from_modified. chars is scratch space for length characters. */
static inline size_t reference_utf8_from_modified(char *out, size_t size, const char *in,
                                                  size_t length, uint32_t *chars)
{
    const uint8_t *bytes = (const uint8_t *)in;
    size_t units = 0;
    size_t count = 0;
    size_t taken;

    for (size_t at = 0; at < length; at += taken)
        chars[units++] = reference_utf8_decode(bytes + at, length - at, &taken);
    for (size_t i = 0; i < units; i++) {
        uint32_t c = chars[i];
        if (reference_utf8_is_between(c, 0xD800, 0xDBFF) && i + 1 < units &&
            reference_utf8_is_between(chars[i + 1], 0xDC00, 0xDFFF)) {
            c = 0x10000 + (c - 0xD800) * 1024 + (chars[i + 1] - 0xDC00);
            i++;
        } else if (c == 0 || reference_utf8_is_between(c, 0xD800, 0xDFFF)) {
            c = 0xFFFD;
        }
        chars[count++] = c;
    }
    return reference_utf8_write(out, size, chars, count);
}

#endif
