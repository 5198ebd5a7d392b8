/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot_spots.h - where a profile's active time was spent, by lines of the user's code.
 *
 *   Thread.run ── Orders.handle:31 ── Store.find:77 ─┬─ Thread.sleep ── sleep0     waiting
 *                 (user's code)       (user's code)  └─ Map.get                    running
 *
 *   two hot spots: Store.find:77 waiting in Thread.sleep, Store.find:77 running in Map.get
 *
 * A hot spot is a place (spot_places.h) and a state: the time that the place and its callees spent
 * in that state, over all sampled groups. Running and runnable are one state here, because a thread
 * that wants a CPU computes as soon as it gets one; the spot is named after the one with more time.
 * Idle time and [JVM] are in no spot. If states are not known, a hot spot is a place with all its
 * time.
 *
 *   sum of list + others_ns + outside.ns + waits.ns = active_ns
 *
 * outside has the stacks without a row of the user's code; its callee is the method that ran.
 *
 * waits has waits for other threads to finish (wait_rules.h), as of main in Thread.join. Such waits
 * cause nothing, so they are not spots in groups that spend nine tenths of their active time in
 * them; the callee is the line with most of that time. In other groups, like one that serves
 * requests, a wait for a result is a hot spot like any other.
 *
 * The list has the longest spots, in descending order of time, ties in the order of their texts.
 * Spots below a share of the active time (a hundredth in the summary) are not listed.
 *
 * Threads  immutable after init.
 * Errors   init: SMP_ENOMEM, SMP_EQUOTA; there is nothing to fini in any case.
 * Cost     init: a few passes over the nodes, and a sort of the distinct parts. Working memory: 12
 *          bytes a node, and about 130 for each {place, callee, group}, or each place, or each
 *          method.
 */
#ifndef SMP_EXPORT_HOT_SPOTS_H
#define SMP_EXPORT_HOT_SPOTS_H

#include "base/alloc.h"
#include "base/status.h"
#include "export/hot_spot.h"
#include "model/profile.h"

/* Finds the spots of the summary. quota: for the working memory; may be NULL. */
SMP_CHECKED enum smp_status smp_hot_spots_init(struct smp_hot_spots *spots, struct smp_quota *quota,
                                               const struct smp_profile *profile);
SMP_CHECKED enum smp_status smp_hot_spots_choose(struct smp_hot_spots *spots,
                                                 struct smp_quota *quota,
                                                 const struct smp_profile *profile,
                                                 const struct smp_spot_choice *choice);

#endif
