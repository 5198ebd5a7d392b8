/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walks.h - gets the stack of a thread: from outside where it waits, by an asynchronous request
 * where it runs, and calls the source with what came of it. The asynchronous walker sends a signal
 * only to a thread that runs Java code.
 *
 *   start ─┬ waits ──► walk_outside, else walk ─────────────► found
 *          └ runs ───► request ─► (collect) ─┬ answer ──────► found, or skipped
 *                         │                  └ none ────────► unanswered
 *                         └ too many requests, no time left ► postponed
 *
 * Owns     a buffer for one stack.
 * Threads  the sampler thread only.
 * Errors   init: SMP_ENOMEM, SMP_EQUOTA. A walk that fails is an outcome.
 * Cost     start: a walk, or one signal; collect: waits up to its limit.
 */
#ifndef SMP_ENGINE_SOURCES_WALKS_H
#define SMP_ENGINE_SOURCES_WALKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"
#include "engine/jvm.h"
#include "engine/sources/roster.h"
#include "engine/threads/activity.h"
#include "model/options.h"
#include "model/outcome.h"
#include "model/sample.h"

enum {
    SMP_MAX_REQUESTS = 32,        /* asynchronous walks in flight */
    SMP_ANSWER_WAIT_SHARE = 4,    /* collect waits this share of an interval, */
    SMP_ANSWER_WAIT_MS = 2,       /* and at most so long; */
    SMP_LAST_ANSWER_WAIT_MS = 20, /* where sampling stops, so long: a few turns on a busy CPU */
    SMP_MAX_WAITS_SHARE = 2       /* of an interval: after that no request is made in this tick */
};

struct smp_walk_events {
    void (*found)(void *context, struct smp_thread_record *record, const struct smp_found *found);
    /* The stack is that of a virtual thread which the user's rule does not sample. */
    void (*skipped)(void *context, struct smp_thread_record *record);
    /* is_requested: the signal has been sent. Else an older request has no answer yet. */
    void (*unanswered)(void *context, struct smp_thread_record *record, bool is_requested);
    /* No time was left in this tick to request a walk. */
    void (*postponed)(void *context, struct smp_thread_record *record);
    /* The stack of a thread that was looked at. NULL: no look is made. */
    void (*looked_at)(void *context, struct smp_thread_record *record,
                      const struct smp_sample *sample);
    void *context;
};

/* Which answers a collect waits for. */
enum smp_answers {
    SMP_ANSWERS_THERE, /* none: the threads have had a tick's time */
    SMP_ANSWERS_SOON,  /* those of threads that have a CPU */
    SMP_ANSWERS_LAST   /* where sampling stops */
};

struct smp_walks {
    struct smp_quota *quota;
    const struct smp_jvm *jvm;
    struct smp_roster *roster;
    struct smp_walk_events events;
    struct smp_sample sample;
    bool is_async;
    unsigned in_flight; /* requests without an answer */
    int64_t interval_ns;
    int64_t begun_ns; /* the tick, on the real clock */
};

/* Are running threads walked asynchronously? */
bool smp_walks_uses_async(const struct smp_jvm *jvm, const struct smp_options *options);

/* Of a walk that ended so; sample is read where that is SMP_OK. */
enum smp_outcome smp_walks_outcome(enum smp_status status, const struct smp_sample *sample);

/* jvm and roster outlive it. */
SMP_CHECKED enum smp_status smp_walks_init(struct smp_walks *walks, struct smp_quota *quota,
                                           const struct smp_jvm *jvm, struct smp_roster *roster,
                                           const struct smp_options *options);
void smp_walks_fini(struct smp_walks *walks);

/* Does the thread run, or does it want a CPU? reading: of its CPU clock; RUNNING afterwards where
 * it does. */
bool smp_walks_is_running(const struct smp_walks *walks, const struct smp_thread_record *record,
                          struct smp_reading *reading);
/* Does the JVM say that the thread waits? Keeps what it says in reading. */
bool smp_walks_waits(const struct smp_walks *walks, const struct smp_thread_record *record,
                     struct smp_reading *reading);
/* Without a signal. Calls found. */
void smp_walks_walk(struct smp_walks *walks, struct smp_thread_record *record,
                    const struct smp_reading *reading);
/* The state of a thread that was found running, and has not run since. */
enum smp_thread_state smp_walks_judge_again(const struct smp_walks *walks,
                                            struct smp_thread_record *record);
/* In the way that suits a thread which runs or waits. Calls an event, now or in collect, before
 * which reading is RUNNING where the thread runs or wants a CPU. */
void smp_walks_start(struct smp_walks *walks, struct smp_thread_record *record,
                     struct smp_reading *reading);
/* Calls looked_at, now or in collect, or nothing where there is no stack. may_ask: also where that
 * takes a signal. Nothing else comes of it: it is no poll. */
void smp_walks_look(struct smp_walks *walks, struct smp_thread_record *record, bool may_ask);
/* Calls an event for each request in flight. */
void smp_walks_collect(struct smp_walks *walks, enum smp_answers answers);
/* What an answer says. False: it is that of a virtual thread which the user's rule does not
 * sample. */
bool smp_walks_find(struct smp_walks *walks, enum smp_answer answer,
                    const struct smp_sample *sample, const struct smp_mounted_thread *mounted,
                    struct smp_found *out);

/* A request's token is its record; that of a look has one bit more. */
struct smp_thread_record *smp_walks_record_of(uint64_t token);
uint64_t smp_walks_token_of(const struct smp_thread_record *record);

#endif
