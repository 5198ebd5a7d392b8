/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_credit.h - maps nodes of counted threads to nodes of the interval's tree, and credits them
 * with calls, own time and times of roots.
 *
 *   tree of a thread ─► its group: thread record, name rule ─► counted tree of the group
 *   node ─► along its callers: method ─► names ─► location ─► node
 *
 * Skips threads that the options, the filter or the name rule exclude. If the interval has no
 * memory for a node, its calls and time are credited to [over memory limit] of the group, and the
 * calls are counted as lost.
 *
 * Owns     a buffer for one path.
 * Threads  the sampler thread only.
 * Errors   calls that cannot be credited are counted in lost.
 * Cost     a node that is known in this interval: constant. A new node: also its new callers.
 */
#ifndef SMP_ENGINE_SOURCES_CALL_CREDIT_H
#define SMP_ENGINE_SOURCES_CALL_CREDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counting/adaptive_removal.h"
#include "engine/attribution/attribution.h"
#include "engine/call_counter.h"
#include "engine/jvm.h"
#include "engine/sources/call_trees.h"
#include "engine/sources/sampled_threads.h"

struct smp_call_credit {
    const struct smp_call_counter *counter;
    struct smp_sampled_threads *threads;
    struct smp_attribution *attribution;
    struct smp_call_trees *trees;
    struct smp_call_rates *rates;
    bool is_exact;  /* times are exact */
    uint64_t pass;  /* incremented by each read, because groups of threads may have changed */
    uint32_t *path; /* ordinals, leaf first */
    size_t path_capacity;
    uint64_t lost[SMP_LOST_COUNT]; /* calls without a node, by reason */
};

void smp_call_credit_fini(struct smp_call_credit *credit);

/* Returns the row of that call in the interval; for a probe, the root of the group; 0: unknown. */
uint32_t smp_call_credit_row(struct smp_call_credit *credit, const struct smp_call_spot *spot);
/* Returns the location of the method's rows. */
uint32_t smp_call_credit_location(const struct smp_call_credit *credit, int64_t method);
/* Called while the thread is alive: keeps its group, so that its calls can be credited even if the
 * thread ends before the next read. */
void smp_call_credit_remember_group(struct smp_call_credit *credit, struct smp_call_tree *tree);
/* Credits the counts of a read. */
void smp_call_credit_counted(struct smp_call_credit *credit,
                             const struct smp_counted_thread *thread,
                             const struct smp_counted_call *call);
/* Credits the pending time of all trees, or of one. Skips nodes whose method is still unknown. */
void smp_call_credit_pending(struct smp_call_credit *credit);
void smp_call_credit_pending_of(struct smp_call_credit *credit, struct smp_call_tree *tree);

#endif
