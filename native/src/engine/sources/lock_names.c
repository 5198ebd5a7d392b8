/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sources/lock_names.h"

#include <stdbool.h>
#include <string.h>

enum { FIRST_NAMES = 16 };

void smp_lock_names_init(struct smp_lock_names *names, struct smp_quota *quota)
{
    *names =
        (struct smp_lock_names){ .budget = { .quota = quota, .max_bytes = SMP_LOCK_NAMES_BYTES } };
}

static void give_name(struct smp_lock_names *names, char *name)
{
    smp_memory_budget_give(&names->budget, name, strlen(name) + 1);
}

void smp_lock_names_fini(struct smp_lock_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        give_name(names, names->names[i]);
    smp_memory_budget_give(&names->budget, names->names, names->capacity * sizeof(*names->names));
    smp_hash_map_fini(&names->by_name, &smp_hash_ids, &names->budget);
    *names = (struct smp_lock_names){ 0 };
}

static bool reserve_name(struct smp_lock_names *names)
{
    const size_t capacity = names->capacity == 0 ? FIRST_NAMES : names->capacity * 2;
    char **grown;

    if (!smp_hash_map_reserve(&names->by_name, &smp_hash_ids, &names->budget, 1))
        return false;
    if (names->count < names->capacity)
        return true;
    grown = smp_memory_budget_grow(&names->budget, (void *)names->names,
                                   names->capacity * sizeof(*grown), capacity * sizeof(*grown));
    if (grown == NULL)
        return false;
    names->names = grown;
    names->capacity = capacity;
    return true;
}

uint32_t smp_lock_names_find(struct smp_lock_names *names, const char *name)
{
    const size_t length = strlen(name);
    const uint32_t hash = smp_hash_bytes(SMP_HASH_START, name, length);
    size_t step = 0;
    uint32_t id;
    char *copy;

    while ((id = smp_hash_ids_next(&names->by_name, hash, &step)) != 0) {
        if (strcmp(names->names[id - 1], name) == 0)
            return id;
    }
    if (names->count == SMP_MAX_LOCK_NAMES || !reserve_name(names))
        return 0;
    copy = smp_memory_budget_take(&names->budget, length + 1);
    if (copy == NULL)
        return 0;
    memcpy(copy, name, length + 1);
    names->names[names->count++] = copy;
    smp_hash_ids_put(&names->by_name, hash, (uint32_t)names->count);
    return (uint32_t)names->count;
}

const char *smp_lock_names_text(const struct smp_lock_names *names, uint32_t id)
{
    return id == 0 ? SMP_OTHER_LOCKS_NAME : names->names[id - 1];
}
