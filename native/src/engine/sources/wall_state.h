/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wall_state.h - what the parts of the wall source share.
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
#include "engine/sources/cpu_loss.h"
#include "engine/sources/lock_names.h"
#include "engine/sources/poll_schedule.h"
#include "engine/sources/sampled_threads.h"
#include "engine/sources/walks.h"
#include "engine/sources/wall_thread.h"

enum {
    SMP_MAX_SETTLED = 16384,    /* waits in one tick */
    SMP_LOCKS_LIMIT_SHARE = 64, /* of the session's memory: for waits and lock states */
    SMP_MAX_LOCK_CHAIN = 64,    /* owners in a chain */
    SMP_MAX_CARRIED_TICKS = 16,
    SMP_DEADLOCK_TICKS = 2
};

/* A thread that was polled in this tick and is blocked. */
struct smp_blocked_wait {
    uint64_t serial;
    size_t index;       /* most likely index of its record */
    uint32_t node;      /* of the sampled tree */
    int64_t blocked_ns; /* the blocked time that the poll has added */
    int64_t found_ns;   /* the part of it that the poll stands for */
    uint64_t holder;    /* serial of the thread at the end of the chain; 0: see row */
    size_t holder_index;
    bool is_carried; /* from an earlier tick, because the holder's stack was not known */
    unsigned ticks;  /* for so many ticks */
    int row;         /* enum smp_holder_row */
};

struct smp_holders {
    struct smp_log *log; /* gets deadlocks */
    struct smp_lock_names locks;
    size_t states; /* number of lock states */
    struct smp_blocked_wait *waits;
    size_t count;
    size_t carried; /* the number of carried ones in waits */
    size_t capacity;
};

/* A round of polls. */
struct smp_poll {
    int64_t now_ns;
    bool is_last;        /* sampling stops: answers come now or never */
    unsigned polls;      /* made so far */
    unsigned idle_polls; /* the polls of threads that had not run */
};

struct smp_wall {
    struct smp_quota *quota;
    struct smp_sampled_threads *threads;
    struct smp_attribution *attribution;
    struct smp_walks walks;
    struct smp_poll_schedule schedule;
    struct smp_holders holders;
    int64_t covered_ns; /* the last tick */
    struct smp_cpu_loss loss;
    struct smp_poll *poll; /* the running round; NULL between ticks */
};

static inline struct smp_wall_thread *smp_wall_thread_at(const struct smp_wall *wall, size_t index)
{
    return smp_wall_thread_of(wall->threads->table.records[index]);
}

#endif
