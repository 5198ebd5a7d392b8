/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walks.h - gets the stack of a thread: from outside if it waits, by an asynchronous request if it
 * runs. Calls the source's events. Only threads that run Java code get a signal.
 *
 *   start ─┬ waits ──► walk_outside, else walk ─────────────► found
 *          └ runs ───► request ─► (collect) ─┬ answer ──────► found, or skipped
 *                         │                  └ none ────────► unanswered
 *                         └ too many requests, no time ─► postponed
 *
 * Owns     a buffer for one stack.
 * Threads  the sampler thread only.
 * Errors   init: SMP_ENOMEM, SMP_EQUOTA. A walk that fails is an outcome.
 * Cost     start: a walk or a signal. collect: waits up to its limit.
 */
#ifndef SMP_ENGINE_SOURCES_WALKS_H
#define SMP_ENGINE_SOURCES_WALKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"
#include "engine/jvm.h"
#include "engine/sources/sampled_threads.h"
#include "engine/threads/activity.h"
#include "model/options.h"
#include "model/outcome.h"
#include "model/sample.h"

enum {
    SMP_MAX_REQUESTS = 32,        /* asynchronous walks in flight */
    SMP_ANSWER_WAIT_SHARE = 4,    /* collect waits for this part of an interval, */
    SMP_ANSWER_WAIT_MS = 2,       /* but at most for this time; */
    SMP_LAST_ANSWER_WAIT_MS = 20, /* at the end of sampling: a few time slices */
    SMP_MAX_WAITS_SHARE = 2       /* after this part of an interval a tick requests no more walks */
};

struct smp_walk_events {
    void (*found)(void *context, struct smp_thread_record *record, const struct smp_found *found);
    /* The stack belongs to a virtual thread that the user's name rule excludes. */
    void (*skipped)(void *context, struct smp_thread_record *record);
    /* is_requested: the signal has been sent. Otherwise an older request is still unanswered. */
    void (*unanswered)(void *context, struct smp_thread_record *record, bool is_requested);
    /* There was no time left in this tick for a request. */
    void (*postponed)(void *context, struct smp_thread_record *record);
    /* The stack found by smp_walks_walk_holder. NULL: it is not used. */
    void (*holder_walked)(void *context, struct smp_thread_record *record,
                          const struct smp_sample *sample);
    void *context;
};

/* The answers that a collect waits for. */
enum smp_answers {
    SMP_ANSWERS_THERE, /* available ones: threads have had the time of a tick */
    SMP_ANSWERS_SOON,  /* answers of threads that have a CPU */
    SMP_ANSWERS_LAST   /* all, because sampling stops */
};

struct smp_walks {
    struct smp_quota *quota;
    const struct smp_jvm *jvm;
    struct smp_sampled_threads *threads;
    struct smp_walk_events events;
    struct smp_sample sample;
    bool is_async;      /* running threads are walked asynchronously */
    unsigned in_flight; /* number of requests without an answer */
    const struct smp_options *options;
    int64_t begun_ns; /* start of the tick, by the real clock */
};

/* Returns the outcome of a walk. sample is read only if status is SMP_OK. */
enum smp_outcome smp_walks_outcome(enum smp_status status, const struct smp_sample *sample);

/* jvm, threads and options must outlive it. */
SMP_CHECKED enum smp_status smp_walks_init(struct smp_walks *walks, struct smp_quota *quota,
                                           const struct smp_jvm *jvm,
                                           struct smp_sampled_threads *threads,
                                           const struct smp_options *options);
void smp_walks_fini(struct smp_walks *walks);

/* Returns whether the thread runs or wants a CPU. If so, *reading becomes RUNNING. */
bool smp_walks_is_running(const struct smp_walks *walks, const struct smp_thread_record *record,
                          struct smp_reading *reading);
/* Returns whether the JVM says that the thread waits. Keeps the JVM's word in *reading. */
bool smp_walks_waits(const struct smp_walks *walks, const struct smp_thread_record *record,
                     struct smp_reading *reading);
/* Walks without a signal, and calls found. */
void smp_walks_walk(struct smp_walks *walks, struct smp_thread_record *record,
                    const struct smp_reading *reading);
/* Returns the present state of a thread that was found running and has not run since. */
enum smp_thread_state smp_walks_judge_again(const struct smp_walks *walks,
                                            struct smp_thread_record *record);
/* Walks the thread in the way that suits its state, and calls an event now or in collect. Before
 * that, *reading becomes RUNNING if the thread runs or wants a CPU. */
void smp_walks_start(struct smp_walks *walks, struct smp_thread_record *record,
                     struct smp_reading *reading);
/* Walks a thread without polling it. If there is a stack, calls holder_walked, now or in collect;
 * there is no other effect. Sends a signal only if may_ask. */
void smp_walks_walk_holder(struct smp_walks *walks, struct smp_thread_record *record, bool may_ask);
/* Calls an event for each request in flight. */
void smp_walks_collect(struct smp_walks *walks, enum smp_answers answers);
/* Converts an answer. Returns false for a virtual thread that the user's name rule excludes. */
bool smp_walks_find(struct smp_walks *walks, enum smp_answer answer,
                    const struct smp_sample *sample, const struct smp_mounted_thread *mounted,
                    struct smp_found *out);

/* The token of a request is the record; smp_walks_walk_holder sets one more bit. */
struct smp_thread_record *smp_walks_record_of(uint64_t token);
uint64_t smp_walks_token_of(const struct smp_thread_record *record);

#endif
