/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interval_queue.h - sealed intervals, and those who read them: each consumer at its own pace.
 *
 *   intervals   5    6    7    8    9
 *                  ▲              ▲         a window: all between a consumer's cursor and the end,
 *           report's cursor   page's cursor merged into one snapshot
 *
 * Intervals that every consumer is past are let go of. Neighbours that no cursor separates are
 * merged into one when more than SMP_MAX_APART are waiting, so a slow consumer costs memory for one
 * window, not for each interval of it. Where a merged one would take more than its share of the
 * memory limit, stacks that do not fit are charged to [over memory limit]: no time is lost. Only
 * when memory has run out and nothing is left to merge is the oldest interval dropped, and counted.
 *
 * Owns     what is waiting.
 * Threads  any. append, has_room: the sampler thread, and they never wait for a merge. No mutex is
 *          held while snapshots are merged or freed.
 * Errors   as listed.
 * Cost     append: a mutex. take: nothing for one interval, else a merge.
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
    SMP_MAX_CONSUMERS = 32, /* at a time */
    SMP_MAX_WAITING = 64,   /* intervals; one more is kept free for the last */
    SMP_MAX_APART = 4,      /* that stay unmerged */
    SMP_WAITING_SHARE = 6   /* of the memory limit, what a merged one may take: a sixth */
};

/* SMP_INTERVAL_QUEUE_END: everything there is. */
#define SMP_INTERVAL_QUEUE_END UINT64_MAX

struct smp_interval_queue;

SMP_CHECKED enum smp_status smp_interval_queue_create(struct smp_quota *quota,
                                                      struct smp_interval_queue **out);
/* No call of any other function may be under way. NULL is fine. */
void smp_interval_queue_destroy(struct smp_interval_queue *intervals);

/* A consumer whose first window begins with the next interval; never 0. SMP_EQUOTA: too many. */
SMP_CHECKED enum smp_status smp_interval_queue_open(struct smp_interval_queue *intervals,
                                                    unsigned *reader);
/* Waits for a take of it that is under way. An unknown one is fine. */
void smp_interval_queue_close(struct smp_interval_queue *intervals, unsigned reader);

bool smp_interval_queue_has_room(struct smp_interval_queue *intervals);
/*
 * Adopts an interval and returns its number. There is room, or it is the last one. mark: a consumer
 * that will take up to here and no further, so that nothing is merged across; 0: none.
 */
uint64_t smp_interval_queue_append(struct smp_interval_queue *intervals,
                                   struct smp_profile *interval, unsigned mark);

/*
 * What the consumer has not had, up to the interval of this number: *out is a snapshot the caller
 * holds. Where there is no memory to merge it is the oldest part alone, and the rest is the next
 * window. SMP_ESTATE: nothing is waiting. SMP_EINVAL: there is no such consumer. Two takes of one
 * consumer come one after the other.
 */
SMP_CHECKED enum smp_status smp_interval_queue_take(struct smp_interval_queue *intervals,
                                                    unsigned reader, uint64_t until,
                                                    struct smp_profile **out);

/* Would compact do something? */
bool smp_interval_queue_is_long(struct smp_interval_queue *intervals);
/* Merges what is to be merged, and sheds where it was asked to. Not on the sampler thread. */
void smp_interval_queue_compact(struct smp_interval_queue *intervals);
/* When memory has run out: merges what can be merged, however little is waiting; where nothing can,
 * drops the oldest. False: nothing was waiting. */
bool smp_interval_queue_evict(struct smp_interval_queue *intervals);

/* For the sampler thread, which has no time for it: the next compact sheds once. */
void smp_interval_queue_ask_to_evict(struct smp_interval_queue *intervals);

/* How many intervals have been dropped so far. */
uint64_t smp_interval_queue_dropped(struct smp_interval_queue *intervals);

#endif
