/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/calls/leftover_methods.h"

#include <string.h>

#include "base/alloc.h"
#include "base/lower_bound.h"

enum { FIRST_METHODS = 64, PARTS = 4 };

static bool can_add_leftover(struct smp_leftover_methods *leftovers)
{
    const size_t more = leftovers->capacity == 0 ? FIRST_METHODS : 2 * leftovers->capacity;
    struct smp_leftover_method *moved = NULL;

    if (leftovers->count < leftovers->capacity)
        return true;
    if (leftovers->capacity >= SMP_LEFTOVER_METHODS_LIMIT)
        return false;
    moved = smp_realloc(NULL, leftovers->methods, more * sizeof(*moved));
    if (moved == NULL)
        return false;
    leftovers->methods = moved;
    leftovers->capacity = more;
    return true;
}

void smp_leftover_methods_add(struct smp_leftover_methods *leftovers, int32_t pushed,
                              const struct smp_method_ids *ids, int32_t id)
{
    const struct smp_slice parts[PARTS] = { smp_method_ids_class(ids, id),
                                            smp_method_ids_name(ids, id),
                                            smp_method_ids_source(ids, id),
                                            smp_method_ids_descriptor(ids, id) };
    struct smp_leftover_method added = { .pushed = pushed };
    size_t at = 0;
    size_t bytes = 0;

    if (!can_add_leftover(leftovers))
        return;
    for (int i = 0; i < PARTS; i++)
        bytes += parts[i].length;
    added.texts = smp_alloc(NULL, bytes);
    if (added.texts == NULL)
        return;
    for (int i = 0; i < PARTS; i++) {
        if (parts[i].length > 0)
            memcpy(added.texts + at, parts[i].bytes, parts[i].length);
        added.lengths[i] = (uint32_t)parts[i].length;
        at += parts[i].length;
    }
    leftovers->methods[leftovers->count++] = added;
}

static uint64_t pushed_at(const void *methods, size_t index)
{
    return (uint64_t)((const struct smp_leftover_method *)methods)[index].pushed;
}

bool smp_leftover_methods_find(const struct smp_leftover_methods *leftovers, int32_t pushed,
                               struct smp_leftover_name *out)
{
    const size_t at =
        smp_lower_bound(leftovers->methods, leftovers->count, pushed_at, (uint64_t)pushed);
    const struct smp_leftover_method *const found = &leftovers->methods[at];

    if (at == leftovers->count || found->pushed != pushed)
        return false;
    struct smp_slice parts[PARTS];
    const char *text = found->texts;
    for (int i = 0; i < PARTS; i++) {
        parts[i] = (struct smp_slice){ text, found->lengths[i] };
        text += found->lengths[i];
    }
    *out = (struct smp_leftover_name){ .class_name = parts[0],
                                       .method_name = parts[1],
                                       .source_file = parts[2],
                                       .descriptor = parts[3] };
    return true;
}

void smp_leftover_methods_clear(struct smp_leftover_methods *leftovers)
{
    for (size_t i = 0; i < leftovers->count; i++)
        smp_free(NULL, leftovers->methods[i].texts);
    smp_free(NULL, leftovers->methods);
    *leftovers = (struct smp_leftover_methods){ 0 };
}
