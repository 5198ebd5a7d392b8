/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/symbols.h"

#include <assert.h>
#include <string.h>

#include "base/hash_map.h"

enum { FIRST_BUCKETS = 256 };

void smp_symbols_init(struct smp_symbols *symbols, struct smp_memory_budget *budget)
{
    *symbols = (struct smp_symbols){ 0 };
    smp_pool_init(&symbols->pool, budget, sizeof(struct smp_symbol), SMP_SYMBOLS_LIMIT);
}

void smp_symbols_fini(struct smp_symbols *symbols)
{
    struct smp_memory_budget *const budget = symbols->pool.budget;

    for (uint32_t i = 0; i < symbols->bucket_count; i++) {
        for (uint32_t s = symbols->buckets[i]; s != 0; s = smp_symbols_at(symbols, s)->next) {
            struct smp_symbol *symbol = smp_symbols_at(symbols, s);

            smp_memory_budget_give(budget, symbol->text, symbol->length + 1);
        }
    }
    smp_memory_budget_give(budget, symbols->buckets,
                           symbols->bucket_count * sizeof(*symbols->buckets));
    smp_pool_fini(&symbols->pool);
    smp_symbols_init(symbols, budget);
}

/* False only where there are no buckets at all: otherwise lists just get longer. */
static bool grow_symbol_buckets(struct smp_symbols *symbols)
{
    const uint32_t count = symbols->bucket_count > 0 ? symbols->bucket_count * 2 : FIRST_BUCKETS;
    struct smp_memory_budget *const budget = symbols->pool.budget;
    uint32_t *buckets = NULL;

    if (symbols->pool.count < symbols->bucket_count)
        return true;
    buckets = smp_memory_budget_take(budget, count * sizeof(*buckets));
    if (buckets == NULL)
        return symbols->bucket_count > 0;
    for (uint32_t i = 0; i < symbols->bucket_count; i++) {
        for (uint32_t s = symbols->buckets[i], next = 0; s != 0; s = next) {
            struct smp_symbol *symbol = smp_symbols_at(symbols, s);
            uint32_t *bucket = &buckets[symbol->hash & (count - 1)];

            next = symbol->next;
            symbol->next = *bucket;
            *bucket = s;
        }
    }
    smp_memory_budget_give(budget, symbols->buckets,
                           symbols->bucket_count * sizeof(*symbols->buckets));
    symbols->buckets = buckets;
    symbols->bucket_count = count;
    return true;
}

static uint32_t find_hashed(const struct smp_symbols *symbols, const char *text, size_t length,
                            uint32_t hash)
{
    uint32_t found = 0;

    if (symbols->bucket_count == 0)
        return 0;
    found = symbols->buckets[hash & (symbols->bucket_count - 1)];
    while (found != 0) {
        const struct smp_symbol *const symbol = smp_symbols_at(symbols, found);

        if (symbol->hash == hash && symbol->length == length &&
            memcmp(symbol->text, text, length) == 0)
            break;
        found = symbol->next;
    }
    return found;
}

uint32_t smp_symbols_find(const struct smp_symbols *symbols, const char *text, size_t length)
{
    return find_hashed(symbols, text, length, smp_hash_bytes(SMP_HASH_START, text, length));
}

uint32_t smp_symbols_intern(struct smp_symbols *symbols, const char *text, size_t length)
{
    const uint32_t hash = smp_hash_bytes(SMP_HASH_START, text, length);
    uint32_t found = find_hashed(symbols, text, length, hash);
    struct smp_symbol *symbol = NULL;
    uint32_t *bucket = NULL;
    char *copy = NULL;

    if (found != 0) {
        smp_symbols_hold(symbols, found);
        return found;
    }
    if (!grow_symbol_buckets(symbols) || !smp_pool_reserve(&symbols->pool, 1))
        return 0;
    copy = smp_memory_budget_take(symbols->pool.budget, length + 1);
    if (copy == NULL)
        return 0;
    memcpy(copy, text, length);
    found = smp_pool_take(&symbols->pool);
    symbol = smp_symbols_at(symbols, found);
    bucket = &symbols->buckets[hash & (symbols->bucket_count - 1)];
    *symbol = (struct smp_symbol){
        .text = copy, .length = (uint32_t)length, .hash = hash, .holds = 1, .next = *bucket
    };
    *bucket = found;
    return found;
}

void smp_symbols_hold(struct smp_symbols *symbols, uint32_t symbol)
{
    smp_symbols_at(symbols, symbol)->holds++;
}

void smp_symbols_release(struct smp_symbols *symbols, uint32_t symbol)
{
    struct smp_symbol *released = NULL;
    uint32_t *link = NULL;

    if (symbol == 0)
        return;
    released = smp_symbols_at(symbols, symbol);
    assert(released->holds > 0);
    if (--released->holds > 0)
        return;
    assert(released->first_class == 0 && released->first_edge == 0 && released->first_reached == 0);
    link = &symbols->buckets[released->hash & (symbols->bucket_count - 1)];
    while (*link != symbol)
        link = &smp_symbols_at(symbols, *link)->next;
    *link = released->next;
    smp_memory_budget_give(symbols->pool.budget, released->text, released->length + 1);
    smp_pool_give(&symbols->pool, symbol);
}
