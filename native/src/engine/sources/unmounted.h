/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unmounted.h - the source of wall time of virtual threads that are not mounted: random draws.
 *
 *   tick ─► SMP_UNMOUNTED_GAP_MS since the last draw? ─► draw ─┬ mounted ──► its carrier's polls
 *                                                             └ not ──────► stack, group, time
 *
 * There may be a million such threads, and they have no CPU clock, so each draw walks a few of
 * them. A thread that is drawn with probability p stands for 1/p threads: its stack gets 1/p times
 * the time since the last draw. p and the time of a draw depend only on what was known before the
 * draw, never on what it finds. So the expectation of each stack is its time, whatever the threads
 * do and however they are arranged.
 *
 * The number of threads is known exactly, and so is the sum of all times. The next draws even out,
 * each within bounds, what draws have attributed too much or too little (owed_ns).
 *
 * A draw wants as many threads as have been saved up, at SMP_UNMOUNTED_WALKS a second, but no more
 * than cost about SMP_UNMOUNTED_DRAW_US. The next draw waits until the cost of the last one is a
 * SMP_UNMOUNTED_COST_SHARE-th of the time.
 *
 * If an interval ends between two draws, no time is lost: the next draw attributes it.
 *
 * Threads  the sampler thread only.
 * Errors   create: SMP_ENOMEM, SMP_EQUOTA. A draw that fails is repeated at the next tick. If the
 *          JVM refuses draws, a message of the log says why.
 * Cost     off: nothing. On: ten draws a second, fewer if they are expensive.
 */
#ifndef SMP_ENGINE_SOURCES_UNMOUNTED_H
#define SMP_ENGINE_SOURCES_UNMOUNTED_H

#include "base/status.h"
#include "engine/sources/source.h"

enum {
    SMP_UNMOUNTED_GAP_MS = 100,      /* between two draws, about */
    SMP_UNMOUNTED_WALKS = 200,       /* a second on average, at most */
    SMP_UNMOUNTED_COST_SHARE = 200,  /* half a percent of a core */
    SMP_UNMOUNTED_DRAW_US = 2500,    /* CPU time of one draw, about */
    SMP_UNMOUNTED_STEER_MS = 1000,   /* a difference is evened out in about so much time, */
    SMP_UNMOUNTED_STEER_PERCENT = 25 /* by at most this part of a draw's time */
};

SMP_CHECKED enum smp_status smp_unmounted_source_create(const struct smp_source_setup *setup,
                                                        struct smp_source *out);

#endif
