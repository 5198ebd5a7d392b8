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
 * of the time it has been proven idle; of thousands a little less often (poll_schedule.h).
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
    SMP_QUIET_CPU_MS = 50,    /* a thread that used less in all its life before its first poll */
    SMP_QUIET_LEAD_MS = 3000, /* is treated as if it had been idle so long */
    SMP_MOMENT_NS = 50000,    /* a tick of ours and a switch or two take so long, */
    SMP_MOMENT_SHARE = 10     /* and at most this share of the time between two readings */
};

/* Of one thread. Zeroed: nothing is known. */
struct smp_activity {
    bool has_clock;        /* cpu_ns was read */
    bool has_leaf;         /* its stack is known, and was walked after cpu_ns was read */
    bool has_run;          /* since the first poll */
    int64_t cpu_ns;        /* the clock at the last poll that found it moved */
    int64_t read_ns;       /* when cpu_ns was read */
    int64_t since_ns;      /* idle since then, as far as is known */
    int64_t lacked_cpu_ns; /* when the system said that it wants a CPU; 0: it has run since, or
                            * does not */
};

/* What two readings of the clock say. */
enum smp_activity_kind {
    SMP_ACTIVITY_UNKNOWN, /* no clock */
    SMP_ACTIVITY_NONE,    /* it has not run since the last poll */
    SMP_ACTIVITY_RAN,     /* it has run, but does not move now */
    SMP_ACTIVITY_RUNNING  /* the clock moves between two readings, or has moved all along */
};

struct smp_reading {
    enum smp_activity_kind activity;
    bool is_measured;        /* used_ns is known: the clock was read at the last poll, too */
    bool lacks_cpu;          /* RUNNING: it does not, but wants a CPU */
    bool has_word;           /* word was read, after the clock */
    enum smp_wait_word word; /* what the JVM says */
    int64_t clock_ns;        /* the first reading */
    int64_t used_ns;         /* CPU time since the last poll; before finish: since clock_ns */
};

/* Reads the clock for a thread whose time begins now, although it may be older. */
void smp_activity_start(struct smp_activity *activity, int32_t tid, int64_t now_ns);
/* The first reading: UNKNOWN, NONE, or RAN, which the next two may turn into RUNNING. */
void smp_activity_begin(const struct smp_activity *activity, int32_t tid, struct smp_reading *out);
/* Has the clock moved, but not all along? Then a second reading tells whether the thread runs.
 * read_ns: when the last reading was made, where the clock has moved. */
bool smp_activity_is_open(const struct smp_activity *activity, struct smp_reading *reading,
                          int64_t *read_ns);
void smp_activity_read_again(int32_t tid, struct smp_reading *reading, int64_t *read_ns);
/* Updates the thread. */
void smp_activity_finish(struct smp_activity *activity, struct smp_reading *reading,
                         int64_t read_ns);

#endif
