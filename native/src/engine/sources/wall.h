/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wall.h - looks at threads: whom, when, how each is credited.
 *
 *   births, ends ─► due? ─► candidate? name ─► CPU clock
 *                    │                           ├ unmoved ──────► idle: the stack it had
 *                    no: nothing                 ├ not running ──► walker: walked from here
 *                                                └ running ──────► async: asked by signal ─►
 * answers
 *
 * Where ticks are close, answers are taken at the next one, and credited as of the one that asked.
 *
 * A thread that is not due costs nothing in a tick. A thread that runs is due every tick. One that
 * is idle is due at random, and the rarer the more threads are idle: polls of all idle threads
 * together cost at most one SMP_IDLE_COST_SHARE-th of a core, unless the longest gap asks for more.
 * Where CPU time is short all are due more rarely (throttle.h). A thread that is not sampled is due
 * only to see that it ends. What a poll weighs is in intensity.h.
 *
 * Owns     the thread records, names, the wheel.
 * Threads  the sampler thread only.
 * Errors   init: SMP_ENOMEM, SMP_EQUOTA. All else: whatever goes wrong is an outcome.
 * Cost     tick: O(threads that are due); with a user's rule for names, O(threads).
 */
#ifndef SMP_ENGINE_SOURCES_WALL_H
#define SMP_ENGINE_SOURCES_WALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"
#include "engine/attribution/attribution.h"
#include "engine/jvm.h"
#include "engine/threads/intensity.h"
#include "engine/threads/thread_names.h"
#include "engine/threads/thread_table.h"
#include "engine/threads/throttle.h"
#include "engine/threads/timer_wheel.h"
#include "model/options.h"

enum {
    SMP_MAX_REQUESTS = 32,        /* asynchronous walks in flight */
    SMP_ANSWER_WAIT_SHARE = 4,    /* waits for answers up to this share of an interval, */
    SMP_ANSWER_WAIT_MS = 2,       /* or so long */
    SMP_CLOSE_TICKS_MS = 5,       /* up to this interval answers may wait for the next tick */
    SMP_LAST_ANSWER_WAIT_MS = 20, /* or where an interval ends so long: a few turns on a busy CPU */
    SMP_MAX_UNANSWERED_MS =
        1000, /* the time of a thread that runs without answering waits so long */
    /* Busy is who uses a quarter of a CPU; who uses less is looked at more rarely where CPU time is
     * short, up to so many times. */
    SMP_BUSY_SHARE = 4,
    SMP_MOST_QUIETNESS = 8,
    SMP_IDLE_COST_SHARE = 400, /* of a core: what polls of idle threads may cost together */
    SMP_IDLE_POLL_NS = 1500,   /* what one costs, before it was measured */
    SMP_IDLE_TICK_NS = 40000,  /* what waking up for them costs, likewise */
    SMP_MOST_REST_MS = 1000,   /* without a tick: so old are the statistics, at most */
    SMP_MOST_THIN_MS = 60000,  /* between two looks for want of CPU time */
    SMP_MOST_TICK_MS = 4000,   /* of a tick whose polls stand for several */
    /* The name of a thread that has not run is read once in a quarter of the time it has been idle,
     * or so often. */
    SMP_NAME_SHARE = 4,
    SMP_NAME_AGE_MS = 8000,
    SMP_MAX_WAITS_SHARE = 2 /* past this share of an interval nobody is asked any more */
};

/* A draw, and what it was drawn for. */
struct smp_drawn {
    uint64_t tick;
    int64_t odds;
    uint64_t most;
    struct smp_next_poll next;
};

struct smp_wall {
    struct smp_quota *quota;
    const struct smp_jvm *vm;
    bool is_async; /* running threads are asked */
    bool is_cpu;   /* the clock is CPU time: cpu.h instead of wall_poll.h */
    struct smp_thread_table table;
    struct smp_thread_names *names;
    struct smp_timer_wheel wheel;
    struct smp_attribution attribution;
    struct smp_throttle throttle;
    struct smp_sample sample; /* room for one stack */
    uint64_t salt;            /* of the draws that threads share */
    struct smp_drawn drawn;   /* the last one */

    bool skip_daemon_threads;
    bool default_name_rule;
    int64_t interval_ns;
    int64_t lookback_ns;
    struct smp_thread_filter thread_filter;
    bool only; /* the selection's threads and no others */
    uint64_t chosen_epoch;

    uint64_t cursor;       /* the thread source's */
    bool is_first_poll;    /* since mark: what was not seen before it is nobody's loss */
    int64_t marked_ns;     /* a thread's time begins here, or at its birth */
    int64_t covered_ns;    /* the last tick */
    uint64_t tick;         /* its number */
    uint64_t made_tick;    /* the number of the last one that was not left out */
    int64_t tick_ns;       /* the time it stands for: since the one before, made or left out */
    uint64_t threads;      /* that are sampled */
    uint64_t idle_threads; /* of these, the idle ones */
    double idle_ticks;     /* between two polls of an idle thread, on average: for their cost */
    int64_t idle_poll_ns;  /* what a poll of an idle thread costs, on average */
    unsigned polls;        /* in this tick */
    unsigned idle_polls;   /* of these, of threads that turned out to be idle */
    struct smp_poll *poll; /* the one that is being made */
    unsigned in_flight;    /* requests without an answer; between two ticks of the last one */
};

/* Zeroed before. vm and quota outlive it. credit's interval, methods and names are the caller's to
 * set. */
SMP_CHECKED enum smp_status smp_wall_init(struct smp_wall *wall, struct smp_quota *quota,
                                          const struct smp_jvm *vm,
                                          const struct smp_options *options,
                                          size_t max_stack_bytes);
/* On a thread that is allowed to call vm. */
void smp_wall_fini(struct smp_wall *wall);

/* Is this thread to be sampled? By options and selection, not by its name. */
bool smp_wall_chooses(struct smp_wall *wall, struct smp_thread_record *record);

/* From the next tick on. Settled before, where something is kept. */
void smp_wall_set_options(struct smp_wall *wall, const struct smp_options *options);
void smp_wall_select(struct smp_wall *wall, struct smp_thread_filter thread_filter, bool only);

/* Time is credited from now on. */
void smp_wall_mark(struct smp_wall *wall, int64_t now_ns);
void smp_wall_tick(struct smp_wall *wall, int64_t now_ns);
/* After a tick: throttle.h. */
int64_t smp_wall_tick_gap_ns(struct smp_wall *wall);
/* sampler.h */
uint64_t smp_wall_idle_ticks(const struct smp_wall *wall);
bool smp_wall_watch(struct smp_wall *wall, struct smp_start_listener *listen);
void smp_wall_unwatch(struct smp_wall *wall, struct smp_start_listener *listen, uint64_t left_out);
/* Every thread, whatever the clocks say, credited with span_ns. */
void smp_wall_tick_once(struct smp_wall *wall, int64_t now_ns, int64_t span_ns);
/* Credits all that is kept, up to the last tick, by what is known: polls no thread. is_last: waits
 * for answers that have not come yet. */
void smp_wall_finish(struct smp_wall *wall, bool is_last);
/* The next tick polls all threads, if there is CPU time for all: the last one before it stops. */
void smp_wall_poll_all(struct smp_wall *wall);
/* No node of the interval is known any more, and no thread idle. */
void smp_wall_forget_stacks(struct smp_wall *wall);

#endif
