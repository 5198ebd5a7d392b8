/* SPDX-License-Identifier: Apache-2.0 */
#include "model/names.h"

#include <string.h>

enum { TEXTS_OF_METHOD = 4, USUAL_TEXT_BYTES = 512 /* of one method */ };

/* --- tables --- */

static enum smp_status init_table(struct smp_names *names, struct smp_name_table *table,
                                  size_t unit, size_t align)
{
    /* Offsets and ids have only 32 bits. */
    const size_t wanted = names->budget->max_bytes;
    const size_t most = wanted < UINT32_MAX ? wanted : UINT32_MAX;
    const enum smp_status status = smp_arena_create_within(names->budget, most, &table->items);

    if (status != SMP_OK)
        return status;
    table->unit = unit;
    table->align = align;
    /* Item 0 stands for no item. */
    return smp_arena_alloc(table->items, unit, align) != NULL ? SMP_OK : SMP_EQUOTA;
}

static void fini_table(struct smp_names *names, struct smp_name_table *table)
{
    smp_hash_map_fini(&table->by_hash, &smp_hash_ids, names->budget);
    smp_arena_destroy(table->items);
}

/* Reserves memory for count items with this total of bytes. */
static bool reserve_items(struct smp_names *names, struct smp_name_table *table, size_t count,
                          size_t bytes)
{
    return smp_hash_map_reserve(&table->by_hash, &smp_hash_ids, names->budget, count) &&
           smp_arena_reserve(table->items, bytes, table->align);
}

/* Appends a copy of an item that is not in the table yet. Returns its id, or 0 without memory. */
static uint32_t add_item(struct smp_names *names, struct smp_name_table *table, uint32_t hash,
                         const void *item, size_t bytes)
{
    char *copy = NULL;
    uint32_t id;

    if (!smp_hash_map_reserve(&table->by_hash, &smp_hash_ids, names->budget, 1))
        return 0;
    copy = smp_arena_alloc(table->items, bytes, table->align);
    if (copy == NULL)
        return 0;
    memcpy(copy, item, bytes);
    id = (uint32_t)((size_t)(copy - (char *)smp_arena_base(table->items)) / table->unit);
    smp_hash_ids_put(&table->by_hash, hash, id);
    return id;
}

/* --- life --- */

static enum smp_status init_line_tables(struct smp_names *names, size_t max_bytes)
{
    const size_t most = max_bytes < UINT32_MAX ? max_bytes : UINT32_MAX;
    const enum smp_status status =
        smp_arena_create_within(names->budget, most, &names->line_tables);

    if (status != SMP_OK)
        return status;
    /* Id 0 is not used. */
    return smp_arena_alloc(names->line_tables, sizeof(struct smp_line_table),
                           _Alignof(struct smp_line_table)) != NULL
               ? SMP_OK
               : SMP_EQUOTA;
}

enum smp_status smp_names_init(struct smp_names *names, struct smp_memory_budget *budget,
                               size_t max_lines_bytes)
{
    enum smp_status status;

    *names = (struct smp_names){ .budget = budget };
    status = init_table(names, &names->texts, 1, 1);
    if (status == SMP_OK)
        status = init_table(names, &names->methods, sizeof(struct smp_named_method),
                            _Alignof(struct smp_named_method));
    if (status == SMP_OK)
        status = init_table(names, &names->locations, sizeof(struct smp_named_location),
                            _Alignof(struct smp_named_location));
    if (status == SMP_OK)
        status = init_line_tables(names, max_lines_bytes);
    if (status != SMP_OK)
        smp_names_fini(names);
    return status;
}

void smp_names_fini(struct smp_names *names)
{
    if (names->budget == NULL)
        return;
    smp_arena_destroy(names->line_tables);
    fini_table(names, &names->locations);
    fini_table(names, &names->methods);
    fini_table(names, &names->texts);
    *names = (struct smp_names){ 0 };
}

/* --- items --- */

