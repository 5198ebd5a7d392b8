/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/pool.h"

#include <assert.h>
#include <string.h>

enum { FIRST_RECORDS = 64 };

void smp_pool_init(struct smp_pool *pool, struct smp_memory_budget *budget, size_t record_bytes,
                   uint32_t limit)
{
    assert(record_bytes >= sizeof(uint32_t) && limit < UINT32_MAX / 2);
    *pool = (struct smp_pool){
        .budget = budget, .record_bytes = (uint32_t)record_bytes, .limit = limit, .top = 1
    };
}

void smp_pool_fini(struct smp_pool *pool)
{
    smp_memory_budget_give(pool->budget, pool->records,
                           (size_t)pool->capacity * pool->record_bytes);
    smp_pool_init(pool, pool->budget, pool->record_bytes, pool->limit);
}

bool smp_pool_reserve(struct smp_pool *pool, size_t more)
{
    size_t needed = 1 + pool->count + more; /* with record 0 */
    size_t capacity = pool->capacity > 0 ? pool->capacity : FIRST_RECORDS;
    char *records = NULL;

    if (more > pool->limit - pool->count)
        return false;
    if (needed <= pool->capacity)
        return true;
    while (capacity < needed)
        capacity *= 2;
    records = smp_memory_budget_grow(pool->budget, pool->records,
                                     (size_t)pool->capacity * pool->record_bytes,
                                     capacity * pool->record_bytes);
    if (records == NULL)
        return false;
    pool->records = records;
    pool->capacity = (uint32_t)capacity;
    return true;
}

uint32_t smp_pool_take(struct smp_pool *pool)
{
    uint32_t index = pool->free;

    if (index != 0)
        memcpy(&pool->free, smp_pool_at(pool, index), sizeof(pool->free));
    else
        index = pool->top++;
    assert(index < pool->capacity);
    memset(smp_pool_at(pool, index), 0, pool->record_bytes);
    pool->count++;
    return index;
}

void smp_pool_give(struct smp_pool *pool, uint32_t index)
{
    assert(index != 0 && index < pool->top);
    memcpy(smp_pool_at(pool, index), &pool->free, sizeof(pool->free));
    pool->free = index;
    pool->count--;
}
