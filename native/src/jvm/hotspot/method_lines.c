/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/hotspot/method_lines.h"

#include <stddef.h>

#include "base/safe_read.h"

enum {
    WINDOW_BYTES = 256, /* of the table, read at once */
    LINE_BITS = 3,
    LINE_MASK = 7,
    TWO_NUMBERS = 255,
    MAX_ENTRIES = 64 * 1024, /* a method has no more byte codes */
    /* Compressed numbers: up to five bytes of six bits; one below the limit is the last. */
    LAST_BYTE_LIMIT = 192,
    MAX_COMPRESSED_BYTES = 5,
    COMPRESSED_BITS = 6
};

struct table {
    uint32_t base;
    uintptr_t at;
    uintptr_t end;
    uintptr_t window;
    size_t length; /* of what has been read from window on */
    bool is_broken;
    int32_t bci;
    int32_t line;
    uint8_t bytes[WINDOW_BYTES];
};

static uint8_t next_table_byte(struct table *table)
{
    if (table->at >= table->end) {
        table->is_broken = true;
        return 0;
    }
    if (table->at - table->window >= table->length) {
        const size_t rest = table->end - table->at;
        table->window = table->at;
        table->length = rest < WINDOW_BYTES ? rest : WINDOW_BYTES;
        if (!smp_safe_read(table->bytes, table->window, table->length)) {
            table->length = 0;
            table->is_broken = true;
            return 0;
        }
    }
    return table->bytes[table->at++ - table->window];
}

/* Its lowest bit says whether it counts down. */
static int32_t next_table_number(struct table *table)
{
    uint32_t sum = 0;

    for (unsigned i = 0; i < MAX_COMPRESSED_BYTES; i++) {
        const uint8_t byte = next_table_byte(table);
        if (byte < table->base)
            table->is_broken = true;
        sum += (byte - table->base) << (i * COMPRESSED_BITS);
        if (table->is_broken || byte < LAST_BYTE_LIMIT)
            break;
    }
    return (int32_t)(sum >> 1 ^ (0U - (sum & 1)));
}

static int32_t add_wrapping(int32_t number, int32_t by)
{
    return (int32_t)((uint32_t)number + (uint32_t)by);
}

/* False: the end. */
static bool next_entry(struct table *table)
{
    const uint8_t byte = next_table_byte(table);

    if (table->is_broken || byte == 0)
        return false;
    if (byte == TWO_NUMBERS) {
        table->bci = add_wrapping(table->bci, next_table_number(table));
        table->line = add_wrapping(table->line, next_table_number(table));
    } else {
        table->bci = add_wrapping(table->bci, byte >> LINE_BITS);
        table->line = add_wrapping(table->line, byte & LINE_MASK);
    }
    return !table->is_broken;
}

bool smp_method_lines_read(uint32_t base, uintptr_t start, uintptr_t end, int32_t bci,
                           struct smp_method_lines *out)
{
    struct table table; /* its bytes are written as they are needed */
    int32_t best_bci = -1;
    int32_t wanted = bci < 0 ? 0 : bci;
    size_t entries = 0;

    table.base = base;
    table.at = start;
    table.end = end;
    table.window = start;
    table.length = 0;
    table.is_broken = false;
    table.bci = table.line = 0;
    *out = (struct smp_method_lines){ 0 };
    while (entries++ < MAX_ENTRIES && next_entry(&table)) {
        if (table.bci <= wanted && table.bci >= best_bci) {
            best_bci = table.bci;
            out->line = table.line > 0 ? table.line : 0;
        }
        if (table.line > 0 && (out->first == 0 || table.line < out->first))
            out->first = table.line;
    }
    if (table.is_broken || entries > MAX_ENTRIES)
        *out = (struct smp_method_lines){ 0 };
    return !table.is_broken && entries <= MAX_ENTRIES;
}
