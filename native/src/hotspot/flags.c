/* SPDX-License-Identifier: Apache-2.0 */
#include "hotspot/flags.h"

#include <string.h>

#include "hotspot/memory.h"

enum { MAX_FLAGS = 10000 };

enum item { LIST, COUNT, NAME, ADDRESS, BYTES, ITEMS };

static const struct smp_wanted items[ITEMS] = {
    [LIST] = { .type = "JVMFlag", .name = "flags", .type_string = "JVMFlag*", .is_static = true },
    [COUNT] = { .type = "JVMFlag", .name = "numFlags", .type_string = "size_t", .is_static = true },
    [NAME] = { .type = "JVMFlag", .name = "_name", .type_string = "const char*" },
    [ADDRESS] = { .type = "JVMFlag", .name = "_addr" },
    [BYTES] = { .list = SMP_EXPORT_TYPES, .type = "JVMFlag" },
};

bool smp_flags_find(const struct smp_exports *exports, struct smp_flags *out)
{
    struct smp_wanted found[ITEMS];

    memcpy(found, items, sizeof(found));
    *out = (struct smp_flags){ .first = 0 };
    if (!smp_exports_find(exports, found, ITEMS))
        return false;
    *out = (struct smp_flags){ .first = smp_load_word((uintptr_t)found[LIST].value),
                               .count = smp_load_word((uintptr_t)found[COUNT].value),
                               .bytes = (uint32_t)found[BYTES].value,
                               .name = (uint32_t)found[NAME].value,
                               .address = (uint32_t)found[ADDRESS].value };
    return out->first != 0;
}

enum smp_flag smp_flags_read(const struct smp_flags *flags, const char *name)
{
    for (uintptr_t i = 0; i < flags->count && i < MAX_FLAGS; i++) {
        const uintptr_t flag = flags->first + i * flags->bytes;
        const char *text = (const char *)smp_load_word(flag + flags->name); /* NOLINT */
        if (text != NULL && strcmp(text, name) == 0)
            return smp_load_u8(smp_load_word(flag + flags->address)) != 0 ? SMP_FLAG_ON
                                                                          : SMP_FLAG_OFF;
    }
    return SMP_FLAG_MISSING;
}

bool smp_flags_objects_move_in_safepoints(const struct smp_flags *flags)
{
    return smp_flags_is_on(flags, "UseSerialGC") || smp_flags_is_on(flags, "UseParallelGC") ||
           smp_flags_is_on(flags, "UseG1GC");
}

bool smp_class_changes_are_expected(const struct smp_exports *exports)
{
    struct smp_wanted flag = { .type = "JvmtiExport",
                               .name = "_can_hotswap_or_post_breakpoint",
                               .type_string = "bool",
                               .is_static = true };

    return smp_exports_find(exports, &flag, 1) && smp_load_u8((uintptr_t)flag.value) != 0;
}
