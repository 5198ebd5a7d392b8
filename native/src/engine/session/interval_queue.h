/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interval_queue.h - finished intervals that wait for their readers, each at its own pace.
 *
 *   intervals   5    6    7    8    9
 *                  ▲              ▲         a take: all between a reader's cursor and the end,
 *           report's cursor   page's cursor merged into one profile
 *
 * An interval is released when every reader is past it. Neighbours that no cursor separates are
 * merged when more than SMP_MAX_APART wait, so a slow reader costs the memory of one profile, not
 * of one for each interval. Where a merged profile would take more than its shares of the memory
 * limit, what does not fit goes to [over memory limit] or [over group limit]: no time is lost. What
 * readers get has maxGroups groups at most (model/group_limit.h), and what waits merged a few times
 * as many. The oldest interval is dropped, and counted once, only when memory has run out and
 * nothing is left to merge; never while a take that runs holds it.
 *
 * Windows are what was sampled of late, at any time (window.h): they empty nothing. Where they are
 * kept, intervals stay after every reader is past them, as few and as long as their age allows.
 * Past their share of the memory limit the oldest are merged beyond that, and counted.
 *
 * Owns     the profiles that wait.
 * Threads  any. append, has_room: the sampler thread, and they never wait for a merge. No lock is
 *          held while profiles are merged or freed.
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
#include "engine/session/window.h"
#include "model/profile.h"

enum {
    SMP_MAX_READERS = 32,         /* at a time */
    SMP_MAX_WAITING = 64,         /* intervals; one more is kept free for the last */
    SMP_MAX_APART = 4,            /* intervals that stay unmerged */
    SMP_WAITING_GROUPS_TIMES = 8, /* maxGroups: so many groups stay in what is merged */
    /* Shares of the memory limit, for a merged interval: */
    SMP_WAITING_SHARE = 6,        /* a sixth: its tree */
    SMP_WAITING_GROUPS_SHARE = 8, /* an eighth: its groups and their threads that live */
    SMP_WAITING_NAMES_SHARE =
        8,                /* an eighth: names, where the sampler has dropped some meanwhile */
    SMP_WINDOWS_SHARE = 4 /* a quarter of the memory limit: all intervals of the windows */
};

/* Takes all intervals. */
#define SMP_INTERVAL_QUEUE_END UINT64_MAX

struct smp_interval_queue;

SMP_CHECKED enum smp_status smp_interval_queue_create(struct smp_quota *quota,
                                                      struct smp_interval_queue **out);
/* No call of any other function may be under way. NULL is fine. */
void smp_interval_queue_destroy(struct smp_interval_queue *intervals);

/* A new reader, which takes from the next interval on. *reader is never 0. SMP_EQUOTA: too many. */
SMP_CHECKED enum smp_status smp_interval_queue_open(struct smp_interval_queue *intervals,
                                                    unsigned *reader);
/* Waits for its running take. An unknown reader is fine. */
void smp_interval_queue_close(struct smp_interval_queue *intervals, unsigned reader);

bool smp_interval_queue_has_room(struct smp_interval_queue *intervals);
/*
 * Adopts an interval and returns its number. There is room, or it is the last one. mark: a reader
 * that will take up to here and no further, so that nothing is merged across; 0: none.
 */
uint64_t smp_interval_queue_append(struct smp_interval_queue *intervals,
                                   struct smp_profile *interval, unsigned mark);

/*
 * What the reader has not had, up to the interval of this number: the caller holds *out. Without
 * memory to merge, *out is the oldest part alone, and the next take gives the rest. SMP_ESTATE:
 * nothing waits. SMP_EINVAL: no such reader. Two takes of one reader run one after the other.
 */
SMP_CHECKED enum smp_status smp_interval_queue_take(struct smp_interval_queue *intervals,
                                                    unsigned reader, uint64_t until,
                                                    struct smp_profile **out);

/* Would compact do something? */
bool smp_interval_queue_is_long(struct smp_interval_queue *intervals);
/* Merges what is to be merged, and evicts after request_eviction. Not on the sampler thread. */
void smp_interval_queue_compact(struct smp_interval_queue *intervals);
/* When memory has run out: merges, however few intervals wait; if that is impossible, drops the
 * oldest, or waits for the running takes of it, which may release it. False: none waits. */
bool smp_interval_queue_evict(struct smp_interval_queue *intervals);

/* The sampler thread has no time to evict: the next compact does it, once. */
void smp_interval_queue_request_eviction(struct smp_interval_queue *intervals);

/* How many intervals wait, and for how many readers. */
void smp_interval_queue_get_sizes(struct smp_interval_queue *intervals, size_t *waiting,
                                  size_t *readers);

/* Intervals dropped so far. */
uint64_t smp_interval_queue_dropped(struct smp_interval_queue *intervals);

/* Keeps the windows, from the next interval on; nothing where they are kept. */
void smp_interval_queue_keep_windows(struct smp_interval_queue *intervals);
void smp_interval_queue_forget_windows(struct smp_interval_queue *intervals);
bool smp_interval_queue_has_windows(struct smp_interval_queue *intervals);
/*
 * What the window has, up to the last interval: the caller holds *out. It begins with the interval
 * in which the window begins. SMP_ESTATE: nothing is kept. SMP_ENOMEM, SMP_EQUOTA: not now, and
 * nothing is lost.
 */
SMP_CHECKED enum smp_status smp_interval_queue_take_window(struct smp_interval_queue *intervals,
                                                           enum smp_window window,
                                                           struct smp_profile **out);
/* Merges so far that made an interval of the windows longer than its age allows, for memory. */
uint64_t smp_interval_queue_coarse(struct smp_interval_queue *intervals);

#endif
