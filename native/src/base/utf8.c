/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One decoder reads all forms. Invalid input gives one BAD per lead byte with the continuation
 * bytes that follow it, or per other byte.
 */
#include "base/utf8.h"

#include <stdbool.h>
#include <string.h>

enum {
    BAD = 0xFFFD,
    ELLIPSIS_BYTES = 3,
    MIN_SIZE = 4,
    MAX_CHAR_BYTES = 4,
    HIGH_FIRST = 0xD800,
    LOW_FIRST = 0xDC00,
    LOW_LAST = 0xDFFF,
    SUPPLEMENTARY_FIRST = 0x10000,
    LAST = 0x10FFFF
};

static bool is_high(uint32_t c)
{
    return c >= HIGH_FIRST && c < LOW_FIRST;
}

static bool is_low(uint32_t c)
{
    return c >= LOW_FIRST && c <= LOW_LAST;
}

static uint32_t join(uint32_t high, uint32_t low)
{
    return SUPPLEMENTARY_FIRST + ((high - HIGH_FIRST) << 10) + (low - LOW_FIRST);
}

static bool is_utf8_continuation(uint8_t byte)
{
    return (byte & 0xC0) == 0x80;
}

/* Returns the length of the form that begins with lead; 1 if none does. */
static size_t form_of(uint8_t lead)
{
    if (lead < 0xC0 || lead >= 0xF8)
        return 1;
    if (lead < 0xE0)
        return 2;
    return lead < 0xF0 ? 3 : 4;
}

/* left > 0. Returns surrogates as they are: only the callers know what a pair means. */
static uint32_t decode(const uint8_t *in, size_t left, size_t *taken)
{
    static const uint32_t smallest[MAX_CHAR_BYTES + 1] = { 0, 0, 0x80, 0x800, SUPPLEMENTARY_FIRST };
    const size_t form = form_of(in[0]);
    size_t count = 1;

    if (form == 1) {
        *taken = 1;
        return in[0] < 0x80 ? in[0] : (uint32_t)BAD;
    }
    uint32_t c = in[0] & (0x7FU >> form);
    while (count < form && count < left && is_utf8_continuation(in[count]))
        c = c << 6 | (in[count++] & 0x3FU);
    *taken = count;
    return count == form && c >= smallest[form] && c <= LAST ? c : (uint32_t)BAD;
}

/* c is a character, not a surrogate. Returns its bytes, at most MAX_CHAR_BYTES. */
static size_t encode(char *out, uint32_t c)
{
    const size_t form = c < 0x80 ? 1 : c < 0x800 ? 2 : c < SUPPLEMENTARY_FIRST ? 3 : 4;
    /* its highest bits: one 1 for each byte */
    const uint32_t lead = form == 1 ? 0 : 0xFF & (0xF00U >> form);

    for (size_t i = form - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (c & 0x3F));
        c >>= 6;
    }
    out[0] = (char)(lead | c);
    return form;
}

/* The output buffer. */
struct target {
    char *out;
    size_t room;   /* bytes without the NUL, at least ELLIPSIS_BYTES */
    size_t length; /* written so far */
    size_t cut;    /* the last character boundary that leaves room for the ellipsis */
};

static struct target init_target(char *out, size_t size)
{
    return (struct target){ .out = out, .room = size - 1 };
}

/* Returns false and writes nothing if c does not fit. c is a character, not a surrogate. */
static bool put_char(struct target *to, uint32_t c)
{
    char bytes[MAX_CHAR_BYTES];
    const size_t count = encode(bytes, c);

    if (count > to->room - to->length)
        return false;
    memcpy(to->out + to->length, bytes, count);
    to->length += count;
    if (to->length <= to->room - ELLIPSIS_BYTES)
        to->cut = to->length;
    return true;
}

static size_t finish_text(struct target *to, bool fits)
{
    if (!fits) {
        memcpy(to->out + to->cut, "\xE2\x80\xA6", ELLIPSIS_BYTES);
        to->length = to->cut + ELLIPSIS_BYTES;
    }
    to->out[to->length] = '\0';
    return to->length;
}

/* Called if size is too small for any text. */
static size_t write_nothing(char *out, size_t size)
{
    if (size > 0)
        out[0] = '\0';
    return 0;
}

static bool is_plain(uint8_t byte)
{
    return byte != 0 && byte < 0x80;
}

