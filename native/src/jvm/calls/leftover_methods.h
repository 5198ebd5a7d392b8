/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leftover_methods.h - names of methods whose probes outlast the counting that made them, because
 * the JVM refuses to remove them. A later counting counts the ids that they push under these names.
 *
 * Owns     copies of the names, until clear.
 * Threads  one at a time.
 * Errors   add: a name past the limit, or without memory, is not kept.
 * Cost     add: constant on average. find: O(log names).
 */
#ifndef SMP_JVM_CALLS_LEFTOVER_METHODS_H
#define SMP_JVM_CALLS_LEFTOVER_METHODS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counting/method_ids.h"

enum { SMP_LEFTOVER_METHODS_LIMIT = 16384 };

/* The parts of a name, as in method_ids.h. */
struct smp_method_name {
    struct smp_slice class_name;
    struct smp_slice method_name;
    struct smp_slice source_file; /* length 0: not known */
    struct smp_slice descriptor;
};

struct smp_leftover_method {
    int32_t pushed; /* the id */
    struct smp_method_name name;
    char *texts; /* of its name */
};

/* Zeroed: empty. In the order of their ids. */
struct smp_leftover_methods {
    struct smp_leftover_method *methods;
    size_t count;
    size_t capacity;
};

/* Returns the name of the method that has this id. */
struct smp_method_name smp_method_name_of(const struct smp_method_ids *ids, int32_t id);

/* pushed: above all ids that were added. */
void smp_leftover_methods_add(struct smp_leftover_methods *leftovers, int32_t pushed,
                              const struct smp_method_name *name);
/* NULL: no name is kept for the id. */
const struct smp_method_name *
smp_leftover_methods_find(const struct smp_leftover_methods *leftovers, int32_t pushed);
void smp_leftover_methods_clear(struct smp_leftover_methods *leftovers);

#endif
