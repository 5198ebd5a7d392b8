/* SPDX-License-Identifier: Apache-2.0 */
#include "export/json_text.h"

#include <string.h>

#include "base/utf8.h"
#include "model/escape.h"

static bool is_escaped(uint32_t character)
{
    return (character < 0x80 && strchr("\"\\<>&", (int)character) != NULL) ||
           smp_escape_is_needed(character);
}

static void put_json_escape(struct smp_writer *out, uint32_t character)
{
    char text[SMP_ESCAPE_BYTES];

    if (character == '"' || character == '\\') {
        smp_writer_put_byte(out, '\\');
        smp_writer_put_byte(out, (char)character);
        return;
    }
    smp_escape_format(text, character);
    smp_writer_puts(out, text);
}

void smp_json_put_text(struct smp_writer *out, const char *text)
{
    const char *plain = text; /* the part that is not written yet */
    size_t length = 0;

    for (const char *at = text; *at != '\0'; at += length) {
        const uint32_t character = smp_utf8_next(at, &length);

        if (!is_escaped(character))
            continue;
        smp_writer_put(out, plain, (size_t)(at - plain));
        put_json_escape(out, character);
        plain = at + length;
    }
    smp_writer_puts(out, plain);
}

void smp_json_put_string(struct smp_writer *out, const char *text)
{
    smp_writer_put_byte(out, '"');
    smp_json_put_text(out, text);
    smp_writer_put_byte(out, '"');
}

void smp_json_put_key(struct smp_writer *out, const char *key, bool is_first)
{
    smp_writer_puts(out, is_first ? "\"" : ",\"");
    smp_writer_puts(out, key);
    smp_writer_puts(out, "\":");
}

void smp_json_put_number(struct smp_writer *out, const char *key, int64_t value)
{
    smp_json_put_key(out, key, false);
    smp_writer_put_i64(out, value);
}

void smp_json_put_count(struct smp_writer *out, const char *key, uint64_t value)
{
    smp_json_put_key(out, key, false);
    smp_writer_put_u64(out, value);
}

void smp_json_put_member(struct smp_writer *out, const char *key, const char *text)
{
    smp_json_put_key(out, key, false);
    smp_json_put_string(out, text);
}

void smp_json_put_pair(struct smp_writer *out, int64_t from, int64_t till)
{
    smp_writer_put_byte(out, '[');
    smp_writer_put_i64(out, from);
    smp_writer_put_byte(out, ',');
    smp_writer_put_i64(out, till);
    smp_writer_put_byte(out, ']');
}
