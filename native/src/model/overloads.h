/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overloads.h - the methods of a profile that are shown with their parameters, because several
 * methods of the same class and name were counted.
 *
 *   counted: Shop.add(Item), Shop.add(Item, int), Shop.sum()
 *   shown:   Shop.add(Item)  Shop.add(Item, int)  Shop.sum     in counted and in sampled rows
 *
 * Without counted calls no method is shown so, because lines distinguish overloads. The decision is
 * made once per profile, from all its counted rows, so all formats agree.
 *
 * Owns     the texts of these methods; all zero: there are none.
 * Threads  immutable after init.
 * Errors   init: SMP_ENOMEM, SMP_EQUOTA, and there is nothing to fini.
 * Cost     init: nothing if no calls are counted; else three passes over the nodes. view: one load
 *          more than that of methods.h.
 */
#ifndef SMP_MODEL_OVERLOADS_H
#define SMP_MODEL_OVERLOADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/status.h"
#include "model/methods.h"
#include "model/thread_groups.h"
#include "model/tree.h"

enum { SMP_MAX_OVERLOAD_TEXTS_BYTES = 1 << 28 }; /* of all together */

/* Visible so that it can be part of a profile. */
struct smp_overloads {
    struct smp_quota *quota;
    size_t *starts; /* by smp_location_view.overload: the start of its text, plus one; 0: none */
    uint32_t count; /* of starts */
    uint32_t *locations;    /* one of each method that is shown so */
    uint32_t shown;         /* of locations */
    struct smp_bytes texts; /* "add(Item, int)", each with a NUL */
};

SMP_CHECKED enum smp_status smp_overloads_init(struct smp_overloads *overloads,
                                               struct smp_quota *quota, const struct smp_tree *tree,
                                               struct smp_thread_groups *groups,
                                               const struct smp_methods *methods);
void smp_overloads_fini(struct smp_overloads *overloads);

/* As smp_methods_view, but a method shown with its parameters has them in its name, which lives as
 * long as the overloads. overloads may be NULL. */
void smp_overloads_view(const struct smp_overloads *overloads, const struct smp_methods *methods,
                        uint32_t location, struct smp_location_view *out);
/* Returns the name with parameters for a method of another table, or NULL if it is shown without.
 * methods: the table passed to init. O(shown). */
const char *smp_overloads_find(const struct smp_overloads *overloads,
                               const struct smp_methods *methods,
                               const struct smp_location_view *other);

#endif
