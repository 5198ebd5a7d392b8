/* SPDX-License-Identifier: Apache-2.0 */
/*
 * children.h - the children of one node of a profile, for readers that descend a tree step by step:
 * in descending order of wall time, equal ones in the order they were added, without unused nodes
 * (tree.h).
 *
 * Owns     its nodes.
 * Threads  immutable after init.
 * Errors   init: SMP_ENOMEM, SMP_EQUOTA, and there is nothing to fini. SMP_EINVAL: no such node.
 * Cost     init: one sort of the children; 8 bytes for each.
 */
#ifndef SMP_EXPORT_CHILDREN_H
#define SMP_EXPORT_CHILDREN_H

#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"
#include "model/profile.h"

struct smp_children {
    struct smp_quota *quota;
    uint32_t *nodes;
    size_t count;
};

/* node: a group's root or a frame. It comes from Java and may be any number. */
SMP_CHECKED enum smp_status smp_children_init(struct smp_children *children,
                                              struct smp_quota *quota,
                                              const struct smp_profile *profile, uint64_t node);
void smp_children_fini(struct smp_children *children); /* all zero is fine */

#endif
