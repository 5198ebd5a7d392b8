/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outputer.h - where a report goes: three calls in a fixed order; and where messages go.
 *
 * title once, record for the account and then for each group, flush once; no call for an interval
 * in which nothing was sampled. After a call that returns false nothing more of that report is
 * sent; the next report is tried as usual. A deadlock comes between two reports.
 *
 * Owns     texts are borrowed for the call and NUL-terminated; lengths do not count the NUL.
 * Threads  called on the reporter thread only.
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
    /* Threads that wait for each other's locks, as one record; never fails. */
    void (*deadlock)(void *self, const char *title, size_t title_length, const char *rows,
                     size_t rows_length);
    /* A message of the core (log.h); never fails. */
    void (*message)(void *self, enum smp_log_level level, const char *text);
    void *self;
};

#endif
