/* SPDX-License-Identifier: Apache-2.0 */
/*
 * activity.h - what a thread's CPU clock proves: that it has not run since the last look.
 *
 *   look        look              look                        look
 *    │ unmoved   │     unmoved     │          moved            │
 *    └───────────┴─────────────────┴───────────────────────────┘
 *     exactly the leaf it had       not proven: by the poll's weight (intensity.h)
 *
 * A thread that has been idle for long is polled less often: on average once in a
 * SMP_IDLE_SHARE-th of the time it has been proven idle.
 *
 * Owns     plain data.
 * Threads  one at a time.
 * Errors   none; a clock that cannot be read proves nothing.
 * Cost     begin: one system call; finish: one where the clock moved.
 */
#ifndef SMP_ENGINE_THREADS_ACTIVITY_H
#define SMP_ENGINE_THREADS_ACTIVITY_H

#include <stdbool.h>
#include <stdint.h>

enum {
    SMP_IDLE_SHARE = 12,      /* the mean gap is at most a twelfth of the time proven idle */
    SMP_QUIET_CPU_MS = 50,    /* a thread that has used less in all its life, when it is met, */
    SMP_QUIET_LEAD_MS = 3000, /* is treated as if it had been idle so long */
    SMP_MOMENT_NS = 50000,    /* what a tick of ours and a switch or two take */
    SMP_MOMENT_SHARE = 10     /* of the time between two readings, at most */
};

/* Of one thread. Zeroed: nothing is known. */
struct smp_activity {
    bool has_clock;   /* cpu_ns was read */
    bool has_leaf;    /* its stack is known, and was walked after cpu_ns was read */
    int64_t cpu_ns;   /* the clock at the last look at which it had moved */
    int64_t read_ns;  /* when it was read */
    int64_t since_ns; /* it has not run since then, as far as is known */
};

/* What two readings say of a thread. */
enum smp_activity_kind {
    SMP_ACTIVITY_UNKNOWN, /* no clock */
    SMP_ACTIVITY_NONE,    /* not run since the last look */
    SMP_ACTIVITY_RAN,     /* but does not move now */
    SMP_ACTIVITY_RUNNING  /* the clock moves between two readings */
};

struct smp_reading {
    enum smp_activity_kind activity;
    bool is_measured; /* used_ns is known: the clock was read at the last look, too */
    int64_t clock_ns; /* the first reading */
    int64_t used_ns;  /* CPU time since the last look */
    int64_t apart_ns; /* the time in which it was used, from reading to reading */
    bool had_leaf;    /* what its stack was since the last look is known, as long as it was idle */
};

/* The clock from now on, without a judgement: for a thread whose time begins now, although it may
 * have lived before. */
void smp_activity_start(struct smp_activity *idle, int32_t tid, int64_t now_ns);
/* The first reading: UNKNOWN, NONE, or RAN, which may turn out to be RUNNING. Changes nothing. */
void smp_activity_begin(const struct smp_activity *idle, int32_t tid, struct smp_reading *out);
/* The second one where the first says that it has moved, and what follows for the thread. */
void smp_activity_finish(struct smp_activity *idle, int32_t tid, struct smp_reading *reading);

/* It has used all that time: then it was preempted, by us most likely, or has begun to wait this
 * moment. */
bool smp_activity_has_run_all_along(const struct smp_reading *reading);

#endif
