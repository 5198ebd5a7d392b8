/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_shared.h - the trees of counted threads, as call_arena, call_path and call_reader share
 * them.
 *
 * tree_of has the tree of each state. The thread, the reader or close takes it out of there in one
 * atomic step, and then disposes of it.
 *
 * Threads  status and pool_next of a tree, and next of its chunks: any. The other fields belong to
 *          the thread that counts in the tree; session, generation, serial, tid, thread_serial and
 *          pool are constant from OWNED on. A thread that leaves while counting is closed may keep
 *          a tree OWNED for some time, so a reader reads only trees of its own session.
 */
#ifndef SMP_COUNTING_CALL_SHARED_H
#define SMP_COUNTING_CALL_SHARED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "counting/call_clock.h"
#include "counting/call_layout.h"

/* The ordinals of the overflow node, SMP_CALL_UNIT bytes behind the top, and of the first node
 * after it. */
enum { SMP_CALL_OVERFLOW_NODE = 1, SMP_CALL_FIRST_NODE = 2 };

enum smp_call_tree_status {
    SMP_TREE_FREE,
    SMP_TREE_OWNED,    /* in tree_of of one state */
    SMP_TREE_POOLED,   /* of virtual threads, none of which counts in it now */
    SMP_TREE_RETIRED,  /* no thread counts in it any more; to be read once more */
    SMP_TREE_ABANDONED /* counting was closed; its thread frees it when it leaves its root */
};

/* The counts of a node that the reader has seen. */
struct smp_call_seen {
    int64_t count;
    int64_t time;
    int64_t ended_time; /* without the running call */
    uint32_t exits;
};

struct smp_call_chunk {
    _Atomic(struct smp_call_chunk *) next;
    char *nodes;  /* behind this header, aligned */
    size_t bytes; /* of the whole chunk */
    uint32_t units;
    uint32_t unit_bytes;
    uint32_t first_ordinal;
    struct smp_call_seen *seen; /* the reader's, by unit; behind the nodes */
    uint32_t known;             /* units that the reader has reported */
};

static inline struct smp_call_node *smp_call_node_at(const struct smp_call_chunk *chunk,
                                                     uint32_t unit)
{
    return (struct smp_call_node *)(void *)(chunk->nodes + (size_t)unit * chunk->unit_bytes);
}

static inline struct smp_call_node *smp_call_overflow_node(struct smp_call_node *top)
{
    return top + SMP_CALL_OVERFLOW_NODE;
}

/* Returns the unit behind the node that begins in this one. */
static inline uint32_t smp_call_unit_behind(const struct smp_call_chunk *chunk, uint32_t unit)
{
    const bool is_exact = chunk->unit_bytes != SMP_CALL_UNIT;
    const int32_t key = smp_call_node_at(chunk, unit)->key;

    return unit + (uint32_t)(smp_call_node_bytes(key, is_exact) / chunk->unit_bytes);
}

struct smp_call_tree {
    _Atomic uint32_t status;
    _Atomic uint32_t pool_next; /* index + 1 */
    _Atomic uint32_t session;
    _Atomic uint32_t generation; /* if not the current one, the tree must be given back */
    uint32_t pool;
    int64_t tid;            /* 0: virtual threads of the pool */
    uint64_t thread_serial; /* from the view; 0: virtual threads, or not known */
    uint64_t serial;
    _Atomic(struct smp_call_chunk *) first;
    struct smp_call_chunk *last;
    uint32_t units; /* the ordinal of the next node */
    char *free;     /* the next node */
    char *free_end;
    struct smp_quota *quota; /* held */
    /* Frees a tree that no other thread can find: one taken out of tree_of or a pool, or a RETIRED
     * one. Belongs to the copy of the library that has allocated its memory. */
    void (*dispose)(struct smp_call_tree *tree);
};

struct smp_call_arena {
    struct smp_quota *quota;
    size_t max_bytes;
    _Atomic size_t bytes;
    uint32_t nodes;
    int32_t depth;
    bool is_exact;
    uint32_t session;
    struct smp_call_clock clock;
    _Atomic uint64_t pools[SMP_CALL_POOLS]; /* stacks of trees: a tag, index + 1 */
    _Atomic uint64_t lost_roots;
};

/* A group of virtual threads, by its name. */
struct smp_call_pool {
    _Atomic uint32_t status;
    char name[SMP_CALL_POOL_NAME_BYTES];
};

