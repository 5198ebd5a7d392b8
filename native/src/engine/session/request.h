/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.h - what other threads want of the sampler thread. It is done between two ticks, so
 * nothing below the session needs a lock; its caller waits, and gets the status.
 *
 * Threads  the caller's before the request, and again when it is done.
 */
#ifndef SMP_ENGINE_SESSION_REQUEST_H
#define SMP_ENGINE_SESSION_REQUEST_H

#include <stdbool.h>

#include "base/status.h"
#include "engine/jvm.h"
#include "engine/session/reporter.h"

enum smp_request_kind {
    SMP_REQUEST_SET_FILTER,
    SMP_REQUEST_PAUSE,
    SMP_REQUEST_RESUME,
    SMP_REQUEST_REPORT,       /* ends the interval and queues its report */
    SMP_REQUEST_SAMPLE_ONCE,  /* the same, after a poll of all threads; SMP_ESTATE while sampling */
    SMP_REQUEST_END_INTERVAL, /* for the readers only */
    SMP_REQUEST_OPEN_READER,  /* the same, and opens a reader; fine before start */
    SMP_REQUEST_KEEP_WINDOWS, /* the same, and keeps the windows from then on; fine before start */
    SMP_REQUEST_END_WINDOW,   /* as END_INTERVAL, but does nothing where it comes too soon */
    SMP_REQUEST_RESET_COUNTS  /* counted calls begin at zero */
};

struct smp_request {
    enum smp_request_kind kind;
    struct smp_thread_filter thread_filter; /* SET_FILTER: adopted on success */
    bool only;
    struct smp_report_ticket *ticket; /* REPORT, SAMPLE_ONCE */
    unsigned reader;                  /* OPEN_READER: set */
    bool is_first;                    /* END_WINDOW: never too soon, as nothing is kept yet */
    bool is_full; /* set where the only reason for SMP_EQUOTA is that too many reports wait */
    bool is_done;
    enum smp_status status;
    struct smp_request *next;
};

/* is_started: on the sampler thread. Else by the caller, before start. */
typedef enum smp_status smp_do_request(void *self, struct smp_request *request, bool is_started);

#endif
