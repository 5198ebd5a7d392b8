/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_sink.h - where reports of a session go in a test: kept as text, slow or failing on demand.
 *
 *   struct fake_sink *sink = fake_sink_create();
 *   fake_sink_shut(sink);                   the next report waits in title
 *   fake_sink_wait_inside(sink);            until it does
 *   fake_sink_open(sink);
 *   fake_sink_wait_reports(sink, 3);
 *
 * Owns     its text, from malloc.
 * Threads  any; waits are on a condition, and fail the test after a minute.
 * Errors   fail the test.
 */
#ifndef SMP_SUPPORT_FAKE_SINK_H
#define SMP_SUPPORT_FAKE_SINK_H

#include <stdbool.h>
#include <stddef.h>

#include "report/sink.h"

struct fake_sink;

struct fake_sink *fake_sink_create(void);
void fake_sink_destroy(struct fake_sink *sink);
struct smp_sink fake_sink_interface(struct fake_sink *sink);

/* Reports wait at their title from now on, until open. */
void fake_sink_shut(struct fake_sink *sink);
void fake_sink_open(struct fake_sink *sink);
/* Until a report waits. */
void fake_sink_wait_inside(struct fake_sink *sink);

/* The next so many reports fail: at their title, or at the end. */
void fake_sink_fail_titles(struct fake_sink *sink, unsigned count);
void fake_sink_fail_flushes(struct fake_sink *sink, unsigned count);
/* Called in each title, before anything else. */
void fake_sink_on_title(struct fake_sink *sink, void (*hook)(void *self), void *self);

struct fake_sink_counts {
    unsigned titles;
    unsigned records;
    unsigned flushes;
    unsigned messages;
};
struct fake_sink_counts fake_sink_get_counts(struct fake_sink *sink);
/* Until so many reports are whole; until so many messages came. */
void fake_sink_wait_reports(struct fake_sink *sink, unsigned count);
void fake_sink_wait_messages(struct fake_sink *sink, unsigned count);

/* Does what was told so far hold this? Titles of records, rows and messages. */
bool fake_sink_has(struct fake_sink *sink, const char *text);
/* The sum of "Cumulative time(ms)" of all rows without indent in records whose title has this
 * group, over all reports. */
long fake_sink_sum_ms(struct fake_sink *sink, const char *group);
/* The times of the last title. */
void fake_sink_last_title(struct fake_sink *sink, int64_t *from_wall_ms, int64_t *till_wall_ms);

#endif
