/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocked_waits.h - what holders.h keeps of one tick: the threads that wait for locks.
 *
 * Owns     plain data.
 * Threads  the sampler thread only.
 */
#ifndef SMP_ENGINE_SOURCES_BLOCKED_WAITS_H
#define SMP_ENGINE_SOURCES_BLOCKED_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"
#include "engine/sources/lock_names.h"

enum {
    SMP_MAX_SETTLED = 16384,    /* waits in one tick */
    SMP_LOCKS_LIMIT_SHARE = 64, /* of the session's memory: for these, and for threads' states */
    SMP_MAX_LOCK_CHAIN = 64,    /* owners in a row */
    SMP_MAX_CARRIED_TICKS = 16,
    SMP_DEADLOCK_TICKS = 2
};

/* A thread that was polled in this tick, and is blocked. */
struct smp_blocked_wait {
    uint64_t serial;
    size_t index;       /* of its record, most likely */
    uint32_t node;      /* of the sampled tree */
    int64_t blocked_ns; /* what the poll has added */
    int64_t found_ns;   /* of that: what the poll stands for */
    uint64_t holder;    /* serial of the thread at the chain's end; 0: a row */
    size_t holder_index;
    bool is_carried; /* from the last tick: the holder's stack was not known, */
    unsigned ticks;  /* for so many ticks */
    int row;         /* enum smp_holder_row */
};

struct smp_holders {
    struct smp_log *log; /* of deadlocks */
    bool has_news;       /* in the log */
    struct smp_lock_names locks;
    size_t states; /* of threads */
    struct smp_blocked_wait *waits;
    size_t count;
    size_t carried; /* of count */
    size_t capacity;
};

#endif
