/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampled_calls.h - what the sampled trees show of methods that are not counted: whatever calls a
 * method, a sample of it below a root proves that it is called.
 *
 *   new nodes of the interval's tree, callers first ─► counter: sampled(class, method, below a root?)
 *
 * Owns     a byte for each node of the interval's tree.
 * Threads  the sampler thread only.
 * Errors   without memory the nodes are not looked at, until there is some.
 * Cost     look: about a quarter of a microsecond for each node that is new, and for
 *          SMP_SAMPLED_CALLS_MOST of them at most; the others come next.
 */
#ifndef SMP_ENGINE_SOURCES_SAMPLED_CALLS_H
#define SMP_ENGINE_SOURCES_SAMPLED_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/attribution/attribution.h"
#include "engine/call_counter.h"

enum { SMP_SAMPLED_CALLS_MOST = 8192 };

/* All zero but for the quota: nothing was looked at. */
struct smp_sampled_calls {
    struct smp_quota *quota;
    uint64_t epoch;  /* of the interval */
    size_t count;    /* of its nodes that were looked at */
    bool *is_inside; /* by node: it is a root's, or below one */
    size_t capacity;
};

void smp_sampled_calls_fini(struct smp_sampled_calls *sampled);
void smp_sampled_calls_look(struct smp_sampled_calls *sampled,
                            const struct smp_attribution *attribution,
                            const struct smp_call_counter *counter);

#endif
