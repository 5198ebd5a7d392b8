/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/call_pools.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "base/hash_map.h"
#include "counting/call_shared.h"
#include "model/name_rule.h"

/* States of a pool's name. */
enum { POOL_FREE, POOL_BEING_NAMED, POOL_NAMED, MOST_PROBES = 16 };

static bool is_pool_of(const struct smp_call_pool *pool, const char *group)
{
    return atomic_load_explicit(&pool->status, memory_order_acquire) == POOL_NAMED &&
           strcmp(pool->name, group) == 0;
}

/* False: the pool has a name already, or is getting one. */
static bool name_pool(struct smp_call_pool *pool, const char *group, size_t length)
{
    uint32_t expected = POOL_FREE;

    if (!atomic_compare_exchange_strong(&pool->status, &expected, POOL_BEING_NAMED))
        return false;
    memcpy(pool->name, group, length + 1);
    atomic_store_explicit(&pool->status, POOL_NAMED, memory_order_release);
    return true;
}

uint32_t smp_call_pool_find(const char *name)
{
    struct smp_call_pool *const pools = smp_call_memory->pools;
    char group[SMP_CALL_POOL_NAME_BYTES];

    if (name == NULL || name[0] == '\0')
        return 0;
    const size_t length = smp_name_rule_apply(name, strlen(name), group, sizeof(group));
    const uint32_t hash = smp_hash_bytes(SMP_HASH_START, group, length);
    for (uint32_t i = 0; i < MOST_PROBES; i++) {
        const uint32_t pool = 1 + (hash + i) % (SMP_CALL_POOLS - 1);
        if (is_pool_of(&pools[pool], group) || name_pool(&pools[pool], group, length))
            return pool;
    }
    return 0;
}

const char *smp_call_pool_name(uint32_t pool)
{
    const struct smp_call_pool *const pools = smp_call_memory->pools;

    if (pool == 0 || pool >= SMP_CALL_POOLS ||
        atomic_load_explicit(&pools[pool].status, memory_order_acquire) != POOL_NAMED)
        return NULL;
    return pools[pool].name;
}
