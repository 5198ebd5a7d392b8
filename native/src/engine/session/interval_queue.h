/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interval_queue.h - finished intervals that wait for their readers. Each reader has its own pace.
 *
 *   intervals   5    6    7    8    9
 *                  ▲              ▲         a take: from a reader's cursor to the end,
 *           report's cursor   page's cursor merged into one profile
 *
 * An interval is released when all readers have taken it. If more than SMP_MAX_APART wait,
 * neighbours without a cursor in between are merged, so a slow reader costs the memory of one
 * profile. If a merged profile would exceed its shares of the memory limit, the excess goes to
 * [over memory limit] or [over group limit], and no time is lost. A reader gets at most maxGroups
 * groups (model/group_limit.h); a waiting merged profile has a few times as many. If memory has
 * run out and nothing is left to merge, the oldest interval is dropped and counted once, but not
 * while a running take holds it.
 *
 * A window is the last minutes. It can be read at any time, and reading does not change it. If
 * windows are kept, intervals are not released when all readers have taken them, but merged as far
 * as their age allows. If they exceed their share of the memory limit, the oldest ones are merged
 * further, which is counted.
 *
 *   age         0 ... 1 min      15 min and more
 *   length      15 s .. 60 s     any: one interval for everything older
 *
 * A window contains the whole interval in which it begins: the window of a minute is at most a
 * quarter longer, the others at most one minute. The age is counted from the interval's end.
 *
 * Owns     the waiting profiles.
 * Threads  any. append, has_room: the sampler thread, without waiting for a merge. No lock is held
 *          while profiles are merged or freed.
 * Errors   as listed.
 * Cost     append: a lock. take: a merge, if there are several intervals.
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
    SMP_MAX_READERS = 32,         /* at the same time */
    SMP_MAX_WAITING = 64,         /* intervals, in addition to the last one */
    SMP_MAX_APART = 4,            /* number of intervals that are not merged */
    SMP_WAITING_GROUPS_TIMES = 8, /* groups of a merged interval, as a multiple of maxGroups */
    /* Shares of the memory limit (one sixth, ...), of a merged interval: */
    SMP_WAITING_SHARE = 6,        /* its tree */
    SMP_WAITING_GROUPS_SHARE = 8, /* its groups and their live threads */
    SMP_WAITING_NAMES_SHARE = 8,  /* its names, if the sampler has dropped some of them */
    SMP_WINDOWS_SHARE = 4         /* all intervals of the windows */
};

enum smp_window {
    SMP_WINDOW_1_MINUTE,
    SMP_WINDOW_5_MINUTES,
    SMP_WINDOW_15_MINUTES,
    SMP_WINDOW_START, /* since the windows were enabled */
    SMP_WINDOW_COUNT
};

#define SMP_WINDOW_SLOT_NS INT64_C(15000000000) /* intervals end at least this often */

/* A value of `until` for all intervals. */
#define SMP_INTERVAL_QUEUE_END UINT64_MAX

struct smp_interval_queue_figures {
    size_t waiting; /* intervals */
    size_t readers;
    bool has_windows; /* windows are kept */
    uint64_t dropped; /* total number of intervals */
    uint64_t coarse;  /* total number of merges, to save memory, that made an interval of the
                         windows too long for its age */
};

struct smp_interval_queue;

SMP_CHECKED enum smp_status smp_interval_queue_create(struct smp_quota *quota,
                                                      struct smp_interval_queue **out);
/* No other call may be running. intervals may be NULL. */
void smp_interval_queue_destroy(struct smp_interval_queue *intervals);

/* Opens a reader, starting with the next interval. *reader is never 0. SMP_EQUOTA: too many
 * readers. */
SMP_CHECKED enum smp_status smp_interval_queue_open(struct smp_interval_queue *intervals,
                                                    unsigned *reader);
/* Waits for the reader's running take. Does nothing if the reader does not exist. */
void smp_interval_queue_close(struct smp_interval_queue *intervals, unsigned reader);

bool smp_interval_queue_has_room(struct smp_interval_queue *intervals);
/*
 * Takes ownership of an interval and returns its number. There must be room, unless it is the last
 * one. mark is a reader that will take exactly up to this interval, which is then not merged with
 * later ones, or 0.
 */
uint64_t smp_interval_queue_append(struct smp_interval_queue *intervals,
                                   struct smp_profile *interval, unsigned mark);

/*
 * Takes the reader's next intervals, up to that number; the caller must release *out. Without
 * memory to merge them, *out is the oldest part, and the next take returns the rest. SMP_ESTATE:
 * no interval waits. SMP_EINVAL: no such reader. Takes of the same reader are serialized.
 */
SMP_CHECKED enum smp_status smp_interval_queue_take(struct smp_interval_queue *intervals,
                                                    unsigned reader, uint64_t until,
                                                    struct smp_profile **out);

/* Returns whether compact would do something. */
bool smp_interval_queue_is_long(struct smp_interval_queue *intervals);
/* Merges intervals if there are too many, and evicts if request_eviction was called. Not on the
 * sampler thread. */
void smp_interval_queue_compact(struct smp_interval_queue *intervals);
/* Called when memory has run out. Merges even if few intervals wait. If that is impossible, drops
 * the oldest, or waits for running takes that may release it. Returns false if no interval
 * waits. */
bool smp_interval_queue_evict(struct smp_interval_queue *intervals);

/* Lets the next compact evict once, because the sampler thread has no time for it. */
void smp_interval_queue_request_eviction(struct smp_interval_queue *intervals);

void smp_interval_queue_get_figures(struct smp_interval_queue *intervals,
                                    struct smp_interval_queue_figures *out);

/* Keeps windows from the next interval on. Does nothing if they are already kept. */
void smp_interval_queue_keep_windows(struct smp_interval_queue *intervals);
void smp_interval_queue_forget_windows(struct smp_interval_queue *intervals);
/*
 * Merges the intervals of the window, from the one in which it begins to the last one. The caller
 * must release *out. SMP_ESTATE: there are none. SMP_ENOMEM, SMP_EQUOTA: try later, nothing is
 * lost.
 */
SMP_CHECKED enum smp_status smp_interval_queue_take_window(struct smp_interval_queue *intervals,
                                                           enum smp_window window,
                                                           struct smp_profile **out);

#endif
