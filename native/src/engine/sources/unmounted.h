/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unmounted.h - the source of wall time of unmounted virtual threads: random draws.
 *
 *   tick ─► SMP_UNMOUNTED_GAP_MS since the last draw? ─► draw ─┬ mounted ──► its carrier's polls
 *                                                             └ not ──────► stack, group, time
 *
 * There may be a million such threads, and they have no CPU clock, so each draw walks only a few.
 * A thread that is drawn with probability p stands for 1/p threads: its stack gets 1/p times the
 * time since the last draw. p and the time depend only on what was known before the draw, never on
 * its results. The expected value of each stack's time is therefore right, whatever the threads
 * do.
 *
 * The number of threads, and therefore the sum of all times, is known exactly. The next draws
 * correct what was attributed too much or too little (owed_ns), each within bounds.
 *
 * A draw may use the walks that were saved up, SMP_UNMOUNTED_WALKS for each second, up to a cost
 * of about SMP_UNMOUNTED_DRAW_US. The next draw waits until the last one has cost
 * 1/SMP_UNMOUNTED_COST_SHARE of the time.
 *
 * If an interval ends between two draws, the next draw attributes the time.
 *
 * Threads  the sampler thread only.
 * Errors   create: SMP_ENOMEM, SMP_EQUOTA. A failed draw is repeated at the next tick. If the JVM
 *          refuses draws, a log message says why.
 * Cost     if enabled: ten draws a second, fewer if they are expensive.
 */
#ifndef SMP_ENGINE_SOURCES_UNMOUNTED_H
#define SMP_ENGINE_SOURCES_UNMOUNTED_H

#include "base/status.h"
#include "engine/sources/source.h"

enum {
    SMP_UNMOUNTED_GAP_MS = 100,      /* approximate time between two draws */
    SMP_UNMOUNTED_WALKS = 200,       /* maximum average for each second */
    SMP_UNMOUNTED_COST_SHARE = 200,  /* 1/200 of a core */
    SMP_UNMOUNTED_DRAW_US = 2500,    /* approximate CPU time of one draw */
    SMP_UNMOUNTED_STEER_MS = 1000,   /* a difference is corrected in about this time, */
    SMP_UNMOUNTED_STEER_PERCENT = 25 /* but at most by this part of a draw's time */
};

SMP_CHECKED enum smp_status smp_unmounted_source_create(const struct smp_source_setup *setup,
                                                        struct smp_source *out);

#endif
