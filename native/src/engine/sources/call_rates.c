/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sources/call_rates.h"

#include <string.h>

#include "engine/call_counter.h"

enum { FIRST_RATES = 64, FIRST_METHODS = 1024 };

void smp_call_rates_fini(struct smp_call_rates *rates)
{
    smp_free(rates->quota, rates->rates);
    smp_free(rates->quota, rates->index_of);
    rates->rates = NULL;
    rates->index_of = NULL;
    rates->count = 0;
    rates->capacity = 0;
    rates->methods = 0;
}

static bool has_index(struct smp_call_rates *rates, size_t method)
{
    size_t methods = rates->methods == 0 ? FIRST_METHODS : rates->methods;
    uint32_t *grown;

    if (method < rates->methods)
        return true;
    while (methods <= method)
        methods *= 2;
    grown = smp_realloc(rates->quota, rates->index_of, methods * sizeof(*grown));
    if (grown == NULL)
        return false;
    memset(grown + rates->methods, 0, (methods - rates->methods) * sizeof(*grown));
    rates->index_of = grown;
    rates->methods = methods;
    return true;
}

static bool has_rate_room(struct smp_call_rates *rates)
{
    const size_t capacity = rates->capacity == 0 ? FIRST_RATES : 2 * rates->capacity;
    struct smp_call_rate *grown;

    if (rates->count < rates->capacity)
        return true;
    grown = smp_realloc(rates->quota, rates->rates, capacity * sizeof(*grown));
    if (grown == NULL)
        return false;
    rates->rates = grown;
    rates->capacity = capacity;
    return true;
}

/* NULL: no memory. */
static struct smp_call_rate *rate_of(struct smp_call_rates *rates, int64_t method)
{
    const uint32_t lower = (uint32_t)method;
    struct smp_call_rate *rate = NULL;

    if (!has_index(rates, lower))
        return NULL;
    if (rates->index_of[lower] == 0) {
        if (!has_rate_room(rates))
            return NULL;
        rates->index_of[lower] = (uint32_t)++rates->count;
        rates->rates[rates->count - 1].method = SMP_METHOD_UNCOUNTED;
    }
    rate = &rates->rates[rates->index_of[lower] - 1];
    /* What had these bits before has been unloaded: it has no probe that could be taken out. */
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
