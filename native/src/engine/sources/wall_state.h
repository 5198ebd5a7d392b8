/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wall_state.h - the state of the wall source, shared by its parts: of threads, of the next polls,
 * of lock waits, of the machine.
 *
 * Owns     plain data.
 * Threads  the sampler thread only.
 */
#ifndef SMP_ENGINE_SOURCES_WALL_STATE_H
#define SMP_ENGINE_SOURCES_WALL_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"
#include "engine/sources/lock_names.h"
#include "engine/sources/sampled_threads.h"
#include "engine/sources/walks.h"
#include "engine/threads/activity.h"
#include "engine/threads/intensity.h"
#include "engine/threads/thread_table.h"
#include "engine/threads/throttle.h"
#include "engine/threads/timer_wheel.h"
#include "model/measure.h"
#include "model/options.h"
#include "model/thread_groups.h"

enum {
    SMP_MAX_BLOCKED_WAITS = 16384, /* waits in one tick */
    SMP_LOCKS_LIMIT_SHARE = 64,    /* part of the session's memory for waits and lock states */
    SMP_MAX_LOCK_CHAIN = 64,       /* maximum number of owners in a chain */
    SMP_MAX_CARRIED_TICKS = 16,
    SMP_DEADLOCK_TICKS = 2
};

/* --- a thread --- */

/* The next poll (poll_schedule.h). */
struct smp_poll_plan {
    int64_t odds;         /* of the next poll (intensity.h) */
    int64_t free_odds;    /* of the next poll, without the overhead limit */
    uint64_t polled_tick; /* the tick of the last poll */
    int64_t cpu_share;    /* moving average, of SMP_WHOLE_CPU */
    bool is_idle;         /* counted in schedule.idle_threads */
    bool is_throttled;    /* the odds include the overhead limit */
    int64_t share;        /* with this share (throttle.h) */
};

/* Time that is not attributed yet (pending_time.h). */
struct smp_pending {
    int64_t from_ns;        /* the end of the attributed time */
    int64_t correction_ns;  /* added to the time since from_ns; negative: too much was credited */
    bool has_target;        /* the record's last stack is from the last poll */
    bool has_left;          /* pending time belongs to left_tree, the tree of its former group */
    uint32_t carried_node;  /* node that gets carried_ns of the next idle time, */
    uint64_t carried_epoch; /* in the interval of this tree_epoch, */
    enum smp_thread_state carried_state;
    int64_t carried_ns;
    struct smp_group_tree left_tree;
};

/* Time for which the thread has waited for a CPU (queue_time.h). */
struct smp_queue_time {
    bool is_known;      /* read_ns is valid */
    bool was_idle;      /* the last poll has proven that the thread waits */
    int32_t stolen_us;  /* stolen by the machine's host, not attributed yet */
    int64_t read_ns;    /* the last reading of the kernel's figure */
    int64_t pending_ns; /* not attributed yet */
    int64_t over_ns;    /* time for which it was found running minus CPU time */
};

/* The lock that the thread waits for (holders.h). */
struct smp_lock_wait {
    bool is_known;        /* the owner was read during this wait */
    bool is_deadlocked;   /* the deadlock has been counted */
    uint8_t kind;         /* enum smp_owner_kind */
    uint32_t lock;        /* its class (lock_names.h) */
    uint64_t owner;       /* serial of the owner */
    size_t owner_index;   /* most likely index of the owner's record */
    int64_t owner_cpu_ns; /* the owner's CPU clock when it was read */
    uint64_t cycle_tick;  /* tick in which its chain became a cycle; 0: no cycle */
    uint32_t node;        /* last charged node of the holders' trees, */
    uint64_t epoch;       /* in the interval of this tree_epoch */
};

/* The thread as the holder of a lock (holders.h). */
struct smp_holder {
    uint64_t clock_tick;        /* clock_ns was read in this tick */
    int64_t clock_ns;           /* its CPU clock; -1: unknown */
    uint64_t walk_tick;         /* the tick of the last walk by holders.c */
    bool is_found;              /* the node is of the stack that this walk found */
    struct smp_group_tree tree; /* the group's holders' tree, with the node of a stack */
    uint32_t node;
    uint64_t epoch;   /* in the interval of this tree_epoch, */
    uint32_t version; /* version of the last stack, if no walk found one */
};

/* Allocated when needed, because few threads have it. */
struct smp_lock_state {
    struct smp_lock_wait wait;
    struct smp_holder holder;
};

