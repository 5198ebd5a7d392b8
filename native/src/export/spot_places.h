/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spot_places.h - of each node of a profile: in which line of the user's code its stack is, and
 * what that line called.
 *
 *   Thread.run ── Orders.handle:31 ── Store.find:77 ── Thread.sleep ── sleep0
 *                 (user's code)       (user's code)    callee          its place: Store.find:77
 *
 * The place of a stack is its innermost row of the user's code (wait_rules.h).
 *
 * Owns     12 bytes a node; borrows the profile.
 * Threads  one.
 * Errors   init: SMP_ENOMEM; there is nothing to fini then. compare: its texts remember a failure.
 * Cost     init: one pass over the nodes.
 */
#ifndef SMP_EXPORT_SPOT_PLACES_H
#define SMP_EXPORT_SPOT_PLACES_H

#include "base/bytes.h"
#include "model/profile.h"

struct smp_spot_place {
    uint32_t place;  /* a location; 0: no row of the user's code up to the node */
    uint32_t callee; /* the first location below the place; 0: the node is the place itself */
    uint32_t group;
};

struct smp_spot_places {
    struct smp_quota *quota;
    const struct smp_profile *profile;
    const struct smp_node *nodes;
    uint32_t count;
    struct smp_spot_place *list; /* by node */
    struct smp_bytes a;          /* texts that are compared */
    struct smp_bytes b;
};

SMP_CHECKED enum smp_status smp_spot_places_init(struct smp_spot_places *places,
                                                 struct smp_quota *quota,
                                                 const struct smp_profile *profile);
void smp_spot_places_fini(struct smp_spot_places *places);

/* Is it a group of threads that were sampled, and not the JVM's? */
bool smp_spot_places_is_sampled(const struct smp_spot_places *places, uint32_t group);
/* < 0, 0 or > 0, by the texts of two frames; location 0 stands before all. */
int smp_spot_places_compare(struct smp_spot_places *places, uint32_t a, uint32_t b);

#endif
