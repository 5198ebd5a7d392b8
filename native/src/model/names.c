/* SPDX-License-Identifier: Apache-2.0 */
#include "model/names.h"

#include <string.h>

enum { TEXTS_OF_METHOD = 3, USUAL_TEXT_BYTES = 512 /* of one method */ };

static enum smp_status make_arenas(struct smp_names *names)
{
    /* Offsets and ids have 32 bits. */
    const size_t wanted = names->budget->max_bytes;
    const size_t most = wanted < UINT32_MAX ? wanted : UINT32_MAX;
    struct smp_quota *quota = names->budget->quota;
    enum smp_status status = smp_arena_create(quota, most, &names->texts);

    if (status == SMP_OK)
        status = smp_arena_create(quota, most, &names->methods);
    if (status == SMP_OK)
        status = smp_arena_create(quota, most, &names->locations);
    return status;
}

static bool make_none(struct smp_names *names)
{
    names->method_count = 1;
    names->location_count = 1;
    return smp_memory_budget_alloc(names->budget, names->texts, 1, 1) != NULL &&
           smp_memory_budget_alloc(names->budget, names->methods, sizeof(struct smp_named_method),
                                   _Alignof(struct smp_named_method)) != NULL &&
           smp_memory_budget_alloc(names->budget, names->locations,
                                   sizeof(struct smp_named_location),
                                   _Alignof(struct smp_named_location)) != NULL;
}

enum smp_status smp_names_init(struct smp_names *names, struct smp_memory_budget *budget)
{
    enum smp_status status = SMP_OK;

    *names = (struct smp_names){ .budget = budget };
    status = make_arenas(names);
    if (status == SMP_OK && !make_none(names))
        status = SMP_EQUOTA;
    if (status != SMP_OK)
        smp_names_fini(names);
    return status;
}

void smp_names_fini(struct smp_names *names)
{
    if (names->budget == NULL)
        return;
    smp_hash_map_fini(&names->by_location, &smp_hash_ids, names->budget);
    smp_hash_map_fini(&names->by_method, &smp_hash_ids, names->budget);
    smp_hash_map_fini(&names->by_text, &smp_hash_ids, names->budget);
    smp_arena_destroy(names->locations);
    smp_arena_destroy(names->methods);
    smp_arena_destroy(names->texts);
    *names = (struct smp_names){ 0 };
}

uint32_t smp_names_text(struct smp_names *names, const char *text)
{
    const size_t length = strlen(text);
    const uint32_t hash = smp_hash_bytes(SMP_HASH_START, text, length);
    size_t step = 0;
    uint32_t id;

    while ((id = smp_hash_ids_next(&names->by_text, hash, &step)) != 0) {
        if (strcmp(smp_names_text_at(names, id), text) == 0)
            return id;
    }
    if (!smp_hash_map_reserve(&names->by_text, &smp_hash_ids, names->budget, 1))
        return 0;

    char *copy = smp_memory_budget_alloc(names->budget, names->texts, length + 1, 1);

    if (copy == NULL)
        return 0;
    memcpy(copy, text, length + 1);

    id = (uint32_t)(copy - smp_names_text_at(names, 0));

    smp_hash_ids_put(&names->by_text, hash, id);
    return id;
}

uint32_t smp_names_method(struct smp_names *names, const struct smp_named_method *wanted)
{
    uint32_t hash = smp_hash_u32(SMP_HASH_START, wanted->class_name);
    size_t step = 0;
    uint32_t id;

    hash = smp_hash_u32(smp_hash_u32(hash, wanted->method_name), wanted->file);
    while ((id = smp_hash_ids_next(&names->by_method, hash, &step)) != 0) {
        const struct smp_named_method *method = smp_names_method_at(names, id);

        if (method->class_name == wanted->class_name &&
            method->method_name == wanted->method_name && method->file == wanted->file)
            return id;
    }
    if (!smp_hash_map_reserve(&names->by_method, &smp_hash_ids, names->budget, 1))
        return 0;

    struct smp_named_method *method = smp_memory_budget_alloc(
        names->budget, names->methods, sizeof(*method), _Alignof(struct smp_named_method));

    if (method == NULL)
        return 0;
    *method = *wanted;
    smp_hash_ids_put(&names->by_method, hash, names->method_count);
    return names->method_count++;
}

uint32_t smp_names_location(struct smp_names *names, struct smp_named_location wanted)
{
    const uint32_t hash =
        smp_hash_u32(smp_hash_u32(SMP_HASH_START, wanted.method), (uint32_t)wanted.line);
    size_t step = 0;
    uint32_t id;

    while ((id = smp_hash_ids_next(&names->by_location, hash, &step)) != 0) {
        const struct smp_named_location *location = smp_names_location_at(names, id);

        if (location->method == wanted.method && location->line == wanted.line)
            return id;
    }
    if (!smp_hash_map_reserve(&names->by_location, &smp_hash_ids, names->budget, 1))
        return 0;

    struct smp_named_location *location = smp_memory_budget_alloc(
        names->budget, names->locations, sizeof(*location), _Alignof(struct smp_named_location));

    if (location == NULL)
        return 0;
    *location = wanted;
    smp_hash_ids_put(&names->by_location, hash, names->location_count);
    return names->location_count++;
}

bool smp_names_reserve_location(struct smp_names *names)
{
    return smp_hash_map_reserve(&names->by_location, &smp_hash_ids, names->budget, 1) &&
           smp_memory_budget_reserve(names->budget, names->locations,
                                     sizeof(struct smp_named_location),
                                     _Alignof(struct smp_named_location));
}

bool smp_names_reserve_method(struct smp_names *names)
{
    return smp_hash_map_reserve(&names->by_method, &smp_hash_ids, names->budget, 1) &&
           smp_hash_map_reserve(&names->by_text, &smp_hash_ids, names->budget, TEXTS_OF_METHOD) &&
           smp_memory_budget_reserve(names->budget, names->methods, sizeof(struct smp_named_method),
                                     _Alignof(struct smp_named_method)) &&
           smp_memory_budget_reserve(names->budget, names->texts, USUAL_TEXT_BYTES, 1);
}
