/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary.h - the most important figures of a profile in a few lines: the first record of a report.
 *
 *   20.7 s, 53 threads in 15 groups. CPU: 1.4 of 2. Active: 128 s. Idle: 660 s in 41 threads.
 *   running 28.1 s, runnable 9.0 s, blocked 12.1 s, I/O 3.2 s, waiting 13.0 s; your code: com.acme
 *       (guessed)
 *    1. 13.0 s waiting   StockLedger.audit(StockLedger.java:52)  Thread.sleep    http-nio--exec-
 *    2. 12.1 s blocked   StockLedger.reserve(StockLedger.java:41)  lock of StockLedger, held in
 *       line 52 by http-nio--exec-
 *       4.0 s in 12 more places
 *       9.0 s in no code of yours, most of it in ConcurrentHashMap.get, http-nio--exec-
 *   Garbage collection 0.41 s, JIT 1.3 s, sampler 0.14 s (0.7 % of a CPU).
 *
 * (Three of these lines are only broken here.) The line of a hot spot (hot_spots.h) has its time,
 * with an error bar if that is more than a tenth of it ("0.12 (< 0.50) s": it may as well be
 * nothing); its state; the place, without its package; the method that the place called; and the
 * thread group with the most time and the number of other groups. A blocked spot has the lock and
 * its holder instead of these two. Counted calls follow. More places, and time outside the user's
 * code, have a line if they are a hundredth of the active time.
 *
 * Idle threads are those of groups with idle time. With the CPU clock, or if states are not known,
 * there is no active and no idle time, and a line says which time is shown. CPU is shown with the
 * number of CPUs that the process may use; without the group [JVM] it is that of Java threads only.
 *
 * Threads  immutable after init.
 * Errors   init: those of hot_spots.h. lines: out remembers a failure (bytes.h). make: those of
 *          out, if it has no memory even for the line that reports the lack.
 * Cost     init: that of hot_spots.h, and one pass over the groups.
 */
#ifndef SMP_EXPORT_SUMMARY_H
#define SMP_EXPORT_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "export/hot_spots.h"

#define SMP_SUMMARY_TITLE "Summary."

enum {
    SMP_SUMMARY_WIDTH = 130,         /* the longest line */
    SMP_SUMMARY_LINES = 25,          /* the most, with the title */
    SMP_SUMMARY_BYTES = 25 * 130 * 4 /* the most for all lines */
};

struct smp_summary {
    const struct smp_profile *profile;
    struct smp_hot_spots spots;
    struct smp_amounts amounts; /* the sum over all sampled groups but [JVM] */
    int64_t cpu_ns;             /* the sum over all groups */
    int64_t gc_ns;
    int64_t jit_ns;
    bool has_jvm; /* there is a group [JVM] */
    uint64_t threads;
    uint64_t groups;
    uint64_t idle_threads;
    bool is_made; /* make has written its lines */
};

SMP_CHECKED enum smp_status smp_summary_init(struct smp_summary *summary, struct smp_quota *quota,
                                             const struct smp_profile *profile);

/* Appends the lines, each with its end. */
void smp_summary_lines(const struct smp_summary *summary, struct smp_bytes *out);

/* Calls init, with the quota of out, and lines. out must be empty. Lack of memory is not a failure,
 * because a report has more than its summary: out then has one line that says so, and only is_made
 * of summary is valid. */
SMP_CHECKED enum smp_status smp_summary_make(struct smp_summary *summary,
                                             const struct smp_profile *profile,
                                             struct smp_bytes *out);

#endif
