/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule.h - when the next tick and the next report are due. Pure: time is a parameter.
 *
 *   due += interval * (0.5 .. 1.5)         so that ticks do not keep a phase of a periodic program
 *   report_due += period                   a fixed cadence from the start
 *
 * A program that loops in exactly one interval is the worst case: only the jitter changes the phase
 * in which ticks meet it. With a jitter of a tenth of an interval, the share of one half of such a
 * loop of 20 ms had a standard deviation of 6 % after 30 s; a jitter of half an interval makes that
 * 1.3 % (test_schedule). Each gap counts from the tick before it. Ticks at random times in fixed
 * slots would be biased: the gap, which is a tick's weight, would depend on the phase.
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
/* Sets new lengths. If a length stays the same, so does its deadline. */
void smp_schedule_set(struct smp_schedule *schedule, int64_t interval_ns, int64_t period_ns,
                      int64_t now_ns);
/* After a pause: the next tick is one jittered interval after now. */
void smp_schedule_restart_ticks(struct smp_schedule *schedule, int64_t now_ns);

bool smp_schedule_tick_is_due(const struct smp_schedule *schedule, int64_t now_ns);
/* Call it when a due tick begins: sets the next deadline. True: the tick is late. */
bool smp_schedule_begin_tick(struct smp_schedule *schedule, int64_t now_ns);

/* Delays the next tick to at_ns at least. Returns how many ticks are left out. */
uint64_t smp_schedule_hold_tick(struct smp_schedule *schedule, int64_t at_ns);
/* Leaves out at most so many ticks before at_ns. Later ticks keep their times. Returns how many
 * were left out. */
uint64_t smp_schedule_skip_ticks(struct smp_schedule *schedule, int64_t at_ns, uint64_t most);

bool smp_schedule_report_is_due(const struct smp_schedule *schedule, int64_t now_ns);
/* Call it when a due report begins: moves its deadline by whole periods into the future. */
void smp_schedule_begin_report(struct smp_schedule *schedule, int64_t now_ns);

/* Returns the nearest deadline: of reports, and of ticks if `ticking`. INT64_MAX: never. */
int64_t smp_schedule_next_ns(const struct smp_schedule *schedule, bool ticking);

#endif
