/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot_merge.h - two snapshots as one: what a consumer sees whose window spans several
 * intervals.
 *
 * Frames are matched by what they say (class, method, file, line), groups by name, so the two may
 * come from different names tables or different samplers. Times, samples, tallies and counters add
 * up; elapsed and own CPU time too; from is the earlier begin, till the later end. Distinct
 * threads: the sum, an upper bound where the same thread was seen in both, unless both come from
 * one names table (serials are compared).
 *
 * Owns     nothing; the result is a new snapshot with one holder.
 * Threads  any; both are immutable.
 * Errors   SMP_ENOMEM, SMP_EQUOTA: no result.
 * Cost     O(nodes of both).
 */
#ifndef SMP_MODEL_SNAPSHOT_MERGE_H
#define SMP_MODEL_SNAPSHOT_MERGE_H

#include "base/alloc.h"
#include "base/status.h"
#include "model/snapshot.h"

SMP_CHECKED enum smp_status smp_snapshot_merge(struct smp_quota *quota,
                                               const struct smp_snapshot *a,
                                               const struct smp_snapshot *b,
                                               struct smp_snapshot **out);

#endif
