/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group_limit.h - a profile with no more groups than its readers want: those with the least time
 * that is not idle are one group, [other threads].
 *
 *   sampled    the most active ones stay
 *   counted    those whose sampled group stays; and of those without one, which are of threads that
 *              no poll has met, as many as there is room for
 *
 * [JVM] and the overflow groups always stay, and count for nothing. A group that is [other threads]
 * already takes up the others. Sums over all groups, threads, and polls stay what they were.
 *
 * Threads  any; the profile is immutable.
 * Errors   without memory for the result the profile is left as it is.
 * Cost     a look at each group; if there are too many, a sort of them and a copy of the profile.
 */
#ifndef SMP_MODEL_GROUP_LIMIT_H
#define SMP_MODEL_GROUP_LIMIT_H

#include "base/alloc.h"
#include "model/profile.h"

/*
 * Takes over the caller's hold of the profile. Returns one that the caller holds: the same if it
 * has times * profile->max_groups groups of each kind or fewer. times is 1 for what is shown. For
 * what is merged again later it is more, or a group would be named in one part and hidden in
 * another.
 */
struct smp_profile *smp_group_limit_apply(struct smp_quota *quota, struct smp_profile *profile,
                                          uint32_t times);

#endif
