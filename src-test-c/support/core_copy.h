/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core_copy.h - a library with an anchor of its own, as each copy of the library has one. Tests
 * load several copies of its file.
 */
#ifndef SMP_TEST_SUPPORT_CORE_COPY_H
#define SMP_TEST_SUPPORT_CORE_COPY_H

#include "base/core_anchor.h"

#define CORE_COPY_ENTRY "core_copy_functions"

/* What the library exports, under CORE_COPY_ENTRY. */
struct core_copy_functions {
    const void *(*find)(struct smp_core_identity identity);
    void (*publish)(struct smp_core_identity identity, const void *functions);
    bool (*begin_sampling)(struct smp_core_rival *rival);
    void (*end_sampling)(void);
};

#endif
