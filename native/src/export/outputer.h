/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outputer.h - the receiver of reports, by three calls in a fixed order, and of messages.
 *
 * A report is one title, one record for the account and one for each group, and one flush. An
 * interval without samples makes no call. After a call that returns false the rest of that report
 * is not sent; the next report is tried as usual. A deadlock is sent between two reports.
 *
 * Owns     texts are borrowed for the call and NUL-terminated; lengths do not count the NUL.
 * Threads  all calls are on the reporter thread.
 * Errors   false: the output failed.
 */
#ifndef SMP_EXPORT_OUTPUTER_H
#define SMP_EXPORT_OUTPUTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"

struct smp_outputer {
    bool (*title)(void *self, int64_t from_wall_ms, int64_t till_wall_ms);
    bool (*record)(void *self, const char *title, size_t title_length, const char *rows,
                   size_t rows_length);
    bool (*flush)(void *self);
    /* Sends threads that wait for each other's locks, as one record; never fails. */
    void (*deadlock)(void *self, const char *title, size_t title_length, const char *rows,
                     size_t rows_length);
    /* Sends a message of the core (log.h); never fails. */
    void (*message)(void *self, enum smp_log_level level, const char *text);
    void *self;
};

#endif
