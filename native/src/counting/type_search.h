/* SPDX-License-Identifier: Apache-2.0 */
/*
 * type_search.h - searches along super types and subtypes of loaded classes.
 *
 * Relations go by name (class_index.h): the super types of a class are all loaded classes of the
 * names that it mentions. Equal names in several loaders can form circles, which do no harm: a
 * search visits each class once.
 *
 * Owns     its lists.
 * Threads  one at a time.
 * Errors   reserve: false without memory. After it no search fails until the index grows.
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
    struct smp_type_list subtypes; /* classes; those of the name itself come first */
    size_t same_count;             /* the number of classes of the name itself */
    struct smp_type_list supers;   /* names; that of the class itself comes first */
    struct smp_type_list open;     /* classes that a search for a method still has to visit */
    uint64_t search;               /* the number of the last search */
    uint64_t steps;
};

void smp_type_search_init(struct smp_type_search *search, struct smp_class_index *index);
void smp_type_search_fini(struct smp_type_search *search);
bool smp_type_search_reserve(struct smp_type_search *search);

/* Fills subtypes: the loaded classes of this name, then all that extend or implement them. */
void smp_type_search_subtypes(struct smp_type_search *search, uint32_t name);
/* Fills supers: the name of the class, then those of all types that it extends and implements. */
void smp_type_search_supers(struct smp_type_search *search, uint32_t of);

typedef void smp_method_found(void *self, uint32_t in_class, uint32_t method);
/* Calls found for each method that a call of this signature finds in the classes: on each way
 * upwards the first one that is declared. is_override: only methods that can override, which are
 * neither static nor private. For static initialisers it goes on to all super classes. */
void smp_type_search_methods(struct smp_type_search *search, uint32_t signature,
                             const uint32_t *classes, size_t count, bool is_override,
                             smp_method_found *found, void *self);

#endif
