/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/adaptive_removal.h"

#include <assert.h>

enum { PER_MILLE = 1000 };

void smp_removal_init(struct smp_removal *removal, uint32_t limit_per_mille, uint32_t call_cost_ns,
                      uint32_t root_cost_ns)
{
    assert(limit_per_mille >= 1 && limit_per_mille <= PER_MILLE);
    assert(call_cost_ns >= 1 && call_cost_ns <= 1000000);
    assert(root_cost_ns >= 1 && root_cost_ns <= 1000000);
    *removal = (struct smp_removal){ .limit_per_mille = limit_per_mille,
                                     .call_cost_ns = call_cost_ns,
                                     .root_cost_ns = root_cost_ns };
}

static double cost_of_call(const struct smp_removal *removal, const struct smp_call_rate *rate)
{
    return rate->is_root ? removal->root_cost_ns : removal->call_cost_ns;
}

/* Of the probes of all its calls. */
static double cost_of(const struct smp_removal *removal, const struct smp_call_rate *rate)
{
    return (double)rate->calls * cost_of_call(removal, rate);
}

/* Of all that may be dropped. */
static double cost_of_all(const struct smp_removal *removal, const struct smp_call_rate *rates,
                          size_t count)
{
    double cost_ns = 0;

    for (size_t i = 0; i < count; i++) {
        if (!rates[i].is_kept)
            cost_ns += cost_of(removal, &rates[i]);
    }
    return cost_ns;
}

static double allowed_of(const struct smp_removal *removal, int64_t elapsed_ns)
{
    return (double)elapsed_ns * removal->limit_per_mille / PER_MILLE;
}

bool smp_removal_is_over(const struct smp_removal *removal, const struct smp_call_rate *rates,
                         size_t count, int64_t elapsed_ns)
{
    return cost_of_all(removal, rates, count) > allowed_of(removal, elapsed_ns);
}

static bool is_short(const struct smp_removal *removal, const struct smp_call_rate *rate)
{
    const double bound_ns = cost_of_call(removal, rate) * SMP_REMOVAL_SHORT_PROBES;

    if (rate->is_root)
        return (double)rate->ended_ns < bound_ns * (double)rate->ended;
    return rate->self_ns < 0 || (double)rate->self_ns < bound_ns * (double)rate->calls;
}

/* Does a cost more than b? Of equals the one with the smaller number comes first. */
static bool goes_first(const struct smp_removal *removal, const struct smp_call_rate *a,
                       const struct smp_call_rate *b)
{
    const double cost_a = cost_of(removal, a);
    const double cost_b = cost_of(removal, b);

    return cost_a > cost_b || (cost_a >= cost_b && a->method < b->method);
}

/* The next one to drop after last, which may be NULL; NULL: there is none that costs as much. */
static const struct smp_call_rate *next_to_drop(const struct smp_removal *removal,
                                                const struct smp_call_rate *rates, size_t count,
                                                const struct smp_call_rate *last, double least_ns)
{
    const struct smp_call_rate *best = NULL;

    for (size_t i = 0; i < count; i++) {
        const struct smp_call_rate *const rate = &rates[i];

        if (rate->is_kept || rate->calls == 0 || cost_of(removal, rate) < least_ns ||
            !is_short(removal, rate))
            continue;
        if (last != NULL && !goes_first(removal, last, rate))
            continue;
        if (best == NULL || goes_first(removal, rate, best))
            best = rate;
    }
    return best;
}

size_t smp_removal_judge(struct smp_removal *removal, const struct smp_call_rate *rates,
                         size_t count, int64_t elapsed_ns, int64_t out[SMP_REMOVAL_MOST])
{
    const double allowed_ns = allowed_of(removal, elapsed_ns);
    const struct smp_call_rate *next = NULL;
    double cost_ns = cost_of_all(removal, rates, count);
    size_t dropped = 0;

    if (removal->limit_per_mille == PER_MILLE)
        return 0;
    if (removal->waits > 0) {
        removal->waits--;
        return 0;
    }
    if (cost_ns <= allowed_ns) {
        removal->over = 0;
        return 0;
    }
    if (++removal->over < SMP_REMOVAL_PATIENCE)
        return 0;
    while (dropped < SMP_REMOVAL_MOST && cost_ns > allowed_ns / 4 * 3) {
        next = next_to_drop(removal, rates, count, next, allowed_ns / SMP_REMOVAL_OFTEN);
        if (next == NULL)
            break;
        out[dropped++] = next->method;
        cost_ns -= cost_of(removal, next);
    }
    removal->over = 0;
    removal->waits = dropped > 0 ? SMP_REMOVAL_PATIENCE : 0;
    return dropped;
}
