/* SPDX-License-Identifier: Apache-2.0 */
#include "export/json_text.h"

#include <stdio.h>

enum { ESCAPE_BYTES = 8 /* \u003c and a NUL */ };

/* The character to escape that text starts with, and its bytes; -1 for all others. */
static int json_character_to_escape(const unsigned char *text, size_t *length)
{
    *length = 1;
    if (text[0] < 0x20 || text[0] == '"' || text[0] == '\\' || text[0] == '<' || text[0] == '>' ||
        text[0] == '&' || text[0] == 0x7f)
        return text[0];
    if (text[0] == 0xe2 && text[1] == 0x80 && (text[2] == 0xa8 || text[2] == 0xa9)) {
        *length = 3;
        return text[2] == 0xa8 ? 0x2028 : 0x2029;
    }
    return -1;
}

static void put_json_escape(struct smp_writer *out, int character)
{
    char text[ESCAPE_BYTES];

    if (character == '"' || character == '\\') {
        smp_writer_put_byte(out, '\\');
        smp_writer_put_byte(out, (char)character);
        return;
    }
    (void)snprintf(text, sizeof(text), "\\u%04x", (unsigned)character & 0xffffu);
    smp_writer_puts(out, text);
}

void smp_json_put_text(struct smp_writer *out, const char *text)
{
    const char *plain = text; /* from here on nothing was written yet */
    size_t length = 0;

    for (const char *at = text; *at != '\0'; at += length) {
        const int character = json_character_to_escape((const unsigned char *)at, &length);

        if (character < 0)
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
