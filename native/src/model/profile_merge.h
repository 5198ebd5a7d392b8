/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_merge.h - merges profiles into one, for readers that missed several intervals.
 *
 * Frames are matched by their names (class, method, file, line), groups by name and kind, so
 * profiles may come from different names tables or samplers. All measures, tallies and counters add
 * up, and so do elapsed and own CPU time. from is the earliest begin, till the latest end. Memory
 * figures, depths and the time between two polls are the highest. Root times and the account of
 * counting are merged as their headers say; a root's times are dropped if its node did not fit.
 * Distinct threads of one sampler are compared by their serials, also after it has compacted its
 * names. For several samplers their number is the sum, an upper bound if several saw the same
 * thread. Groups beyond SMP_MAX_GROUPS go to the overflow group of their kind.
 *
 * Profiles of one names table are merged by number and share it; otherwise the result has a table
 * of its own.
 *
 * Owns     the result is a new profile with one holder.
 * Threads  any; all are immutable.
 * Errors   SMP_ENOMEM, SMP_EQUOTA: no result. quota may be NULL.
 * Cost     O(nodes of all), and the names of all if the tables differ. Working memory: 4 bytes a
 *          node of the largest profile, and 8 a node of the result if methods got their probes
 *          late.
 */
#ifndef SMP_MODEL_PROFILE_MERGE_H
#define SMP_MODEL_PROFILE_MERGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/alloc.h"
#include "base/status.h"
#include "model/profile.h"

/* a and b may be in any order. Figures as of the end of an interval come from the later one. */
SMP_CHECKED enum smp_status smp_profile_merge(struct smp_quota *quota, const struct smp_profile *a,
                                              const struct smp_profile *b,
                                              struct smp_profile **out);

/* The maxima of parts of the result; all 0: no limits. */
struct smp_merge_limits {
    size_t tree_bytes;
    size_t groups_bytes; /* groups and their threads */
    size_t names_bytes;  /* names, if the tables differ */
};

/*
 * Merges several profiles within limits. If the tree is full, its smallest subtrees are folded
 * (tree_fold.h). Amounts of stacks that still do not fit, or find no memory, go to [over memory
 * limit] below their group; groups that do not fit go to the overflow group of their kind. Distinct
 * threads may then be counted twice, and names may be lost, which the groups count. count > 0,
 * oldest first: threads are listed in that order, and figures as of the end are those of the last
 * profile. Counts from before the last reset are dropped. A result made within limits may be merged
 * with later intervals only, because it knows no threads but those that live at its end.
 */
SMP_CHECKED enum smp_status smp_profile_merge_within(struct smp_quota *quota,
                                                     const struct smp_profile *const *profiles,
                                                     size_t count, struct smp_merge_limits limits,
                                                     struct smp_profile **out);

/*
 * Copies a profile with the groups that is_joined marks, by their index, joined into one group per
 * kind: [other threads]. All sums stay the same, to the nanosecond. No overflow group may be
 * marked.
 */
SMP_CHECKED enum smp_status smp_profile_join_groups(struct smp_quota *quota,
                                                    const struct smp_profile *profile,
                                                    const bool *is_joined,
                                                    struct smp_profile **out);

/*
 * Copies a profile with its recursions folded: a call that repeats one above it (recursion.h)
 * moves, with its callees, to the row of that call: a row of its own line below the same caller.
 * Each amount is still in exactly one row, and each row knows how deep its recursion was. *out is
 * NULL if nothing repeats.
 */
SMP_CHECKED enum smp_status smp_profile_fold_recursion(struct smp_quota *quota,
                                                       const struct smp_profile *profile,
                                                       struct smp_profile **out);

#endif
