/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_merge.h - profiles as one: what a reader gets that missed several intervals.
 *
 * Frames are matched by what they say (class, method, file, line), groups by name and kind, so they
 * may come from different names tables or different samplers. All measures, tallies and counters
 * add up; elapsed and own CPU time too; from is the earliest begin, till the latest end; of memory
 * figures, depths and the time between two polls it is the highest. Root times and the account of
 * counting are merged as their headers say; a root's times are left out where its node did not fit.
 * Distinct threads: those of one sampler are compared by their serials, also after it has compacted
 * its names; of several samplers it is the sum, an upper bound where one thread was seen by more
 * than one. Groups past SMP_MAX_GROUPS go to the overflow group of their kind.
 *
 * Profiles of one names table are merged by number and share the table; else the result has one of
 * its own.
 *
 * Owns     the result is a new profile with one holder.
 * Threads  any; all are immutable.
 * Errors   SMP_ENOMEM, SMP_EQUOTA: no result. quota may be NULL.
 * Cost     O(nodes of all), and the names of all where the tables differ; beside the result 4 bytes
 *          a node of the largest, and 8 a node of the result where methods got their probes late.
 */
#ifndef SMP_MODEL_PROFILE_MERGE_H
#define SMP_MODEL_PROFILE_MERGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/alloc.h"
#include "base/status.h"
#include "model/profile.h"

/* In any order: where the result shows what is so at the end, it is the later one's. */
SMP_CHECKED enum smp_status smp_profile_merge(struct smp_quota *quota, const struct smp_profile *a,
                                              const struct smp_profile *b,
                                              struct smp_profile **out);

/* The most that parts of the result may take; all 0: no limits. */
struct smp_merge_limits {
    size_t tree_bytes;
    size_t groups_bytes; /* of groups and their threads */
    size_t names_bytes;  /* of names, where the tables differ */
};

/*
 * The same of several, within limits: where the tree is full the smallest subtrees are folded
 * (tree_fold.h). Amounts of stacks that do not fit all the same, or for which there is no memory,
 * go to [over memory limit] below their group, groups that do not fit to the overflow group
 * of their kind; distinct threads may be counted twice, and names lost as the groups count it.
 * count > 0; oldest first: the names of threads are listed in that order, and what is so at the end
 * is the last one's. What was counted before the last of them that counts anew is left out. Within
 * limits, later intervals only may be merged with the result: it knows the threads that live where
 * the last one ends, and no others.
 */
SMP_CHECKED enum smp_status smp_profile_merge_within(struct smp_quota *quota,
                                                     const struct smp_profile *const *profiles,
                                                     size_t count, struct smp_merge_limits limits,
                                                     struct smp_profile **out);

/*
 * The same profile, but the groups that is_joined marks, by their index, are one group of their
 * kind: [other threads]. All else stays, to the last nanosecond. Neither overflow group is marked.
 */
SMP_CHECKED enum smp_status smp_profile_join_groups(struct smp_quota *quota,
                                                    const struct smp_profile *profile,
                                                    const bool *is_joined,
                                                    struct smp_profile **out);

/*
 * The same profile, but a call that repeats one above it (recursion.h) is in that one's row: a row
 * of its own line below the same caller. So is what it called. Each amount is in one row, as
 * before, with what its calls called once, and a row knows how deep its recursion was. *out is NULL
 * where nothing repeats.
 */
SMP_CHECKED enum smp_status smp_profile_fold_recursion(struct smp_quota *quota,
                                                       const struct smp_profile *profile,
                                                       struct smp_profile **out);

#endif
