/* SPDX-License-Identifier: Apache-2.0 */
/* core_copy.h - a library that contains its own copy of the core, and so its own anchor. Tests
 * load several copies of its file. */
#ifndef SMP_TEST_SUPPORT_CORE_COPY_H
#define SMP_TEST_SUPPORT_CORE_COPY_H

#include "base/core_anchor.h"

#define CORE_COPY_ENTRY "core_copy_functions"

/* The functions that the library exports under the name CORE_COPY_ENTRY. */
struct core_copy_functions {
    const void *(*find)(struct smp_core_identity identity);
    void (*publish)(struct smp_core_identity identity, const void *functions);
    bool (*begin_sampling)(struct smp_core_rival *rival);
    void (*end_sampling)(void);
};

#endif
