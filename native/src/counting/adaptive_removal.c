/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/adaptive_removal.h"

#include <assert.h>
#include <string.h>

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

/* Returns the cost of the probes of all calls of the method. */
static double cost_of(const struct smp_removal *removal, const struct smp_call_rate *rate)
{
    return (double)rate->calls * cost_of_call(removal, rate);
}

/* Returns the cost of all methods that may be dropped. */
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

/* Returns whether a costs more than b. Among equals the smaller method number comes first. */
static bool goes_first(const struct smp_removal *removal, const struct smp_call_rate *a,
                       const struct smp_call_rate *b)
{
    const double cost_a = cost_of(removal, a);
    const double cost_b = cost_of(removal, b);

    return cost_a > cost_b || (cost_a >= cost_b && a->method < b->method);
}

/* Returns the next method to drop after last, which may be NULL. Returns NULL if none costs
 * least_ns. */
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

/* --- rates --- */

enum { NO_METHOD = -1 };

void smp_call_rates_fini(struct smp_call_rates *rates)
{
    smp_free(rates->quota, rates->rates);
    smp_free(rates->quota, rates->index_of);
    *rates = (struct smp_call_rates){ .quota = rates->quota, .is_timed = rates->is_timed };
}

static bool has_index(struct smp_call_rates *rates, size_t method)
{
    uint32_t *const grown =
        smp_grow_items(rates->quota, rates->index_of, &rates->methods, method + 1, sizeof(*grown));

    if (grown != NULL)
        rates->index_of = grown;
    return grown != NULL;
}

static bool can_add_rate(struct smp_call_rates *rates)
{
    struct smp_call_rate *const grown = smp_grow_items(rates->quota, rates->rates, &rates->capacity,
                                                       rates->count + 1, sizeof(*grown));

    if (grown != NULL)
        rates->rates = grown;
    return grown != NULL;
}

/* Returns NULL without memory. */
static struct smp_call_rate *rate_of(struct smp_call_rates *rates, int64_t method)
{
    const uint32_t lower = (uint32_t)method;
    struct smp_call_rate *rate = NULL;

    if (!has_index(rates, lower))
        return NULL;
    if (rates->index_of[lower] == 0) {
        if (!can_add_rate(rates))
            return NULL;
        rates->index_of[lower] = (uint32_t)++rates->count;
        rates->rates[rates->count - 1].method = NO_METHOD;
    }
    rate = &rates->rates[rates->index_of[lower] - 1];
    /* Another method had these lower bits before. It is unloaded and has no probe to remove. */
    if (rate->method != method)
        *rate = (struct smp_call_rate){ .method = method, .self_ns = rates->is_timed ? 0 : -1 };
    return rate;
}

void smp_call_rates_add(struct smp_call_rates *rates, const struct smp_call_rate *more)
{
    struct smp_call_rate *rate = more->method < 0 ? NULL : rate_of(rates, more->method);

    if (rate == NULL)
        return;
    rate->calls += more->calls;
    rate->ended += more->ended;
    rate->ended_ns += more->ended_ns;
    rate->is_root = rate->is_root || more->is_root;
    if (rates->is_timed)
        rate->self_ns += more->self_ns;
}

void smp_call_rates_add_unplaced(struct smp_call_rates *rates, int64_t calls)
{
    rates->unplaced += (uint64_t)calls;
}

/* Limits value to half of INT64_MAX, so that sums do not overflow. */
static double most_of(double value)
{
    return value < (double)(INT64_MAX / 2) ? value : (double)(INT64_MAX / 2);
}

void smp_call_rates_spread(struct smp_call_rates *rates)
{
    double calls = 0;
    double times;

    for (size_t i = 0; i < rates->count; i++)
        calls += (double)rates->rates[i].calls;
    if (rates->unplaced == 0 || calls < 1)
        return;
    times = 1 + (double)rates->unplaced / calls;
    for (size_t i = 0; i < rates->count; i++) {
        struct smp_call_rate *const rate = &rates->rates[i];
        rate->calls = (uint64_t)most_of((double)rate->calls * times);
        if (rates->is_timed)
            rate->self_ns = (int64_t)most_of((double)rate->self_ns * times);
    }
    rates->unplaced = 0;
}

void smp_call_rates_clear(struct smp_call_rates *rates)
{
    rates->unplaced = 0;
    for (size_t i = 0; i < rates->count; i++)
        rates->index_of[(uint32_t)rates->rates[i].method] = 0;
    rates->count = 0;
}
