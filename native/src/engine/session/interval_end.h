/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interval_end.h - ends intervals: seals them, completes the profile, hands it to the reporter or
 * to the readers. The sampler has made its last tick before that.
 *
 * Owns     what it has counted of the reporter.
 * Threads  the sampler thread only.
 * Errors   SMP_ENOMEM, SMP_EQUOTA: the interval goes on, and nothing is lost.
 * Cost     a seal.
 */
#ifndef SMP_ENGINE_SESSION_INTERVAL_END_H
#define SMP_ENGINE_SESSION_INTERVAL_END_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/status.h"
#include "engine/session/interval_queue.h"
#include "engine/session/reporter.h"
#include "engine/session/sampler.h"
#include "model/options.h"

struct smp_interval_end {
    struct smp_quota *quota;
    struct smp_log *log;
    struct smp_interval_queue *intervals;
    struct smp_reporter *reporter;
    struct smp_sampler *sampler;
    const struct smp_options *options; /* the running ones */
    struct smp_pause_source pauses;
    struct smp_reporter_stats counted; /* the reporter's figures that the sampler has counted */
    int64_t sealed_cpu_ns;             /* of all internal threads, up to the last seal */
};

/* Room for one more report. */
bool smp_interval_end_has_room(const struct smp_interval_end *end);
/* Counts what the reporter has met since the last call, in the interval that runs now. */
void smp_interval_end_count(struct smp_interval_end *end);

/* For a caller that waits for the report on ticket. */
SMP_CHECKED enum smp_status smp_interval_end_report(struct smp_interval_end *end, int64_t now_ns,
                                                    struct smp_report_ticket *ticket);
/* On the cadence: without memory the interval goes on, counted as merged. */
void smp_interval_end_periodic(struct smp_interval_end *end, int64_t now_ns);
/* Without a report, for the readers. */
SMP_CHECKED enum smp_status smp_interval_end_append(struct smp_interval_end *end, int64_t now_ns);
/* The same for the windows, on their cadence: where there is no room the interval goes on. */
void smp_interval_end_slot(struct smp_interval_end *end, int64_t now_ns);
/* The last one: waits for memory that reports give back, because nothing is sampled any more. */
SMP_CHECKED enum smp_status smp_interval_end_last(struct smp_interval_end *end, int64_t now_ns,
                                                  int64_t wall_ms);

/* The next report covers two intervals. */
void smp_interval_end_merge(struct smp_interval_end *end);

#endif