/* A poll that the thread has not answered (wall_poll.h). */
struct smp_unanswered {
    int64_t since_ns;   /* 0: nothing is unanswered */
    bool is_requested;  /* the signal was sent; the members below are from then */
    bool takes_all;     /* the next stack found gets waiting_ns and the time since until_ns */
    int64_t clock_ns;   /* its CPU clock */
    int64_t used_ns;    /* CPU time used since pending.from_ns; -1: unknown */
    int64_t waiting_ns; /* time of unanswered polls up to until_ns */
    int64_t until_ns;   /* the last tick at which it had the stack of the answer */
};

/* A poll of an idle thread needs only the first three members. */
struct smp_wall_thread {
    struct smp_thread_record record; /* must be first */
    struct smp_activity activity;    /* as proven by its CPU clock */
    struct smp_pending pending;
    struct smp_poll_plan plan;
    struct smp_unanswered unanswered;
    struct smp_queue_time queue;
    struct smp_lock_state *locks; /* NULL: it was never blocked or a holder */
    struct smp_reading reading;   /* of the running poll */
    int64_t named_ns;             /* time when its name was read; 0: never */
};

static inline struct smp_wall_thread *smp_wall_thread_of(struct smp_thread_record *record)
{
    return (struct smp_wall_thread *)(void *)record;
}

/* --- the source --- */

/* The last draw of the idle threads. */
struct smp_shared_draw {
    uint64_t tick;
    int64_t odds;
    uint64_t most;
    struct smp_next_poll next;
};

struct smp_poll_schedule {
    struct smp_timer_wheel wheel;
    struct smp_throttle *throttle;
    const struct smp_options *options;
    int64_t least_share; /* lowest throttle share with which a pending poll was drawn */
    uint64_t salt;       /* for draws shared by idle threads */
    struct smp_shared_draw shared;
    uint64_t tick;         /* the number of the last tick */
    uint64_t made_tick;    /* the number of the last tick that was not skipped */
    int64_t tick_ns;       /* the time that the last tick stands for */
    uint64_t idle_threads; /* number of idle threads among the sampled ones */
    double idle_ticks;     /* minimum mean gap between polls of an idle thread */
    int64_t idle_poll_ns;  /* the average cost of a poll of an idle thread */
};

/* CPU time that the process does not get (queue_time.h). */
struct smp_cpu_loss {
    int64_t throttled_ns; /* at the last reading */
    int64_t read_ns;      /* time of the last reading of machine */
    struct smp_machine_time machine;
    double stolen_share;  /* stolen time per nanosecond of CPU time, between the last two
                           * readings */
    int64_t uncounted_ns; /* stolen time below a unit of the account */
};

/* A thread that was polled in this tick and is blocked. */
struct smp_blocked_wait {
    uint64_t serial;
    size_t index;       /* most likely index of its record */
    uint32_t node;      /* of the sampled tree */
    int64_t blocked_ns; /* blocked time that the poll has added */
    int64_t found_ns;   /* part of it for which the poll stands */
    uint64_t holder;    /* serial of the thread at the end of the chain; 0: see row */
    size_t holder_index;
    bool is_carried; /* from an earlier tick, because the holder's stack was unknown */
    unsigned ticks;  /* number of ticks for which it was carried */
    int row;         /* enum smp_holder_row */
};

struct smp_holders {
    struct smp_log *log; /* gets deadlocks */
    struct smp_lock_names locks;
    size_t states; /* number of lock states */
    struct smp_blocked_wait *waits;
    size_t count;
    size_t carried; /* number of carried waits */
    size_t capacity;
};

/* A round of polls. */
struct smp_poll {
    int64_t now_ns;
    bool is_last;        /* sampling stops, so later answers are lost */
    unsigned polls;      /* made so far */
    unsigned idle_polls; /* polls of threads that have not run */
};

struct smp_wall {
    struct smp_quota *quota;
    struct smp_sampled_threads *threads;
    struct smp_attribution *attribution;
    struct smp_walks walks;
    struct smp_poll_schedule schedule;
    struct smp_holders holders;
    int64_t covered_ns; /* time of the last tick */
    struct smp_cpu_loss loss;
    struct smp_poll *poll; /* the running round; NULL between ticks */
};

static inline struct smp_wall_thread *smp_wall_thread_at(const struct smp_wall *wall, size_t index)
{
    return smp_wall_thread_of(wall->threads->table.records[index]);
}

#endif
