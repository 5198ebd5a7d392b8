/* SPDX-License-Identifier: Apache-2.0 */
/*
 * activity.h - what a thread's CPU clock proves: whether it has run since the last poll.
 *
 *   poll        poll              poll                        poll
 *    │ unmoved   │     unmoved     │          moved            │
 *    └───────────┴─────────────────┴───────────────────────────┘
 *     exactly the leaf it had       not proven: by the poll's weight (intensity.h)
 *
 * A thread that has been idle for long is polled less often: on average once in a SMP_IDLE_SHARE-th
 * of the time for which it has been proven idle. Thousands of idle threads are polled even less
 * often (poll_schedule.h).
 *
 * Owns     plain data.
 * Threads  one at a time.
 * Errors   a clock that cannot be read proves nothing.
 * Cost     begin, read_again: a system call each.
 */
#ifndef SMP_ENGINE_THREADS_ACTIVITY_H
#define SMP_ENGINE_THREADS_ACTIVITY_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/jvm.h"

enum {
    SMP_IDLE_SHARE = 12,      /* the mean gap is at most a twelfth of the time proven idle */
    SMP_QUIET_CPU_MS = 50,    /* a thread that had used less CPU time before its first poll */
    SMP_QUIET_LEAD_MS = 3000, /* counts as idle for this long before that poll */
    SMP_MOMENT_NS = 50000,    /* a tick of the sampler and two switches take no longer, */
    SMP_MOMENT_SHARE = 10     /* and no more than this share of the time between two readings */
};

/* The state of one thread. Zeroed: nothing is known. */
struct smp_activity {
    bool has_clock;        /* cpu_ns is valid */
    bool has_leaf;         /* the stack is known, and was walked after cpu_ns was read */
    bool has_run;          /* the thread has run since its first poll */
    int64_t cpu_ns;        /* the clock at the last poll that found that it had moved */
    int64_t read_ns;       /* the time of that reading */
    int64_t since_ns;      /* the thread is idle since then, as far as is known */
    int64_t lacked_cpu_ns; /* when the system last reported that the thread wants a CPU; 0: it has
                            * run since, or never wanted one */
};

/* The result of two readings of the clock. */
enum smp_activity_kind {
    SMP_ACTIVITY_UNKNOWN, /* there is no clock */
    SMP_ACTIVITY_NONE,    /* the thread has not run since the last poll */
    SMP_ACTIVITY_RAN,     /* the thread has run, but does not run now */
    SMP_ACTIVITY_RUNNING  /* the clock moves between two readings, or has moved all along */
};

struct smp_reading {
    enum smp_activity_kind activity;
    bool is_measured;        /* used_ns is valid: the clock was also read at the last poll */
    bool lacks_cpu;          /* the thread counts as RUNNING because it wants a CPU */
    bool has_word;           /* word is valid, and was read after the clock */
    enum smp_wait_word word; /* what the JVM says of the thread */
    int64_t clock_ns;        /* the first reading */
    int64_t used_ns;         /* CPU time since the last poll; before finish: since clock_ns */
};

/* Reads the clock of a thread that may be older than the sampling. Its time begins now. */
void smp_activity_start(struct smp_activity *activity, int32_t tid, int64_t now_ns);
/* Takes the first reading. Its result is UNKNOWN, NONE or RAN; the next two functions may turn RAN
 * into RUNNING. */
void smp_activity_begin(const struct smp_activity *activity, int32_t tid, struct smp_reading *out);
/* Returns true if the clock has moved, but by less than the time that has passed: a second reading
 * then shows whether the thread runs. *read_ns is set if the clock has moved. */
bool smp_activity_is_open(const struct smp_activity *activity, struct smp_reading *reading,
                          int64_t *read_ns);
void smp_activity_read_again(int32_t tid, struct smp_reading *reading, int64_t *read_ns);
/* Updates the state of the thread with the reading. */
void smp_activity_finish(struct smp_activity *activity, struct smp_reading *reading,
                         int64_t read_ns);

#endif
