/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_outputer.h - where reports of a session go in a test: kept as text, slow or failing on
 * demand.
 *
 *   struct fake_outputer *outputer = fake_outputer_create();
 *   fake_outputer_shut(outputer);                   the next report waits in title
 *   fake_outputer_wait_inside(outputer);            until it is there
 *   fake_outputer_open(outputer);
 *   fake_outputer_wait_reports(outputer, 3);
 *
 * Owns     its text, from malloc.
 * Threads  any. Waits have no time limit of their own; ctest's limit ends a test that hangs.
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

/* Makes reports wait at their title until fake_outputer_open. */
void fake_outputer_shut(struct fake_outputer *outputer);
void fake_outputer_open(struct fake_outputer *outputer);
/* Waits until a report waits at its title. */
void fake_outputer_wait_inside(struct fake_outputer *outputer);

/* Makes this many coming reports fail at their title, or at their end. */
void fake_outputer_fail_titles(struct fake_outputer *outputer, unsigned count);
void fake_outputer_fail_flushes(struct fake_outputer *outputer, unsigned count);
/* Called in each title, before the report waits or fails. */
void fake_outputer_on_title(struct fake_outputer *outputer, void (*hook)(void *self), void *self);

struct fake_outputer_counts {
    unsigned titles;
    unsigned records;
    unsigned flushes;
    unsigned messages;
    unsigned deadlocks;
};
struct fake_outputer_counts fake_outputer_get_counts(struct fake_outputer *outputer);
/* Waits for this many complete reports; for this many messages. */
void fake_outputer_wait_reports(struct fake_outputer *outputer, unsigned count);
void fake_outputer_wait_messages(struct fake_outputer *outputer, unsigned count);

/* Returns whether the output so far contains the text. Output: titles of records, rows and
 * messages. */
bool fake_outputer_has(struct fake_outputer *outputer, const char *text);
/* The sum of "Cumulative time(ms)" of all rows without indent in records whose title has this
 * group, over all reports. */
long fake_outputer_sum_ms(struct fake_outputer *outputer, const char *group);
/* The times of the last title. */
void fake_outputer_last_title(struct fake_outputer *outputer, int64_t *from_wall_ms,
                              int64_t *till_wall_ms);

#endif
