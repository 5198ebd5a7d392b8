/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/dropper.h"

#include <assert.h>

void smp_dropper_init(struct smp_dropper *dropper, uint32_t limit_per_mille, uint32_t call_cost_ns)
{
    assert(limit_per_mille >= 1 && limit_per_mille <= 1000);
    assert(call_cost_ns >= 1 && call_cost_ns <= 1000000);
    *dropper =
        (struct smp_dropper){ .limit_per_mille = limit_per_mille, .call_cost_ns = call_cost_ns };
}

static uint64_t sum_up(uint64_t a, uint64_t b)
{
    return a + b >= a ? a + b : UINT64_MAX;
}

static uint64_t all_calls(const struct smp_call_rate *rates, size_t count)
{
    uint64_t calls = 0;

    for (size_t i = 0; i < count; i++)
        calls = sum_up(calls, rates[i].calls);
    return calls;
}

/* As many calls in this time cost so much of a core. */
static uint64_t calls_worth(const struct smp_dropper *dropper, uint64_t per_mille,
                            int64_t elapsed_ns)
{
    const uint64_t elapsed = (uint64_t)elapsed_ns;

    /* elapsed is below 2^63: its thousandth times 1,000 fits */
    return (elapsed / 1000 * per_mille + elapsed % 1000 * per_mille / 1000) / dropper->call_cost_ns;
}

uint64_t smp_dropper_per_mille(const struct smp_dropper *dropper, const struct smp_call_rate *rates,
                               size_t count, int64_t elapsed_ns)
{
    const uint64_t calls = all_calls(rates, count);
    const uint64_t one = calls_worth(dropper, 1000, elapsed_ns); /* a whole core */

    if (calls == 0)
        return 0;
    return one == 0 || calls > UINT64_MAX / 1000 ? UINT64_MAX : calls * 1000 / one;
}

static bool is_short(const struct smp_dropper *dropper, const struct smp_call_rate *rate)
{
    const uint64_t bound_ns = (uint64_t)dropper->call_cost_ns * SMP_DROPPER_SHORT_PROBES;

    return rate->self_ns < 0 || (uint64_t)rate->self_ns / rate->calls < bound_ns;
}

/* Is a called more than b? Of equals the one with the smaller number comes first. */
static bool goes_first(const struct smp_call_rate *a, const struct smp_call_rate *b)
{
    return a->calls != b->calls ? a->calls > b->calls : a->method < b->method;
}

/* The next one to drop after last, which may be NULL; NULL: there is none. */
static const struct smp_call_rate *next_to_drop(const struct smp_dropper *dropper,
                                                const struct smp_call_rate *rates, size_t count,
                                                const struct smp_call_rate *last)
{
    const struct smp_call_rate *best = NULL;

    for (size_t i = 0; i < count; i++) {
        const struct smp_call_rate *const rate = &rates[i];

        if (rate->is_root || rate->calls == 0 || !is_short(dropper, rate))
            continue;
        if (last != NULL && !goes_first(last, rate))
            continue;
        if (best == NULL || goes_first(rate, best))
            best = rate;
    }
    return best;
}

size_t smp_dropper_judge(struct smp_dropper *dropper, const struct smp_call_rate *rates,
                         size_t count, int64_t elapsed_ns, int64_t out[SMP_DROPPER_MOST])
{
    const uint64_t allowed = calls_worth(dropper, dropper->limit_per_mille, elapsed_ns);
    const struct smp_call_rate *next = NULL;
    uint64_t calls = all_calls(rates, count);
    size_t dropped = 0;

    if (dropper->waits > 0) {
        dropper->waits--;
        return 0;
    }
    if (calls <= allowed) {
        dropper->over = 0;
        return 0;
    }
    if (++dropper->over < SMP_DROPPER_PATIENCE)
        return 0;
    while (dropped < SMP_DROPPER_MOST && calls > allowed / 4 * 3) {
        next = next_to_drop(dropper, rates, count, next);
        if (next == NULL)
            break;
        out[dropped++] = next->method;
        calls -= next->calls < calls ? next->calls : calls;
    }
    dropper->over = 0;
    dropper->waits = dropped > 0 ? SMP_DROPPER_PATIENCE : 0;
    dropper->dropped += dropped;
    return dropped;
}
