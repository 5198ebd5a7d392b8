/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The default thread name rule against a reference in two plain passes, one per pattern. The first
 * byte of the input chooses the size of the output.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/name_rule.h"

enum { MIN_SIZE = 16, MAX_NAME = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static size_t remove_long_hex(const char *in, size_t length, char *out)
{
    size_t written = 0;

    for (size_t i = 0; i < length;) {
        size_t run = 0;

        while (i + run < length && memchr("0123456789abcdef", in[i + run], 16) != NULL)
            run++;
        if (run >= 16) {
            i += run;
        } else if (run > 0) {
            memcpy(out + written, in + i, run);
            written += run;
            i += run;
        } else {
            out[written++] = in[i++];
        }
    }
    return written;
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

/* The longest beginning below room bytes that ends before the first byte of a character. */
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
    const size_t whole = remove_digits(first, remove_long_hex(name, size - 1, first), second);
    const size_t expected = cut(second, whole, room);
    const size_t length = smp_name_rule_apply(name, size - 1, out, room);

    check(length < room && out[length] == '\0');
    if (expected == 0)
        check(strcmp(out, SMP_UNNAMED) == 0 && length == strlen(SMP_UNNAMED));
    else
        check(length == expected && memcmp(out, second, length) == 0);
    return 0;
}
