/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reporter.h - the report thread: a bounded queue of reports in front of the outputer.
 *
 *   sampler ── offer ──► [ r r r r ] (+1 for the last) ──► report_text ──► outputer
 *                              └──► interval queue: from the last report up to this interval
 *
 * offer never waits for output. Callers that want a report wait on its ticket. Between reports,
 * messages and deadlock records of the log go to the outputer. The report thread is a reader of
 * the interval queue, and keeps it short. Without memory to merge its intervals, a report becomes
 * several.
 *
 * Owns     its thread. Profiles wait in the interval queue, which it borrows.
 * Threads  any. Calls no function of others while it holds its lock.
 * Errors   a failed report is counted, its ticket has the status, and the next report is tried.
 * Cost     offer: one lock. No allocation.
 */
#ifndef SMP_ENGINE_SESSION_REPORTER_H
#define SMP_ENGINE_SESSION_REPORTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/status.h"
#include "engine/jvm.h"
#include "engine/session/interval_queue.h"
#include "export/report.h"
#include "model/profile.h"

enum { SMP_MAX_QUEUED_SNAPSHOTS = 4 };

struct smp_reporter;

/* The result of a report, for a caller that waits for it. Must be zeroed before offer. */
struct smp_report_ticket {
    bool is_done; /* guarded by the reporter's lock */
    enum smp_status status;
};

struct smp_reporter_stats {
    uint64_t written; /* reports with samples that the outputer has accepted */
    uint64_t failed;
    uint64_t cut;      /* records truncated at their size limit */
    uint64_t dropped;  /* intervals that the interval queue has dropped */
    uint64_t coarse;   /* intervals of its windows that are too long */
    uint64_t released; /* reports whose profiles have been released */
    unsigned queued;   /* waiting reports, without the one that is being written */
    bool is_writing;
    bool is_ending;     /* there will be no more reports */
    int64_t own_cpu_ns; /* CPU time of the thread, up to the last report */
};

/* log and intervals must outlive it. */
SMP_CHECKED enum smp_status smp_reporter_create(struct smp_quota *quota, struct smp_log *log,
                                                struct smp_interval_queue *intervals,
                                                const struct smp_attach *attach,
                                                const struct smp_outputer *outputer,
                                                struct smp_reporter **out);
/* The thread must not be running. */
void smp_reporter_destroy(struct smp_reporter *reporter);

/* SMP_ETHREAD, or the status of attach.enter. May be called again after finish. */
SMP_CHECKED enum smp_status smp_reporter_start(struct smp_reporter *reporter);
/* Ends the thread and joins it. With drain, writes queued reports first; otherwise drops them. */
void smp_reporter_finish(struct smp_reporter *reporter, bool drain);
bool smp_reporter_is_caller(struct smp_reporter *reporter);

/* Called on the thread that calls offer, so that no other thread takes the room in between. */
bool smp_reporter_has_room(struct smp_reporter *reporter);
/* Queues a report and takes ownership of the profile. Both queues must have room, unless it is the
 * last report. ticket may be NULL. */
void smp_reporter_offer(struct smp_reporter *reporter, struct smp_profile *profile,
                        struct smp_export_style style, struct smp_report_ticket *ticket);
/* Waits until the ticket's report is written or has failed. Returns its status. */
SMP_CHECKED enum smp_status smp_reporter_wait(struct smp_reporter *reporter,
                                              struct smp_report_ticket *ticket);

/* On the report thread while it writes a report: returns the report's profile, which the caller
 * must release. Otherwise returns NULL. */
struct smp_profile *smp_reporter_current(struct smp_reporter *reporter);

/* Waits until more than `released` reports are released. Returns false if no report is left. */
bool smp_reporter_wait_for_release(struct smp_reporter *reporter, uint64_t released);

/* Called when there are new messages in the log. */
void smp_reporter_wake(struct smp_reporter *reporter);
void smp_reporter_get_stats(struct smp_reporter *reporter, struct smp_reporter_stats *out);

#endif
