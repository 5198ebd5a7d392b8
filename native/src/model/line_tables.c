/* SPDX-License-Identifier: Apache-2.0 */
#include "model/line_tables.h"

#include <string.h>

#include "model/names.h"

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

enum smp_status smp_line_tables_init(struct smp_line_tables *tables,
                                     struct smp_memory_budget *budget, size_t max_bytes)
{
    const size_t most = max_bytes < UINT32_MAX ? max_bytes : UINT32_MAX;
    enum smp_status status;

    tables->arena = NULL;
    status = smp_arena_create_within(budget, most, &tables->arena);
    /* No table has id 0. */
    if (status == SMP_OK && smp_arena_alloc(tables->arena, sizeof(struct smp_line_table),
                                            _Alignof(struct smp_line_table)) == NULL)
        status = SMP_EQUOTA;
    if (status != SMP_OK)
        smp_line_tables_fini(tables);
    return status;
}

void smp_line_tables_fini(struct smp_line_tables *tables)
{
    smp_arena_destroy(tables->arena);
    tables->arena = NULL;
}

uint32_t smp_line_tables_keep(struct smp_line_tables *tables, uint32_t method,
                              const struct smp_line *lines, size_t count)
{
    struct smp_line_table *table = NULL;

    if (count > SMP_MAX_LINES_KEPT)
        return 0;
    table = smp_arena_alloc(tables->arena, sizeof(*table) + count * sizeof(*lines),
                            _Alignof(struct smp_line_table));
    if (table == NULL)
        return 0;
    table->method = method;
    table->count = (uint32_t)count;
    if (count > 0)
        memcpy(table->lines, lines, count * sizeof(*lines));
    return (uint32_t)((char *)table - (char *)smp_arena_base(tables->arena));
}

const struct smp_line_table *smp_line_tables_get(const struct smp_line_tables *tables, uint32_t id)
{
    const char *base = smp_arena_base(tables->arena);

    return (const struct smp_line_table *)(const void *)(base + id);
}
