/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/call_targets.h"

#include <assert.h>

#include "base/hash_map.h"

enum { FIRST_TARGET_BUCKETS = 256 };

void smp_call_targets_init(struct smp_call_targets *targets, struct smp_memory_budget *budget,
                           struct smp_symbols *classes, struct smp_symbols *signatures)
{
    *targets = (struct smp_call_targets){ .classes = classes, .signatures = signatures };
    smp_pool_init(&targets->pool, budget, sizeof(struct smp_call_target), SMP_CALL_TARGETS_LIMIT);
}

void smp_call_targets_fini(struct smp_call_targets *targets)
{
    smp_memory_budget_give(targets->pool.budget, targets->buckets,
                           targets->bucket_count * sizeof(*targets->buckets));
    smp_pool_fini(&targets->pool);
    targets->buckets = NULL;
    targets->bucket_count = 0;
}

static uint32_t hash_target(uint32_t owner, uint32_t signature, uint8_t how)
{
    const uint32_t hash = smp_hash_u32(smp_hash_u32(SMP_HASH_START, owner), signature);

    return smp_hash_u32(hash, how);
}

static uint32_t *target_bucket(const struct smp_call_targets *targets,
                               const struct smp_call_target *target)
{
    return &targets->buckets[hash_target(target->owner, target->signature, target->how) &
                             (targets->bucket_count - 1)];
}

/* False only where there are no buckets at all: otherwise lists just get longer. */
static bool grow_target_buckets(struct smp_call_targets *targets)
{
    const uint32_t old_count = targets->bucket_count;
    const uint32_t count = old_count > 0 ? old_count * 2 : FIRST_TARGET_BUCKETS;
    uint32_t *const old = targets->buckets;
    uint32_t *buckets = NULL;

    if (targets->pool.count < old_count)
        return true;
    buckets = smp_memory_budget_take(targets->pool.budget, count * sizeof(*buckets));
    if (buckets == NULL)
        return old_count > 0;
    targets->buckets = buckets;
    targets->bucket_count = count;
    for (uint32_t i = 0; i < old_count; i++) {
        for (uint32_t t = old[i], next = 0; t != 0; t = next) {
            struct smp_call_target *const target = smp_call_targets_at(targets, t);
            uint32_t *const bucket = target_bucket(targets, target);

            next = target->next;
            target->next = *bucket;
            *bucket = t;
        }
    }
    smp_memory_budget_give(targets->pool.budget, old, old_count * sizeof(*old));
    return true;
}

static uint32_t find_target(const struct smp_call_targets *targets, uint32_t owner,
                            uint32_t signature, uint8_t how)
{
    uint32_t found = 0;

    if (targets->bucket_count == 0)
        return 0;
    found = targets->buckets[hash_target(owner, signature, how) & (targets->bucket_count - 1)];
    while (found != 0) {
        const struct smp_call_target *const target = smp_call_targets_at(targets, found);

        if (target->owner == owner && target->signature == signature && target->how == how)
            break;
        found = target->next;
    }
    return found;
}

uint32_t smp_call_targets_intern(struct smp_call_targets *targets, uint32_t owner,
                                 uint32_t signature, uint8_t how)
{
    uint32_t found = find_target(targets, owner, signature, how);
    struct smp_call_target *target = NULL;
    uint32_t *bucket = NULL;

    if (found != 0) {
        smp_call_targets_at(targets, found)->holds++;
        return found;
    }
    if (!grow_target_buckets(targets) || !smp_pool_reserve(&targets->pool, 1))
        return 0;
    found = smp_pool_take(&targets->pool);
    target = smp_call_targets_at(targets, found);
    *target =
        (struct smp_call_target){ .owner = owner, .signature = signature, .holds = 1, .how = how };
    bucket = target_bucket(targets, target);
    target->next = *bucket;
    *bucket = found;
    smp_symbols_hold(targets->classes, owner);
    smp_symbols_hold(targets->signatures, signature);
    return found;
}

void smp_call_targets_release(struct smp_call_targets *targets, uint32_t target)
{
    struct smp_call_target *const released = smp_call_targets_at(targets, target);
    uint32_t *link = NULL;

    assert(released->holds > 0);
    if (--released->holds > 0)
        return;
    assert(released->reached_by == 0 && !released->is_pending);
    link = target_bucket(targets, released);
    while (*link != target)
        link = &smp_call_targets_at(targets, *link)->next;
    *link = released->next;
    smp_symbols_release(targets->classes, released->owner);
    smp_symbols_release(targets->signatures, released->signature);
    smp_pool_give(&targets->pool, target);
}
