/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/threads/throttle.h"

#include "base/clock.h"
#include "base/random.h"

#define NS_PER_MS INT64_C(1000000)

static int64_t most_tokens(const struct smp_throttle *throttle)
{
    return SMP_THROTTLE_SAVED_MS * NS_PER_MS / 1000 * throttle->limit_per_mille;
}

static int64_t reserve_ns(int64_t limit_per_mille)
{
    const int64_t ns = SMP_THROTTLE_START_MS * NS_PER_MS / 1000 * limit_per_mille;
    const int64_t most_ns = SMP_THROTTLE_START_CPU_MS * NS_PER_MS;

    return ns < most_ns ? ns : most_ns;
}

void smp_throttle_init(struct smp_throttle *throttle, int64_t limit_per_mille, uint64_t seed)
{
    *throttle = (struct smp_throttle){
        .limit_per_mille = limit_per_mille,
        .share = SMP_THROTTLE_WHOLE,
        .random = seed,
    };
    throttle->tokens_ns = most_tokens(throttle);
    throttle->start_ns = reserve_ns(limit_per_mille);
}

void smp_throttle_set_limit(struct smp_throttle *throttle, int64_t limit_per_mille)
{
    const int64_t before = throttle->limit_per_mille;

    if (limit_per_mille == before)
        return;
    /* A lower one does not say whether less has to be done. */
    if (limit_per_mille > before)
        throttle->share = throttle->share * limit_per_mille / before;
    if (throttle->share > SMP_THROTTLE_WHOLE)
        throttle->share = SMP_THROTTLE_WHOLE;
    throttle->limit_per_mille = limit_per_mille;
    throttle->tokens_ns = most_tokens(throttle);
}

void smp_throttle_restart(struct smp_throttle *throttle)
{
    throttle->has_begun = false;
}

uint64_t smp_throttle_random(struct smp_throttle *throttle)
{
    return smp_random_next(&throttle->random);
}

/* What may be used in so long. */
static int64_t allowed_ns(const struct smp_throttle *throttle, int64_t ns)
{
    return ns / 1000 * throttle->limit_per_mille;
}

static void begin_window(struct smp_throttle *throttle, int64_t now_ns)
{
    throttle->window_ns = now_ns;
    throttle->window_allowed_ns = 0;
    throttle->window_used_ns = 0;
    throttle->window_ticks = 0;
    throttle->served = 0;
    throttle->put_off = 0;
}

/*
 * The share with which the looks that were wanted would have cost what was allowed, if cost goes
 * with looks: a step at a time, because costs vary and a part of them does not.
 */
static void adjust(struct smp_throttle *throttle)
{
    const double allowed = (double)throttle->window_allowed_ns;
    const double used = (double)throttle->window_used_ns;
    const double wanted = (double)(throttle->served + throttle->put_off);
    double factor = used > 0 ? allowed / used : 2.0;

    if (wanted > 0)
        factor *= (double)throttle->served / wanted;
    /* What was saved up is there to be used: by a start, or a report. */
    if (factor < 1 && throttle->tokens_ns > most_tokens(throttle) / 2)
        return;
    if (factor < 0.25)
        factor = 0.25;
    if (factor > 1.25)
        factor = 1.25;
    throttle->share = (int64_t)((double)throttle->share * factor);
    if (throttle->share > SMP_THROTTLE_WHOLE)
        throttle->share = SMP_THROTTLE_WHOLE;
    if (throttle->share < SMP_THROTTLE_LEAST)
        throttle->share = SMP_THROTTLE_LEAST;
}

/* Between two ticks reports are ended now and then: one such does not count for more than a few.
 * Returns what was used beyond that. */
static int64_t measure_tick(struct smp_throttle *throttle, int64_t cpu_ns)
{
    enum { MOST = 4, SLOWNESS = 8 };
    const int64_t used_ns = cpu_ns - throttle->end_cpu_ns;
    int64_t cost_ns = used_ns;

    if (throttle->tick_ns == 0)
        throttle->tick_ns = cost_ns;
    if (cost_ns > MOST * throttle->tick_ns)
        cost_ns = MOST * throttle->tick_ns;
    throttle->tick_ns += (cost_ns - throttle->tick_ns) / SLOWNESS;
    throttle->window_used_ns += cost_ns;
    return used_ns - cost_ns;
}

/* What may be used for ticks and their looks, of what has come in. */
static int64_t pay_debt(struct smp_throttle *throttle, int64_t income_ns)
{
    const int64_t part_ns = income_ns / SMP_THROTTLE_DEBT_SHARE;
    const int64_t paid_ns = part_ns < throttle->debt_ns ? part_ns : throttle->debt_ns;

    throttle->debt_ns -= paid_ns;
    return income_ns - paid_ns;
}

/* Tokens do not run out while the reserve for the start lasts: what was saved up goes first. Of
 * thousands of threads the first tick takes all of that: for them it would be gone in a moment. */
