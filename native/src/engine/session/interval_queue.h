/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interval_queue.h - finished intervals that wait for their readers, each at its own pace.
 *
 *   intervals   5    6    7    8    9
 *                  ▲              ▲         a take: all between a reader's cursor and the end,
 *           report's cursor   page's cursor merged into one profile
 *
 * An interval is released when every reader is past it. Neighbours that no cursor separates are
 * merged if more than SMP_MAX_APART wait, so a slow reader costs the memory of one profile. If a
 * merged profile would exceed its shares of the memory limit, the excess goes to [over memory
 * limit] or [over group limit], and no time is lost. A profile that a reader gets has at most
 * maxGroups groups (model/group_limit.h), and a merged one that waits a few times as many. The
 * oldest interval is dropped, and counted once, only if memory has run out and nothing is left to
 * merge; never while a running take holds it.
 *
 * A window is the last minutes, read at any time; reading it takes nothing away. If windows are
 * kept, intervals stay after every reader is past them, as few and as long as their age allows. If
 * they exceed their share of the memory limit, the oldest ones are merged further, and that is
 * counted.
 *
 *   age         0 ... 1 min      15 min and more
 *   length      15 s .. 60 s     any: one interval for everything older
 *
 * A window begins within an interval, and contains all of it: the last minute is at most a quarter
 * longer than a minute, the last 5 and 15 minutes are at most one minute longer. The age is that of
 * the interval's end.
 *
 * Owns     the profiles that wait.
 * Threads  any. append, has_room: the sampler thread; they never wait for a merge. No lock is held
 *          while profiles are merged or freed.
 * Errors   as listed.
 * Cost     append: a lock. take: nothing for one interval, else a merge.
 */
#ifndef SMP_ENGINE_SESSION_INTERVAL_QUEUE_H
#define SMP_ENGINE_SESSION_INTERVAL_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"
#include "model/profile.h"

enum {
    SMP_MAX_READERS = 32,         /* at a time */
    SMP_MAX_WAITING = 64,         /* intervals; the last one has a place of its own */
    SMP_MAX_APART = 4,            /* intervals that stay unmerged */
    SMP_WAITING_GROUPS_TIMES = 8, /* times maxGroups: the groups of a merged interval */
    /* Shares of the memory limit. Of a merged interval: */
    SMP_WAITING_SHARE = 6,        /* a sixth: its tree */
    SMP_WAITING_GROUPS_SHARE = 8, /* an eighth: its groups and their living threads */
    SMP_WAITING_NAMES_SHARE = 8, /* an eighth: its names, if the sampler has dropped some of them */
    SMP_WINDOWS_SHARE = 4        /* a quarter: all intervals of the windows */
};

enum smp_window {
    SMP_WINDOW_1_MINUTE,
    SMP_WINDOW_5_MINUTES,
    SMP_WINDOW_15_MINUTES,
    SMP_WINDOW_START, /* since windows are kept */
    SMP_WINDOW_COUNT
};

#define SMP_WINDOW_SLOT_NS INT64_C(15000000000) /* intervals end at least this often */

/* As `until`: takes all intervals. */
#define SMP_INTERVAL_QUEUE_END UINT64_MAX

struct smp_interval_queue_figures {
    size_t waiting; /* intervals */
    size_t readers;
    bool has_windows; /* they are kept */
    uint64_t dropped; /* intervals so far */
    uint64_t coarse;  /* merges so far that, to save memory, made an interval of the windows longer
                       * than its age allows */
};

struct smp_interval_queue;

SMP_CHECKED enum smp_status smp_interval_queue_create(struct smp_quota *quota,
                                                      struct smp_interval_queue **out);
/* No other call may be running. NULL is fine. */
void smp_interval_queue_destroy(struct smp_interval_queue *intervals);

/* Opens a reader that starts with the next interval. *reader is never 0. SMP_EQUOTA: there are too
 * many readers. */
SMP_CHECKED enum smp_status smp_interval_queue_open(struct smp_interval_queue *intervals,
                                                    unsigned *reader);
/* Waits for the reader's running take. An unknown reader is fine. */
void smp_interval_queue_close(struct smp_interval_queue *intervals, unsigned reader);

bool smp_interval_queue_has_room(struct smp_interval_queue *intervals);
/*
 * Adopts an interval and returns its number. There must be room, unless it is the last one. mark: a
 * reader that will take up to this interval and no further, so that nothing is merged across; 0:
 * none.
 */
uint64_t smp_interval_queue_append(struct smp_interval_queue *intervals,
                                   struct smp_profile *interval, unsigned mark);

/*
 * Gives the intervals that the reader has not had, up to that number; the caller holds *out.
 * Without memory to merge them, *out is the oldest part, and the next take gives the rest.
 * SMP_ESTATE: nothing waits. SMP_EINVAL: no such reader. Two takes of one reader run one after the
 * other.
 */
SMP_CHECKED enum smp_status smp_interval_queue_take(struct smp_interval_queue *intervals,
                                                    unsigned reader, uint64_t until,
                                                    struct smp_profile **out);

/* True if compact would do something. */
bool smp_interval_queue_is_long(struct smp_interval_queue *intervals);
/* Merges intervals that should be merged, and evicts if request_eviction was called. Not on the
 * sampler thread. */
void smp_interval_queue_compact(struct smp_interval_queue *intervals);
/* Call it when memory has run out. Merges, however few intervals wait. If that is impossible, drops
 * the oldest, or waits for running takes that may release it. False: no interval waits. */
bool smp_interval_queue_evict(struct smp_interval_queue *intervals);

/* The sampler thread has no time to evict: the next compact does it, once. */
void smp_interval_queue_request_eviction(struct smp_interval_queue *intervals);

void smp_interval_queue_get_figures(struct smp_interval_queue *intervals,
                                    struct smp_interval_queue_figures *out);

/* Keeps windows from the next interval on. Does nothing if they are kept already. */
void smp_interval_queue_keep_windows(struct smp_interval_queue *intervals);
void smp_interval_queue_forget_windows(struct smp_interval_queue *intervals);
/*
 * Gives the intervals of the window, from the one in which the window begins to the last one; the
 * caller holds *out. SMP_ESTATE: there are none. SMP_ENOMEM, SMP_EQUOTA: not now, and nothing is
 * lost.
 */
SMP_CHECKED enum smp_status smp_interval_queue_take_window(struct smp_interval_queue *intervals,
                                                           enum smp_window window,
                                                           struct smp_profile **out);

#endif
