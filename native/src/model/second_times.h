/* SPDX-License-Identifier: Apache-2.0 */
/*
 * second_times.h - in which state the threads of each group were, by second of the wall clock, so
 * that a report of many minutes shows when something happened.
 *
 *   row (a group) ──► state ──► slot 0 │ slot 1 │ slot 2 ...      milliseconds of thread time
 *                               second    and the next ones
 *
 * A slot is a second of the wall clock. Beyond SMP_MAX_SECOND_SLOTS neighbours are joined, so that
 * a slot is 2, 4, 8 ... seconds wide. It begins at a multiple of its width since 1970, so slots of
 * several profiles cover the same seconds. The first SMP_MAX_SECOND_GROUPS groups with time get a
 * row; all others share row 0.
 *
 * Slots are in milliseconds: a slot of one second has room for four million threads, one of an hour
 * for a thousand; more is lost. The rest of a millisecond is carried into the next slot that gets
 * time.
 *
 * Owns     its slots.
 * Threads  one writer; any number of readers once it is part of a profile.
 * Errors   create: SMP_ENOMEM. Without memory for slots, or beyond a slot's maximum, time is
 *          dropped and counted as lost.
 * Cost     add: a few additions if the time is in the same slot as last time, else a division and
 *          an addition for each slot. 4 bytes for each slot of each state that a group has; at most
 *          5.6 MB.
 */
#ifndef SMP_MODEL_SECOND_TIMES_H
#define SMP_MODEL_SECOND_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"
#include "model/measure.h"

enum {
    SMP_MAX_SECOND_SLOTS = 3600,
    SMP_MAX_SECOND_GROUPS = 64,  /* with a row of their own */
    SMP_SECONDS_LIMIT_SHARE = 16 /* of a quota: a sixteenth */
};

/* A span of time, on the clock that the function names. */
struct smp_span {
    int64_t from_ns;
    int64_t till_ns;
};

static inline struct smp_span smp_span_before(int64_t till_ns, int64_t ns)
{
    return (struct smp_span){ .from_ns = till_ns - ns, .till_ns = till_ns };
}

/* In seconds since 1970: the first one, the one after the last, and the least width of a slot, a
 * power of two. */
struct smp_second_range {
    int64_t from;
    int64_t till;
    int64_t width;
};

struct smp_second_times;

/* Creates slots for this range, as wide as necessary. The range grows at its end. */
SMP_CHECKED enum smp_status smp_second_times_create(struct smp_quota *quota,
                                                    struct smp_second_range range,
                                                    struct smp_second_times **out);
void smp_second_times_destroy(struct smp_second_times *times); /* NULL is fine */

/* Returns a new row for the group with this number, or 0, the shared row, if none is left. */
uint32_t smp_second_times_new_row(struct smp_second_times *times, uint32_t group);
/* Adds time in a state, spread evenly over the span, which is in nanoseconds since 1970. Time
 * before the first slot goes to that slot. The time of several threads may be longer than the
 * span. */
void smp_second_times_add(struct smp_second_times *times, uint32_t row, enum smp_thread_state state,
                          struct smp_span span, int64_t ns);
/* Subtracts time in a state: from the slot of till_ns, then from earlier ones. The rest is
 * subtracted from the next time added. */
void smp_second_times_take(struct smp_second_times *times, uint32_t row,
                           enum smp_thread_state state, int64_t till_ns, int64_t ns);
/* Scales the slots of the row's state so that their sum is total_ns. Does nothing if time was lost
 * there. */
void smp_second_times_fit(struct smp_second_times *times, uint32_t row, enum smp_thread_state state,
                          int64_t total_ns);
/* Called if the wall clock was set forward by this many seconds. */
void smp_second_times_shift(struct smp_second_times *times, int64_t seconds);
/* Adds a row of other times. Their range must be within this one, and their slots no wider. */
void smp_second_times_add_row(struct smp_second_times *times, uint32_t row,
                              const struct smp_second_times *from, uint32_t from_row);

/* Returns the memory of all slots; 0 if times is NULL. */
size_t smp_second_times_bytes(const struct smp_second_times *times);
/* Returns how often time was lost; 0 if times is NULL. */
uint64_t smp_second_times_lost(const struct smp_second_times *times);
struct smp_second_range smp_second_times_range(const struct smp_second_times *times);
uint32_t smp_second_times_rows(const struct smp_second_times *times); /* with row 0 */
/* Returns the number of the row's group. row is not 0. */
uint32_t smp_second_times_group(const struct smp_second_times *times, uint32_t row);
/* Returns milliseconds by slot, for *count slots; later ones are 0. *count is 0 if the row has no
 * time in the state. */
const uint32_t *smp_second_times_slots(const struct smp_second_times *times, uint32_t row,
                                       enum smp_thread_state state, size_t *count);

#endif
