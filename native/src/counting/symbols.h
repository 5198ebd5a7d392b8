/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbols.h - texts that are stored once, with reference counts: names of classes, names of
 * methods with their descriptors (`add.(I)V`), source files. A text is freed with its last hold.
 *
 * Owns     copies of the texts. A symbol lives as long as it is held.
 * Threads  one at a time.
 * Errors   intern: 0 without memory; nothing has changed then.
 * Cost     intern, find: one hash of the text. Each symbol: 48 bytes, a slot of 8 and an allocation
 *          for the text.
 */
#ifndef SMP_COUNTING_SYMBOLS_H
#define SMP_COUNTING_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash_map.h"
#include "base/slice.h"
#include "counting/pool.h"

enum { SMP_SYMBOLS_LIMIT = 16 * 1024 * 1024 };

struct smp_symbol {
    char *text; /* modified UTF-8, NUL-terminated */
    uint32_t length;
    uint32_t hash;
    uint32_t holds;
    /* For class_index and the call graph, if the symbol is the name of a class: heads of lists, 0
     * if empty. Everything in these lists holds the symbol. */
    uint32_t first_class;     /* of that name */
    uint32_t first_edge;      /* of classes that name it as super class or interface */
    uint32_t first_reachable; /* call target of that owner */
    uint64_t visited;         /* by the search of this number */
};

struct smp_symbols {
    struct smp_pool pool;
    struct smp_hash_map by_hash;
};

void smp_symbols_init(struct smp_symbols *symbols, struct smp_memory_budget *budget);
void smp_symbols_fini(struct smp_symbols *symbols);

/* Returns the symbol of this text, made if it is new, and holds it once more. */
uint32_t smp_symbols_intern(struct smp_symbols *symbols, struct smp_slice text);
/* Returns the symbol without a hold; 0: there is none. */
uint32_t smp_symbols_find(const struct smp_symbols *symbols, struct smp_slice text);
/* Returns the symbol. It may be 0, as for release. */
uint32_t smp_symbols_hold(struct smp_symbols *symbols, uint32_t symbol);
void smp_symbols_release(struct smp_symbols *symbols, uint32_t symbol);

static inline struct smp_symbol *smp_symbols_at(const struct smp_symbols *symbols, uint32_t symbol)
{
    return smp_pool_at(&symbols->pool, symbol);
}

/* The text of symbol 0 is empty. */
static inline struct smp_slice smp_symbols_text(const struct smp_symbols *symbols, uint32_t symbol)
{
    if (symbol == 0)
        return (struct smp_slice){ "", 0 };
    return (struct smp_slice){ smp_symbols_at(symbols, symbol)->text,
                               smp_symbols_at(symbols, symbol)->length };
}

#endif
