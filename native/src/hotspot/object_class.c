/* SPDX-License-Identifier: Apache-2.0 */
#include "hotspot/object_class.h"

#include "base/safe_read.h"
#include "base/utf8.h"
#include "hotspot/memory.h"

enum { HEADER_WORDS = 2, MAX_SHIFT = 63 };

/* Returns false if the word's colour shows that the collector must process it first. */
static bool is_good(const struct smp_object_layout *layout, uintptr_t word)
{
    return (word & smp_load_word(layout->bad_mask)) == 0;
}

uintptr_t smp_object_address(const struct smp_object_layout *layout, uintptr_t handle)
{
    uintptr_t word = 0;

    if (layout->references == SMP_REFERENCE_UNKNOWN || handle == 0 ||
        !smp_safe_read(&word, handle, sizeof(word)))
        return 0;
    if (layout->references == SMP_REFERENCE_PLAIN)
        return word;
    if (!is_good(layout, word))
        return 0;
    if (layout->references == SMP_REFERENCE_MASKED)
        return word;
    const uintptr_t shift = smp_load_word(layout->load_shift);
    return shift <= MAX_SHIFT ? word >> shift : 0;
}

static uintptr_t widen(const struct smp_object_layout *layout, uint64_t narrow)
{
    const uint32_t shift = smp_load_u32(layout->narrow_shift);

    if (narrow == 0 || shift > MAX_SHIFT)
        return 0;
    return smp_load_word(layout->narrow_base) + (uintptr_t)(narrow << shift);
}

static uintptr_t class_of_object(const struct smp_object_layout *layout, uintptr_t object)
{
    uintptr_t word = 0;

    if (layout->classes == SMP_CLASS_UNKNOWN || object == 0)
        return 0;
    if (layout->classes == SMP_CLASS_NARROW) {
        uint32_t narrow = 0;
        return smp_safe_read(&narrow, object + layout->class_at, sizeof(narrow))
                   ? widen(layout, narrow)
                   : 0;
    }
    if (!smp_safe_read(&word, object + layout->class_at, sizeof(word)))
        return 0;
    return layout->classes == SMP_CLASS_POINTER ? word : widen(layout, word >> layout->mark_shift);
}

bool smp_object_class_name(const struct smp_object_layout *layout, uintptr_t object, char *name,
                           size_t size)
{
    const uintptr_t owner = class_of_object(layout, object);
    uintptr_t symbol = 0;
    uint16_t length = 0;

    if (owner == 0 || size == 0 || !smp_safe_read(&symbol, owner + layout->name, sizeof(symbol)) ||
        symbol == 0 || !smp_safe_read(&length, symbol + layout->length, sizeof(length)))
        return false;
    size_t count = length < size ? length : size; /* one more shows where it may be cut */
    if (count == 0 || !smp_safe_read(name, symbol + layout->body, count))
        return false;
    count = smp_utf8_prefix(name, count, size - 1);
    if (count == 0)
        return false;
    name[count] = '\0';
    for (size_t i = 0; i < count; i++) {
        if (name[i] == '/')
            name[i] = '.';
        if ((unsigned char)name[i] < ' ')
            return false;
    }
    return true;
}