uint32_t smp_names_text(struct smp_names *names, const char *text)
{
    const size_t length = strlen(text);
    const uint32_t hash = smp_hash_bytes(SMP_HASH_START, text, length);
    size_t step = 0;
    uint32_t id;

    while ((id = smp_hash_ids_next(&names->texts.by_hash, hash, &step)) != 0) {
        if (strcmp(smp_names_text_at(names, id), text) == 0)
            return id;
    }
    return add_item(names, &names->texts, hash, text, length + 1);
}

uint32_t smp_names_method(struct smp_names *names, const struct smp_named_method *wanted)
{
    struct smp_named_method added = *wanted;
    uint32_t hash = smp_hash_u32(SMP_HASH_START, wanted->class_name);
    size_t step = 0;
    uint32_t id;

    hash = smp_hash_u32(smp_hash_u32(hash, wanted->method_name), wanted->file);
    added.plain = 0;
    while ((id = smp_hash_ids_next(&names->methods.by_hash, hash, &step)) != 0) {
        const struct smp_named_method *method = smp_names_method_at(names, id);

        if (method->class_name != wanted->class_name ||
            method->method_name != wanted->method_name || method->file != wanted->file)
            continue;
        if (method->parameters == wanted->parameters)
            return id;
        added.plain = method->plain;
    }
    if (added.plain == 0)
        added.plain = smp_name_table_count(&names->methods);
    return add_item(names, &names->methods, hash, &added, sizeof(added));
}

static bool is_location(const struct smp_names *names, const struct smp_named_location *location,
                        const struct smp_named_location *wanted, uint32_t plain)
{
    if (location->line != wanted->line)
        return false;
    return location->method == wanted->method ||
           (wanted->line > 0 && smp_names_method_at(names, location->method)->plain == plain);
}

uint32_t smp_names_location(struct smp_names *names, struct smp_named_location wanted)
{
    const uint32_t plain = smp_names_method_at(names, wanted.method)->plain;
    const uint32_t hash = smp_hash_u32(smp_hash_u32(SMP_HASH_START, plain), (uint32_t)wanted.line);
    size_t step = 0;
    uint32_t id;

    while ((id = smp_hash_ids_next(&names->locations.by_hash, hash, &step)) != 0) {
        if (is_location(names, smp_names_location_at(names, id), &wanted, plain))
            return id;
    }
    return add_item(names, &names->locations, hash, &wanted, sizeof(wanted));
}

bool smp_names_reserve_location(struct smp_names *names)
{
    return reserve_items(names, &names->locations, 1, sizeof(struct smp_named_location));
}

bool smp_names_reserve_method(struct smp_names *names)
{
    return reserve_items(names, &names->methods, 1, sizeof(struct smp_named_method)) &&
           reserve_items(names, &names->texts, TEXTS_OF_METHOD, USUAL_TEXT_BYTES);
}

/* --- line tables --- */

uint32_t smp_names_line_table(struct smp_names *names, uint32_t method,
                              const struct smp_line *lines, size_t count)
{
    struct smp_line_table *table = NULL;

    if (count > SMP_MAX_LINES_KEPT)
        return 0;
    table = smp_arena_alloc(names->line_tables, sizeof(*table) + count * sizeof(*lines),
                            _Alignof(struct smp_line_table));
    if (table == NULL)
        return 0;
    table->method = method;
    table->count = (uint32_t)count;
    if (count > 0)
        memcpy(table->lines, lines, count * sizeof(*lines));
    return (uint32_t)((char *)table - (char *)smp_arena_base(names->line_tables));
}

int32_t smp_line_find(const struct smp_line *lines, size_t count, int32_t bci)
{
    const struct smp_line *best = NULL;

    if (bci < 0)
        bci = 0;
    for (size_t i = 0; i < count; i++) {
        if (lines[i].start_bci <= bci && (best == NULL || lines[i].start_bci >= best->start_bci))
            best = &lines[i];
    }
    return best == NULL || best->line <= 0 ? SMP_LINE_UNKNOWN : best->line;
}
