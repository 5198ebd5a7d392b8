/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unmounted.h - the source of wall time of virtual threads that are not mounted: a random draw.
 *
 *   tick ─► SMP_UNMOUNTED_GAP_MS since the last draw? ─► draw ─┬ mounted ──► its carrier's polls
 *                                                             └ not ──────► stack, group, time
 *
 * There may be a million of them, and they have no CPU clock, so each draw walks a few of all that
 * live. A thread that is drawn with probability p stands for 1/p threads: its stack gets 1/p times
 * the time since the last draw. p and the time of a draw follow from what was known before it, and
 * never from what it finds. So the expectation of each stack is its time, whatever the threads do,
 * and however they are arranged.
 *
 * The number of threads is known exactly, so the sum of all times is, too. What draws have
 * attributed beyond it, or less, the next draws even out (owed_ns), each within its bounds.
 *
 * A draw wants as many threads as have been saved up, SMP_UNMOUNTED_WALKS a second, but no more
 * than cost about SMP_UNMOUNTED_DRAW_US. The next one waits until its cost is one
 * SMP_UNMOUNTED_COST_SHARE-th of the time.
 *
 * The time since the last draw is not lost where an interval ends: the next draw attributes it.
 *
 * Threads  the sampler thread only.
 * Errors   create: SMP_ENOMEM, SMP_EQUOTA. A draw that fails is made at the next tick. A JVM that
 *          offers none: see refusal in source.h.
 * Cost     off: nothing. On: a draw ten times a second, less often where it is dear.
 */
#ifndef SMP_ENGINE_SOURCES_UNMOUNTED_H
#define SMP_ENGINE_SOURCES_UNMOUNTED_H

#include "base/status.h"
#include "engine/sources/source.h"

enum {
    SMP_UNMOUNTED_GAP_MS = 100,      /* between two draws, about */
    SMP_UNMOUNTED_WALKS = 200,       /* a second, at most on average */
    SMP_UNMOUNTED_COST_SHARE = 200,  /* half a percent of a core */
    SMP_UNMOUNTED_DRAW_US = 2500,    /* CPU time that a draw may cost, about */
    SMP_UNMOUNTED_STEER_MS = 1000,   /* in so much time a difference is evened out, */
    SMP_UNMOUNTED_STEER_PERCENT = 25 /* by this part of a draw's time, at most */
};

SMP_CHECKED enum smp_status smp_unmounted_source_create(const struct smp_source_setup *setup,
                                                        struct smp_source *out);

#endif
