/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_arena.h - the memory that counted threads write to, and the rare cases of a hook: the first
 * root of a thread, another chunk of nodes, the end of a virtual thread's root.
 *
 *   open ─► threads begin, count, leave; a reader reads (call_reader.h) ─► close
 *
 * A platform thread keeps its state and its tree until smp_call_arena_retire. A virtual thread
 * returns both at the end of its outermost root: its tree, with its counts, goes to a pool, and
 * the next virtual thread of that pool counts in it. Nothing is kept for carriers.
 *
 * Virtual threads share trees if the default rule for names puts them into one group ("order-17"
 * into "order-"). The pool of a group exists as long as the process. Pool 0 is for threads without
 * a name, and for groups beyond the limit of pools.
 *
 * A state never leaves the list of its slot, because hooks follow the list without a lock. The
 * next thread of the slot reuses it, so a slot has as many states as it ever had threads at once.
 * There are four states per slot on average. A thread that finds none is not counted, and
 * lost_roots counts its roots.
 *
 * close stops counting at once. The nodes of a thread inside of a root stay until it leaves the
 * root, because its exits still use them. A thread outside of roots touches no node any more:
 *
 *   thread   position = top;  generation as mine? ─no─► position = NULL, nothing is counted
 *   close    generation = 0; status = ABANDONED;  position NULL? ─yes─► its nodes are freed
 *
 * Both sides store before they load, so at least one of them sees the other's store. The thread's
 * side is frequent and has no fence: close runs a barrier on all threads (base/process_barrier.h).
 *
 * renew begins new trees with a new generation. A tree that no thread counts in is retired: it is
 * read once more and freed. A thread inside of a root gives its tree back when it leaves the root.
 * Thread and reader decide as at close, so no call is lost.
 *
 *   thread   position = top;  generation as mine? ─no─► position = NULL, and once more
 *   reader   a new generation;  position NULL? ─yes─► takes the tree
 *
 * Several copies of the library may be loaded. The first one that defines the hook class has the
 * memory that all share. The copy that allocated a tree frees it.
 *
 * Owns     trees and chunks, until they are free; states are static.
 * Threads  open, close, renew and a reader: one at a time. retire: any. All others: the counted
 *          threads, without a lock.
 * Errors   open: SMP_ESTATE if it is open, or another copy is still closing it; SMP_EINVAL for a
 *          limit; SMP_ENOMEM. begin: NULL if counting is off, a limit is reached, or without
 *          memory.
 * Cost     begin: about 100 ns; a new tree takes a chunk of 6 KB. close: a pass over all trees;
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
    SMP_CALL_LEAST_UNITS = 64,       /* the lowest limit of a tree */
    SMP_CALL_FIRST_UNITS = 48,       /* of a tree's first chunk; further ones double the tree */
    SMP_CALL_FIRST_WIDE_UNITS = 32,  /* the same with exact timing */
    SMP_CALL_MOST_UNITS = 4096,      /* of a chunk */
    SMP_CALL_DEFAULT_NODES = 100000, /* of a thread, in units */
    SMP_CALL_DEFAULT_DEPTH = 1000,
    SMP_CALL_DEPTH_LIMIT = 1000000
};

struct smp_call_options {
    struct smp_quota *quota; /* pays for all memory; NULL: no quota */
    size_t max_bytes;        /* of the nodes of all threads, with the reader's counts */
    uint32_t nodes;          /* of one tree, in units; at least SMP_CALL_LEAST_UNITS */
    int32_t depth;           /* of one tree; deeper calls are not counted */
    bool is_exact;           /* all calls have time stamps, not only roots */
};

/* Static memory that the hook class gets once. */
struct smp_call_shared;

SMP_CHECKED enum smp_status smp_call_arena_open(const struct smp_call_options *options);
void smp_call_arena_close(void);
/* Returns the number of roots entered by threads that could not be counted. Not during close. */
uint64_t smp_call_arena_lost_roots(void);

/* Returns the number of first entries of methods since the library was loaded. */
uint32_t smp_call_arena_news(void);
/* Returns whether the method has been entered; false for ids from SMP_CALL_METHODS on. */
bool smp_call_arena_is_seen(int32_t id);
/* Forget the entries of all methods, or of one, before their ids get other methods. */
void smp_call_arena_forget_seen(void);
void smp_call_arena_forget_method(int32_t id);
void smp_call_arena_mark_seen(int32_t id);

/* Releases the state of a platform thread that has ended, or that calls this at its end. Its tree
 * is read once more and freed. Must be called for each thread that has been inside of a root, also
 * while counting is off: otherwise its state stays taken. Several threads may call it for one. */
void smp_call_arena_retire(int64_t tid);

/* Returns the memory that the hooks of this process use (call_shared.h). From now on another copy
 * of the library may adopt it. */
struct smp_call_shared *smp_call_arena_share(void);
/* Uses the memory of the copy that has defined the hook class. Returns false if its layout
 * differs. */
bool smp_call_arena_adopt(struct smp_call_shared *shared);

/* Returns the state, with a tree, of the calling thread, which is outside of all roots. pool: for
 * a virtual thread. */
struct smp_call_state *smp_call_begin(int64_t tid, bool is_virtual, uint32_t pool);
/* Gives back the state and tree of a virtual thread, or a tree of an earlier session. Called on
 * the state's thread, outside of all roots. */
void smp_call_leave(struct smp_call_state *state);
/* Makes room for a node of any kind. Called on the state's thread. A failure changes nothing. */
enum smp_call_room smp_call_grow(struct smp_call_state *state);
/* Makes room for the keys of twice as many calls without a node. Called on the state's thread.
 * Returns false, and changes nothing, at the limit or without memory. */
bool smp_call_deepen(struct smp_call_state *state);
/* Returns the pool for threads of this name (UTF-8; NULL or empty: no name). Two threads that
 * bring the same new name at once may make two pools for it, which does no harm. */
uint32_t smp_call_pool_find(const char *name);
/* Returns the name of the group; NULL for pool 0 and for no pool. */
const char *smp_call_pool_name(uint32_t pool);
/* Returns the number of the session; 0: counting is off. */
uint32_t smp_call_session(void);
/* Begins all trees anew, without nodes of unloaded classes and removed probes. For the reader. */
void smp_call_arena_renew(void);

#endif
