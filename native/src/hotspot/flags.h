/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flags.h - the JVM's boolean options (-XX:+UseG1GC), from the list that libjvm exports for
 * debuggers.
 *
 * Threads  any.
 * Errors   false, SMP_FLAG_MISSING: this JVM has no such list, or no such option.
 * Cost     find: a pass over some thousand names. Each option: one over some hundred.
 */
#ifndef SMP_HOTSPOT_FLAGS_H
#define SMP_HOTSPOT_FLAGS_H

#include <stdbool.h>
#include <stdint.h>

#include "hotspot/exports.h"

struct smp_flags {
    uintptr_t first; /* 0: there is no list */
    uintptr_t count;
    uint32_t bytes; /* of an entry */
    uint32_t name;  /* offsets in an entry */
    uint32_t address;
};

enum smp_flag { SMP_FLAG_OFF, SMP_FLAG_ON, SMP_FLAG_MISSING };

/* exports: NULL, or a test's. */
bool smp_flags_find(const struct smp_exports *exports, struct smp_flags *out);
enum smp_flag smp_flags_read(const struct smp_flags *flags, const char *name);

static inline bool smp_flags_is_on(const struct smp_flags *flags, const char *name)
{
    return smp_flags_read(flags, name) == SMP_FLAG_ON;
}

#endif
