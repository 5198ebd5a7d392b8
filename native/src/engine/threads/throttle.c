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
    /* A lower limit does not say that it is exceeded. */
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

/* The tokens that come in in so long. */
static int64_t income_of(const struct smp_throttle *throttle, int64_t ns)
{
    return ns / 1000 * throttle->limit_per_mille;
}

/*
 * The share with which all due polls would have cost what was allowed, if cost is proportional to polls.
 * In steps, because costs vary, and a part of them does not depend on polls.
 */
static void adjust_share(struct smp_throttle *throttle)
{
    const double allowed = (double)throttle->window.allowed_ns;
    const double used = (double)throttle->window.used_ns;
    const double wanted = (double)(throttle->window.polls + throttle->window.waiting);
    double factor = used > 0 ? allowed / used : 2.0;

    if (wanted > 0)
        factor *= (double)throttle->window.polls / wanted;
    /* Saved tokens are there to be used, by a start or a report. */
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

/* Learns the cost of a tick without its polls. The end of an interval may lie between two ticks: it counts
 * as MOST ticks at most. Returns what was used beyond that. */
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
    throttle->window.used_ns += cost_ns;
    return used_ns - cost_ns;
}

/* Pays a part of the debt. Returns the rest of the income. */
static int64_t pay_debt(struct smp_throttle *throttle, int64_t income_ns)
{
    const int64_t part_ns = income_ns / SMP_THROTTLE_DEBT_SHARE;
    const int64_t paid_ns = part_ns < throttle->debt_ns ? part_ns : throttle->debt_ns;

    throttle->debt_ns -= paid_ns;
    return income_ns - paid_ns;
}

/* Fills tokens up from the reserve for the start, after half of the saved ones are gone. The first tick
 * of thousands of threads would use up the reserve at once: it ends there. */
static void use_reserve(struct smp_throttle *throttle)
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

/* The time since the last tick began: tokens that came in, and that were used. */
static void update_tokens(struct smp_throttle *throttle, int64_t now_ns, int64_t cpu_ns)
{
    const int64_t other_ns = measure_tick(throttle, cpu_ns);

    throttle->debt_ns += other_ns;
    /* A larger debt is forgiven: it would leave a short interval without polls. */
    if (throttle->debt_ns > most_tokens(throttle))
        throttle->debt_ns = most_tokens(throttle);
    const int64_t income_ns = pay_debt(throttle, income_of(throttle, now_ns - throttle->now_ns));
    throttle->tokens_ns += income_ns - (cpu_ns - throttle->cpu_ns - other_ns);
    use_reserve(throttle);
    throttle->window.allowed_ns += income_ns;
}

void smp_throttle_end(struct smp_throttle *throttle)
{
    throttle->end_cpu_ns = smp_clock_own_cpu_ns();
    throttle->window.used_ns += throttle->end_cpu_ns - throttle->cpu_ns;
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
    /* Used beyond the tokens: polls that then waited one by one would look as if they cost so much. */
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
        throttle->polled_ns = now_ns;
        throttle->window = (struct smp_throttle_window){ .begun_ns = now_ns };
    } else {
        update_tokens(throttle, now_ns, cpu_ns);
    }
    if (throttle->tokens_ns > most_ns)
        throttle->tokens_ns = most_ns;
    if (throttle->tokens_ns < -most_ns)
        throttle->tokens_ns = -most_ns;
    throttle->now_ns = now_ns;
    throttle->cpu_ns = cpu_ns;
    throttle->unchecked = 0;
    throttle->tick_polls = 0;
    throttle->is_counted = false;
    throttle->is_spent = throttle->tokens_ns <= 0 &&
                         now_ns - throttle->polled_ns < SMP_THROTTLE_STARVED_MS * NS_PER_MS;
    throttle->window.ticks++;
    if (now_ns - throttle->window.begun_ns >= SMP_THROTTLE_WINDOW_MS * NS_PER_MS &&
        throttle->window.ticks > SMP_THROTTLE_WINDOW_TICKS) {
        adjust_share(throttle);
        throttle->window = (struct smp_throttle_window){ .begun_ns = now_ns };
    }
}

bool smp_throttle_is_spent(struct smp_throttle *throttle)
{
    if (!throttle->is_spent && throttle->unchecked >= SMP_THROTTLE_BATCH) {
        throttle->unchecked = 0;
        throttle->is_spent = smp_clock_own_cpu_ns() - throttle->cpu_ns >= throttle->tokens_ns;
    }
    if (throttle->is_spent) {
        /* How many polls are left is not known. A guess: as many as were made. */
        if (!throttle->is_counted)
            throttle->window.waiting += throttle->tick_polls + 1;
        throttle->is_counted = true;
        return true;
    }
    throttle->tick_polls++;
    throttle->unchecked++;
    throttle->window.polls++;
    throttle->polled_ns = throttle->now_ns;
    return false;
}
