/* SPDX-License-Identifier: Apache-2.0 */
#include "model/name_rule.h"

#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"

enum { MIN_HEX_RUN = 16 };

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_hex(char byte)
{
    return is_digit(byte) || (byte >= 'a' && byte <= 'f');
}

static size_t hex_run(const char *text, size_t length)
{
    size_t run = 0;

    while (run < length && is_hex(text[run]))
        run++;
    return run;
}

/*
 * One pass does both removals: what is left of a short run of hex digits, and everything else, only
 * loses single bytes, so nothing new can come together for the first pattern.
 */
size_t smp_name_rule_apply(const char *name, size_t length, char *out, size_t size)
{
    size_t written = 0;
    size_t run_end = 0; /* the hex run that i lies in ends here */

    for (size_t i = 0; i < length; i++) {
        if (i >= run_end && is_hex(name[i])) {
            run_end = i + hex_run(name + i, length - i);
            if (run_end - i >= MIN_HEX_RUN) {
                i = run_end - 1;
                continue;
            }
        }
        if (is_digit(name[i]) || name[i] == '.' || name[i] == ':')
            continue;
        if (written == size - 1) {
            out[written] = name[i]; /* shows whether a character ends before it */
            written = smp_utf8_prefix(out, size, written);
            break;
        }
        out[written++] = name[i];
    }
    if (written == 0) {
        memcpy(out, SMP_UNNAMED, sizeof(SMP_UNNAMED));
        return sizeof(SMP_UNNAMED) - 1;
    }
    out[written] = '\0';
    return written;
}
