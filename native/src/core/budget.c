/* SPDX-License-Identifier: Apache-2.0 */
#include "core/budget.h"

#include "base/clock.h"
#include "base/random.h"

#define NS_PER_MS INT64_C(1000000)

static int64_t most_tokens(const struct smp_budget *budget)
{
    return SMP_BUDGET_SAVED_MS * NS_PER_MS / 1000 * budget->limit_per_mille;
}

static int64_t reserve_ns(int64_t limit_per_mille)
{
    const int64_t ns = SMP_BUDGET_START_MS * NS_PER_MS / 1000 * limit_per_mille;
    const int64_t most_ns = SMP_BUDGET_START_CPU_MS * NS_PER_MS;

    return ns < most_ns ? ns : most_ns;
}

void smp_budget_init(struct smp_budget *budget, int64_t limit_per_mille, uint64_t seed)
{
    *budget = (struct smp_budget){
        .limit_per_mille = limit_per_mille,
        .share = SMP_BUDGET_WHOLE,
        .random = seed,
    };
    budget->tokens_ns = most_tokens(budget);
    budget->start_ns = reserve_ns(limit_per_mille);
}

void smp_budget_set_limit(struct smp_budget *budget, int64_t limit_per_mille)
{
    const int64_t before = budget->limit_per_mille;

    if (limit_per_mille == before)
        return;
    /* A lower one does not say whether less has to be done. */
    if (limit_per_mille > before)
        budget->share = budget->share * limit_per_mille / before;
    if (budget->share > SMP_BUDGET_WHOLE)
        budget->share = SMP_BUDGET_WHOLE;
    budget->limit_per_mille = limit_per_mille;
    budget->tokens_ns = most_tokens(budget);
}

void smp_budget_restart(struct smp_budget *budget)
{
    budget->has_begun = false;
}

uint64_t smp_budget_random(struct smp_budget *budget)
{
    return smp_random_next(&budget->random);
}

/* What may be used in so long. */
static int64_t allowed_ns(const struct smp_budget *budget, int64_t ns)
{
    return ns / 1000 * budget->limit_per_mille;
}

static void begin_window(struct smp_budget *budget, int64_t now_ns)
{
    budget->window_ns = now_ns;
    budget->window_allowed_ns = 0;
    budget->window_used_ns = 0;
    budget->window_ticks = 0;
    budget->served = 0;
    budget->put_off = 0;
}

/*
 * The share with which the looks that were wanted would have cost what was allowed, if cost goes
 * with looks: a step at a time, because costs vary and a part of them does not.
 */
static void adjust(struct smp_budget *budget)
{
    const double allowed = (double)budget->window_allowed_ns;
    const double used = (double)budget->window_used_ns;
    const double wanted = (double)(budget->served + budget->put_off);
    double factor = used > 0 ? allowed / used : 2.0;

    if (wanted > 0)
        factor *= (double)budget->served / wanted;
    /* What was saved up is there to be used: by a start, or a report. */
    if (factor < 1 && budget->tokens_ns > most_tokens(budget) / 2)
        return;
    if (factor < 0.25)
        factor = 0.25;
    if (factor > 1.25)
        factor = 1.25;
    budget->share = (int64_t)((double)budget->share * factor);
    if (budget->share > SMP_BUDGET_WHOLE)
        budget->share = SMP_BUDGET_WHOLE;
    if (budget->share < SMP_BUDGET_LEAST)
        budget->share = SMP_BUDGET_LEAST;
}

/* Between two ticks reports are ended now and then: one such does not count for more than a few.
 * Returns what was used beyond that. */
static int64_t measure_tick(struct smp_budget *budget, int64_t cpu_ns)
{
    enum { MOST = 4, SLOWNESS = 8 };
    const int64_t used_ns = cpu_ns - budget->end_cpu_ns;
    int64_t cost_ns = used_ns;

    if (budget->tick_ns == 0)
        budget->tick_ns = cost_ns;
    if (cost_ns > MOST * budget->tick_ns)
        cost_ns = MOST * budget->tick_ns;
    budget->tick_ns += (cost_ns - budget->tick_ns) / SLOWNESS;
    budget->window_used_ns += cost_ns;
    return used_ns - cost_ns;
}

/* What may be used for ticks and their looks, of what has come in. */
static int64_t pay_debt(struct smp_budget *budget, int64_t income_ns)
{
    const int64_t part_ns = income_ns / SMP_BUDGET_DEBT_SHARE;
    const int64_t paid_ns = part_ns < budget->debt_ns ? part_ns : budget->debt_ns;

    budget->debt_ns -= paid_ns;
    return income_ns - paid_ns;
}

/* Tokens do not run out while the reserve for the start lasts: what was saved up goes first. Of
 * thousands of threads the first tick takes all of that: for them it would be gone in a moment. */
