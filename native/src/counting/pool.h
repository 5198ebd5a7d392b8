/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h - records of one size, named by their index, which come and go.
 *
 * Index 0 stands for none. The record that was given back last is taken first.
 *
 * Owns     its records, which move when the pool grows: keep the index, not the pointer.
 * Threads  one at a time.
 * Errors   reserve: false at the pool's limit, at the budget's or where there is no memory; the
 *          pool is unchanged then. take never fails for what was reserved.
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
    uint32_t top;   /* all indices below it, from 1, have been taken once */
    uint32_t free;  /* the first of those that were given back; each holds the next one's index */
    uint32_t count; /* in use */
};

void smp_pool_init(struct smp_pool *pool, struct smp_memory_budget *budget, size_t record_bytes,
                   uint32_t limit);
void smp_pool_fini(struct smp_pool *pool);

/* Memory for more further records. */
bool smp_pool_reserve(struct smp_pool *pool, size_t more);
/* A zeroed record, of those reserved. */
uint32_t smp_pool_take(struct smp_pool *pool);
void smp_pool_give(struct smp_pool *pool, uint32_t index);

static inline void *smp_pool_at(const struct smp_pool *pool, uint32_t index)
{
    return pool->records + (size_t)index * pool->record_bytes;
}

#endif
