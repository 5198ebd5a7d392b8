/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h - a growing table of records of one size with a free list. An index names a record.
 *
 * Index 0 means no record. The record that was freed last is taken first.
 *
 * Owns     its records. They move when the pool grows: keep the index, not the pointer.
 * Threads  one at a time.
 * Errors   reserve: false at the limit of the pool or the budget, or without memory; the pool is
 *          unchanged then. take never fails for reserved records.
 * Cost     take, give: constant. A reserve that grows copies all records.
 */
#ifndef SMP_COUNTING_POOL_H
#define SMP_COUNTING_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory_budget.h"

struct smp_pool {
    struct smp_memory_budget *budget; /* borrowed */
    char *records;                    /* from index 0 on */
    uint32_t record_bytes;            /* 4 at least */
    uint32_t limit;                   /* records in use at most */
    uint32_t capacity;
    uint32_t top;   /* every index below it, from 1 on, has been taken once */
    uint32_t free;  /* the first free record; each holds the index of the next one */
    uint32_t count; /* in use */
};

void smp_pool_init(struct smp_pool *pool, struct smp_memory_budget *budget, size_t record_bytes,
                   uint32_t limit);
void smp_pool_fini(struct smp_pool *pool);

/* Reserves memory for more records. */
bool smp_pool_reserve(struct smp_pool *pool, size_t more);
/* Returns a reserved record, zeroed. */
uint32_t smp_pool_take(struct smp_pool *pool);
void smp_pool_give(struct smp_pool *pool, uint32_t index);

static inline void *smp_pool_at(const struct smp_pool *pool, uint32_t index)
{
    return pool->records + (size_t)index * pool->record_bytes;
}

#endif
