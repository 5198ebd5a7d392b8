/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_diff.h - the difference of two profiles: one tree that has the nodes of both.
 *
 *   before: main ─ a.A.run(A.java:1) ─ b.B.x(B.java:7)      place          before  after
 *   after:  main ─ a.A.run(A.java:1) ─ c.C.y(C.java:9)      main                0      0
 *                                                            a.A.run            5      6
 *                                                              b.B.x            3      0
 *                                                              c.C.y            0      8
 *
 * Groups are matched by name and kind. Frames are matched by their text: with the line, or by
 * method alone, which is better for two builds. So the profiles may come from different names
 * tables or samplers. A method is shown with its parameters if one of the profiles does so
 * (overloads.h). A node of the tree is called a place; several nodes of one profile may have the
 * same place.
 *
 * Times are not scaled, so profiles of different lengths differ by their lengths, too.
 *
 * Owns     its tree and its names; borrows both profiles.
 * Threads  any number of readers; both profiles are immutable.
 * Errors   create: SMP_ENOMEM, SMP_EQUOTA, and there is no result.
 * Cost     create: O(nodes of both) and the names of both. At most 24 bytes a place and 4 bytes a
 *          node of each profile.
 */
#ifndef SMP_MODEL_PROFILE_DIFF_H
#define SMP_MODEL_PROFILE_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"
#include "model/profile.h"

enum smp_diff_side { SMP_DIFF_BEFORE, SMP_DIFF_AFTER, SMP_DIFF_SIDES };

struct smp_profile_diff;

/* profiles[side] NULL: nothing was sampled on that side. by_line false: all lines of a method are
 * one frame. */
SMP_CHECKED enum smp_status
smp_profile_diff_create(struct smp_quota *quota,
                        const struct smp_profile *const profiles[SMP_DIFF_SIDES], bool by_line,
                        struct smp_profile_diff **out);
void smp_profile_diff_destroy(struct smp_profile_diff *diff); /* NULL is fine */

/* Includes place 0, which is above all groups. A parent has a lower number than its children. */
size_t smp_profile_diff_count(const struct smp_profile_diff *diff);
/* Returns 0 if the place is a group. */
uint32_t smp_profile_diff_parent(const struct smp_profile_diff *diff, uint32_t place);
/* Returns a location in smp_profile_diff_names. A group's name is a pseudo-location there. */
uint32_t smp_profile_diff_location(const struct smp_profile_diff *diff, uint32_t place);
const struct smp_methods *smp_profile_diff_names(const struct smp_profile_diff *diff);

/* These return the places of a side's group and of a side's node. */
uint32_t smp_profile_diff_group(const struct smp_profile_diff *diff, enum smp_diff_side side,
                                uint32_t group);
uint32_t smp_profile_diff_place(const struct smp_profile_diff *diff, enum smp_diff_side side,
                                uint32_t node);

/* Returns the measures of both sides. */
uint32_t smp_profile_diff_measures(const struct smp_profile_diff *diff);
/* Fills sums, by place, with the side's own amounts, each at most INT64_MAX. */
void smp_profile_diff_sum(const struct smp_profile_diff *diff, enum smp_diff_side side,
                          enum smp_measure measure, int64_t *sums);

/* Fills halves, by place, with half the width of the error bar of the side's total WALL or CPU
 * time: 95 of 100 bars have the true time. Below 0: not known. */
void smp_profile_diff_errors(const struct smp_profile_diff *diff, enum smp_diff_side side,
                             enum smp_measure measure, int64_t *halves);

#endif
