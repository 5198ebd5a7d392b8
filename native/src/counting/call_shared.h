/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_shared.h - how the parts of call counting keep trees: for call_arena, call_path,
 * call_reader.
 *
 * tree_of says which tree a state has. What takes it out of there, in one step, disposes of it:
 * its thread, the reader or close.
 *
 * Threads  a tree's status, pool_next, and its chunks' next: any. Its other fields belong to the
 *          thread that counts in it; session, generation, serial, tid, thread_serial and pool are
 *          constant from OWNED on. A thread that leaves while counting is closed may keep a tree
 *          OWNED for some time, and then frees it: so a reader looks at trees of its own session
 *          only.
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

/* Ordinals of the overflow node, which lies SMP_CALL_UNIT bytes behind the top, and of the first
 * node after it. */
enum { SMP_CALL_OVERFLOW_NODE = 1, SMP_CALL_FIRST_NODE = 2 };

enum smp_call_tree_status {
    SMP_TREE_FREE,
    SMP_TREE_OWNED,    /* tree_of of one state */
    SMP_TREE_POOLED,   /* of virtual threads, none counts in it now */
    SMP_TREE_RETIRED,  /* no thread counts in it any more; it is read once more */
    SMP_TREE_ABANDONED /* counting was closed; freed by its thread when it leaves its root */
};

/* A node as the reader has seen it. */
struct smp_call_seen {
    int64_t count;
    int64_t time;
    int64_t ended_time; /* without what runs */
    uint32_t exits;
};

struct smp_call_chunk {
    _Atomic(struct smp_call_chunk *) next;
    char *nodes;  /* behind this header, aligned */
    size_t bytes; /* in all */
    uint32_t units;
    uint32_t unit_bytes;
    uint32_t first_ordinal;
    struct smp_call_seen *seen; /* the reader's, of each unit; behind the nodes */
    uint32_t known;             /* units that it has handed out */
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

/* The unit behind the node in that one. */
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
    _Atomic uint32_t generation; /* an older one than the state's: it is to be given back */
    uint32_t pool;
    int64_t tid;            /* 0: virtual threads of the pool */
    uint64_t thread_serial; /* of the view; 0: of virtual threads, or not known */
    uint64_t serial;
    _Atomic(struct smp_call_chunk *) first;
    struct smp_call_chunk *last;
    uint32_t units; /* the ordinal of the next node */
    char *free;     /* the next node */
    char *free_end;
    struct smp_quota *quota; /* held */
    /* Frees its memory: of the copy of the library that has allocated it. */
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

/* The group that its virtual threads are in: call_pools.h. */
struct smp_call_pool {
    _Atomic uint32_t status;
    char name[SMP_CALL_POOL_NAME_BYTES];
};

struct smp_call_shared {
    uint64_t stamp;              /* of this layout */
    _Atomic bool is_taken;       /* from open to the end of close */
    _Atomic uint32_t session;    /* 0: counting is off, as generation says, too */
    _Atomic uint32_t generation; /* the session's number, and a new one for each renewal */
    _Atomic uint32_t epoch;      /* ends with each read and each reset */
    _Atomic bool needs_fence;    /* for lack of a process barrier, in threads that enter a root */
    _Atomic uint32_t news;
    _Atomic uint32_t inside;  /* threads in begin, leave, grow */
    _Atomic uint32_t numbers; /* the last one of a session or generation */
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
    int64_t reflected[SMP_CALL_REFLECTED]; /* only the hook uses it */
    struct {
        _Atomic uint32_t made;    /* of trees, the first ones */
        _Atomic uint64_t serials; /* the last one */
        _Atomic uint64_t unused;  /* of these; a stack, as pools */
    } supply;                     /* of trees */
    _Atomic uint64_t misplaced;
    /* By state: no replaced code was on its thread's stack, as of this number of probes. */
    uint32_t clean_as_of[SMP_CALL_STATES];
    _Atomic uint64_t methods[SMP_CALL_METHODS]; /* by id: what the JVM calls it; 0: not known */
};

/* Of this process; changes only before calls are counted by this copy of the library. Not behind a
 * function: each root needs it several times. */
extern struct smp_call_shared *smp_call_memory;

/* NULL: it has none. */
static inline struct smp_call_tree *smp_call_tree_of(const struct smp_call_state *state)
{
    const uint32_t tree = atomic_load_explicit(
        &smp_call_memory->tree_of[state - smp_call_memory->states], memory_order_acquire);

    return tree == 0 ? NULL : &smp_call_memory->trees[tree - 1];
}

/* 0: counting is off. A thread whose state has another one begins anew when it enters a root. */
static inline uint32_t smp_call_generation(void)
{
    return atomic_load_explicit(&smp_call_memory->generation, memory_order_seq_cst);
}

/* FREE: not to be read: of another session than that, which is open, or ABANDONED. The session
 * first: a tree that was freed and taken anew has it before its new status. For the reader's
 * thread, which alone frees trees of its session. */
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

/* NULL: the thread has none. */
static inline struct smp_call_state *smp_call_state_find(int64_t tid)
{
    struct smp_call_state *state = atomic_load_explicit(
        &smp_call_memory->slots[(uint64_t)tid & (SMP_CALL_SLOTS - 1)], memory_order_acquire);

    while (state != NULL && atomic_load_explicit(&state->tid, memory_order_acquire) != tid)
        state = state->next;
    return state;
}

/* After a store to session, generation or epoch, before what threads store is looked at. False: a
 * thread may not have seen it yet. */
bool smp_call_fence_all(void);
enum smp_call_look {
    SMP_CALL_LOOK_NEW,   /* no replaced code runs, down to its caller; of a root: in all of it */
    SMP_CALL_LOOK_OLDER, /* it has some, or was not seen whole */
    SMP_CALL_LOOK_OLD    /* an older call of the method runs, inside of its caller's */
};

/* What is known of the calling thread: its number, and what its stack shows. hook_frames: of the
 * hook, above the method's own. NULL in place of a function: it knows nothing. */
struct smp_call_view {
    /* For the reader; 0: the thread has none. */
    uint64_t (*serial_of)(int64_t tid);
    /* The method that has called the hook, as the JVM names it now; 0: not known. */
    uint64_t (*own_method)(int32_t hook_frames);
    /* caller: as own_method gave it; 0: the call is an outermost root. */
    enum smp_call_look (*look)(int32_t hook_frames, uint64_t caller);
    /* How many calls of the method that has called the hook are on the stack? At most that many
     * run. Below 1: not known. */
    int32_t (*count_calls)(void);
};

/* Of this copy of the library, which counts; never NULL. */
extern const struct smp_call_view *_Atomic smp_call_view_now;

/* Before calls are counted. Static storage. */
static inline void smp_call_set_view(const struct smp_call_view *view)
{
    atomic_store_explicit(&smp_call_view_now, view, memory_order_release);
}

static inline const struct smp_call_view *smp_call_view(void)
{
    return atomic_load_explicit(&smp_call_view_now, memory_order_acquire);
}

/* Frees a tree that no other thread can find: after it was taken from where it was, or RETIRED. */
void smp_call_tree_free(struct smp_call_tree *tree);

#endif
