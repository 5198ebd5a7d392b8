/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leftovers.h - classes that kept their probes after a session, because the JVM refused to remove
 * them. The next session makes these classes pending again. Until they are changed, it resolves
 * the ids that they push by the names that are kept here.
 *
 * Owns     hashes of the class names; copies of the method names, until clear_methods.
 * Threads  one at a time.
 * Errors   beyond the limit or without memory, a class or name is not kept.
 * Cost     adding: constant on average. find: O(log names).
 */
#ifndef SMP_JVM_CALLS_LEFTOVERS_H
#define SMP_JVM_CALLS_LEFTOVERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counting/method_ids.h"

enum { SMP_LEFTOVERS_LIMIT = 4096, SMP_LEFTOVER_METHODS_LIMIT = 16384 };

struct smp_leftover_method {
    int32_t pushed; /* the id that its probe pushes */
    struct smp_method_name name;
    char *texts; /* memory of its name */
};

/* Zeroed: empty. */
struct smp_leftovers {
    uint32_t classes[SMP_LEFTOVERS_LIMIT]; /* hashes of their names */
    size_t class_count;
    struct smp_leftover_method *methods; /* sorted by id */
    size_t count;
    size_t capacity;
};

void smp_leftovers_add_class(struct smp_leftovers *leftovers, uint32_t name_hash);
/* Methods must be added in the order of their ids. */
void smp_leftovers_add_method(struct smp_leftovers *leftovers, int32_t pushed,
                              const struct smp_method_name *name);
/* Removes the class. Returns false if it is not a leftover. */
bool smp_leftovers_take_class(struct smp_leftovers *leftovers, uint32_t name_hash);
/* Returns NULL if no name is kept for the id. */
const struct smp_method_name *smp_leftovers_find(const struct smp_leftovers *leftovers,
                                                 int32_t pushed);
void smp_leftovers_clear_methods(struct smp_leftovers *leftovers);

#endif
