/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/calls/leftovers.h"

#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"

static bool can_add_leftover(struct smp_leftovers *leftovers)
{
    struct smp_leftover_method *methods = NULL;

    if (leftovers->count < SMP_LEFTOVER_METHODS_LIMIT)
        methods = smp_grow_items(NULL, leftovers->methods, &leftovers->capacity,
                                 leftovers->count + 1, sizeof(*methods));
    if (methods != NULL)
        leftovers->methods = methods;
    return methods != NULL;
}

/* Returns the end of the copy. */
static char *copy_part(char *to, struct smp_slice *part)
{
    if (part->length > 0)
        memcpy(to, part->bytes, part->length);
    part->bytes = to;
    return to + part->length;
}

void smp_leftovers_add_method(struct smp_leftovers *leftovers, int32_t pushed,
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

const struct smp_method_name *smp_leftovers_find(const struct smp_leftovers *leftovers,
                                                 int32_t pushed)
{
    const size_t at =
        smp_lower_bound(leftovers->methods, leftovers->count, pushed_at, (uint64_t)pushed);

    return at < leftovers->count && leftovers->methods[at].pushed == pushed
               ? &leftovers->methods[at].name
               : NULL;
}

void smp_leftovers_clear_methods(struct smp_leftovers *leftovers)
{
    for (size_t i = 0; i < leftovers->count; i++)
        smp_free(NULL, leftovers->methods[i].texts);
    smp_free(NULL, leftovers->methods);
    leftovers->methods = NULL;
    leftovers->count = 0;
    leftovers->capacity = 0;
}

/* --- classes --- */

void smp_leftovers_add_class(struct smp_leftovers *leftovers, uint32_t name_hash)
{
    if (leftovers->class_count < SMP_LEFTOVERS_LIMIT)
        leftovers->classes[leftovers->class_count++] = name_hash;
}

bool smp_leftovers_take_class(struct smp_leftovers *leftovers, uint32_t name_hash)
{
    for (size_t i = 0; i < leftovers->class_count; i++) {
        if (leftovers->classes[i] == name_hash) {
            leftovers->classes[i] = leftovers->classes[--leftovers->class_count];
            return true;
        }
    }
    return false;
}
