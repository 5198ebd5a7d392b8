/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_layout.h - the memory that counting hooks and the core share: a state per thread, trees of
 * calls.
 *
 *   slots[tid & (SMP_CALL_SLOTS - 1)] ─► state ─next─► state ...     found by their tid
 *                                          │ position
 *   top ◄parent─ root ◄parent─ node ◄parent─ node                   the calls that are running
 *    │ child      │ child
 *    └► root ─next─► root ...   in a circle, beginning with the one found last
 *
 * The tree is also the shadow stack: the position is the node of the running call, and its parents
 * are its callers. So each running call, even of a recursion, has its own node with its time
 * stamp. In a recursion the inclusive time of a call contains the inner calls' time. So a reader
 * that adds up the time of a method takes only nodes without an ancestor of the same method.
 *
 * A caller's child is the callee that was found last. Callees found earlier are also in the tree's
 * table of hints, which lies before the top. A hint is right if its node has the wanted key and
 * parent. So a caller with several callees rarely searches the circle.
 *
 * If a node cannot be made (a limit, no memory), the position is the tree's overflow node, which
 * represents all deeper calls. Its parent is the deepest call with a node, its count the number of
 * deeper calls, deep their keys, and its depth the reason (enum smp_call_room). Its fields count
 * the calls without a node: time (limit of nodes), entered (limit of depth), over_memory.
 *
 * A node has SMP_CALL_UNIT bytes. A timed call has a wide node of twice that size: with exact
 * timing every call, else only roots. Ordinals count units of SMP_CALL_UNIT bytes, with exact
 * timing units of a wide node.
 *
 * Everything but the nodes is static and stays for ever, because an old frame may run a hook at
 * any time. A state stays in the chain of its slot, and gets another thread only after its thread,
 * or that thread's outermost root, has ended. So a chain can be followed without a lock.
 *
 * ThreadsSamplerHook.java has the same offsets, and checks them when it is set up.
 *
 * Threads  key, ordinal and depth of a node are constant once its parent is set. child, next and
 *          all fields of a state but tid, position, generation and phase belong to the counted
 *          thread. Other threads read all other fields at any time.
 */
#ifndef SMP_COUNTING_CALL_LAYOUT_H
#define SMP_COUNTING_CALL_LAYOUT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SMP_CALL_SLOTS = 16384,
    SMP_CALL_STATES = 65536,    /* threads inside of roots, and platform threads that were */
    SMP_CALL_TREES = 32768,     /* at a time */
    SMP_CALL_METHODS = 1 << 20, /* ids whose first entry is noted */
    SMP_CALL_POOLS = 256,       /* of virtual threads, by the name of their group; 0: without */
    SMP_CALL_POOL_NAME_BYTES = 128,
    SMP_CALL_REFLECTED = 65536, /* entries of the hook's table of seen calls by reflection */
    SMP_CALL_DEEP = 1 << 20,    /* most calls of a thread with a key but no node */
    SMP_CALL_UNIT = 64,         /* bytes of a node without times */
    SMP_CALL_HINTS = 128,       /* of a tree: callees that were found before */
    SMP_CALL_HINT_BYTES = SMP_CALL_HINTS * 8,
    SMP_CALL_HINT_SCATTER = 8 * 53 /* bytes from a method's hint to the next method's */
};

/* Tells whether there is room for a node, or why not. The overflow node's depth has the reason.
 * The hook in Java also writes OVER_NODES. */
enum smp_call_room {
    SMP_CALL_HAS_ROOM,
    SMP_CALL_OVER_NODES,
    SMP_CALL_OVER_DEPTH,
    SMP_CALL_BEGAN_BEFORE, /* an older call around it has no place (call_path.h) */
    SMP_CALL_NO_MEMORY
};

/* The key of a node is its method's id, except for these. */
#define SMP_CALL_ROOT INT32_MIN /* a bit: entered by enterRoot */
#define SMP_CALL_TOP (-1)
#define SMP_CALL_OVERFLOW (-2)

