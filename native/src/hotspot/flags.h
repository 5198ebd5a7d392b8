/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flags.h - the JVM's boolean options (-XX:+UseG1GC), and whether agents may change loaded classes,
 * as libjvm exports them for debuggers.
 *
 * Threads  any.
 * Errors   false, SMP_FLAG_MISSING: this JVM exports no such list, option or variable.
 * Cost     find: a pass over some thousand names. An option: a pass over some hundred.
 *          class_changes: a pass over libjvm's fields.
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

/* Returns true with Serial, Parallel and G1: objects move in safepoints only, so the reference in a
 * handle is an address. */
bool smp_flags_objects_move_in_safepoints(const struct smp_flags *flags);

/*
 * Returns whether this JVM expects agents to change loaded classes: always true once any agent has
 * requested any JVMTI capability.
 *
 * Before JDK 23 the JVM throws away all compiled code at the first change of a class, unless an
 * agent with capabilities was there from the JVM's start. An agent that came later and has not
 * changed a class yet cannot be told from such an agent.
 */
bool smp_class_changes_are_expected(const struct smp_exports *exports);

#endif
