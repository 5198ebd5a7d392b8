/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_tables.h - copies of methods' line tables, so that a new byte code index needs no call of
 * the JVM.
 *
 * Owns     the tables.
 * Threads  one at a time.
 * Errors   keep: 0 where there is no memory.
 * Cost     8 bytes a line; find scans the table.
 */
#ifndef SMP_MODEL_LINE_TABLES_H
#define SMP_MODEL_LINE_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/memory_budget.h"
#include "base/status.h"
#include "model/sample.h"

enum { SMP_MAX_LINES_KEPT = 65536 /* of one method; javac makes no more */ };

/* Returns the line of bci: that of the entry with the highest start up to bci, and the last of
 * several. The table may be in any order. A negative bci means the method's beginning: the JVM
 * reports it for compiled code at the entry of a method. */
int32_t smp_line_find(const struct smp_line *lines, size_t count, int32_t bci);

struct smp_line_table {
    uint32_t method; /* of names.h */
    uint32_t count;
    struct smp_line lines[];
};

struct smp_line_tables {
    struct smp_arena *arena;
};

/* At most max_bytes of the budget. On failure there is nothing to fini. */
SMP_CHECKED enum smp_status smp_line_tables_init(struct smp_line_tables *tables,
                                                 struct smp_memory_budget *budget,
                                                 size_t max_bytes);
void smp_line_tables_fini(struct smp_line_tables *tables);
/* Returns the id of the new table. lines may be NULL if count is 0. */
uint32_t smp_line_tables_keep(struct smp_line_tables *tables, uint32_t method,
                              const struct smp_line *lines, size_t count);
const struct smp_line_table *smp_line_tables_get(const struct smp_line_tables *tables, uint32_t id);

#endif
