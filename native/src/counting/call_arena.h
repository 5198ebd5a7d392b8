/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_arena.h - the memory that counted threads write to, and what is rare in a hook: a thread's
 * first root, another chunk of nodes, the end of a virtual thread's root.
 *
 *   open ─► threads begin, count, leave; a reader reads (call_reader.h) ─► close
 *
 * A platform thread keeps its state and its tree until smp_call_arena_retire. A virtual thread
 * gives both back at the end of its outermost root: its tree, with its counts, goes to a pool, and
 * the next virtual thread of that pool goes on counting there. Nothing is kept for carriers.
 *
 * A state never leaves the list of its slot, because hooks follow that without a lock; the next
 * thread of the slot takes it. So there are as many states as each slot has ever had threads at
 * once, and room for four of each. With none left a thread is not counted, as losses say.
 *
 * close stops counting at once. The nodes of a thread that is inside of a root at that time stay
 * until it leaves the root, so its late exits do no harm; a thread outside touches no node any
 * more:
 *
 *   thread   position = top;  generation as mine? ─no─► position = NULL, nothing is counted
 *   close    generation = 0; status = ABANDONED;  position NULL? ─yes─► its nodes are freed
 *
 * Both sides store before they load, in one order for all, so at least one sees the other. For that
 * close runs a barrier on all threads (base/process_barrier.h), as a thread enters roots often.
 *
 * Trees begin anew with a new generation. One that no thread counts in is retired, so it is read
 * once more and freed; a thread inside of a root gives its tree back when it leaves the root.
 * Thread and reader decide as at close: no call is lost.
 *
 *   thread   position = top;  generation as mine? ─no─► position = NULL, and once more
 *   reader   a new generation;  position NULL? ─yes─► takes the tree
 *
 * Several cores may be there: the first one that defines the hook class has the shared memory of
 * all. A tree is freed by the core that has allocated it.
 *
 * Owns     trees and chunks, until they are free; states are static.
 * Threads  open, close, renew and a reader: one at a time. retire: any. The others: the counted
 *          threads, without a lock.
 * Errors   open: SMP_ESTATE, it is open, or another core is still closing it; SMP_EINVAL, a limit;
 *          SMP_ENOMEM. begin: NULL: counting is off, a limit is reached, or no memory.
 * Cost     begin: some 100 ns, and the first time a chunk of 6 KB. close: a pass over all trees;
 *          renew: one over all states, and over the trees in pools.
 */
#ifndef SMP_COUNTING_CALL_ARENA_H
#define SMP_COUNTING_CALL_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"
#include "counting/call_layout.h"

enum {
    SMP_CALL_LEAST_UNITS = 64,       /* of a tree's limit */
    SMP_CALL_FIRST_UNITS = 48,       /* of a tree's first chunk; the next ones double the tree */
    SMP_CALL_FIRST_WIDE_UNITS = 32,  /* the same with exact timing */
    SMP_CALL_MOST_UNITS = 4096,      /* of a chunk */
    SMP_CALL_DEFAULT_NODES = 100000, /* of a thread, in units */
    SMP_CALL_DEFAULT_DEPTH = 1000,
    SMP_CALL_DEPTH_LIMIT = 1000000
};

struct smp_call_options {
    struct smp_quota *quota; /* charged with all of it; NULL: the process alone */
    size_t max_bytes;        /* nodes of all threads, and what the reader knows of them */
    uint32_t nodes;          /* of one tree, in units; at least SMP_CALL_LEAST_UNITS */
    int32_t depth;           /* of one tree; calls below are not counted */
    bool is_exact;           /* each call has time stamps, not only roots */
};

/* Static memory that the hook class is given once. */
struct smp_call_shared;

SMP_CHECKED enum smp_status smp_call_arena_open(const struct smp_call_options *options);
void smp_call_arena_close(void);
/* Roots entered by threads that could not be counted. Not during close. */
uint64_t smp_call_arena_lost_roots(void);

/* How many methods have been entered for the first time since the library was loaded. */
uint32_t smp_call_arena_news(void);
/* Has this method been entered? Ids from SMP_CALL_METHODS on: false. */
bool smp_call_arena_is_seen(int32_t id);
/* As if no method had been entered, or not this one; for ids that are given anew. */
void smp_call_arena_forget_seen(void);
void smp_call_arena_forget_method(int32_t id);
void smp_call_arena_mark_seen(int32_t id);

/* The thread has ended, or ends now and calls this itself; its tree is read once more and freed
 * then. Platform threads only. For each thread that has been inside of a root, also while counting
 * is off: else its state stays taken. Any thread, and several for one. */
void smp_call_arena_retire(int64_t tid);

/* The memory that the hooks of this process use (call_shared.h). Another copy may adopt it now. */
struct smp_call_shared *smp_call_arena_share(void);
/* Takes the shared memory of the copy of the library that has defined the hook class. False: it is
 * laid out in another way. */
bool smp_call_arena_adopt(struct smp_call_shared *shared);

/* On that thread, outside of all roots: its state, ready to count in. pool: of virtual threads. */
struct smp_call_state *smp_call_begin(int64_t tid, bool is_virtual, uint32_t pool);
/* On that thread, outside of all roots: gives back what a virtual thread has, and what counting
 * that has been turned off has left. */
void smp_call_leave(struct smp_call_state *state);
/* On that thread: makes room for a node of any kind. Without room nothing has changed. */
enum smp_call_room smp_call_grow(struct smp_call_state *state);
/* On that thread: room for the keys of twice as many calls without a node. False: the limit, or no
 * memory; nothing has changed. */
bool smp_call_deepen(struct smp_call_state *state);
/* 0: counting is off. */
uint32_t smp_call_session(void);
/* Trees begin anew, so that what they know of unloaded classes goes, and what probes that were
 * taken out have counted. The reader's. */
void smp_call_arena_renew(void);

#endif
