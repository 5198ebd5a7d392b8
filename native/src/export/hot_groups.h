/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot_groups.h - the printed thread groups of one kind: sampled ones with time or polls, counted
 * ones with calls or time. They are in descending order of time, ties in byte order of their names;
 * [JVM], whose threads are not the application's, is last. The text report orders them by active
 * time, so that idle ones come after the others.
 *
 * Owns     its indices.
 * Threads  immutable after init.
 * Errors   SMP_ENOMEM: there is nothing to fini.
 * Cost     one sort of the groups of each kind.
 */
#ifndef SMP_EXPORT_HOT_GROUPS_H
#define SMP_EXPORT_HOT_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"
#include "model/profile.h"

struct smp_hot_groups {
    struct smp_quota *quota;
    uint32_t *indices;
    size_t count;
};

/* Finds the groups of this kind. */
SMP_CHECKED enum smp_status smp_hot_groups_init(struct smp_hot_groups *groups,
                                                struct smp_quota *quota,
                                                const struct smp_profile *profile,
                                                enum smp_group_kind kind);
/* Finds the groups of each kind. */
SMP_CHECKED enum smp_status smp_hot_groups_init_all(struct smp_hot_groups groups[SMP_GROUP_KINDS],
                                                    struct smp_quota *quota,
                                                    const struct smp_profile *profile);
/* Sorts by descending active time (wall time that is not idle, in whole milliseconds), which is 0
 * for groups that were idle throughout. Ties as above. */
void smp_hot_groups_sort_active(struct smp_hot_groups *groups, const struct smp_profile *profile);
void smp_hot_groups_fini(struct smp_hot_groups *groups);                     /* all zero is fine */
void smp_hot_groups_fini_all(struct smp_hot_groups groups[SMP_GROUP_KINDS]); /* likewise */

/* Returns the group's name as exports show it; "[unnamed]" if it is empty. */
const char *smp_hot_group_name(const struct smp_group_info *group);
/* Like smp_profile_group_total. But a measure that only counted trees have (model/measure.h) is
 * read from the counted group with the same name. index: of the group in the profile. */
int64_t smp_hot_group_whole(const struct smp_profile *profile, uint32_t index,
                            enum smp_measure measure);
/* Returns its wall time under frames of polls without a stack, like [thread ended]. */
int64_t smp_hot_group_without_stack(const struct smp_profile *profile, uint32_t index);
/* Returns whether the group was idle throughout: it has idle time, and otherwise only time without
 * a stack or less than a millisecond. */
bool smp_hot_group_is_idle(const struct smp_profile *profile, uint32_t index);

#endif
