/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/instances.h"

static void set_changed(struct smp_reach *reach, uint32_t changed)
{
    struct smp_indexed_class *const it = smp_class_index_at(&reach->index, changed);

    if (it->is_changed)
        return;
    it->is_changed = true;
    it->next_changed = reach->first_changed;
    reach->first_changed = changed;
}

void smp_instances_add(struct smp_reach *reach, uint32_t made, uint8_t ahead)
{
    struct smp_indexed_class *const it = smp_class_index_at(&reach->index, made);

    if (!it->is_allowed || ahead < it->instances)
        return;
    it->instances = (uint8_t)(ahead + 1);
    set_changed(reach, made);
}

void smp_instances_add_named(struct smp_reach *reach, uint32_t name, uint8_t ahead)
{
    uint32_t made = smp_symbols_at(&reach->index.class_names, name)->first_class;

    for (; made != 0; made = smp_class_index_at(&reach->index, made)->next_named)
        smp_instances_add(reach, made, ahead);
}

void smp_instances_leave(struct smp_reach *reach, uint32_t in_class, uint32_t method)
{
    struct smp_indexed_class *const it = smp_class_index_at(&reach->index, in_class);
    const struct smp_indexed_method *const left = &it->body.methods[method];

    if (it->is_allowed || it->passes_on || reach->found_ahead < it->instances ||
        (left->access & (SMP_ACCESS_STATIC | SMP_ACCESS_ABSTRACT)) != 0 ||
        smp_wanted_is_initialiser(reach, left) || smp_wanted_is_jdk_class(reach, it))
        return;
    it->instances = (uint8_t)(reach->found_ahead + 1);
    set_changed(reach, in_class);
}

void smp_instances_visit(struct smp_reach *reach, uint32_t visited)
{
    const struct smp_type_list *const supers = &reach->search.supers;

    if (smp_class_index_at(&reach->index, visited)->instances > 0)
        set_changed(reach, visited);
    for (size_t s = 0; s < supers->count; s++) {
        uint32_t super = smp_symbols_at(&reach->index.class_names, supers->items[s])->first_class;

        for (; super != 0; super = smp_class_index_at(&reach->index, super)->next_named) {
            const struct smp_indexed_class *const it = smp_class_index_at(&reach->index, super);

            if (!it->is_allowed && it->instances > 0)
                smp_instances_add(reach, visited, (uint8_t)(it->instances - 1));
        }
    }
}

static bool can_be_overridden(const struct smp_reach *reach,
                              const struct smp_indexed_method *declared)
{
    return (declared->access & (SMP_ACCESS_PRIVATE | SMP_ACCESS_STATIC)) == 0 &&
           !smp_wanted_is_initialiser(reach, declared);
}

/* What the class has for the methods that another one, outside of the filter, declares. */
static void want_overrides(struct smp_reach *reach, uint32_t made, uint32_t outside)
{
    const struct smp_class_body *const body = &smp_class_index_at(&reach->index, outside)->body;

    for (uint32_t m = 0; m < body->method_count; m++) {
        if (can_be_overridden(reach, &body->methods[m]))
            smp_type_search_methods(&reach->search, body->methods[m].signature, &made, 1, true,
                                    smp_wanted_found, reach);
    }
}

static void add_subtypes(struct smp_reach *reach, const struct smp_indexed_class *outside)
{
    const struct smp_type_list *const subtypes = &reach->search.subtypes;

    smp_type_search_subtypes(&reach->search, outside->name);
    for (size_t i = 0; i < subtypes->count; i++)
        smp_instances_add(reach, subtypes->items[i], (uint8_t)(outside->instances - 1));
}

/* The super types of an instance are initialised with it, and their constructors have run. */
static void search_supers(struct smp_reach *reach, uint32_t made)
{
    struct smp_type_search *const search = &reach->search;

    smp_type_search_supers(search, made);
    for (size_t s = 0; s < search->supers.count; s++) {
        uint32_t super =
            smp_symbols_at(&reach->index.class_names, search->supers.items[s])->first_class;

        for (; super != 0; super = smp_class_index_at(&reach->index, super)->next_named) {
            if (!smp_class_index_at(&reach->index, super)->is_allowed)
                want_overrides(reach, made, super);
            else
                smp_wanted_initialise(reach, super);
        }
    }
}

void smp_instances_search(struct smp_reach *reach)
{
    const uint32_t changed = reach->first_changed;
    struct smp_indexed_class *const it = smp_class_index_at(&reach->index, changed);

    reach->first_changed = it->next_changed;
    it->is_changed = false;
    reach->found_ahead = (uint8_t)(it->instances - 1);
    if (it->is_allowed)
        search_supers(reach, changed);
    else
        add_subtypes(reach, it);
}
