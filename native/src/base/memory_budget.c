/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory_budget.h"

#include <string.h>

enum { FIRST_BYTES = 1024 };

void *smp_memory_budget_take(struct smp_memory_budget *budget, size_t size)
{
    void *piece = size <= smp_memory_budget_left(budget) ? smp_alloc(budget->quota, size) : NULL;

    if (piece != NULL)
        budget->used_bytes += size;
    return piece;
}

void *smp_memory_budget_grow(struct smp_memory_budget *budget, void *piece, size_t size,
                             size_t larger)
{
    void *grown = smp_memory_budget_take(budget, larger);

    if (grown == NULL)
        return NULL;
    if (size > 0)
        memcpy(grown, piece, size);
    smp_memory_budget_give(budget, piece, size);
    return grown;
}

void smp_memory_budget_give(struct smp_memory_budget *budget, void *piece, size_t size)
{
    if (piece == NULL)
        return;
    smp_free(budget->quota, piece);
    budget->used_bytes -= size;
}

bool smp_memory_budget_fit(struct smp_memory_budget *budget, struct smp_grown *grown, size_t needed)
{
    size_t bytes = grown->bytes > 0 ? grown->bytes : FIRST_BYTES;
    void *items = NULL;

    if (needed <= grown->bytes)
        return true;
    while (bytes < needed)
        bytes *= 2;
    items = smp_memory_budget_grow(budget, grown->items, grown->bytes, bytes);
    if (items == NULL)
        return false;
    *grown = (struct smp_grown){ .items = items, .bytes = bytes };
    return true;
}
