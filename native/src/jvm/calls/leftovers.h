/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leftovers.h - classes whose probes outlast the counting that made them, because the JVM refuses
 * to remove them. The next counting makes them pending again; until then it counts the ids that
 * they push under the names of their methods.
 *
 * Owns     hashes of the names of the classes; copies of the names of their methods, until
 *          clear_methods.
 * Threads  one at a time.
 * Errors   a class or name past the limit, or without memory, is not kept.
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
    int32_t pushed; /* the id */
    struct smp_method_name name;
    char *texts; /* of its name */
};

/* Zeroed: empty. */
struct smp_leftovers {
    uint32_t classes[SMP_LEFTOVERS_LIMIT]; /* hashes of their names */
    size_t class_count;
    struct smp_leftover_method *methods; /* in the order of their ids */
    size_t count;
    size_t capacity;
};

void smp_leftovers_add_class(struct smp_leftovers *leftovers, uint32_t name_hash);
/* pushed: above all ids that were added. */
void smp_leftovers_add_method(struct smp_leftovers *leftovers, int32_t pushed,
                              const struct smp_method_name *name);
/* Removes the class. Returns false if it is none of the leftovers. */
bool smp_leftovers_take_class(struct smp_leftovers *leftovers, uint32_t name_hash);
/* NULL: no name is kept for the id. */
const struct smp_method_name *smp_leftovers_find(const struct smp_leftovers *leftovers,
                                                 int32_t pushed);
void smp_leftovers_clear_methods(struct smp_leftovers *leftovers);

#endif
