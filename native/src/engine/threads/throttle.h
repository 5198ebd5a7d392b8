/* SPDX-License-Identifier: Apache-2.0 */
/*
 * throttle.h - the overhead limit: how much CPU time the sampler thread may use, as a share of one core.
 *
 *   tokens   CPU time: come in at the limit's rate, go out as it is used
 *   share    of the polls that would be due: falls when more is used than comes in
 *   gap      between two ticks: grows until ticks without their polls take a quarter of what comes in
 *
 * Past the limit a thread is polled with the probability share (a quiet one less, poll_schedule.c),
 * whatever it does at that tick, and its polls weigh the inverse (intensity.h): the sum is still the
 * time that passed. When a tick runs out of tokens, the rest of its polls wait for the next tick.
 *
 * After a start all is done for the first time: names of methods and lines, new stacks, untouched
 * memory. A reserve beyond the limit, once, pays for that: while it lasts no poll waits.
 *
 * CPU time that is used for something else (the end of an interval with thousands of threads) is a debt,
 * paid little by little. If polls waited for it, the first one after a second without any would weigh as
 * much as all others of that second.
 *
 * Owns     plain data.
 * Threads  one at a time; on the thread whose CPU time it is.
 * Cost     begin, end: one reading of the CPU clock; is_spent: one in SMP_THROTTLE_BATCH calls.
 */
#ifndef SMP_ENGINE_THREADS_THROTTLE_H
#define SMP_ENGINE_THREADS_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    SMP_THROTTLE_WHOLE = 1 << 20,    /* share: every poll */
    SMP_THROTTLE_LEAST = 1 << 10,    /* share: one in 1024 */
    SMP_THROTTLE_BATCH = 16,         /* polls between two readings of the clock */
    SMP_THROTTLE_SAVED_MS = 1000,    /* the most tokens: what comes in in so long */
    SMP_THROTTLE_START_MS = 10000,   /* the reserve for a start: what comes in in so long, */
    SMP_THROTTLE_START_CPU_MS = 100, /* and at most so much CPU time */
    SMP_THROTTLE_WINDOW_MS = 100,    /* over which use is measured */
    SMP_THROTTLE_WINDOW_TICKS = 8,   /* at least */
    SMP_THROTTLE_STARVED_MS = 100,   /* after so long without tokens: one batch */
    SMP_THROTTLE_TICKS_SHARE = 4,    /* of what comes in, for ticks without their polls */
    SMP_THROTTLE_DEBT_SHARE = 4,     /* of what comes in, for debts */
    SMP_THROTTLE_MOST_GAP_MS = 100   /* between two ticks, for their cost */
};

/* Use of tokens, over SMP_THROTTLE_WINDOW_MS at least. */
struct smp_throttle_window {
    int64_t begun_ns;
    int64_t allowed_ns; /* for ticks and polls: what came in, less the debts paid */
    int64_t used_ns;    /* by its ticks and their polls */
    uint64_t ticks;
    uint64_t polls;
    uint64_t waiting; /* about so many polls that were due were not made */
};

struct smp_throttle {
    int64_t limit_per_mille;
    int64_t share;
    int64_t tokens_ns;
    int64_t start_ns; /* left of the reserve for the start */
    int64_t debt_ns;  /* used for something else, and not paid yet */
    uint64_t random;
    bool has_begun;
    int64_t now_ns;      /* of the tick */
    int64_t cpu_ns;      /* at its begin */
    int64_t end_cpu_ns;  /* when the polls of the last tick were over */
    int64_t tick_ns;     /* what a tick costs without its polls, on average; 0: not known */
    int64_t polled_ns;   /* the tick of the last poll */
    uint64_t tick_polls; /* of this tick */
    uint32_t unchecked;  /* polls since the clock was read */
    bool is_spent;       /* for the rest of the tick */
    bool is_counted;     /* in waiting: that this tick is spent */
    struct smp_throttle_window window;
};

void smp_throttle_init(struct smp_throttle *throttle, int64_t limit_per_mille, uint64_t seed);
void smp_throttle_set_limit(struct smp_throttle *throttle, int64_t limit_per_mille);
/* After a pause: what was used in it does not count. */
void smp_throttle_restart(struct smp_throttle *throttle);

/* A tick begins. */
void smp_throttle_begin(struct smp_throttle *throttle, int64_t now_ns);
/* The polls of the tick are over. */
void smp_throttle_end(struct smp_throttle *throttle);
/* The least time until the next tick, at most SMP_THROTTLE_SAVED_MS; 0: none. */
int64_t smp_throttle_tick_gap_ns(struct smp_throttle *throttle);
/* Before each poll. True: it has to wait for another tick. */
bool smp_throttle_is_spent(struct smp_throttle *throttle);
uint64_t smp_throttle_random(struct smp_throttle *throttle);

#endif
