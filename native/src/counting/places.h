/* SPDX-License-Identifier: Apache-2.0 */
/*
 * places.h - the inside of call_graph.h (exchange.c): if more methods are wanted than the limit
 * allows, those that are called most have the probes.
 *
 *   wanted, all places taken ──► waits, untried ──trial──► has a probe ──► called less than the
 *                                                              ▲           others: waits, tried
 *                                                              └── called more than one of them ─┘
 *
 * The number of a method's calls is known once it has had a probe. So some places are used for
 * trials as long as there are untried methods: an exchange takes them from the methods that were
 * called least, gives them to untried methods, and the next exchange compares all of them. Each
 * method has one trial; methods with many callers come first. The exchange after the last trial
 * leaves the methods with most calls, and is the last one until another method waits.
 *
 *   measure: some judgements with calls ──► exchange ──► its batches are done ──► measure ...
 *
 * Roots keep their places and are tried first: without them nothing below is counted. A method
 * whose class is still pending keeps its place too, because its calls are not known yet.
 *
 * Threads  one at a time.
 * Errors   without memory nothing is exchanged.
 * Cost     note: constant. judge: an exchange sorts all methods that have, or had, a probe.
 */
#ifndef SMP_COUNTING_PLACES_H
#define SMP_COUNTING_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "counting/class_index.h"

enum {
    SMP_PLACES_APPLIED = 2,  /* judgements until a batch that was begun has surely ended */
    SMP_PLACES_PATIENCE = 3, /* judgements with calls before an exchange */
    SMP_PLACES_PRECISION = 1000000,
    SMP_PLACES_TRIAL_SHARE = 8, /* one in so many places is for trials, */
    SMP_PLACES_TRIALS = 512,    /* at most so many at a time */
    SMP_PLACES_MANY_CALLERS = 64,
    SMP_PLACES_SOME_CALLERS = 4,
    SMP_PLACES_IDS = 2, /* ids for each place: methods that lost theirs keep their ids; */
    SMP_PLACES_LEAST_IDS = 1 << 16 /* at least so many in all */
};

struct smp_call_graph;

enum smp_places_phase { SMP_PLACES_IDLE, SMP_PLACES_APPLYING, SMP_PLACES_MEASURING };

/* Zeroed: nothing waits. */
struct smp_places {
    uint32_t waiting;
    uint32_t untried; /* of these: without an id */
    enum smp_places_phase phase;
    uint32_t judgements; /* in this phase; measuring: those with calls */
    uint64_t root_calls; /* in this measurement */
    bool has_calls;      /* since the last judgement */
    bool has_trial;      /* methods are on trial until the next exchange */
    bool is_stuck;       /* no trial is possible for lack of ids or memory */
    int32_t id_end;      /* the end of the ids when the measurement began */
};

bool smp_places_is_free(const struct smp_call_graph *graph);
/* Is the method wanted and without a place? */
bool smp_places_waits(const struct smp_call_graph *graph, const struct smp_indexed_method *method);
/* A method without an id begins to wait for a place, or ends to wait. Repeating a call does no
 * harm. */
void smp_places_wait(struct smp_call_graph *graph, struct smp_indexed_method *method);
void smp_places_end_trial(struct smp_call_graph *graph, struct smp_indexed_method *method);

#endif
