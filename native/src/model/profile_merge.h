/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_merge.h - profiles as one: what a reader gets that missed several intervals.
 *
 * Frames are matched by what they say (class, method, file, line), groups by name and kind, so they
 * may come from different names tables or different samplers. All measures, tallies and counters
 * add up; elapsed and own CPU time too; from is the earliest begin, till the latest end; of memory
 * figures, depths and the time between two polls it is the highest. Root times and the account of
 * counting are merged as their headers say; a root's times are left out where its node did not fit.
 * Distinct threads: the sum, an upper bound where the same thread was seen in several, unless all
 * come from one names table (serials are compared). Groups past SMP_MAX_GROUPS go to the overflow
 * group of their kind.
 *
 * Profiles of one names table are merged by number and share the table; else the result has one of
 * its own.
 *
 * Owns     the result is a new profile with one holder.
 * Threads  any; all are immutable.
 * Errors   SMP_ENOMEM, SMP_EQUOTA: no result. quota may be NULL.
 * Cost     O(nodes of all), and the names of all where the tables differ; beside the result 4 bytes
 *          a node of the largest.
 */
#ifndef SMP_MODEL_PROFILE_MERGE_H
#define SMP_MODEL_PROFILE_MERGE_H

#include <stddef.h>

#include "base/alloc.h"
#include "base/status.h"
#include "model/profile.h"

/* In any order: where the result shows what is so at the end, it is the later one's. */
SMP_CHECKED enum smp_status smp_profile_merge(struct smp_quota *quota, const struct smp_profile *a,
                                              const struct smp_profile *b,
                                              struct smp_profile **out);

/*
 * The same of several, with a tree of at most tree_bytes: amounts of stacks that do not fit, or for
 * which there is no memory, go to [over memory limit] below their group. 0: as above. count > 0;
 * oldest first: the names of threads are listed in that order, and what is so at the end is the
 * last one's. What was counted before the last of them that counts anew is left out.
 */
SMP_CHECKED enum smp_status smp_profile_merge_within(struct smp_quota *quota,
                                                     const struct smp_profile *const *profiles,
                                                     size_t count, size_t tree_bytes,
                                                     struct smp_profile **out);

#endif
