/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lifecycle.h - the life of a session: one state, the requests of other threads to its sampler
 * thread, and a slot for new options.
 *
 *          start              started            stop                stopped
 *   NEW ──────────► STARTING ─────────► RUNNING ──────► STOPPING ─────────────► STOPPED
 *    ▲                  │ failed
 *    └──────────────────┘
 *
 *   state       a request is                          start        stop
 *   NEW         done at once, by its caller           begins       nothing to do
 *   STARTING    queued for the sampler thread         SMP_ESTATE   waits
 *   RUNNING     queued for the sampler thread         SMP_ESTATE   begins
 *   STOPPING    refused, SMP_ESTOPPED                 SMP_ESTATE   waits
 *   STOPPED     refused, SMP_ESTOPPED                 SMP_ESTATE   nothing to do
 *
 * While RUNNING the sampler thread samples or is paused: smp_sampler_is_running(). Options go into
 * the slot in the first three states: nothing waits for that, and the last ones win. What the slot
 * accepts is taken before the session ends.
 *
 * Owns     plain data; requests are their callers', as are options but those in the slot.
 * Threads  any; take, take_options, done: the sampler thread.
 * Errors   as listed.
 * Cost     one lock; request, put_options: one wake-up of the sampler thread.
 */
#ifndef SMP_ENGINE_SESSION_LIFECYCLE_H
#define SMP_ENGINE_SESSION_LIFECYCLE_H

#include <stdbool.h>

#include "base/event.h"
#include "base/lock.h"
#include "base/status.h"
#include "engine/session/prepared_options.h"
#include "engine/session/request.h"

enum smp_state { SMP_NEW, SMP_STARTING, SMP_RUNNING, SMP_STOPPING, SMP_STOPPED, SMP_STATE_COUNT };

struct smp_lifecycle {
    struct smp_event event; /* wakes up the sampler thread */
    struct smp_lock lock;   /* guards all below; notified when one of them has changed */
    enum smp_state state;
    bool wants_last_report; /* constant once STOPPING */
    struct smp_request *first;
    struct smp_request **end;
    struct smp_prepared_options *options; /* the slot; NULL: no new ones */
};

SMP_CHECKED enum smp_status smp_lifecycle_init(struct smp_lifecycle *lifecycle);
void smp_lifecycle_fini(struct smp_lifecycle *lifecycle);

/* SMP_ESTATE: not NEW. */
SMP_CHECKED enum smp_status smp_lifecycle_begin_start(struct smp_lifecycle *lifecycle);
/* Failed: the queued requests are done as those before start were. */
void smp_lifecycle_end_start(struct smp_lifecycle *lifecycle, bool has_started,
                             smp_do_request *do_request, void *self);
/* True: the caller has to stop the session, and calls end_stop. False: there is nothing to stop; a
 * stop by another thread is over. */
bool smp_lifecycle_begin_stop(struct smp_lifecycle *lifecycle, bool wants_last_report);
void smp_lifecycle_end_stop(struct smp_lifecycle *lifecycle);

/* Waits until the request is done, and returns its status. */
SMP_CHECKED enum smp_status smp_lifecycle_request(struct smp_lifecycle *lifecycle,
                                                  struct smp_request *request,
                                                  smp_do_request *do_request, void *self);

enum smp_state smp_lifecycle_state(struct smp_lifecycle *lifecycle);
/* Puts options into the slot. *out: what it had, or NULL. SMP_ESTOPPED: *out are the options. */
SMP_CHECKED enum smp_status smp_lifecycle_put_options(struct smp_lifecycle *lifecycle,
                                                      struct smp_prepared_options *options,
                                                      struct smp_prepared_options **out);
/* After take: options that were put before a request are there before it is done. NULL: no new
 * ones. */
struct smp_prepared_options *smp_lifecycle_take_options(struct smp_lifecycle *lifecycle);
/* Is there something to do, a request, new options or the end? */
bool smp_lifecycle_has_work(struct smp_lifecycle *lifecycle);
/* All requests there are, linked by next. False: the session stops after them. */
bool smp_lifecycle_take(struct smp_lifecycle *lifecycle, struct smp_request **requests);
/* The request may be gone afterwards. */
void smp_lifecycle_done(struct smp_lifecycle *lifecycle, struct smp_request *request,
                        enum smp_status status);

#endif
