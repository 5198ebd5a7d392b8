/* SPDX-License-Identifier: Apache-2.0 */
#include "hotspot/class_changes.h"

#include <string.h>

#include "hotspot/memory.h"

static void take_flag(void *self, const struct smp_export *entry)
{
    uintptr_t *const address = self;

    if (entry->is_static && entry->type != NULL && entry->name != NULL &&
        entry->type_string != NULL && strcmp(entry->type, "JvmtiExport") == 0 &&
        strcmp(entry->name, "_can_hotswap_or_post_breakpoint") == 0 &&
        strcmp(entry->type_string, "bool") == 0)
        *address = (uintptr_t)entry->value;
}

bool smp_class_changes_are_expected(const struct smp_exports *exports)
{
    uintptr_t address = 0;

    return smp_exports_visit(exports, SMP_EXPORT_FIELDS, take_flag, &address) && address != 0 &&
           smp_load_u8(address) != 0;
}
