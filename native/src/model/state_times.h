/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_times.h - how the wall time of each row of a tree is divided among the states
 * (model/measure.h), kept sparsely. Here a node is one that has a row: its number is that of the
 * row.
 *
 *   node ──► 32 bits: set of its states, where their times are ──► times of all but the last one
 *
 * The last state of the set has the rest of the node's wall time, which the tree keeps: so states
 * and wall time cannot disagree, and a node with one state, as nearly all have, takes no more than
 * the 32 bits. The caller gives the wall time with each call.
 *
 * In a sealed tree a node whose time is all of one child refers to the child's times.
 *
 * Owns     its arrays.
 * Threads  as tree.h.
 * Errors   add: false where there is no memory; the time is another state's then.
 * Cost     at, add, take: a few loads. 4 bytes a node, and 8 for each state of a node beyond the
 *          first.
 */
#ifndef SMP_MODEL_STATE_TIMES_H
#define SMP_MODEL_STATE_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/status.h"
#include "model/measure.h"

enum {
    SMP_STATE_TIMES_NODE_BYTES = 4,
    SMP_STATE_TIMES_MOST_BYTES = SMP_STATE_TIMES_NODE_BYTES + (SMP_THREAD_STATE_COUNT - 1) * 8,
    SMP_STATE_TIMES_NODE_WORDS = 3, /* of a tree's nodes on average, at most */
    SMP_STATE_TIMES_STEP_WORDS = 8192,
    SMP_STATE_TIMES_MAX_WORDS = 1 << (32 - SMP_THREAD_STATE_COUNT)
};

struct smp_state_times {
    uint32_t *refs; /* the base of their arena: a node's set of states, and its place in words */
    int64_t *words; /* the base of its arena; word 0 is not used */
    struct smp_arena *ref_arena;
    struct smp_arena *word_arena;
    uint32_t free
        [SMP_THREAD_STATE_COUNT]; /* by size: a place whose first word is the next one; 0: none */
};

/* On failure, fini. max_nodes bounds the nodes and, with NODE_WORDS of them each, the words. Memory
 * is taken as they come. */
SMP_CHECKED enum smp_status smp_state_times_init(struct smp_state_times *times,
                                                 struct smp_quota *quota, size_t max_nodes);
void smp_state_times_fini(struct smp_state_times *times);
size_t smp_state_times_bytes(const struct smp_state_times *times); /* committed */
/* The part of these bytes that depends on the states found, not on the number of nodes. Before
 * init: 0. */
size_t smp_state_times_word_bytes(const struct smp_state_times *times);

/* Memory for so many nodes more, which have no time. False: none of them. */
SMP_CHECKED bool smp_state_times_grow(struct smp_state_times *times, size_t count);

static inline uint32_t smp_state_times_set(const struct smp_state_times *times, uint32_t node)
{
    return times->refs[node] & ((1u << SMP_THREAD_STATE_COUNT) - 1);
}

/* The node's time in this state. wall_ns: all its time. */
static inline int64_t smp_state_times_at(const struct smp_state_times *times, uint32_t node,
                                         enum smp_thread_state state, int64_t wall_ns)
{
    const uint32_t set = smp_state_times_set(times, node);
    const int64_t *place = &times->words[times->refs[node] >> SMP_THREAD_STATE_COUNT];

    if ((set >> state & 1) == 0)
        return 0;
    if (set >> state != 1)
        return place[__builtin_popcount(set & ((1u << state) - 1))];
    for (int others = __builtin_popcount(set) - 1; others > 0; others--)
        wall_ns = smp_subtract_clamped(wall_ns, *place++);
    return wall_ns;
}

/* wall_ns: without ns, which the caller adds afterwards. has_room: the times may take more memory.
 */
SMP_CHECKED bool smp_state_times_add(struct smp_state_times *times, uint32_t node,
                                     enum smp_thread_state state, int64_t wall_ns, int64_t ns,
                                     bool has_room);
/* As much of ns as the node has in this state; the caller subtracts it from the wall time. */
int64_t smp_state_times_take(struct smp_state_times *times, uint32_t node,
                             enum smp_thread_state state, int64_t wall_ns, int64_t ns);
/* The node has no time. */
void smp_state_times_clear(struct smp_state_times *times, uint32_t node);

/*
 * Sealing: own times become totals, children before parents. plans: a word for each node, zeroed;
 * first plan_node for each node, parents last, which returns how many words it may take; then
 * reserve for their sum; then add_up for each node, with the wall times that it and its parent have
 * at that moment: the node's is its total.
 */
static inline void smp_state_times_plan(const struct smp_state_times *times, uint32_t node,
                                        uint32_t *plan)
{
    const uint32_t set = smp_state_times_set(times, node);

    *plan = set | (set != 0 ? 1u << SMP_THREAD_STATE_COUNT : 0);
}
uint32_t smp_state_times_plan_node(uint32_t plan, uint32_t *parent_plan);
SMP_CHECKED bool smp_state_times_reserve(struct smp_state_times *times, size_t words);
void smp_state_times_add_up(struct smp_state_times *times, uint32_t node, int64_t wall_ns,
                            uint32_t parent, int64_t parent_wall_ns, uint32_t *parent_plan);

#endif
