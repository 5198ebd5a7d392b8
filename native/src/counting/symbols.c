/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/symbols.h"

#include <assert.h>
#include <string.h>

void smp_symbols_init(struct smp_symbols *symbols, struct smp_memory_budget *budget)
{
    *symbols = (struct smp_symbols){ 0 };
    smp_pool_init(&symbols->pool, budget, sizeof(struct smp_symbol), SMP_SYMBOLS_LIMIT);
}

void smp_symbols_fini(struct smp_symbols *symbols)
{
    struct smp_memory_budget *const budget = symbols->pool.budget;

    for (uint32_t s = 1; s < symbols->pool.top; s++) {
        const struct smp_symbol *const symbol = smp_symbols_at(symbols, s);

        if (symbol->holds > 0)
            smp_memory_budget_give(budget, symbol->text, symbol->length + 1);
    }
    smp_hash_map_fini(&symbols->by_hash, &smp_hash_ids, budget);
    smp_pool_fini(&symbols->pool);
}

static uint32_t find_hashed(const struct smp_symbols *symbols, struct smp_slice text, uint32_t hash)
{
    size_t step = 0;
    uint32_t found = 0;

    while ((found = smp_hash_ids_next(&symbols->by_hash, hash, &step)) != 0) {
        const struct smp_symbol *const symbol = smp_symbols_at(symbols, found);

        if (symbol->length == text.length && memcmp(symbol->text, text.bytes, text.length) == 0)
            break;
    }
    return found;
}

uint32_t smp_symbols_find(const struct smp_symbols *symbols, struct smp_slice text)
{
    return find_hashed(symbols, text, smp_hash_bytes(SMP_HASH_START, text.bytes, text.length));
}

uint32_t smp_symbols_intern(struct smp_symbols *symbols, struct smp_slice text)
{
    struct smp_memory_budget *const budget = symbols->pool.budget;
    const uint32_t hash = smp_hash_bytes(SMP_HASH_START, text.bytes, text.length);
    uint32_t found = find_hashed(symbols, text, hash);
    char *copy = NULL;

    if (found != 0)
        return smp_symbols_hold(symbols, found);
    if (!smp_hash_map_reserve(&symbols->by_hash, &smp_hash_ids, budget, 1) ||
        !smp_pool_reserve(&symbols->pool, 1))
        return 0;
    copy = smp_memory_budget_take(budget, text.length + 1);
    if (copy == NULL)
        return 0;
    memcpy(copy, text.bytes, text.length);
    found = smp_pool_take(&symbols->pool);
    smp_hash_ids_put(&symbols->by_hash, hash, found);
    *smp_symbols_at(symbols, found) = (struct smp_symbol){
        .text = copy, .length = (uint32_t)text.length, .hash = hash, .holds = 1
    };
    return found;
}

uint32_t smp_symbols_hold(struct smp_symbols *symbols, uint32_t symbol)
{
    if (symbol != 0)
        smp_symbols_at(symbols, symbol)->holds++;
    return symbol;
}

void smp_symbols_release(struct smp_symbols *symbols, uint32_t symbol)
{
    struct smp_symbol *released = NULL;

    if (symbol == 0)
        return;
    released = smp_symbols_at(symbols, symbol);
    assert(released->holds > 0);
    if (--released->holds > 0)
        return;
    assert(released->first_class == 0 && released->first_edge == 0 &&
           released->first_reachable == 0);
    smp_hash_ids_remove(&symbols->by_hash, released->hash, symbol);
    smp_memory_budget_give(symbols->pool.budget, released->text, released->length + 1);
    smp_pool_give(&symbols->pool, symbol);
}
