/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule.h - computes when the next tick and the next report are due. Time is a parameter.
 *
 *   due += interval * (0.5 .. 1.5)         so that ticks do not stay in phase with the program
 *   report_due += period                   a fixed cadence from the start
 *
 * The worst case is a program with a loop of exactly one interval, because only the jitter changes
 * the phase of the ticks. For a loop of 20 ms, the measured share of one half of the loop has a
 * standard deviation of 1.3 % after 30 s; with a jitter of a tenth of an interval it was 6 %
 * (test_schedule). Each gap starts at the previous tick. Ticks at random times in fixed slots
 * would be biased, because the gap, which is a tick's weight, would depend on the phase.
 *
 * A tick is late if it begins more than half an interval after its due time. Missed ticks are not
 * repeated: the next tick comes one interval from now.
 *
 * Threads  one at a time.
 * Cost     a few additions.
 */
#ifndef SMP_ENGINE_SESSION_SCHEDULE_H
#define SMP_ENGINE_SESSION_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

struct smp_schedule {
    int64_t interval_ns;
    int64_t period_ns; /* of reports; 0 = none */
    int64_t due_ns;    /* of the next tick */
    int64_t report_due_ns;
    uint64_t random;
};

/* The first tick is due one jittered interval after now, and the first report one period after
 * now. */
void smp_schedule_init(struct smp_schedule *schedule, int64_t interval_ns, int64_t period_ns,
                       int64_t now_ns, uint64_t seed);
/* Sets new lengths. An unchanged length keeps its deadline. */
void smp_schedule_set(struct smp_schedule *schedule, int64_t interval_ns, int64_t period_ns,
                      int64_t now_ns);
/* Called after a pause: the next tick is one jittered interval after now. */
void smp_schedule_restart_ticks(struct smp_schedule *schedule, int64_t now_ns);

bool smp_schedule_tick_is_due(const struct smp_schedule *schedule, int64_t now_ns);
/* Called when a due tick begins: sets the next deadline. Returns whether the tick is late. */
bool smp_schedule_begin_tick(struct smp_schedule *schedule, int64_t now_ns);

/* Delays the next tick at least until at_ns. Returns the number of skipped ticks. */
uint64_t smp_schedule_hold_tick(struct smp_schedule *schedule, int64_t at_ns);
/* Skips up to `most` ticks before at_ns, and returns how many. Later ticks keep their times. */
uint64_t smp_schedule_skip_ticks(struct smp_schedule *schedule, int64_t at_ns, uint64_t most);

bool smp_schedule_report_is_due(const struct smp_schedule *schedule, int64_t now_ns);
/* Called when a due report begins: moves its deadline by whole periods into the future. */
void smp_schedule_begin_report(struct smp_schedule *schedule, int64_t now_ns);

/* Returns the next deadline of reports, and of ticks if `ticking`, or INT64_MAX. */
int64_t smp_schedule_next_ns(const struct smp_schedule *schedule, bool ticking);

#endif
