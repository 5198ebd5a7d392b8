/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_times.h - how the wall time of each row of a tree is divided among the states
 * (model/measure.h), kept sparsely. In this file "node" means a row of the tree, and its number is
 * the row's.
 *
 *   node ──► 32 bits: set of its states, where their times are ──► times of all but the last one
 *
 * The last state of the set has the remaining wall time of the node, which the tree keeps. So
 * states and wall time cannot disagree, and a node with one state, like nearly all, takes only the
 * 32 bits. The caller passes the wall time to each call.
 *
 * In a finished tree a node whose time is all in one child refers to the child's times.
 *
 * Owns     its arrays.
 * Threads  as tree.h.
 * Errors   add: false if there is no memory; the time is then added to another state.
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
    SMP_STATE_TIMES_NODE_WORDS = 3, /* the highest average over a tree's nodes */
    SMP_STATE_TIMES_STEP_WORDS = 8192,
    SMP_STATE_TIMES_MAX_WORDS = 1 << (32 - SMP_THREAD_STATE_COUNT)
};

struct smp_state_times {
    uint32_t *refs; /* the base of the arena: by node its set of states, and its place in words */
    int64_t *words; /* the base of its arena; word 0 is not used */
    struct smp_arena *ref_arena;
    struct smp_arena *word_arena;
    uint32_t free
        /* Free places by size: the first word of each is the next place; 0: none */
        [SMP_THREAD_STATE_COUNT];
};

/* On failure the caller calls fini. max_nodes bounds the nodes and, times NODE_WORDS, the words.
 * Memory is committed as they are added. */
SMP_CHECKED enum smp_status smp_state_times_init(struct smp_state_times *times,
                                                 struct smp_quota *quota, size_t max_nodes);
void smp_state_times_fini(struct smp_state_times *times);
size_t smp_state_times_bytes(const struct smp_state_times *times); /* committed */
/* Returns the part of the bytes that depends on the states used, not on the number of nodes; 0
 * before init. */
size_t smp_state_times_word_bytes(const struct smp_state_times *times);

/* Appends count nodes without time. Returns false without memory; then none was appended. */
SMP_CHECKED bool smp_state_times_grow(struct smp_state_times *times, size_t count);

static inline uint32_t smp_state_times_set(const struct smp_state_times *times, uint32_t node)
{
    return times->refs[node] & ((1u << SMP_THREAD_STATE_COUNT) - 1);
}

/* Returns the node's time in this state. wall_ns: the node's wall time. */
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

/* wall_ns: the node's wall time before ns, which the caller adds afterwards. has_room: more memory
 * may be used. */
SMP_CHECKED bool smp_state_times_add(struct smp_state_times *times, uint32_t node,
                                     enum smp_thread_state state, int64_t wall_ns, int64_t ns,
                                     bool has_room);
/* Subtracts up to ns from this state and returns how much; the caller subtracts that from the wall
 * time. */
int64_t smp_state_times_take(struct smp_state_times *times, uint32_t node,
                             enum smp_thread_state state, int64_t wall_ns, int64_t ns);
/* Sets the node's time to zero. */
void smp_state_times_clear(struct smp_state_times *times, uint32_t node);

/*
 * To turn own times into totals, children before parents: call plan for each node, then plan_node
 * for each node, parents last, which returns how many words its total may take. Reserve their sum.
 * Then call add_up for each node, with the wall times that the node (its total) and its parent have
 * at that moment. The caller keeps a plan, a word, for each node.
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
