/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spot_places.h - for each node of a profile, the line of the user's code that its stack is in, and
 * the callee of that line.
 *
 *   Thread.run ── Orders.handle:31 ── Store.find:77 ── Thread.sleep ── sleep0
 *                 (user's code)       (user's code)    callee          its place: Store.find:77
 *
 * The place of a stack is its innermost row of the user's code (wait_rules.h).
 *
 * Owns     12 bytes a node; borrows the profile.
 * Threads  one.
 * Errors   init: SMP_ENOMEM; there is nothing to fini then. compare: the texts remember a failure.
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
    struct smp_bytes a;          /* the texts to be compared */
    struct smp_bytes b;
};

SMP_CHECKED enum smp_status smp_spot_places_init(struct smp_spot_places *places,
                                                 struct smp_quota *quota,
                                                 const struct smp_profile *profile);
void smp_spot_places_fini(struct smp_spot_places *places);

/* Returns whether this is a group of sampled threads other than [JVM]. */
bool smp_spot_places_is_sampled(const struct smp_spot_places *places, uint32_t group);
/* Compares the texts of two frames: < 0, 0 or > 0. Location 0 comes first. */
int smp_spot_places_compare(struct smp_spot_places *places, uint32_t a, uint32_t b);

#endif
