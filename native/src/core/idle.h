/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle.h - what a thread's CPU clock proves: that it has not run since the last look.
 *
 *   look        look              look                        look
 *    │ unmoved   │     unmoved     │          moved            │
 *    └───────────┴─────────────────┴───────────────────────────┘
 *     exactly the leaf it had       split: used = CPU clock's difference
 *
 * Idle threads are looked at less and less often: the gap grows with the time a thread has been
 * proven idle (one SMP_IDLE_SHARE-th of it, so that where it ends in the middle of a gap little
 * compared with the idleness is in doubt), from one interval up to a cap.
 *
 * A gap in which the clock moved is not proven. Of a short one all goes to what is found at its
 * end, as with any sampler. Of a long one that would charge all of it to what woke the thread up,
 * or hide what ran in between; so the clock decides: used is time spent running, the rest is time
 * spent waiting.
 *
 *   found running   used to what is found, the rest to the leaf it had
 *   found waiting   the rest halved between the leaf it had and what is found (where they are one:
 *                   all of it), used unseen: spread over what was seen running in its group
 *
 * Where one thing ends and another begins in a short gap, all of it is charged to the other: half
 * an interval too much, on average. So that a long gap on one side of a stay and a short one on the
 * other do not add up to a loss, what is found at the end of a long one gets half an interval, too.
 *
 * Owns     nothing; plain data.
 * Threads  one at a time.
 * Errors   none; a clock that cannot be read proves nothing.
 * Cost     begin: one system call; finish: one where the clock moved.
 */
#ifndef SMP_CORE_IDLE_H
#define SMP_CORE_IDLE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    SMP_IDLE_SHARE = 12,      /* the gap is at most a twelfth of the time proven idle */
    SMP_QUIET_CPU_MS = 50,    /* a thread that has used less in all its life, when it is met, */
    SMP_QUIET_LEAD_MS = 3000, /* is treated as if it had been idle so long */
    SMP_MEETING_SHARE = 8,
    SMP_MOMENT_NS = 50000, /* what a tick of ours and a switch or two take */
    SMP_MOMENT_SHARE = 10, /* of the time between two readings, at most */
    SMP_LONG_GAP_SHARE = 4 /* a gap is long that exceeds the interval by a quarter */
};

/* Of one thread. Zeroed: nothing is known. */
struct smp_idle {
    bool has_clock;   /* cpu_ns was read */
    bool has_leaf;    /* its stack is known, and was walked after cpu_ns was read */
    int64_t cpu_ns;   /* the clock at the last look at which it had moved */
    int64_t read_ns;  /* when it was read */
    int64_t since_ns; /* it has not run since then, as far as is known */
};

/* What two readings say of a thread. */
enum smp_activity {
    SMP_ACTIVITY_UNKNOWN, /* no clock */
    SMP_ACTIVITY_NONE,    /* not run since the last look */
    SMP_ACTIVITY_RAN,     /* but does not move now */
    SMP_ACTIVITY_RUNNING  /* the clock moves between two readings */
};

struct smp_reading {
    enum smp_activity activity;
    bool is_measured; /* used_ns is known: the clock was read at the last look, too */
    int64_t clock_ns; /* the first reading */
    int64_t used_ns;  /* CPU time since the last look */
    int64_t apart_ns; /* the time in which it was used, from reading to reading */
    bool had_leaf;    /* what its stack was since the last look is known, as long as it was idle */
};

/* The clock from now on, without a judgement: for a thread whose time begins now, although it may
 * have lived before. */
void smp_idle_start(struct smp_idle *idle, int32_t tid, int64_t now_ns);
/* The first reading: UNKNOWN, NONE, or RAN, which may turn out to be RUNNING. Changes nothing. */
void smp_idle_begin(const struct smp_idle *idle, int32_t tid, struct smp_reading *out);
/* The second one where the first says that it has moved, and what follows for the thread. */
void smp_idle_finish(struct smp_idle *idle, int32_t tid, struct smp_reading *reading);

/* How long not to look at a thread that has been idle so long. random: any number. */
int64_t smp_idle_gap_ns(int64_t idle_ns, int64_t interval_ns, int64_t most_ns, uint64_t random);

/*
 * When to look at one that would be looked at after gap_ns: sooner, at a time that is many idle
 * threads' time. Looks one after the other cost a fifth of what each of them costs alone, after a
 * sleep. Such times are as far apart as one SMP_MEETING_SHARE-th of the gap or less, and each falls
 * somewhere within its stretch of time, so that nothing periodic is in step with them.
 */
int64_t smp_idle_meeting_ns(int64_t now_ns, int64_t gap_ns, int64_t interval_ns);

/* It has used all that time: then it was preempted, by us most likely, or has begun to wait this
 * moment. */
bool smp_idle_has_run_all_along(const struct smp_reading *reading);

bool smp_idle_is_long(int64_t span_ns, int64_t interval_ns);

/* Whose a gap is that is not proven. */
struct smp_shares {
    int64_t old_ns;    /* of the leaf it had */
    int64_t found_ns;  /* of what is found */
    int64_t unseen_ns; /* of whatever ran in between */
};

struct smp_gap {
    int64_t span_ns;
    int64_t interval_ns;
    bool is_measured;
    int64_t used_ns;
    bool is_running; /* found so */
    bool knows_old;  /* the leaf it had */
    bool is_same;    /* and that is what is found */
};
/* The three add up to the span. */
struct smp_shares smp_idle_split(const struct smp_gap *gap);

#endif
