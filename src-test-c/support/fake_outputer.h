/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_outputer.h - where reports of a session go in a test: kept as text, slow or failing on
 * demand.
 *
 *   struct fake_outputer *outputer = fake_outputer_create();
 *   fake_outputer_shut(outputer);                   the next report waits in title
 *   fake_outputer_wait_inside(outputer);            until it does
 *   fake_outputer_open(outputer);
 *   fake_outputer_wait_reports(outputer, 3);
 *
 * Owns     its text, from malloc.
 * Threads  any; waits are on a condition, and fail the test after a minute.
 * Errors   fail the test.
 */
#ifndef SMP_SUPPORT_FAKE_OUTPUTER_H
#define SMP_SUPPORT_FAKE_OUTPUTER_H

#include <stdbool.h>
#include <stddef.h>

#include "export/report.h"

struct fake_outputer;

struct fake_outputer *fake_outputer_create(void);
void fake_outputer_destroy(struct fake_outputer *outputer);
struct smp_outputer fake_outputer_interface(struct fake_outputer *outputer);

/* Reports wait at their title from now on, until open. */
void fake_outputer_shut(struct fake_outputer *outputer);
void fake_outputer_open(struct fake_outputer *outputer);
/* Until a report waits. */
void fake_outputer_wait_inside(struct fake_outputer *outputer);

/* The next so many reports fail: at their title, or at the end. */
void fake_outputer_fail_titles(struct fake_outputer *outputer, unsigned count);
void fake_outputer_fail_flushes(struct fake_outputer *outputer, unsigned count);
/* Called in each title, before anything else. */
void fake_outputer_on_title(struct fake_outputer *outputer, void (*hook)(void *self), void *self);

struct fake_outputer_counts {
    unsigned titles;
    unsigned records;
    unsigned flushes;
    unsigned messages;
    unsigned deadlocks;
};
struct fake_outputer_counts fake_outputer_get_counts(struct fake_outputer *outputer);
/* Until so many reports are whole; until so many messages came. */
void fake_outputer_wait_reports(struct fake_outputer *outputer, unsigned count);
void fake_outputer_wait_messages(struct fake_outputer *outputer, unsigned count);

/* Does the output so far contain this? Titles of records, rows and messages. */
bool fake_outputer_has(struct fake_outputer *outputer, const char *text);
/* The sum of "Cumulative time(ms)" of all rows without indent in records whose title has this
 * group, over all reports. */
long fake_outputer_sum_ms(struct fake_outputer *outputer, const char *group);
/* The times of the last title. */
void fake_outputer_last_title(struct fake_outputer *outputer, int64_t *from_wall_ms,
                              int64_t *till_wall_ms);

#endif
