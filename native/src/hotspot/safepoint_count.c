/* SPDX-License-Identifier: Apache-2.0 */
#include "hotspot/safepoint_count.h"

#include <string.h>

#include "hotspot/memory.h"

/* The format of these counters, PerfData 2.0: the beginning, and each counter. */
enum {
    BYTE_ORDER_AT = 4,
    MAJOR_AT = 5,
    USED_AT = 8,
    FIRST_AT = 24,
    COUNT_AT = 28,
    BEGINNING_BYTES = 32,
    LITTLE_ENDIAN_ORDER = 1,
    MAJOR = 2,

    ENTRY_LENGTH_AT = 0,
    ENTRY_NAME_AT = 4,
    ENTRY_TYPE_AT = 12,
    ENTRY_DATA_AT = 16,
    ENTRY_BYTES = 20,
    LONG_TYPE = 'J',

    MAX_BYTES = 1024 * 1024,
    MAX_COUNTERS = 10000
};

static bool is_known_format(uintptr_t start)
{
    static const uint8_t magic[] = { 0xca, 0xfe, 0xc0, 0xc0 };

    return memcmp((const void *)start, magic, sizeof(magic)) == 0 && /* NOLINT */
           smp_load_u8(start + BYTE_ORDER_AT) == LITTLE_ENDIAN_ORDER &&
           smp_load_u8(start + MAJOR_AT) == MAJOR;
}

/* Returns whether this is the counter of that name, with its parts inside the entry. */
static bool is_counter(uintptr_t entry, uint32_t length, const char *name)
{
    const uint32_t name_at = smp_load_u32(entry + ENTRY_NAME_AT);
    const uint32_t data_at = smp_load_u32(entry + ENTRY_DATA_AT);
    const size_t bytes = strlen(name) + 1;

    return smp_load_u8(entry + ENTRY_TYPE_AT) == LONG_TYPE && name_at >= ENTRY_BYTES &&
           name_at <= length && length - name_at >= bytes && data_at >= ENTRY_BYTES &&
           data_at <= length && length - data_at >= sizeof(uint64_t) &&
           (entry + data_at) % sizeof(uint64_t) == 0 &&
           memcmp((const void *)(entry + name_at), name, bytes) == 0; /* NOLINT */
}

static const uint64_t *find_counter(uintptr_t start, const char *name)
{
    const uint32_t used = smp_load_u32(start + USED_AT);
    const uint32_t count = smp_load_u32(start + COUNT_AT);
    uint32_t at = smp_load_u32(start + FIRST_AT);

    if (used > MAX_BYTES || at < BEGINNING_BYTES)
        return NULL;
    for (uint32_t i = 0; i < count && i < MAX_COUNTERS; i++) {
        if (at > used || used - at < ENTRY_BYTES)
            return NULL;
        const uintptr_t entry = start + at;
        const uint32_t length = smp_load_u32(entry + ENTRY_LENGTH_AT);
        if (length < ENTRY_BYTES || length > used - at)
            return NULL;
        if (is_counter(entry, length, name))
            return (const uint64_t *)(entry + smp_load_u32(entry + ENTRY_DATA_AT)); /* NOLINT */
        at += length;
    }
    return NULL;
}

const uint64_t *smp_safepoint_count_find(const struct smp_exports *exports)
{
    struct smp_wanted variable = { .type = "PerfMemory", .name = "_start", .is_static = true };
    uintptr_t start = 0;

    if (!smp_exports_find(exports, &variable, 1))
        return NULL;
    start = smp_load_word((uintptr_t)variable.value);
    if (start == 0 || !is_known_format(start))
        return NULL;
    return find_counter(start, "sun.rt.safepoints");
}
