/* SPDX-License-Identifier: Apache-2.0 */
#include "hotspot/class_changes.h"

#include "hotspot/memory.h"

bool smp_class_changes_are_expected(const struct smp_exports *exports)
{
    struct smp_wanted flag = { .type = "JvmtiExport",
                               .name = "_can_hotswap_or_post_breakpoint",
                               .type_string = "bool",
                               .is_static = true };

    return smp_exports_find(exports, &flag, 1) && smp_load_u8((uintptr_t)flag.value) != 0;
}
