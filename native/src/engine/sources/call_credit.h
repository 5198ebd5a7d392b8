/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_credit.h - from nodes of counted threads to nodes of the interval's tree, and what these are
 * credited with: calls, time of their own, times of roots.
 *
 *   tree of a thread ─► its group: thread record, name rule ─► counted tree of the group
 *   node ─► along its callers: method ─► names ─► location ─► node
 *
 * Threads that the options, the filter or the rule for names leave out are left out here, too.
 * Where the interval has no memory for a node, its calls and its time go to the group's [over
 * memory limit], and the calls are counted as lost.
 *
 * Owns     a buffer for one path.
 * Threads  the sampler thread only.
 * Errors   what cannot be credited is in lost.
 * Cost     a node that is known in this interval: constant. A new one: one step a caller that is
 *          not known, either.
 */
#ifndef SMP_ENGINE_SOURCES_CALL_CREDIT_H
#define SMP_ENGINE_SOURCES_CALL_CREDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/attribution/attribution.h"
#include "engine/call_counter.h"
#include "engine/jvm.h"
#include "engine/sources/call_rates.h"
#include "engine/sources/call_trees.h"
#include "engine/sources/sampled_threads.h"

struct smp_call_credit {
    const struct smp_call_counter *counter;
    struct smp_sampled_threads *threads;
    struct smp_attribution *attribution;
    struct smp_call_trees *trees;
    struct smp_call_rates *rates;
    bool is_exact;  /* times come with the calls, else from ticks */
    uint64_t pass;  /* rises where threads may have changed their groups */
    uint32_t *path; /* ordinals, leaf first */
    size_t path_capacity;
    uint64_t lost[SMP_COUNTING_COUNT]; /* calls without a place, by what was reached */
};

void smp_call_credit_fini(struct smp_call_credit *credit);

/* Threads may have other groups from now on, or the interval is another one. */
static inline void smp_call_credit_begin(struct smp_call_credit *credit)
{
    credit->pass++;
}

/* The thread's record; NULL: it has none. */
struct smp_thread_record *smp_call_credit_record(struct smp_call_credit *credit,
                                                 struct smp_call_tree *tree);
/* The row of that call in the interval; of a probe, the root of its group. 0: not known yet, or it
 * has none. */
uint32_t smp_call_credit_row(struct smp_call_credit *credit, const struct smp_call_spot *spot);
/* The location of its rows. */
uint32_t smp_call_credit_location(const struct smp_call_credit *credit, int64_t method);
/* While the thread lives: which group it is in, so that its calls are there when it has ended
 * before the next read. */
void smp_call_credit_remember_group(struct smp_call_credit *credit, struct smp_call_tree *tree);
/* What a read has found of a node. */
void smp_call_credit_counted(struct smp_call_credit *credit,
                             const struct smp_counted_thread *thread,
                             const struct smp_counted_call *call);
/* Pending time of all trees, or of one. What belongs to a node whose method is not known yet stays
 * pending. */
void smp_call_credit_pending(struct smp_call_credit *credit);
void smp_call_credit_pending_of(struct smp_call_credit *credit, struct smp_call_tree *tree);

#endif
