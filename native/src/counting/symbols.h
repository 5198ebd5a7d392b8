/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbols.h - texts that are stored once and counted, so that they go with the last class that has
 * them: names of classes, names of methods with their descriptors (`add.(I)V`), source files.
 *
 * Owns     copies of the texts. A symbol lives as long as it is held.
 * Threads  one at a time.
 * Errors   intern: 0 where there is no memory; nothing has changed then.
 * Cost     intern, find: one hash of the text. Each symbol: 48 bytes, a slot of 8 and a piece of
 *          the heap.
 */
#ifndef SMP_COUNTING_SYMBOLS_H
#define SMP_COUNTING_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash_map.h"
#include "counting/pool.h"
#include "counting/slice.h"

enum { SMP_SYMBOLS_LIMIT = 16 * 1024 * 1024 };

struct smp_symbol {
    char *text; /* modified UTF-8, with a NUL behind it */
    uint32_t length;
    uint32_t hash;
    uint32_t holds;
    /* For class_index and the call graph, where this is the name of a class: heads of lists, 0
     * where they are empty. Whatever is on a list holds the symbol. */
    uint32_t first_class;   /* of that name */
    uint32_t first_edge;    /* of classes that name it as super class or interface */
    uint32_t first_reached; /* call target of that owner that is reached */
    uint64_t visited;       /* the last search that came by */
};

struct smp_symbols {
    struct smp_pool pool;
    struct smp_hash_map by_hash;
};

void smp_symbols_init(struct smp_symbols *symbols, struct smp_memory_budget *budget);
void smp_symbols_fini(struct smp_symbols *symbols);

/* The symbol of this text, held once more. */
uint32_t smp_symbols_intern(struct smp_symbols *symbols, struct smp_slice text);
/* The same, not held; 0: there is none. */
uint32_t smp_symbols_find(const struct smp_symbols *symbols, struct smp_slice text);
/* 0 is fine, as for release. Returns the symbol. */
uint32_t smp_symbols_hold(struct smp_symbols *symbols, uint32_t symbol);
void smp_symbols_release(struct smp_symbols *symbols, uint32_t symbol);

static inline struct smp_symbol *smp_symbols_at(const struct smp_symbols *symbols, uint32_t symbol)
{
    return smp_pool_at(&symbols->pool, symbol);
}

/* Of symbol 0 it is empty. */
static inline struct smp_slice smp_symbols_text(const struct smp_symbols *symbols, uint32_t symbol)
{
    if (symbol == 0)
        return (struct smp_slice){ "", 0 };
    return (struct smp_slice){ smp_symbols_at(symbols, symbol)->text,
                               smp_symbols_at(symbols, symbol)->length };
}

#endif