static void draw_on_reserve(struct smp_budget *budget)
{
    int64_t part_ns = most_tokens(budget) - budget->tokens_ns;

    if (budget->tokens_ns > most_tokens(budget) / 2)
        return;
    if (budget->is_spent)
        budget->start_ns = 0;
    if (part_ns > budget->start_ns)
        part_ns = budget->start_ns;
    budget->start_ns -= part_ns;
    budget->tokens_ns += part_ns;
}

/* The time since the last tick began, and what was used in it. */
static void settle_accounts(struct smp_budget *budget, int64_t now_ns, int64_t cpu_ns)
{
    const int64_t other_ns = measure_tick(budget, cpu_ns);

    budget->debt_ns += other_ns;
    /* More is forgiven: it would leave a short interval without looks. */
    if (budget->debt_ns > most_tokens(budget))
        budget->debt_ns = most_tokens(budget);
    const int64_t income_ns = pay_debt(budget, allowed_ns(budget, now_ns - budget->now_ns));
    budget->tokens_ns += income_ns - (cpu_ns - budget->cpu_ns - other_ns);
    draw_on_reserve(budget);
    budget->window_allowed_ns += income_ns;
}

void smp_budget_end(struct smp_budget *budget)
{
    budget->end_cpu_ns = smp_clock_own_cpu_ns();
    budget->window_used_ns += budget->end_cpu_ns - budget->cpu_ns;
}

int64_t smp_budget_tick_gap_ns(struct smp_budget *budget)
{
    enum { JITTER_SHARE = 10 };
    const int64_t left_ns = budget->tokens_ns - (budget->end_cpu_ns - budget->cpu_ns);
    int64_t gap_ns = budget->tick_ns * 1000 / budget->limit_per_mille * SMP_BUDGET_TICKS_SHARE;

    if (budget->share == SMP_BUDGET_WHOLE && left_ns > 0)
        return 0;
    if (gap_ns > SMP_BUDGET_MOST_GAP_MS * NS_PER_MS)
        gap_ns = SMP_BUDGET_MOST_GAP_MS * NS_PER_MS;
    /* What was used too much is paid before looks go on: else they would be put off one by one, and
     * then be drawn as if they cost so much. */
    if (-left_ns * 1000 / budget->limit_per_mille > gap_ns)
        gap_ns = -left_ns * 1000 / budget->limit_per_mille;
    if (gap_ns > SMP_BUDGET_SAVED_MS * NS_PER_MS)
        gap_ns = SMP_BUDGET_SAVED_MS * NS_PER_MS;
    /* Not in step with anything. */
    return gap_ns - gap_ns / JITTER_SHARE +
           (int64_t)(smp_budget_random(budget) % (uint64_t)(2 * gap_ns / JITTER_SHARE + 1));
}

void smp_budget_begin(struct smp_budget *budget, int64_t now_ns)
{
    const int64_t cpu_ns = smp_clock_own_cpu_ns();
    const int64_t most_ns = most_tokens(budget);

    if (!budget->has_begun) {
        budget->has_begun = true;
        budget->served_ns = now_ns;
        begin_window(budget, now_ns);
    } else {
        settle_accounts(budget, now_ns, cpu_ns);
    }
    if (budget->tokens_ns > most_ns)
        budget->tokens_ns = most_ns;
    if (budget->tokens_ns < -most_ns)
        budget->tokens_ns = -most_ns;
    budget->now_ns = now_ns;
    budget->cpu_ns = cpu_ns;
    budget->unchecked = 0;
    budget->tick_served = 0;
    budget->has_told = false;
    budget->is_spent =
        budget->tokens_ns <= 0 && now_ns - budget->served_ns < SMP_BUDGET_STARVED_MS * NS_PER_MS;
    budget->window_ticks++;
    if (now_ns - budget->window_ns >= SMP_BUDGET_WINDOW_MS * NS_PER_MS &&
        budget->window_ticks > SMP_BUDGET_WINDOW_TICKS) {
        adjust(budget);
        begin_window(budget, now_ns);
    }
}

bool smp_budget_is_spent(struct smp_budget *budget)
{
    if (!budget->is_spent && budget->unchecked >= SMP_BUDGET_BATCH) {
        budget->unchecked = 0;
        budget->is_spent = smp_clock_own_cpu_ns() - budget->cpu_ns >= budget->tokens_ns;
    }
    if (budget->is_spent) {
        /* How many are left is not known: as many as could be served, to begin with. */
        if (!budget->has_told)
            budget->put_off += budget->tick_served + 1;
        budget->has_told = true;
        return true;
    }
    budget->tick_served++;
    budget->unchecked++;
    budget->served++;
    budget->served_ns = budget->now_ns;
    return false;
}
