/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory_budget.h"

void *smp_memory_budget_take(struct smp_memory_budget *budget, size_t size)
{
    void *piece = size <= smp_memory_budget_left(budget) ? smp_alloc(budget->quota, size) : NULL;

    if (piece != NULL)
        budget->used_bytes += size;
    return piece;
}

void smp_memory_budget_give(struct smp_memory_budget *budget, void *piece, size_t size)
{
    if (piece == NULL)
        return;
    smp_free(budget->quota, piece);
    budget->used_bytes -= size;
}

/* What the arena would commit to hand out size bytes. */
static size_t bytes_to_commit(const struct smp_arena *arena, size_t size, size_t align)
{
    const size_t step = SMP_ARENA_STEP;
    const size_t end = smp_arena_used(arena) + size + align - 1;
    const size_t committed = smp_arena_committed(arena);

    return end <= committed ? 0 : (end - committed + step - 1) / step * step;
}

void *smp_memory_budget_alloc(struct smp_memory_budget *budget, struct smp_arena *arena,
                              size_t size, size_t align)
{
    const size_t before = smp_arena_committed(arena);
    void *piece = NULL;

    if (bytes_to_commit(arena, size, align) > smp_memory_budget_left(budget))
        return NULL;
    piece = smp_arena_alloc(arena, size, align);
    budget->used_bytes += smp_arena_committed(arena) - before;
    return piece;
}

bool smp_memory_budget_reserve(struct smp_memory_budget *budget, struct smp_arena *arena,
                               size_t size, size_t align)
{
    if (bytes_to_commit(arena, size, align) == 0)
        return true;

    const size_t mark = smp_arena_mark(arena);
    const bool reserved = smp_memory_budget_alloc(budget, arena, size, align) != NULL;

    smp_arena_rewind(arena, mark);
    return reserved;
}
