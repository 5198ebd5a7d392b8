/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampled_calls.h - finds methods that are called but not counted in the sampled trees: a sample of
 * a method below a root proves that something calls it.
 *
 *   nodes of the interval's tree, callers first ─► counter: sampled(class, method, is it called?)
 *
 *   root, its calls are followed ─► frames of the JDK ─► a method without a probe: it is called
 *   root, a method that still waits for its probe ─► a method without a probe: it may be found yet
 *
 * Owns     a byte for each node of the interval's tree.
 * Threads  the sampler thread only.
 * Errors   without memory the nodes are not checked.
 * Cost     look: about a quarter of a microsecond for each of SMP_SAMPLED_CALLS_MOST nodes. The
 *          next call continues behind them, and after the last node with the first one.
 */
#ifndef SMP_ENGINE_SOURCES_SAMPLED_CALLS_H
#define SMP_ENGINE_SOURCES_SAMPLED_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/attribution/attribution.h"
#include "engine/call_counter.h"

enum { SMP_SAMPLED_CALLS_MOST = 4096 };

/* All zero but for the quota: no node was checked yet. */
struct smp_sampled_calls {
    struct smp_quota *quota;
    uint64_t epoch;  /* of the interval */
    size_t next;     /* node to check */
    uint8_t *places; /* by node: enum place */
    size_t capacity;
};

void smp_sampled_calls_fini(struct smp_sampled_calls *sampled);
void smp_sampled_calls_look(struct smp_sampled_calls *sampled,
                            const struct smp_attribution *attribution,
                            const struct smp_call_counter *counter);

#endif
