/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_times.h - for how long threads were blocked, by the class of the lock, the line that waited
 * for it, and the line that held it.
 *
 *   {lock, waiting, holding} ──► ns           three locations
 *
 * Beyond SMP_MAX_LOCK_TIMES rows the time goes to the last one, which stands for all other locks.
 *
 * Owns     its rows.
 * Threads  one writer; any number of readers once it is part of a profile.
 * Errors   add: SMP_ENOMEM, SMP_EQUOTA: the time is in no row.
 * Cost     add: one hash probe. 40 bytes a row, at most twice that while the rows grow.
 */
#ifndef SMP_MODEL_LOCK_TIMES_H
#define SMP_MODEL_LOCK_TIMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"

/* Names of locks whose class is not known, and of those without a row. */
#define SMP_UNKNOWN_LOCK_NAME "[unknown lock]"
#define SMP_OTHER_LOCKS_NAME "[other locks]"

enum { SMP_MAX_LOCK_TIMES = 1024 };

struct smp_lock_time {
    uint32_t lock; /* a pseudo-location: the name of its class */
    uint32_t waiting;
    uint32_t holding;
    int64_t ns; /* below 0: more was subtracted than added */
};

struct smp_lock_times;

/* other: the location that stands for the locks and lines without a row. */
SMP_CHECKED enum smp_status smp_lock_times_create(struct smp_quota *quota, uint32_t other,
                                                  struct smp_lock_times **out);
void smp_lock_times_destroy(struct smp_lock_times *times); /* NULL is fine */
SMP_CHECKED enum smp_status smp_lock_times_add(struct smp_lock_times *times,
                                               const struct smp_lock_time *time);
/* Returns the location passed to create. */
uint32_t smp_lock_times_other(const struct smp_lock_times *times);
/* Returns 0 if times is NULL. */
size_t smp_lock_times_count(const struct smp_lock_times *times);
/* Rows are in the order in which they were added. */
const struct smp_lock_time *smp_lock_times_at(const struct smp_lock_times *times, size_t index);

#endif