struct smp_call_shared {
    uint64_t stamp;              /* of this layout */
    _Atomic bool is_taken;       /* from open to the end of close */
    _Atomic uint32_t session;    /* 0: counting is off; then generation is 0, too */
    _Atomic uint32_t generation; /* the session's number, then a new one for each renewal */
    _Atomic uint32_t epoch;      /* a new one begins with each read and each reset */
    _Atomic bool needs_fence;    /* there is no process barrier: threads that enter roots fence */
    _Atomic uint32_t news;
    _Atomic uint32_t inside;  /* threads in begin, leave, grow */
    _Atomic uint32_t numbers; /* the last number of a session or generation */
    _Atomic uint32_t state_count;
    _Atomic uint32_t probes;   /* odd: classes are being changed */
    _Atomic int64_t probed_ns; /* the end of the last change */
    _Atomic(struct smp_call_arena *) arena;
    _Atomic(struct smp_call_state *) slots[SMP_CALL_SLOTS];
    _Alignas(SMP_CALL_UNIT) struct smp_call_state states[SMP_CALL_STATES];
    _Atomic uint32_t tree_of[SMP_CALL_STATES]; /* index + 1; 0: none */
    struct smp_call_tree trees[SMP_CALL_TREES];
    _Atomic uint8_t seen[SMP_CALL_METHODS];
    struct smp_call_pool pools[SMP_CALL_POOLS];
    int64_t reflected[SMP_CALL_REFLECTED]; /* used by the hook only */
    struct {
        _Atomic uint32_t made;    /* the first so many trees have been used */
        _Atomic uint64_t serials; /* the last serial */
        _Atomic uint64_t unused;  /* a stack of free ones, as in pools */
    } supply;                     /* of trees */
    _Atomic uint64_t misplaced;
    /* By state: its thread's stack had no replaced code as of this number of probes. */
    uint32_t clean_as_of[SMP_CALL_STATES];
    _Atomic uint64_t methods[SMP_CALL_METHODS]; /* by id: how the JVM names it; 0: not known */
};

/* The memory of this process. Changes only before this copy of the library counts calls. A variable
 * and not a function, because each root reads it several times. */
extern struct smp_call_shared *smp_call_memory;

/* Returns the state's tree, or NULL. */
static inline struct smp_call_tree *smp_call_tree_of(const struct smp_call_state *state)
{
    const uint32_t tree = atomic_load_explicit(
        &smp_call_memory->tree_of[state - smp_call_memory->states], memory_order_acquire);

    return tree == 0 ? NULL : &smp_call_memory->trees[tree - 1];
}

/* Returns the generation, which is 0 while counting is off. At its next root a thread with another
 * one takes a new tree. */
static inline uint32_t smp_call_generation(void)
{
    return atomic_load_explicit(&smp_call_memory->generation, memory_order_seq_cst);
}

/* Returns FREE also for trees that must not be read: ABANDONED ones, and trees of another session.
 * Loads the session first, because a tree that was freed and taken again gets its session before
 * its status. For the reader's thread, which alone frees trees of its session. */
static inline uint32_t smp_call_tree_status(const struct smp_call_tree *tree, uint32_t session)
{
    if (atomic_load_explicit(&tree->session, memory_order_acquire) != session)
        return SMP_TREE_FREE;
    const uint32_t status = atomic_load_explicit(&tree->status, memory_order_acquire);
    return status == SMP_TREE_ABANDONED ? (uint32_t)SMP_TREE_FREE : status;
}

static inline uint32_t smp_call_epoch(void)
{
    return atomic_load_explicit(&smp_call_memory->epoch, memory_order_relaxed);
}

/* Returns the thread's state, or NULL. */
static inline struct smp_call_state *smp_call_state_find(int64_t tid)
{
    struct smp_call_state *state = atomic_load_explicit(
        &smp_call_memory->slots[(uint64_t)tid & (SMP_CALL_SLOTS - 1)], memory_order_acquire);

    while (state != NULL && atomic_load_explicit(&state->tid, memory_order_acquire) != tid)
        state = state->next;
    return state;
}

/* To be called after a store to session, generation or epoch, before loads of fields that threads
 * store. Returns false if a thread may not have seen the store yet. */
bool smp_call_fence_all(void);

/* Tells whether an older call of the method runs between a call and its caller, or for an
 * outermost root in any frame. */
enum smp_older_call {
    SMP_NO_OLDER_CALL,    /* no replaced code */
    SMP_MAYBE_OLDER_CALL, /* replaced code of other methods, or not all frames were seen */
    SMP_HAS_OLDER_CALL    /* an older call of the method runs there */
};

/* Functions of the JVM about the calling thread. hook_frames: the hook's frames above the
 * method's. A function may be NULL: nothing is known then. */
struct smp_call_view {
    /* The serial for the reader; 0: the thread has none. */
    uint64_t (*serial_of)(int64_t tid);
    /* The method that has called the hook, as the JVM names it; 0: not known. */
    uint64_t (*own_method)(int32_t hook_frames);
    /* caller: as own_method gave it; 0: the call is an outermost root. */
    enum smp_older_call (*find_older)(int32_t hook_frames, uint64_t caller);
    /* The number of calls on the stack of the method that has called the hook. At most so many run.
     * Below 1: not known. */
    int32_t (*count_calls)(void);
};

/* The view of the copy of the library that counts; never NULL. */
extern const struct smp_call_view *_Atomic smp_call_view_now;

/* To be called before calls are counted. view: static storage. */
static inline void smp_call_set_view(const struct smp_call_view *view)
{
    atomic_store_explicit(&smp_call_view_now, view, memory_order_release);
}

static inline const struct smp_call_view *smp_call_view(void)
{
    return atomic_load_explicit(&smp_call_view_now, memory_order_acquire);
}

#endif
