/* SPDX-License-Identifier: Apache-2.0 */
/*
 * method_table.h - counted trees as one flat table: for each method, class or package how often it
 * was called, how long that took, and by which others.
 *
 *   handle ─┬─ find ── find        find: calls of both nodes, the time of the outer one alone,
 *           └─ price               entries: calls of the outer one; called by handle and by find
 *
 * total_ns has no call twice: a call inside of another one of the same row is part of that one.
 * entries are the calls that are not, so total_ns / entries is how long such a call takes.
 *
 * Owns     its rows, names and edges.
 * Threads  immutable after init.
 * Errors   init: SMP_ENOMEM, SMP_EQUOTA; there is nothing to fini then.
 * Cost     two walks over the counted nodes, a sort of the names, one of the nodes. 4 bytes a
 *          location of the names table, 12 bytes a counted node.
 */
#ifndef SMP_EXPORT_METHOD_TABLE_H
#define SMP_EXPORT_METHOD_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/status.h"
#include "export/style.h"
#include "model/profile.h"

struct smp_method_row {
    size_t name; /* where it begins in the table's names, terminated */
    int64_t calls;
    int64_t entries;    /* of these, those that are not inside of a call of the same row */
    int64_t root_calls; /* of these, those that no counted method made */
    int64_t own_ns;
    int64_t total_ns;
    int64_t min_ns; /* of a call that has ended; below 0: not known */
    int64_t max_ns;
    size_t callers; /* where its callers begin in the table's edges */
    size_t caller_count;
};

/* Calls of one row by another one. */
struct smp_method_edge {
    uint32_t callee;
    uint32_t caller; /* a row; SMP_NO_CALLER: none that is counted */
    int64_t calls;
};

#define SMP_NO_CALLER UINT32_MAX

struct smp_method_table {
    struct smp_quota *quota;
    struct smp_bytes names;
    struct smp_method_row *rows;
    size_t row_count; /* with those without calls and time */
    uint32_t *order;  /* of the rows with calls or time: the first one has most */
    size_t count;
    struct smp_method_edge *edges; /* of one callee after the other, the most calls first */
    size_t edge_count;
    int64_t calls; /* of all rows */
    int64_t root_calls;
    bool has_times;
    bool has_focus; /* a row has the name of the focus, or no focus was chosen */
};

struct smp_table_choice {
    enum smp_report_per per; /* what a row is */
    bool by_calls;           /* order; false: by time, if there is any */
    const char *focus;       /* only calls inside of those of the row with this name; NULL: all */
};

SMP_CHECKED enum smp_status smp_method_table_init(struct smp_method_table *table,
                                                  struct smp_quota *quota,
                                                  const struct smp_profile *profile,
                                                  const struct smp_table_choice *choice);
void smp_method_table_fini(struct smp_method_table *table); /* all zero is fine */

static inline const char *smp_method_row_name(const struct smp_method_table *table, uint32_t row)
{
    return smp_bytes_text(&table->names) + table->rows[row].name;
}

#endif
