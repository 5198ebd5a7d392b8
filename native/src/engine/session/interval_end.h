/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interval_end.h - ends intervals: finishes the interval, completes the profile, and passes it to
 * the reporter or the readers. The caller has already made the interval's last tick.
 *
 * Owns     the last counted figures of the reporter.
 * Threads  the sampler thread only.
 * Errors   SMP_ENOMEM, SMP_EQUOTA: the interval continues, and nothing is lost.
 * Cost     see smp_sampler_finish_interval.
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
    const struct smp_options *options; /* in force */
    struct smp_pause_source pauses;
    struct smp_os_thread_source os_threads;
    struct smp_reporter_stats counted; /* figures that the sampler has already counted */
    int64_t finished_cpu_ns;           /* of all internal threads, up to the end of the last
                                        * interval */
};

/* Returns whether there is room for another report. */
bool smp_interval_end_has_room(const struct smp_interval_end *end);
/* Counts the reporter's events since the last call in the running interval. */
void smp_interval_end_count(struct smp_interval_end *end);

/* Ends the interval for a caller that waits for the report on ticket. */
SMP_CHECKED enum smp_status smp_interval_end_report(struct smp_interval_end *end, int64_t now_ns,
                                                    struct smp_report_ticket *ticket);
/* Ends the interval for a periodic report. Without memory the interval continues and counts as
 * merged. */
void smp_interval_end_periodic(struct smp_interval_end *end, int64_t now_ns);
/* Ends the interval for the readers, without a report. */
SMP_CHECKED enum smp_status smp_interval_end_append(struct smp_interval_end *end, int64_t now_ns);
/* Ends the interval for the windows. Without room the interval continues. */
void smp_interval_end_slot(struct smp_interval_end *end, int64_t now_ns);
/* Ends the last interval. May wait for reports to free memory, because sampling has ended. */
SMP_CHECKED enum smp_status smp_interval_end_last(struct smp_interval_end *end, int64_t now_ns,
                                                  int64_t wall_ms);

/* Counts a merge: the next report covers two intervals. */
void smp_interval_end_merge(struct smp_interval_end *end);

#endif