static void draw_on_reserve(struct smp_throttle *throttle)
{
    int64_t part_ns = most_tokens(throttle) - throttle->tokens_ns;

    if (throttle->tokens_ns > most_tokens(throttle) / 2)
        return;
    if (throttle->is_spent)
        throttle->start_ns = 0;
    if (part_ns > throttle->start_ns)
        part_ns = throttle->start_ns;
    throttle->start_ns -= part_ns;
    throttle->tokens_ns += part_ns;
}

/* The time since the last tick began, and what was used in it. */
static void settle_accounts(struct smp_throttle *throttle, int64_t now_ns, int64_t cpu_ns)
{
    const int64_t other_ns = measure_tick(throttle, cpu_ns);

    throttle->debt_ns += other_ns;
    /* More is forgiven: it would leave a short interval without looks. */
    if (throttle->debt_ns > most_tokens(throttle))
        throttle->debt_ns = most_tokens(throttle);
    const int64_t income_ns = pay_debt(throttle, allowed_ns(throttle, now_ns - throttle->now_ns));
    throttle->tokens_ns += income_ns - (cpu_ns - throttle->cpu_ns - other_ns);
    draw_on_reserve(throttle);
    throttle->window_allowed_ns += income_ns;
}

void smp_throttle_end(struct smp_throttle *throttle)
{
    throttle->end_cpu_ns = smp_clock_own_cpu_ns();
    throttle->window_used_ns += throttle->end_cpu_ns - throttle->cpu_ns;
}

int64_t smp_throttle_tick_gap_ns(struct smp_throttle *throttle)
{
    enum { JITTER_SHARE = 10 };
    const int64_t left_ns = throttle->tokens_ns - (throttle->end_cpu_ns - throttle->cpu_ns);
    int64_t gap_ns =
        throttle->tick_ns * 1000 / throttle->limit_per_mille * SMP_THROTTLE_TICKS_SHARE;

    if (throttle->share == SMP_THROTTLE_WHOLE && left_ns > 0)
        return 0;
    if (gap_ns > SMP_THROTTLE_MOST_GAP_MS * NS_PER_MS)
        gap_ns = SMP_THROTTLE_MOST_GAP_MS * NS_PER_MS;
    /* What was used too much is paid before looks go on: else they would be put off one by one, and
     * then be drawn as if they cost so much. */
    if (-left_ns * 1000 / throttle->limit_per_mille > gap_ns)
        gap_ns = -left_ns * 1000 / throttle->limit_per_mille;
    if (gap_ns > SMP_THROTTLE_SAVED_MS * NS_PER_MS)
        gap_ns = SMP_THROTTLE_SAVED_MS * NS_PER_MS;
    /* Not in step with anything. */
    return gap_ns - gap_ns / JITTER_SHARE +
           (int64_t)(smp_throttle_random(throttle) % (uint64_t)(2 * gap_ns / JITTER_SHARE + 1));
}

void smp_throttle_begin(struct smp_throttle *throttle, int64_t now_ns)
{
    const int64_t cpu_ns = smp_clock_own_cpu_ns();
    const int64_t most_ns = most_tokens(throttle);

    if (!throttle->has_begun) {
        throttle->has_begun = true;
        throttle->served_ns = now_ns;
        begin_window(throttle, now_ns);
    } else {
        settle_accounts(throttle, now_ns, cpu_ns);
    }
    if (throttle->tokens_ns > most_ns)
        throttle->tokens_ns = most_ns;
    if (throttle->tokens_ns < -most_ns)
        throttle->tokens_ns = -most_ns;
    throttle->now_ns = now_ns;
    throttle->cpu_ns = cpu_ns;
    throttle->unchecked = 0;
    throttle->tick_served = 0;
    throttle->has_told = false;
    throttle->is_spent = throttle->tokens_ns <= 0 &&
                         now_ns - throttle->served_ns < SMP_THROTTLE_STARVED_MS * NS_PER_MS;
    throttle->window_ticks++;
    if (now_ns - throttle->window_ns >= SMP_THROTTLE_WINDOW_MS * NS_PER_MS &&
        throttle->window_ticks > SMP_THROTTLE_WINDOW_TICKS) {
        adjust(throttle);
        begin_window(throttle, now_ns);
    }
}

bool smp_throttle_is_spent(struct smp_throttle *throttle)
{
    if (!throttle->is_spent && throttle->unchecked >= SMP_THROTTLE_BATCH) {
        throttle->unchecked = 0;
        throttle->is_spent = smp_clock_own_cpu_ns() - throttle->cpu_ns >= throttle->tokens_ns;
    }
    if (throttle->is_spent) {
        /* How many are left is not known: as many as could be served, to begin with. */
        if (!throttle->has_told)
            throttle->put_off += throttle->tick_served + 1;
        throttle->has_told = true;
        return true;
    }
    throttle->tick_served++;
    throttle->unchecked++;
    throttle->served++;
    throttle->served_ns = throttle->now_ns;
    return false;
}
