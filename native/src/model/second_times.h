/* SPDX-License-Identifier: Apache-2.0 */
/*
 * second_times.h - in which state the threads of each group were, second by second of the wall
 * clock: so that a report of many minutes shows when something happened.
 *
 *   row (a group) ──► state ──► slot 0 │ slot 1 │ slot 2 ...      milliseconds of thread time
 *                               second    and the next ones
 *
 * A slot is a second of the wall clock. Beyond SMP_MAX_SECOND_SLOTS of them neighbours become one,
 * so that each is 2, 4, 8 ... seconds wide; it begins at a multiple of its width since 1970, so
 * that slots of several profiles cover the same seconds. The first SMP_MAX_SECOND_GROUPS groups
 * that have time get a row, all others share row 0.
 *
 * In milliseconds a slot of one second has room for four million threads, one of an hour for a
 * thousand; what is more is lost. What is left of a millisecond is carried into the next slot that
 * gets time.
 *
 * Owns     its slots.
 * Threads  one writer; any number of readers once it is part of a profile.
 * Errors   create: SMP_ENOMEM. Without memory for slots, or past a slot's maximum, time is left out
 *          and counts as lost.
 * Cost     add: a few additions if the time lies in the slot of the last one, else a division and
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

/* From one moment till another one, of a clock that the callee names. */
struct smp_span {
    int64_t from_ns;
    int64_t till_ns;
};

static inline struct smp_span smp_span_before(int64_t till_ns, int64_t ns)
{
    return (struct smp_span){ .from_ns = till_ns - ns, .till_ns = till_ns };
}

/* Seconds since 1970: the first one, the first one after the last, and how many make one slot at
 * least: a power of two. */
struct smp_second_range {
    int64_t from;
    int64_t till;
    int64_t width;
};

struct smp_second_times;

/* Slots for this range, as wide as it takes; it grows at its end. */
SMP_CHECKED enum smp_status smp_second_times_create(struct smp_quota *quota,
                                                    struct smp_second_range range,
                                                    struct smp_second_times **out);
void smp_second_times_destroy(struct smp_second_times *times); /* NULL is fine */

/* A row for the group with this number; 0: the one of all others, as there is no other left. */
uint32_t smp_second_times_new_row(struct smp_second_times *times, uint32_t group);
/* Time in a state during the span, in nanoseconds since 1970; it is spread evenly. What comes
 * before the first slot goes to that. Of many threads it is longer than the span. */
void smp_second_times_add(struct smp_second_times *times, uint32_t row, enum smp_thread_state state,
                          struct smp_span span, int64_t ns);
/* Takes back time in a state: from the slot of till_ns, then from those before it. What is not
 * there is taken off the next time that comes. */
void smp_second_times_take(struct smp_second_times *times, uint32_t row,
                           enum smp_thread_state state, int64_t till_ns, int64_t ns);
/* All of the row's time in the state is total_ns: its slots are brought to it in proportion. Does
 * nothing if time was lost there. */
void smp_second_times_fit(struct smp_second_times *times, uint32_t row, enum smp_thread_state state,
                          int64_t total_ns);
/* The wall clock was set by so many seconds. */
void smp_second_times_shift(struct smp_second_times *times, int64_t seconds);
/* Adds a row of other times, whose range is within this one's and whose slots are no wider. */
void smp_second_times_add_row(struct smp_second_times *times, uint32_t row,
                              const struct smp_second_times *from, uint32_t from_row);

/* Of all slots. times may be NULL: 0. */
size_t smp_second_times_bytes(const struct smp_second_times *times);
/* How often time was lost. times may be NULL: 0. */
uint64_t smp_second_times_lost(const struct smp_second_times *times);
struct smp_second_range smp_second_times_range(const struct smp_second_times *times);
uint32_t smp_second_times_rows(const struct smp_second_times *times); /* with row 0 */
/* The number of the row's group; not of row 0. */
uint32_t smp_second_times_group(const struct smp_second_times *times, uint32_t row);
/* Milliseconds by slot, of *count slots; those after them are 0. No slot: the row has no time in
 * the state. */
const uint32_t *smp_second_times_slots(const struct smp_second_times *times, uint32_t row,
                                       enum smp_thread_state state, size_t *count);

#endif
