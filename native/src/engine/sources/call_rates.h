/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_rates.h - how often each method was called of late, and how long it took itself: what
 * decides which methods cost too much to be counted (counting/adaptive_removal.h).
 *
 * Owns     52 bytes for each number of a method.
 * Threads  the sampler thread only.
 * Errors   without memory a method is not judged.
 * Cost     add: constant, but where the table grows. judge: O(methods).
 */
#ifndef SMP_ENGINE_SOURCES_CALL_RATES_H
#define SMP_ENGINE_SOURCES_CALL_RATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "counting/adaptive_removal.h"

/* Zeroed but for quota and is_timed: empty. */
struct smp_call_rates {
    struct smp_quota *quota;
    bool is_timed;               /* times are taken */
    struct smp_call_rate *rates; /* of the methods that were called */
    size_t count;
    size_t capacity;
    uint32_t *index_of; /* by a method's lower bits: where its rate is, plus one */
    size_t methods;     /* in index_of */
    uint64_t unplaced;  /* calls of methods that are not known */
};

void smp_call_rates_fini(struct smp_call_rates *rates);
/* more->method has been called so often, or has taken so long, more than before. */
void smp_call_rates_add(struct smp_call_rates *rates, const struct smp_call_rate *more);
/* Calls that have no place in their tree: they have probes too, and cost more than others. */
void smp_call_rates_add_unplaced(struct smp_call_rates *rates, int64_t calls);
/* Before judging: as if they were of the same methods as the others are. */
void smp_call_rates_spread(struct smp_call_rates *rates);
void smp_call_rates_clear(struct smp_call_rates *rates);

#endif
