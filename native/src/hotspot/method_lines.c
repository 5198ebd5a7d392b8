/* SPDX-License-Identifier: Apache-2.0 */
#include "hotspot/method_lines.h"

#include <stddef.h>

#include "base/safe_read.h"
#include "hotspot/compressed.h"

enum {
    LINE_BITS = 3,
    LINE_MASK = 7,
    TWO_NUMBERS = 255,
    MAX_ENTRIES = 64 * 1024 /* the most byte codes of a method */
};

struct table {
    struct smp_compressed data;
    int32_t bci;
    int32_t line;
};

static const uint8_t *find_table_bytes(const void *self, uintptr_t at, size_t *length,
                                       uint8_t room[SMP_COMPRESSED_BLOCK])
{
    (void)self;
    if (*length > SMP_COMPRESSED_BLOCK)
        *length = SMP_COMPRESSED_BLOCK;
    return smp_safe_read(room, at, *length) ? room : NULL;
}

/* The lowest bit is the sign. */
static int32_t next_signed(struct table *table)
{
    const uint32_t number = smp_compressed_number(&table->data);

    return (int32_t)(number >> 1 ^ (0U - (number & 1)));
}

static int32_t add_wrapping(int32_t number, int32_t by)
{
    return (int32_t)((uint32_t)number + (uint32_t)by);
}

/* False: the end. */
static bool next_entry(struct table *table)
{
    const uint8_t byte = smp_compressed_byte(&table->data);

    if (table->data.is_broken || byte == 0)
        return false;
    if (byte == TWO_NUMBERS) {
        table->bci = add_wrapping(table->bci, next_signed(table));
        table->line = add_wrapping(table->line, next_signed(table));
    } else {
        table->bci = add_wrapping(table->bci, byte >> LINE_BITS);
        table->line = add_wrapping(table->line, byte & LINE_MASK);
    }
    return !table->data.is_broken;
}

bool smp_method_lines_read(uint32_t base, uintptr_t start, uintptr_t end, int32_t bci,
                           struct smp_method_lines *out)
{
    struct table table;
    int32_t best_bci = -1;
    int32_t wanted = bci < 0 ? 0 : bci;
    size_t entries = 0;

    smp_compressed_begin(&table.data, base, start, end, find_table_bytes, NULL);
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
    if (table.data.is_broken || entries > MAX_ENTRIES)
        *out = (struct smp_method_lines){ 0 };
    return !table.data.is_broken && entries <= MAX_ENTRIES;
}