/* Returns whether none of the eight bytes at in is NUL or has its high bit set. */
static bool are_plain(const uint8_t *in)
{
    const uint64_t ones = 0x0101010101010101U;
    uint64_t word;

    memcpy(&word, in, sizeof(word));
    return ((word | (word - ones)) & ones << 7) == 0;
}

static size_t count_plain(const uint8_t *in, size_t length)
{
    size_t at = 0;

    while (length - at >= sizeof(uint64_t) && are_plain(in + at))
        at += sizeof(uint64_t);
    while (at < length && is_plain(in[at]))
        at++;
    return at;
}

/* Copies the run of ASCII at in as far as it fits. Most names are ASCII only. */
static size_t put_plain(struct target *to, const uint8_t *in, size_t length)
{
    const size_t left = to->room - to->length;
    const size_t count = count_plain(in, length < left ? length : left);
    const size_t last_cut = to->room - ELLIPSIS_BYTES;

    memcpy(to->out + to->length, in, count);
    if (to->length <= last_cut)
        to->cut = to->length + count < last_cut ? to->length + count : last_cut;
    to->length += count;
    return count;
}

/* left > 0. Returns the next character of modified UTF-8, with invalid input replaced. */
static uint32_t next_modified(const uint8_t *in, size_t left, size_t *taken)
{
    const uint32_t c = decode(in, left, taken);
    size_t more = 0;

    if (is_high(c) && *taken < left) {
        const uint32_t low = decode(in + *taken, left - *taken, &more);
        if (is_low(low)) {
            *taken += more;
            return join(c, low);
        }
    }
    return c == 0 || is_high(c) || is_low(c) ? (uint32_t)BAD : c;
}

size_t smp_utf8_from_modified(char *out, size_t size, const char *in, size_t length)
{
    const uint8_t *bytes = (const uint8_t *)in;
    size_t at = 0;
    bool fits = true;

    if (size < MIN_SIZE)
        return write_nothing(out, size);
    struct target to = init_target(out, size);
    while (at < length && fits) {
        size_t taken = put_plain(&to, bytes + at, length - at);
        if (taken == 0)
            fits = put_char(&to, next_modified(bytes + at, length - at, &taken));
        at += taken;
    }
    return finish_text(&to, fits);
}

/* left > 0 */
static uint32_t next_utf16(const uint16_t *in, size_t left, size_t *taken)
{
    *taken = 1;
    if (is_high(in[0]) && left > 1 && is_low(in[1])) {
        *taken = 2;
        return join(in[0], in[1]);
    }
    return in[0] == 0 || is_high(in[0]) || is_low(in[0]) ? (uint32_t)BAD : in[0];
}

size_t smp_utf8_from_utf16(char *out, size_t size, const uint16_t *in, size_t length)
{
    size_t at = 0;
    bool fits = true;

    if (size < MIN_SIZE)
        return write_nothing(out, size);
    struct target to = init_target(out, size);
    while (at < length && fits) {
        size_t taken;
        fits = put_char(&to, next_utf16(in + at, length - at, &taken));
        at += taken;
    }
    return finish_text(&to, fits);
}

size_t smp_utf8_to_utf16(uint16_t *out, const char *in, size_t length)
{
    const uint8_t *bytes = (const uint8_t *)in;
    size_t at = 0;
    size_t units = 0;

    while (at < length) {
        size_t taken;
        uint32_t c = decode(bytes + at, length - at, &taken);
        at += taken;
        if (is_high(c) || is_low(c))
            c = BAD;
        if (c >= SUPPLEMENTARY_FIRST) {
            c -= SUPPLEMENTARY_FIRST;
            out[units++] = (uint16_t)(HIGH_FIRST + (c >> 10));
            c = LOW_FIRST + (c & 0x3FF);
        }
        out[units++] = (uint16_t)c;
    }
    return units;
}

uint32_t smp_utf8_next(const char *text, size_t *bytes)
{
    return decode((const uint8_t *)text, MAX_CHAR_BYTES, bytes); /* stops at the NUL */
}

size_t smp_utf8_columns(const char *text, size_t length)
{
    size_t columns = 0;

    for (size_t i = 0; i < length; i++)
        columns += !is_utf8_continuation((uint8_t)text[i]);
    return columns;
}

size_t smp_utf8_prefix(const char *text, size_t length, size_t max)
{
    if (length <= max)
        return length;
    while (max > 0 && is_utf8_continuation((uint8_t)text[max]))
        max--;
    return max;
}
