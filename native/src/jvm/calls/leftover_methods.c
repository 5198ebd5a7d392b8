/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/calls/leftover_methods.h"

#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"

enum { FIRST_METHODS = 64 };

struct smp_method_name smp_method_name_of(const struct smp_method_ids *ids, int32_t id)
{
    return (struct smp_method_name){ .class_name = smp_method_ids_class(ids, id),
                                     .method_name = smp_method_ids_name(ids, id),
                                     .source_file = smp_method_ids_source(ids, id),
                                     .descriptor = smp_method_ids_descriptor(ids, id) };
}

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

/* Returns the byte behind the copy. */
static char *copy_part(char *to, struct smp_slice *part)
{
    if (part->length > 0)
        memcpy(to, part->bytes, part->length);
    part->bytes = to;
    return to + part->length;
}

void smp_leftover_methods_add(struct smp_leftover_methods *leftovers, int32_t pushed,
                              const struct smp_method_name *name)
{
    struct smp_leftover_method added = { .pushed = pushed, .name = *name };
    const size_t bytes = name->class_name.length + name->method_name.length +
                         name->source_file.length + name->descriptor.length;

    if (!can_add_leftover(leftovers))
        return;
    added.texts = smp_alloc(NULL, bytes);
    if (added.texts == NULL)
        return;
    char *at = copy_part(added.texts, &added.name.class_name);
    at = copy_part(at, &added.name.method_name);
    at = copy_part(at, &added.name.source_file);
    (void)copy_part(at, &added.name.descriptor);
    leftovers->methods[leftovers->count++] = added;
}

static uint64_t pushed_at(const void *methods, size_t index)
{
    return (uint64_t)((const struct smp_leftover_method *)methods)[index].pushed;
}

const struct smp_method_name *
smp_leftover_methods_find(const struct smp_leftover_methods *leftovers, int32_t pushed)
{
    const size_t at =
        smp_lower_bound(leftovers->methods, leftovers->count, pushed_at, (uint64_t)pushed);

    return at < leftovers->count && leftovers->methods[at].pushed == pushed
               ? &leftovers->methods[at].name
               : NULL;
}

void smp_leftover_methods_clear(struct smp_leftover_methods *leftovers)
{
    for (size_t i = 0; i < leftovers->count; i++)
        smp_free(NULL, leftovers->methods[i].texts);
    smp_free(NULL, leftovers->methods);
    *leftovers = (struct smp_leftover_methods){ 0 };
}
