/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot_spots.h - where the active time of a profile was spent, by lines of the user's code.
 *
 *   Thread.run ── Orders.handle:31 ── Store.find:77 ─┬─ Thread.sleep ── sleep0     waiting
 *                 (user's code)       (user's code)  └─ Map.get                    running
 *
 *   two hot spots: Store.find:77 waiting in Thread.sleep, Store.find:77 running in Map.get
 *
 * A hot spot is a place (spot_places.h) and a state, over all sampled groups: the time that the
 * place and what it called had in that state. Running and runnable are one state here: a thread
 * that wants a CPU computes as soon as it gets one. The one with more of the time names it. Idle
 * time is in none, and neither is [JVM]. If states are not known, a hot spot is a place, and its
 * time is all of its time.
 *
 *   sum of list + others_ns + outside.ns + waits.ns = active_ns
 *
 * outside: stacks without a row of the user's code; its callee is the method that ran.
 *
 * waits: a thread that only waits for others to finish (wait_rules.h), as main does in Thread.join,
 * is no cause of anything: the others are. So such waits are no spots in groups that have nine
 * tenths of their active time in them; the callee is the line with most of it. In other groups, as
 * one of requests, a wait for a result is a hot spot like any other.
 *
 * Listed are the longest, in descending time, ties in the order of their texts. A spot that is
 * shorter than a part of the active time (the summary: a hundredth) is not listed.
 *
 * Threads  immutable after init.
 * Errors   init: SMP_ENOMEM, SMP_EQUOTA; there is nothing to fini in any case.
 * Cost     init: a few passes over the nodes, a sort of the distinct parts. Working memory: 12
 *          bytes a node, and some 130 for each {place, callee, group}, or
 *          each place, or each method.
 */
#ifndef SMP_EXPORT_HOT_SPOTS_H
#define SMP_EXPORT_HOT_SPOTS_H

#include "base/alloc.h"
#include "base/status.h"
#include "export/hot_spot.h"
#include "model/profile.h"

/* Finds the spots of the summary. quota: of the working memory; may be NULL. */
SMP_CHECKED enum smp_status smp_hot_spots_init(struct smp_hot_spots *spots, struct smp_quota *quota,
                                               const struct smp_profile *profile);
SMP_CHECKED enum smp_status smp_hot_spots_choose(struct smp_hot_spots *spots,
                                                 struct smp_quota *quota,
                                                 const struct smp_profile *profile,
                                                 const struct smp_spot_choice *choice);

#endif