struct smp_call_node {
    int32_t key;
    uint32_t ordinal; /* its offset in the tree in units; the top has 0, the overflow node 1 */
    _Atomic(struct smp_call_node *) parent; /* stored last, when the node is complete */
    union {
        struct smp_call_node *child;
        /* In the overflow node: the keys of its calls. The first number is the capacity, negated,
         * which the hook in Java takes for a child without a method. */
        int32_t *deep;
    };
    union {
        struct smp_call_node *next;
        _Atomic int64_t over_memory; /* of the overflow node, which has no siblings */
    };
    _Atomic int64_t count;   /* calls; in the top: a depth, see is_resolved in call_path.c */
    _Atomic int64_t time;    /* ticks (call_clock.h) of ended calls */
    _Atomic int64_t entered; /* start of the running call; 0: none, or it is not timed */
    int32_t depth;
    _Atomic uint32_t exits; /* ended timed calls; wraps around. In the top: a doubt's number */
};

/* Each field exists twice: the thread writes the one of the running epoch (its number modulo 2)
 * while the reader reads the ended epoch's. */
struct smp_call_wide_node {
    struct smp_call_node node;
    _Atomic int64_t least[2]; /* ticks of the shortest call that has ended in that epoch */
    _Atomic int64_t most[2];
    _Atomic uint32_t epoch[2];
    uint32_t unused[6];
};

/* The phase of a thread's hook. The hook in Java marks its begin and its end. With exact timing
 * the time of a call contains the part of the hook between its time stamps. */
enum smp_call_phase {
    SMP_CALL_NO_HOOK,
    SMP_CALL_IN_HOOK,
    SMP_CALL_BETWEEN_STAMPS /* in a hook, within the time of the call that was entered or is left */
};

struct smp_call_state {
    _Atomic int64_t tid; /* Java's id of the thread; 0: the state is free */
    struct smp_call_state *next;
    _Atomic(struct smp_call_node *) position; /* NULL: the thread is outside of all roots */
    struct smp_call_node *top;
    _Atomic uint32_t generation; /* of its tree: call_arena.h */
    _Atomic uint8_t phase;       /* of the hook: enum smp_call_phase */
    uint8_t is_exact;
    uint8_t is_virtual;
    uint8_t is_full; /* its tree has reached the limit of nodes */
    int32_t depth_limit;
    uint32_t unused[5];
};

_Static_assert(sizeof(struct smp_call_node) == SMP_CALL_UNIT, "a cache line");
_Static_assert(sizeof(struct smp_call_wide_node) == 2 * SMP_CALL_UNIT, "two units");
_Static_assert(sizeof(struct smp_call_state) == 64, "a cache line");

static inline bool smp_call_is_root(const struct smp_call_node *node)
{
    return node->key < SMP_CALL_OVERFLOW;
}

/* Returns the address of the tree's hint for the callee with this key. */
static inline struct smp_call_node **smp_call_hint(struct smp_call_node *top,
                                                   const struct smp_call_node *at, int32_t key)
{
    const uint64_t mixed = ((uintptr_t)at >> 3) + (uint64_t)key * SMP_CALL_HINT_SCATTER;
    char *const hints = (char *)top - SMP_CALL_HINT_BYTES;

    return (struct smp_call_node **)(void *)(hints + (mixed & (SMP_CALL_HINT_BYTES - 8)));
}

static inline size_t smp_call_unit_bytes(bool is_exact)
{
    return is_exact ? sizeof(struct smp_call_wide_node) : (size_t)SMP_CALL_UNIT;
}

/* Returns the size of a node with this key. */
static inline size_t smp_call_node_bytes(int32_t key, bool is_exact)
{
    return is_exact || key < SMP_CALL_OVERFLOW ? sizeof(struct smp_call_wide_node)
                                               : sizeof(struct smp_call_node);
}

/* Returns the id of a node that is neither the top nor the overflow node. */
static inline int32_t smp_call_method(const struct smp_call_node *node)
{
    return node->key & INT32_MAX;
}

static inline struct smp_call_node *smp_call_parent(const struct smp_call_node *node)
{
    return atomic_load_explicit(&node->parent, memory_order_acquire);
}

#endif
