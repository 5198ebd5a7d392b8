/* SPDX-License-Identifier: Apache-2.0 */
/*
 * difference.h - the difference of two profiles as bytes.
 *
 *   COLLAPSED  a line "group;root;...;leaf before after", as difffolded.pl writes it, for each
 *              stack with the measure on either side; a side without the stack has 0. First come
 *              the stacks of after, in the order of its collapsed form, then those that only before
 *              has, in the order of its form. A stack that a side has twice may have two lines,
 *              with the right sum. With the measure CALLS the stacks are those of the counted
 *              trees, otherwise of the sampled ones.
 *   JSON       the tree that the page shows; all lines of a method are one frame. See
 *              difference.c.
 *
 * Threads  any; both profiles are immutable.
 * Errors   SMP_EIO: the output failed, and nothing more was written. SMP_ENOMEM, SMP_EQUOTA: no
 *          working memory, perhaps after a part was written. SMP_EINVAL: no such format or measure.
 * Cost     O(nodes of both), and the output; no recursion. Working memory: profile_diff.h, and at
 *          most 24 bytes a place.
 */
#ifndef SMP_EXPORT_DIFFERENCE_H
#define SMP_EXPORT_DIFFERENCE_H

#include "base/alloc.h"
#include "base/status.h"
#include "base/writer.h"
#include "export/exporters.h"
#include "model/profile_diff.h"

/* profiles[side] NULL: nothing was sampled on that side. quota: for the working memory; may be
 * NULL. */
SMP_CHECKED enum smp_status
smp_export_difference(const struct smp_profile *const profiles[SMP_DIFF_SIDES],
                      enum smp_format format, enum smp_measure measure, struct smp_quota *quota,
                      const struct smp_output *output);

#endif
