/* SPDX-License-Identifier: Apache-2.0 */
/*
 * throttle.h - what the sampler may spend: CPU time of its own thread, as a share of one core.
 *
 *   tokens: CPU time, coming in at the limit's rate, going out as it is used
 *   share:  how many of the looks that would be due are made; down when more is used than comes in
 *
 * Past the limit a thread is not polled at every tick but with the probability share (less for one
 * that has used little CPU time for long, wall_poll.c), drawn without regard to what it does just now;
 * what is found is weighted by the inverse of it (intensity.h), and the sum is still the time that
 * passed. Should a tick run out of tokens before a new share has set in, the rest waits in line for
 * the next one.
 *
 * A tick costs something even without looks, most of it for being woken up. Where CPU time is short
 * ticks may take a quarter of it, and are made rarer until they do; the rest is for looks.
 *
 * A start has all to do for the first time: names of methods and lines, new stacks, memory that has
 * not been touched yet. For that there is a reserve, once, beyond the limit: while it lasts no look
 * is put off.
 *
 * What is used for something else, as the end of an interval with thousands of threads, is a debt.
 * It is paid little by little, so that looks go on meanwhile: the first one after a second without
 * any would weigh as much as all others of that second.
 *
 * Owns     nothing; plain data.
 * Threads  one at a time; on the thread whose CPU time it is.
 * Errors   none.
 * Cost     begin, end: one reading of the CPU clock; is_spent: one in SMP_THROTTLE_BATCH calls.
 */
#ifndef SMP_ENGINE_THREADS_THROTTLE_H
#define SMP_ENGINE_THREADS_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    SMP_THROTTLE_WHOLE = 1 << 20,    /* share: every look */
    SMP_THROTTLE_LEAST = 1 << 10,    /* share: one in 1024 */
    SMP_THROTTLE_BATCH = 16,         /* looks between two readings of the clock */
    SMP_THROTTLE_SAVED_MS = 1000,    /* what may be saved up: the limit of so long */
    SMP_THROTTLE_START_MS = 10000,   /* the reserve for a start: the limit of so long, */
    SMP_THROTTLE_START_CPU_MS = 100, /* but at most so much CPU time */
    SMP_THROTTLE_WINDOW_MS = 100,    /* over which use is measured */
    SMP_THROTTLE_WINDOW_TICKS = 8,   /* at least */
    SMP_THROTTLE_STARVED_MS = 100,   /* so long without tokens: one batch all the same */
    SMP_THROTTLE_TICKS_SHARE =
        4,                       /* of what may be spent, what ticks may take without their looks */
    SMP_THROTTLE_DEBT_SHARE = 4, /* of what comes in, what debts may take */
    SMP_THROTTLE_MOST_GAP_MS = 100 /* between two ticks, for what they cost */
};

struct smp_throttle {
    int64_t limit_per_mille;
    int64_t share;
    int64_t tokens_ns;
    int64_t start_ns; /* left of the reserve for the start */
    uint64_t random;
    bool has_begun;
    int64_t now_ns;            /* of the tick */
    int64_t cpu_ns;            /* at its begin */
    int64_t served_ns;         /* when looks were made last */
    uint32_t unchecked;        /* looks since the clock was read */
    bool is_spent;             /* for the rest of the tick */
    int64_t end_cpu_ns;        /* when the looks of the last tick were over */
    int64_t tick_ns;           /* what a tick costs without its looks, on average; 0: not known */
    int64_t window_ns;         /* when the window began */
    int64_t debt_ns;           /* was used for something else and is not paid yet */
    int64_t window_allowed_ns; /* for ticks and looks: what came in, less the debts paid */
    int64_t window_used_ns;    /* by its ticks and their looks */
    uint64_t window_ticks;
    uint64_t served;      /* looks of the window */
    uint64_t put_off;     /* about so many looks of the window were not made */
    uint64_t tick_served; /* looks of the tick */
    bool has_told;        /* in this tick, that it is spent */
};

void smp_throttle_init(struct smp_throttle *throttle, int64_t limit_per_mille, uint64_t seed);
void smp_throttle_set_limit(struct smp_throttle *throttle, int64_t limit_per_mille);
/* What was used while nothing was sampled is not counted. */
void smp_throttle_restart(struct smp_throttle *throttle);

/* A tick begins. */
void smp_throttle_begin(struct smp_throttle *throttle, int64_t now_ns);
/* Its looks are over. */
void smp_throttle_end(struct smp_throttle *throttle);
/* The least time until the next tick, at most SMP_THROTTLE_SAVED_MS; 0: whenever it is due. */
int64_t smp_throttle_tick_gap_ns(struct smp_throttle *throttle);
/* Before each look: true, and it is to be put off. */
bool smp_throttle_is_spent(struct smp_throttle *throttle);
uint64_t smp_throttle_random(struct smp_throttle *throttle);

#endif
