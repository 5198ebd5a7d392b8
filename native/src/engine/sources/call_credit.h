/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_credit.h - maps nodes of counted threads to nodes of the interval's tree, and credits those
 * with calls, own time and times of roots.
 *
 *   tree of a thread ─► its group: thread record, name rule ─► counted tree of the group
 *   node ─► along its callers: method ─► names ─► location ─► node
 *
 * Threads that the options, the filter or the rule for names exclude are excluded here, too. If the
 * interval has no memory for a node, its calls and time are credited to [over memory limit] of the
 * group, and the calls are counted as lost.
 *
 * Owns     a buffer for one path.
 * Threads  the sampler thread only.
 * Errors   calls that cannot be credited are counted in lost.
 * Cost     a node that is known in this interval: constant. A new node: a step for each caller that
 *          is not known either.
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
    bool is_exact;  /* times come with the calls */
    uint64_t pass;  /* rises with each read: threads may have changed their groups since the last
                     * one, or the interval is new */
    uint32_t *path; /* ordinals, leaf first */
    size_t path_capacity;
    uint64_t lost[SMP_LOST_COUNT]; /* calls without a place, by reason */
};

void smp_call_credit_fini(struct smp_call_credit *credit);

/* The row of that call in the interval; for a probe, the root of its group. 0: not known yet, or
 * none. */
uint32_t smp_call_credit_row(struct smp_call_credit *credit, const struct smp_call_spot *spot);
/* The location of the method's rows. */
uint32_t smp_call_credit_location(const struct smp_call_credit *credit, int64_t method);
/* To be called while the thread lives: notes its group, to which its calls are credited even if it
 * has ended by the next read. */
void smp_call_credit_remember_group(struct smp_call_credit *credit, struct smp_call_tree *tree);
/* Credits the counts that a read has found. */
void smp_call_credit_counted(struct smp_call_credit *credit,
                             const struct smp_counted_thread *thread,
                             const struct smp_counted_call *call);
/* Credits the pending time of all trees, or of one. Time of a node whose method is not known yet
 * stays pending. */
void smp_call_credit_pending(struct smp_call_credit *credit);
void smp_call_credit_pending_of(struct smp_call_credit *credit, struct smp_call_tree *tree);

#endif
