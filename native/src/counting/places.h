/* SPDX-License-Identifier: Apache-2.0 */
/*
 * places.h - the inside of call_graph.h, done by exchange.c: which methods have a probe where there
 * are more than the limit allows. Those that are called most.
 *
 *   wanted, all places taken ──► waits, untried ──trial──► has a probe ──► called less than the
 *                                                              ▲           others: waits, tried
 *                                                              └── called more than one of them ─┘
 *
 * How often a method is called is known once it has had a probe. So some places are for trials as
 * long as there are untried methods: an exchange takes them from the methods that were called
 * least, gives them to as many untried ones, and the next exchange compares them all. Each method
 * has one trial, those first that many methods call. The exchange after the last trial leaves the
 * methods with most calls, and is the last one until another method waits.
 *
 *   measure: some judgements with calls ──► exchange ──► its batches are done ──► measure ...
 *
 * Roots keep their places, and are the first to be tried: without them nothing below is counted. So
 * does a method whose class has not been changed yet: its calls are not known.
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
    SMP_PLACES_APPLIED = 2,  /* judgements after a batch was begun: it has ended by then */
    SMP_PLACES_PATIENCE = 3, /* judgements with calls before an exchange */
    SMP_PLACES_PRECISION = 1000000,
    SMP_PLACES_TRIAL_SHARE = 8, /* one of so many places is for a trial, */
    SMP_PLACES_TRIALS = 512,    /* but no more than so many at a time */
    SMP_PLACES_MANY_CALLERS = 64,
    SMP_PLACES_SOME_CALLERS = 4,
    SMP_PLACES_IDS = 2,            /* ids for each place: of methods that had one, too; */
    SMP_PLACES_LEAST_IDS = 1 << 16 /* or so many in all */
};

struct smp_call_graph;

enum smp_places_phase { SMP_PLACES_IDLE, SMP_PLACES_APPLYING, SMP_PLACES_MEASURING };

/* Zeroed: nothing waits. */
struct smp_places {
    uint32_t waiting;
    uint32_t untried; /* of these: they have no id */
    enum smp_places_phase phase;
    uint32_t judgements; /* in this phase; measuring: those with calls */
    uint64_t root_calls; /* in this measurement */
    bool has_calls;      /* since the last judgement */
    bool has_trial;      /* methods have got places on trial, which the next exchange ends */
    bool is_stuck;       /* no trial is possible: there are no ids, or no memory */
    int32_t id_end;      /* of the ids there were when it began */
};

bool smp_places_is_free(const struct smp_call_graph *graph);
/* Is the method wanted, without a place? */
bool smp_places_waits(const struct smp_call_graph *graph, const struct smp_indexed_method *method);
/* It has no id and waits for one from now on, or no longer: once is enough. */
void smp_places_wait(struct smp_call_graph *graph, struct smp_indexed_method *method);
void smp_places_end_trial(struct smp_call_graph *graph, struct smp_indexed_method *method);

#endif
