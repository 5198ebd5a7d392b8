/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lifecycle.h - the state of a session, requests to its sampler thread, and a slot for new
 * options.
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
 * The sampler thread handles requests between two ticks, so nothing below the session needs a
 * lock. The caller waits and gets the status. The request belongs to the caller, except while it
 * waits.
 *
 * While RUNNING, the sampler thread samples or is paused: smp_sampler_is_running(). In the first
 * three states options may be put into the slot. Their caller does not wait, and later options
 * replace earlier ones. Options in the slot are taken before the session ends.
 *
 * Owns     plain data, and the options in the slot. Requests belong to their callers.
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
#include "engine/jvm.h"
#include "engine/session/reporter.h"

struct smp_prepared_options; /* sampler.h */

enum smp_request_kind {
    SMP_REQUEST_SET_FILTER,
    SMP_REQUEST_PAUSE,
    SMP_REQUEST_RESUME,
    SMP_REQUEST_REPORT,       /* ends the interval and queues its report */
    SMP_REQUEST_SAMPLE_ONCE,  /* likewise, after a poll of all threads; SMP_ESTATE while sampling */
    SMP_REQUEST_END_INTERVAL, /* only for the readers */
    SMP_REQUEST_OPEN_READER,  /* likewise, then opens a reader; allowed before start */
    SMP_REQUEST_KEEP_WINDOWS, /* likewise, then keeps windows; allowed before start */
    SMP_REQUEST_END_WINDOW,   /* like END_INTERVAL, but does nothing if it comes too soon */
    SMP_REQUEST_RESET_COUNTS  /* resets the counted calls */
};

struct smp_request {
    enum smp_request_kind kind;
    struct smp_thread_filter thread_filter; /* SET_FILTER: ownership passes on success */
    bool only;
    struct smp_report_ticket *ticket; /* REPORT, SAMPLE_ONCE */
    unsigned reader;                  /* OPEN_READER: the result */
    bool is_first;                    /* END_WINDOW: never too soon, as there is no window yet */
    bool is_full; /* set if the only reason of SMP_EQUOTA is that too many reports wait */
    bool is_done;
    enum smp_status status;
    struct smp_request *next;
};

/* Called on the sampler thread if is_started; before start, by the caller of the request. */
typedef enum smp_status smp_do_request(void *self, struct smp_request *request, bool is_started);

enum smp_state { SMP_NEW, SMP_STARTING, SMP_RUNNING, SMP_STOPPING, SMP_STOPPED, SMP_STATE_COUNT };

struct smp_lifecycle {
    struct smp_event event; /* wakes up the sampler thread */
    struct smp_lock lock;   /* guards all below; notified when a member has changed */
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
/* If the start has failed, do_request handles the queued requests, as before a start. */
void smp_lifecycle_end_start(struct smp_lifecycle *lifecycle, bool has_started,
                             smp_do_request *do_request, void *self);
/* If it returns true, the caller must stop the session and call end_stop. False: there is nothing
 * to stop, or another thread has stopped it. */
bool smp_lifecycle_begin_stop(struct smp_lifecycle *lifecycle, bool wants_last_report);
void smp_lifecycle_end_stop(struct smp_lifecycle *lifecycle);

/* Waits until the request is done, and returns its status. */
SMP_CHECKED enum smp_status smp_lifecycle_request(struct smp_lifecycle *lifecycle,
                                                  struct smp_request *request,
                                                  smp_do_request *do_request, void *self);

enum smp_state smp_lifecycle_state(struct smp_lifecycle *lifecycle);
/* Puts options into the slot. *out is the former content, or NULL. SMP_ESTOPPED: *out = options. */
SMP_CHECKED enum smp_status smp_lifecycle_put_options(struct smp_lifecycle *lifecycle,
                                                      struct smp_prepared_options *options,
                                                      struct smp_prepared_options **out);
/* Takes the options from the slot, or NULL. Must be called after take, so that options that were
 * put before a request are in force before the request is handled. */
struct smp_prepared_options *smp_lifecycle_take_options(struct smp_lifecycle *lifecycle);
/* Returns whether there are requests or new options, or the session stops. */
bool smp_lifecycle_has_work(struct smp_lifecycle *lifecycle);
/* Takes all requests, linked by next. Returns false if the session stops after them. */
bool smp_lifecycle_take(struct smp_lifecycle *lifecycle, struct smp_request **requests);
/* Ends a request, which its caller may free from now on. */
void smp_lifecycle_done(struct smp_lifecycle *lifecycle, struct smp_request *request,
                        enum smp_status status);

#endif
