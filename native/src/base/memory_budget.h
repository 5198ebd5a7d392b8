/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_budget.h - one maximum, shared by the tables and arenas (arena.h) of a module.
 *
 * Threads  one at a time.
 * Errors   NULL or false if the maximum, the quota or the system refuses; nothing has changed then.
 * Cost     as smp_alloc.
 */
#ifndef SMP_BASE_MEMORY_BUDGET_H
#define SMP_BASE_MEMORY_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/alloc.h"

struct smp_memory_budget {
    struct smp_quota *quota; /* all bytes are also charged to it */
    size_t max_bytes;
    size_t used_bytes; /* heap bytes, and bytes committed in arenas */
};

static inline size_t smp_memory_budget_left(const struct smp_memory_budget *budget)
{
    return budget->used_bytes < budget->max_bytes ? budget->max_bytes - budget->used_bytes : 0;
}

/* Returns zeroed heap memory. */
void *smp_memory_budget_take(struct smp_memory_budget *budget, size_t size);
/* Copies a piece into a larger one and frees it. Returns NULL if the piece has not changed. piece
 * NULL of size 0 is fine. */
void *smp_memory_budget_grow(struct smp_memory_budget *budget, void *piece, size_t size,
                             size_t larger);
/* An array that grows by doubling. All zero: empty. */
struct smp_grown {
    void *items;
    size_t bytes;
};

/* Makes room for needed bytes and keeps the content. Returns false if nothing has changed. */
bool smp_memory_budget_fit(struct smp_memory_budget *budget, struct smp_grown *grown,
                           size_t needed);
/* Frees a piece. size is the one passed to take. piece NULL is fine. */
void smp_memory_budget_give(struct smp_memory_budget *budget, void *piece, size_t size);

#endif
