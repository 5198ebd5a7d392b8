/* SPDX-License-Identifier: Apache-2.0 */
/*
 * root_times.h - how long calls took: the number of finished calls of a node, their total time, the
 * shortest and the longest. With exact timing all counted nodes have a row, otherwise only roots.
 *
 *   node ──► {calls, total, min, max}          in the order in which they were added
 *
 * A node without a row has only a mean, from the tree's time and calls.
 *
 * Owns     its rows.
 * Threads  one writer; any number of readers once it is part of a profile.
 * Errors   add: SMP_ENOMEM; SMP_EQUOTA for a row beyond SMP_MAX_ROOT_TIMES. Nothing has changed
 *          then, and the node has only a mean.
 * Cost     find and add: O(1). 40 bytes a row, and 4 for each node up to the last one with a row.
 */
#ifndef SMP_MODEL_ROOT_TIMES_H
#define SMP_MODEL_ROOT_TIMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"

enum { SMP_MAX_ROOT_TIMES = 1 << 20 };

struct smp_root_time {
    uint32_t node;
    int64_t calls; /* finished calls; never 0 in the table */
    int64_t total_ns;
    int64_t min_ns;
    int64_t max_ns;
};

struct smp_root_times;

SMP_CHECKED enum smp_status smp_root_times_create(struct smp_quota *quota,
                                                  struct smp_root_times **out);
void smp_root_times_destroy(struct smp_root_times *times); /* NULL is fine */

/* Called after a fold of the tree: times of removed nodes are dropped. */
void smp_root_times_renumber(struct smp_root_times *times, const uint32_t *places);
/* Adds calls of time->node. Does nothing if calls == 0. Sums stop at INT64_MAX. */
SMP_CHECKED enum smp_status smp_root_times_add(struct smp_root_times *times,
                                               const struct smp_root_time *time);

/* NULL: no call of the node has ended. times may be NULL. Borrowed until the next add. */
const struct smp_root_time *smp_root_times_find(const struct smp_root_times *times, uint32_t node);
/* times may be NULL: 0. */
size_t smp_root_times_count(const struct smp_root_times *times);
const struct smp_root_time *smp_root_times_at(const struct smp_root_times *times, size_t index);

#endif
