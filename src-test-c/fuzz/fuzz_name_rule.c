/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the default thread name rule with a naive version that makes one pass for each pattern.
 * The first byte of the input selects the size of the output. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/name_rule.h"

#define HEX "0123456789abcdefABCDEF"

enum { MIN_SIZE = 16, MAX_NAME = 4096, UUID_BYTES = 36 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

/* Returns the number of bytes from the start of text that are in set. */
static size_t span(const char *text, size_t length, const char *set)
{
    size_t run = 0;

    while (run < length && memchr(set, text[run], strlen(set)) != NULL)
        run++;
    return run;
}

static bool is_uuid(const char *text, size_t length)
{
    static const size_t groups[] = { 8, 4, 4, 4, 12 };
    size_t at = 0;

    for (size_t i = 0; i < 5; i++) {
        if (i > 0 && (at == length || text[at++] != '-'))
            return false;
        if (span(text + at, length - at, HEX) < groups[i])
            return false;
        at += groups[i];
    }
    return true;
}

static size_t remove_uuids(char *text, size_t length)
{
    for (size_t i = 0; i + UUID_BYTES <= length;) {
        if (is_uuid(text + i, length - i)) {
            memmove(text + i, text + i + UUID_BYTES, length - i - UUID_BYTES);
            length -= UUID_BYTES;
        } else {
            i++;
        }
    }
    return length;
}

/* Removes runs of this many bytes of the set; is_mixed: only runs with both digits and letters. */
static size_t remove_runs(char *text, size_t length, const char *set, size_t at_least,
                          bool is_mixed)
{
    for (size_t i = 0; i < length;) {
        const size_t run = span(text + i, length - i, set);
        const bool is_one_kind =
            span(text + i, run, "0123456789") == run || span(text + i, run, "abcdefABCDEF") == run;
        if (run >= at_least && !(is_mixed && is_one_kind)) {
            memmove(text + i, text + i + run, length - i - run);
            length -= run;
        } else {
            i += run > 0 ? run : 1;
        }
    }
    return length;
}

static size_t remove_digits(const char *in, size_t length, char *out)
{
    size_t written = 0;

    for (size_t i = 0; i < length; i++) {
        if (memchr("0123456789.:", in[i], 12) == NULL)
            out[written++] = in[i];
    }
    return written;
}

/* Returns the length of the longest prefix below room bytes that ends between two characters. */
static size_t cut(const char *text, size_t length, size_t room)
{
    size_t end = length;

    if (length < room)
        return length;
    for (end = room - 1; end > 0; end--) {
        if (((unsigned char)text[end] & 0xc0u) != 0x80u)
            break;
    }
    return end;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char first[MAX_NAME];
    char second[MAX_NAME];
    char out[MIN_SIZE + 255];

    if (size == 0 || size > MAX_NAME)
        return 0;

    const char *name = (const char *)data + 1;
    const size_t room = MIN_SIZE + (size_t)data[0];
    size_t expected = cut(name, size - 1, room);
    const size_t length = smp_name_rule_apply(name, size - 1, out, room);

    memcpy(first, name, expected);
    expected = remove_uuids(first, expected);
    expected = remove_runs(first, expected, HEX, 8, true);
    expected = remove_runs(first, expected, "0123456789abcdef", 16, false);
    expected = remove_digits(first, expected, second);
    check(length < room && out[length] == '\0');
    if (expected == 0)
        check(strcmp(out, SMP_UNNAMED) == 0 && length == strlen(SMP_UNNAMED));
    else
        check(length == expected && memcmp(out, second, length) == 0);
    return 0;
}
