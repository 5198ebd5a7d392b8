/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recursion.h - finds the calls of a profile's trees that repeat the calls right above them.
 *
 *   sort ─ sort ─ sort          the second and the third: a turn of one call
 *   a ─ b ─ a ─ b ─ c           the second b: a turn of two, as what is above it is a ─ b again
 *   f ─ g ─ f ─ h               none: no turn is whole
 *
 * A turn has at most SMP_MAX_TURN calls. Equal turns have the same methods (overloads are different
 * ones), but their lines may differ. Pseudo-frames and nodes without any amount belong to no turn.
 *
 * Owns     its arrays.
 * Threads  one at a time.
 * Errors   SMP_ENOMEM, SMP_EQUOTA from find: there is nothing to fini.
 * Cost     one pass over the nodes, each with SMP_MAX_TURN callers; 16 bytes a node.
 */
#ifndef SMP_MODEL_RECURSION_H
#define SMP_MODEL_RECURSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"
#include "model/profile.h"

enum { SMP_MAX_TURN = 8 };

struct smp_recursion {
    struct smp_quota *quota;
    uint32_t *repeated; /* by node: the node above it that it repeats; 0: none */
    /* By node: the number of turns that end in it, with the first; 1 if it repeats none */
    uint32_t *levels;
    bool is_found; /* true if any node repeats one */
};

SMP_CHECKED enum smp_status smp_recursion_find(struct smp_recursion *recursion,
                                               struct smp_quota *quota,
                                               const struct smp_profile *profile);
void smp_recursion_fini(struct smp_recursion *recursion); /* all zero is fine */

#endif
