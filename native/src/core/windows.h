/* SPDX-License-Identifier: Apache-2.0 */
/*
 * windows.h - sealed intervals, and those who read them: each consumer at its own pace.
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
#ifndef SMP_CORE_WINDOWS_H
#define SMP_CORE_WINDOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"
#include "model/snapshot.h"

enum {
    SMP_MAX_CONSUMERS = 32, /* at a time */
    SMP_MAX_WAITING = 64,   /* intervals; one more is kept free for the last */
    SMP_MAX_APART = 4,      /* that stay unmerged */
    SMP_WAITING_SHARE = 6   /* of the memory limit, what a merged one may take: a sixth */
};

/* SMP_WINDOWS_END: everything there is. */
#define SMP_WINDOWS_END UINT64_MAX

struct smp_windows;

SMP_CHECKED enum smp_status smp_windows_create(struct smp_quota *quota, struct smp_windows **out);
/* No call of any other function may be under way. NULL is fine. */
void smp_windows_destroy(struct smp_windows *windows);

/* A consumer whose first window begins with the next interval; never 0. SMP_EQUOTA: too many. */
SMP_CHECKED enum smp_status smp_windows_open(struct smp_windows *windows, unsigned *consumer);
/* Waits for a take of it that is under way. An unknown one is fine. */
void smp_windows_close(struct smp_windows *windows, unsigned consumer);

bool smp_windows_has_room(struct smp_windows *windows);
/*
 * Adopts an interval and returns its number. There is room, or it is the last one. mark: a consumer
 * that will take up to here and no further, so that nothing is merged across; 0: none.
 */
uint64_t smp_windows_append(struct smp_windows *windows, struct smp_snapshot *interval,
                            unsigned mark);

/*
 * What the consumer has not had, up to the interval of this number: *out is a snapshot the caller
 * holds. Where there is no memory to merge it is the oldest part alone, and the rest is the next
 * window. SMP_ESTATE: nothing is waiting. SMP_EINVAL: there is no such consumer. Two takes of one
 * consumer come one after the other.
 */
SMP_CHECKED enum smp_status smp_windows_take(struct smp_windows *windows, unsigned consumer,
                                             uint64_t until, struct smp_snapshot **out);

/* Would compact do something? */
bool smp_windows_is_long(struct smp_windows *windows);
/* Merges what is to be merged, and sheds where it was asked to. Not on the sampler thread. */
void smp_windows_compact(struct smp_windows *windows);
/* When memory has run out: merges what can be merged, however little is waiting; where nothing can,
 * drops the oldest. False: nothing was waiting. */
bool smp_windows_shed(struct smp_windows *windows);

/* For the sampler thread, which has no time for it: the next compact sheds once. */
void smp_windows_ask_to_shed(struct smp_windows *windows);

/* How many intervals have been dropped so far. */
uint64_t smp_windows_dropped(struct smp_windows *windows);

#endif
