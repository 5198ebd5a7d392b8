/* SPDX-License-Identifier: Apache-2.0 */
/*
 * type_search.h - searches along super types and subtypes of loaded classes.
 *
 * By name, as class_index.h says: a class' super types are all loaded classes of the names that it
 * names. Circles, which names of several loaders can make, end nothing and hurt nothing: each class
 * is visited once a search.
 *
 * Owns     its lists.
 * Threads  one at a time.
 * Errors   reserve: false where there is no memory. After it no search fails until the index grows.
 * Cost     a search: O(classes visited and their edges); steps counts the classes visited.
 */
#ifndef SMP_COUNTING_TYPE_SEARCH_H
#define SMP_COUNTING_TYPE_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counting/class_index.h"

struct smp_type_list {
    struct smp_grown room;
    size_t count;
};

static inline uint32_t *smp_type_list_items(const struct smp_type_list *list)
{
    return list->room.items;
}

struct smp_type_search {
    struct smp_class_index *index; /* borrowed */
    struct smp_type_list subtypes; /* classes, those of the name itself first */
    size_t same_count;             /* of these */
    struct smp_type_list supers;   /* names, the class' own first */
    struct smp_type_list open;     /* classes that a search for a method has still to visit */
    uint64_t search;               /* number of the last one */
    uint64_t steps;
};

void smp_type_search_init(struct smp_type_search *search, struct smp_class_index *index);
void smp_type_search_fini(struct smp_type_search *search);
bool smp_type_search_reserve(struct smp_type_search *search);

/* The loaded classes of this name, then all that extend or implement them. */
void smp_type_search_subtypes(struct smp_type_search *search, uint32_t name);
/* The class' own name, then those of all that it extends and implements. */
void smp_type_search_supers(struct smp_type_search *search, uint32_t of);

typedef void smp_method_found(void *self, uint32_t in_class, uint32_t method);
/*
 * The methods that a call of this signature finds in the classes: on each way upwards the first one
 * that is declared. is_override: only those that can override, neither static nor private. Of
 * static initialisers those of all super classes are found.
 */
void smp_type_search_methods(struct smp_type_search *search, uint32_t signature,
                             const uint32_t *classes, size_t count, bool is_override,
                             smp_method_found *found, void *self);

#endif
