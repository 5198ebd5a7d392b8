/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/type_search.h"

#include <assert.h>

void smp_type_search_init(struct smp_type_search *search, struct smp_class_index *index)
{
    *search = (struct smp_type_search){ .index = index };
}

void smp_type_search_fini(struct smp_type_search *search)
{
    struct smp_type_list *const lists[] = { &search->subtypes, &search->supers, &search->open };

    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        smp_memory_budget_give(search->index->budget, lists[i]->room.items, lists[i]->room.bytes);
}

static bool reserve_list(struct smp_type_search *search, struct smp_type_list *list, size_t needed)
{
    return smp_memory_budget_fit(search->index->budget, &list->room, needed * sizeof(uint32_t));
}

/* Every name of a super type has an edge, so there are at most as many names. */
bool smp_type_search_reserve(struct smp_type_search *search)
{
    const size_t classes = search->index->classes.count;

    return reserve_list(search, &search->subtypes, classes) &&
           reserve_list(search, &search->open, classes) &&
           reserve_list(search, &search->supers, search->index->edges.count + 1);
}

static void add_to(struct smp_type_list *list, uint32_t item)
{
    assert(list->count < list->room.bytes / sizeof(item));
    smp_type_list_items(list)[list->count++] = item;
}

static void add_class_once(struct smp_type_search *search, struct smp_type_list *list,
                           uint32_t added)
{
    struct smp_indexed_class *const it = smp_class_index_at(search->index, added);

    if (it->visited == search->search)
        return;
    it->visited = search->search;
    search->steps++;
    add_to(list, added);
}

/* Adds the loaded classes of a name. */
static void add_named(struct smp_type_search *search, struct smp_type_list *list, uint32_t name)
{
    uint32_t named = smp_class_index_first(search->index, name);

    for (; named != 0; named = smp_class_index_at(search->index, named)->next_named)
        add_class_once(search, list, named);
}

static void add_subtypes_of(struct smp_type_search *search, uint32_t name)
{
    uint32_t edge = smp_symbols_at(&search->index->symbols, name)->first_edge;

    while (edge != 0) {
        const struct smp_subtype_edge *const it = smp_class_index_edge(search->index, edge);

        add_class_once(search, &search->subtypes, it->subtype);
        edge = it->next;
    }
}

/* The list is its own queue: each class in it is searched for further subtypes. */
void smp_type_search_subtypes(struct smp_type_search *search, uint32_t name)
{
    struct smp_type_list *const list = &search->subtypes;

    search->search++;
    list->count = 0;
    add_named(search, list, name);
    search->same_count = list->count;
    add_subtypes_of(search, name);
    for (size_t i = search->same_count; i < list->count; i++)
        add_subtypes_of(search,
                        smp_class_index_at(search->index, smp_type_list_items(list)[i])->name);
}

static void add_name_once(struct smp_type_search *search, uint32_t name)
{
    struct smp_symbol *const symbol = smp_symbols_at(&search->index->symbols, name);

    if (symbol->visited == search->search)
        return;
    symbol->visited = search->search;
    add_to(&search->supers, name);
}

static void add_supers_of(struct smp_type_search *search, uint32_t of)
{
    uint32_t edge = smp_class_index_at(search->index, of)->first_edge;

    search->steps++;
    while (edge != 0) {
        const struct smp_subtype_edge *const it = smp_class_index_edge(search->index, edge);

        add_name_once(search, it->super_name);
        edge = it->next_of_subtype;
    }
}

/* Starts with the edges of the class itself: another class of its name may extend other types. If a
 * circle leads back to the name, that class counts, too, and the name is in the list twice. */
void smp_type_search_supers(struct smp_type_search *search, uint32_t of)
{
    struct smp_type_list *const list = &search->supers;

    search->search++;
    list->count = 0;
    add_to(list, smp_class_index_at(search->index, of)->name);
    add_supers_of(search, of);
    for (size_t i = 1; i < list->count; i++) {
        uint32_t named = smp_class_index_first(search->index, smp_type_list_items(list)[i]);

        for (; named != 0; named = smp_class_index_at(search->index, named)->next_named)
            add_supers_of(search, named);
    }
}

void smp_type_search_methods(struct smp_type_search *search, uint32_t signature,
                             const uint32_t *classes, size_t count, bool is_override,
                             smp_method_found *found, void *self)
{
    const struct smp_class_index *const index = search->index;
    const bool is_clinit = signature == index->clinit;
    struct smp_type_list *const open = &search->open;

    search->search++;
    open->count = 0;
    for (size_t i = 0; i < count; i++)
        add_class_once(search, open, classes[i]);
    while (open->count > 0) {
        const uint32_t visited = smp_type_list_items(open)[--open->count];
        const struct smp_indexed_class *const it = smp_class_index_at(index, visited);
        const int32_t method = smp_class_body_find(&it->body, signature);
        uint32_t edge = it->first_edge;

        if (method >= 0) {
            const uint16_t access = it->body.methods[method].access;

            if (!is_override || (access & (SMP_ACCESS_PRIVATE | SMP_ACCESS_STATIC)) == 0)
                found(self, visited, (uint32_t)method);
            if (!is_clinit)
                continue;
        }
        while (edge != 0) {
            const struct smp_subtype_edge *const super = smp_class_index_edge(index, edge);

            add_named(search, open, super->super_name);
            /* Initialising a class does not initialise its interfaces. */
            edge = is_clinit ? 0 : super->next_of_subtype;
        }
    }
}
