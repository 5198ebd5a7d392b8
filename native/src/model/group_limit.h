/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group_limit.h - limits the groups of a profile to the number its readers want: those with the
 * least active time become one group, [other threads].
 *
 *   sampled    the most active ones stay
 *   counted    those whose sampled group stays; and of those without one, which are of threads that
 *              no poll has met, as many as there is room for
 *
 * [JVM] and the overflow groups always stay and are not counted. If there is a group [other
 * threads] already, the others join it. Sums over all groups, threads and polls do not change.
 *
 * Threads  any; the profile is immutable.
 * Errors   without memory for the result the profile stays as it is.
 * Cost     a look at each group; if there are too many, a sort of them and a copy of the profile.
 */
#ifndef SMP_MODEL_GROUP_LIMIT_H
#define SMP_MODEL_GROUP_LIMIT_H

#include "base/alloc.h"
#include "model/profile.h"

/*
 * Takes over the caller's hold of the profile, and returns a profile that the caller holds: the
 * same one if it has at most times * profile->max_groups groups of each kind. times is 1 for a
 * profile that is shown. It is more for one that is merged again later, or a group would be named
 * in one part and hidden in another.
 */
struct smp_profile *smp_group_limit_apply(struct smp_quota *quota, struct smp_profile *profile,
                                          uint32_t times);

#endif
