/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot_groups.h - the thread groups of a profile that are printed, of one kind: sampled ones with
 * time or polls, counted ones with calls or time; in descending time, ties in byte order of their
 * names; last [JVM], whose threads are not the application's. The text report has them in another
 * order, by active time, so that idle ones stand behind the others.
 *
 * Owns     its indices.
 * Threads  immutable after init.
 * Errors   SMP_ENOMEM: there is nothing to fini.
 * Cost     one sort of the groups each time.
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

/* Those of this kind. */
SMP_CHECKED enum smp_status smp_hot_groups_init(struct smp_hot_groups *groups,
                                                struct smp_quota *quota,
                                                const struct smp_profile *profile,
                                                enum smp_group_kind kind);
/* In descending active time, which is wall time that is not idle, in whole milliseconds; of groups
 * that were idle throughout it is 0. Ties as above. */
void smp_hot_groups_sort_active(struct smp_hot_groups *groups, const struct smp_profile *profile);
void smp_hot_groups_fini(struct smp_hot_groups *groups); /* all zero is fine */

/* Of a group by its index in the profile. */
const struct smp_group_info *smp_hot_group_info(const struct smp_profile *profile, uint32_t index);
/* Is it the group of the JVM's own threads? */
bool smp_hot_group_is_jvm(const struct smp_profile *profile, uint32_t index);
/* Of all its threads, as its tree has it; 0 where it has no tree. */
int64_t smp_hot_group_total(const struct smp_profile *profile, uint32_t index,
                            enum smp_measure measure);
/* The same; of a measure of which counted trees are the whole (model/measure.h) that of the counted
 * group with the same name. */
int64_t smp_hot_group_whole(const struct smp_profile *profile, uint32_t index,
                            enum smp_measure measure);
/* The part of its wall time that is under frames of polls without a stack, as [thread ended]. */
int64_t smp_hot_group_without_stack(const struct smp_profile *profile, uint32_t index);
/* Was it idle throughout? It has idle time, and besides only time without a stack, or less than a
 * millisecond. */
bool smp_hot_group_is_idle(const struct smp_profile *profile, uint32_t index);

#endif
