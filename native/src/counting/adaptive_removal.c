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

static uint64_t sum_up(uint64_t a, uint64_t b)
{
    return a + b >= a ? a + b : UINT64_MAX;
}

static uint32_t cost_of_call(const struct smp_removal *removal, const struct smp_call_rate *rate)
{
    return rate->is_root ? removal->root_cost_ns : removal->call_cost_ns;
}

/* Of the probes of all its calls. */
static uint64_t cost_of(const struct smp_removal *removal, const struct smp_call_rate *rate)
{
    const uint32_t cost_ns = cost_of_call(removal, rate);

    return rate->calls <= UINT64_MAX / cost_ns ? rate->calls * cost_ns : UINT64_MAX;
}

/* Of all that may be dropped. */
static uint64_t cost_of_all(const struct smp_removal *removal, const struct smp_call_rate *rates,
                            size_t count)
{
    uint64_t cost_ns = 0;

    for (size_t i = 0; i < count; i++) {
        if (!rates[i].is_kept)
            cost_ns = sum_up(cost_ns, cost_of(removal, &rates[i]));
    }
    return cost_ns;
}

/* elapsed is below 2^63: its thousandth times 1,000 fits. */
static uint64_t part_of_time(int64_t elapsed_ns, uint64_t per_mille)
{
    const uint64_t elapsed = (uint64_t)elapsed_ns;

    return elapsed / PER_MILLE * per_mille + elapsed % PER_MILLE * per_mille / PER_MILLE;
}

uint64_t smp_removal_per_mille(const struct smp_removal *removal, const struct smp_call_rate *rates,
                               size_t count, int64_t elapsed_ns)
{
    const uint64_t cost_ns = cost_of_all(removal, rates, count);

    return cost_ns > UINT64_MAX / PER_MILLE ? UINT64_MAX
                                            : cost_ns * PER_MILLE / (uint64_t)elapsed_ns;
}

static bool is_short(const struct smp_removal *removal, const struct smp_call_rate *rate)
{
    const uint64_t bound_ns = (uint64_t)cost_of_call(removal, rate) * SMP_REMOVAL_SHORT_PROBES;

    if (rate->is_root)
        return rate->ended > 0 && (uint64_t)rate->ended_ns / rate->ended < bound_ns;
    return rate->self_ns < 0 || (uint64_t)rate->self_ns / rate->calls < bound_ns;
}

/* Does a cost more than b? Of equals the one with the smaller number comes first. */
static bool goes_first(const struct smp_removal *removal, const struct smp_call_rate *a,
                       const struct smp_call_rate *b)
{
    const uint64_t cost_a = cost_of(removal, a);
    const uint64_t cost_b = cost_of(removal, b);

    return cost_a != cost_b ? cost_a > cost_b : a->method < b->method;
}

/* The next one to drop after last, which may be NULL; NULL: there is none that costs as much. */
static const struct smp_call_rate *next_to_drop(const struct smp_removal *removal,
                                                const struct smp_call_rate *rates, size_t count,
                                                const struct smp_call_rate *last, uint64_t least_ns)
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
    const uint64_t allowed_ns = part_of_time(elapsed_ns, removal->limit_per_mille);
    const struct smp_call_rate *next = NULL;
    uint64_t cost_ns = cost_of_all(removal, rates, count);
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
        cost_ns -= cost_of(removal, next) < cost_ns ? cost_of(removal, next) : cost_ns;
    }
    removal->over = 0;
    removal->waits = dropped > 0 ? SMP_REMOVAL_PATIENCE : 0;
    removal->dropped += dropped;
    return dropped;
}
