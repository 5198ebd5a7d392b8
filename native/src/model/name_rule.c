/* SPDX-License-Identifier: Apache-2.0 */
#include "model/name_rule.h"

#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"

enum { UUID_BYTES = 36, MIN_MIXED_RUN = 8, MIN_HEX_RUN = 16 };

/* Returns the length of the part that begins at text, at least 1, and whether to remove it. */
typedef size_t part_at(const char *text, size_t length, bool *is_removed);

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_lower_hex(char byte)
{
    return is_digit(byte) || (byte >= 'a' && byte <= 'f');
}

static bool is_hex(char byte)
{
    return is_lower_hex(byte) || (byte >= 'A' && byte <= 'F');
}

static size_t uuid_at(const char *text, size_t length, bool *is_removed)
{
    static const char shape[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    size_t matched = 0;

    while (matched < UUID_BYTES && matched < length &&
           (shape[matched] == 'x' ? is_hex(text[matched]) : text[matched] == '-'))
        matched++;
    *is_removed = matched == UUID_BYTES;
    return *is_removed ? UUID_BYTES : 1;
}

static size_t mixed_run_at(const char *text, size_t length, bool *is_removed)
{
    size_t run = 0;
    size_t digits = 0;

    for (; run < length && is_hex(text[run]); run++)
        digits += is_digit(text[run]);
    *is_removed = run >= MIN_MIXED_RUN && digits > 0 && digits < run;
    return run > 0 ? run : 1;
}

static size_t long_run_at(const char *text, size_t length, bool *is_removed)
{
    size_t run = 0;

    while (run < length && is_lower_hex(text[run]))
        run++;
    *is_removed = run >= MIN_HEX_RUN;
    return run > 0 ? run : 1;
}

static size_t digit_at(const char *text, size_t length, bool *is_removed)
{
    (void)length;
    *is_removed = is_digit(text[0]) || text[0] == '.' || text[0] == ':';
    return 1;
}

static size_t remove_parts(char *text, size_t length, part_at *part)
{
    size_t written = 0;
    size_t size;

    for (size_t at = 0; at < length; at += size) {
        bool is_removed = false;
        size = part(text + at, length - at, &is_removed);
        if (is_removed)
            continue;
        memmove(text + written, text + at, size);
        written += size;
    }
    return written;
}

size_t smp_name_rule_apply(const char *name, size_t length, char *out, size_t size)
{
    static part_at *const parts[] = { uuid_at, mixed_run_at, long_run_at, digit_at };
    size_t left = length < size ? length : smp_utf8_prefix(name, length, size - 1);

    if (left > 0)
        memcpy(out, name, left);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        left = remove_parts(out, left, parts[i]);
    if (left == 0) {
        memcpy(out, SMP_UNNAMED, sizeof(SMP_UNNAMED));
        return sizeof(SMP_UNNAMED) - 1;
    }
    out[left] = '\0';
    return left;
}
