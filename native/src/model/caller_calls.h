/* SPDX-License-Identifier: Apache-2.0 */
/*
 * caller_calls.h - for counted rows whose method got its probe within the interval: how many calls
 * their caller had had by then, at most. Calls made by those are missing in the row.
 *
 *   handle   calls 990
 *     find   since its probe came; handle had had up to 330 calls by then
 *
 *   mark ──► all calls, at a read behind some probes
 *   add_late ──► probes from before the mark? what the caller had there; else not settled
 *   settle ──► of those the calls that their callers have now, at the end of the same read
 *
 * Owns     its rows, in ascending order of nodes.
 * Threads  one writer; any number of readers once it is part of a profile.
 * Errors   add: SMP_ENOMEM; SMP_EQUOTA past SMP_MAX_CALLER_CALLS. Nothing has changed then, and it
 *          is unknown how many calls that row lacks.
 * Cost     find: O(log rows). add: constant behind the last row, else O(rows). 16 bytes a row.
 */
#ifndef SMP_MODEL_CALLER_CALLS_H
#define SMP_MODEL_CALLER_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"
#include "model/tree.h"

enum { SMP_MAX_CALLER_CALLS = 65536 };

struct smp_caller_call {
    uint32_t node;
    int64_t calls; /* of the row's caller; below 0: not settled yet */
};

struct smp_caller_calls;

SMP_CHECKED enum smp_status smp_caller_calls_create(struct smp_quota *quota,
                                                    struct smp_caller_calls **out);
void smp_caller_calls_destroy(struct smp_caller_calls *table); /* NULL is fine */

/* Adds to the calls of a row, or appends a row; a new row with calls below 0 must be settled. */
SMP_CHECKED enum smp_status smp_caller_calls_add(struct smp_caller_calls *table,
                                                 const struct smp_caller_call *call);
/* Marks this time of the wall clock: all probes set until then work, and the tree has all calls
 * until then. Without memory the previous mark stays. A mark lasts until drop_mark or destroy. */
void smp_caller_calls_mark(struct smp_caller_calls *table, const struct smp_tree *tree,
                           int64_t wall_ms);
void smp_caller_calls_drop_mark(struct smp_caller_calls *table); /* NULL is fine */
/* As add, for a new row whose method got its probe at since_ms. */
SMP_CHECKED enum smp_status smp_caller_calls_add_late(struct smp_caller_calls *table, uint32_t node,
                                                      uint32_t caller, int64_t since_ms);
/* Gives each unsettled row the calls that its caller has now. table may be NULL. */
void smp_caller_calls_settle(struct smp_caller_calls *table, const struct smp_tree *tree);

/* Called after a fold of the tree: rows of removed nodes are removed, and the mark is dropped. */
void smp_caller_calls_renumber(struct smp_caller_calls *table, const uint32_t *places);

/* 0: not known. table may be NULL, as below. */
int64_t smp_caller_calls_find(const struct smp_caller_calls *table, uint32_t node);
size_t smp_caller_calls_count(const struct smp_caller_calls *table);
const struct smp_caller_call *smp_caller_calls_at(const struct smp_caller_calls *table,
                                                  size_t index);

#endif
