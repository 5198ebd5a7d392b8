/* SPDX-License-Identifier: Apache-2.0 */
/*
 * method_table.h - counted trees as a flat table: how often each method, class or package was
 * called, how long that took, and by which callers.
 *
 *   handle ─┬─ find ── find        find: calls of both nodes, the time of the outer one alone,
 *           └─ price               entries: calls of the outer one; called by handle and by find
 *
 * total_ns counts no call twice: a call inside another call of the same row is part of that one.
 * entries counts the calls that are not inside another, so total_ns / entries is their mean time.
 *
 * Owns     its rows, names and edges.
 * Threads  immutable after init.
 * Errors   init: SMP_ENOMEM, SMP_EQUOTA; nothing to fini then.
 * Cost     two walks over the counted nodes, a sort of the names, one of the nodes. 4 bytes a
 *          location of the names table, 12 bytes a counted node.
 */
#ifndef SMP_EXPORT_METHOD_TABLE_H
#define SMP_EXPORT_METHOD_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"
#include "export/line_texts.h"
#include "export/style.h"
#include "model/profile.h"

struct smp_method_row {
    uint32_t name; /* its text in the table's names */
    int64_t calls;
    int64_t entries;    /* calls that are not inside a call of the same row */
    int64_t root_calls; /* calls that no counted method made */
    int64_t own_ns;
    int64_t total_ns;
    int64_t min_ns; /* of a finished call; below 0: not known */
    int64_t max_ns;
    int64_t since_ms; /* the latest time since which one of its nodes is counted (row_since.h) */
    size_t callers;   /* index of its first caller in edges */
    size_t caller_count;
};

/* The calls of one row by another. */
struct smp_method_edge {
    uint32_t callee;
    uint32_t caller; /* a row; SMP_NO_CALLER: no counted caller */
    int64_t calls;
};

#define SMP_NO_CALLER UINT32_MAX

struct smp_method_table {
    struct smp_quota *quota;
    struct smp_line_texts names;
    struct smp_method_row *rows;
    size_t row_count; /* includes rows without calls and time */
    uint32_t *order;  /* rows with calls or time, the largest first */
    size_t count;
    struct smp_method_edge *edges; /* by callee, and then by descending calls */
    size_t edge_count;
    int64_t calls; /* over all rows */
    int64_t root_calls;
    bool has_times;
    bool has_focus; /* a row has the name of the focus, or there is no focus */
};

struct smp_table_choice {
    enum smp_report_per per; /* what a row is */
    bool by_calls;           /* order by calls; false: by time, if there is any */
    const char *focus;       /* only calls inside calls of the row with this name; NULL: all */
};

SMP_CHECKED enum smp_status smp_method_table_init(struct smp_method_table *table,
                                                  struct smp_quota *quota,
                                                  const struct smp_profile *profile,
                                                  const struct smp_table_choice *choice);
void smp_method_table_fini(struct smp_method_table *table); /* all zero is fine */

static inline const char *smp_method_row_name(const struct smp_method_table *table, uint32_t row)
{
    return smp_line_text(&table->names, table->rows[row].name);
}

#endif
