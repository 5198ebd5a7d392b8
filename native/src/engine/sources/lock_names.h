/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_names.h - interns the classes of locks for which threads wait.
 *
 * Owns     the names.
 * Threads  the sampler thread only.
 * Errors   above SMP_MAX_LOCK_NAMES, or without memory, the id is 0: SMP_OTHER_LOCKS_NAME.
 * Cost     a hash of the name.
 */
#ifndef SMP_ENGINE_SOURCES_LOCK_NAMES_H
#define SMP_ENGINE_SOURCES_LOCK_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash_map.h"
#include "base/memory_budget.h"
#include "model/lock_times.h"

#define SMP_NO_LOCK_NAME UINT32_MAX /* never returned; callers use it for an unknown class */

enum { SMP_MAX_LOCK_NAMES = 4096, SMP_LOCK_NAMES_BYTES = 1024 * 1024 };

struct smp_lock_names {
    struct smp_memory_budget budget;
    struct smp_hash_map by_name;
    char **names; /* names[id - 1] */
    size_t capacity;
    size_t count;
};

void smp_lock_names_init(struct smp_lock_names *names, struct smp_quota *quota);
void smp_lock_names_fini(struct smp_lock_names *names);
uint32_t smp_lock_names_find(struct smp_lock_names *names, const char *name);
const char *smp_lock_names_text(const struct smp_lock_names *names, uint32_t id);

#endif
