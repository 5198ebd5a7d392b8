/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_layout.h - what counting hooks and the core share: a state per thread, trees of calls.
 *
 *   slots[tid & (SMP_CALL_SLOTS - 1)] ─► state ─next─► state ...     found by their tid
 *                                          │ position
 *   top ◄parent─ root ◄parent─ node ◄parent─ node                   the calls that are running
 *    │ child      │ child
 *    └► root ─next─► root ...   in a circle, from the one found last
 *
 * The tree is the shadow stack as well: the position is the node of the call that runs, and its
 * parents are its callers. So every call that runs has a node of its own, recursion too, and time
 * stamps are kept in nodes. Inclusive times of a recursion contain each other: a reader that adds
 * up a method's time takes only nodes that have no ancestor of the same method.
 *
 * A caller's child is the callee that was found last. Callees that were found before are in the
 * tree's table of hints as well, which lies before the top: a hint is right if its node has that
 * key and that parent. So a caller with several callees rarely searches the circle.
 *
 * Where a node cannot be made (a limit, no memory), the position is the tree's overflow node, which
 * stands for all deeper calls: its parent is the deepest counted call, its count says how many
 * calls deeper the thread is, deep which ones these are, its depth which limit that is (enum
 * smp_call_room). How many calls were not counted is in its time (the limit of nodes), entered (of
 * depth) and over_memory.
 *
 * A node has SMP_CALL_UNIT bytes. A call with a time has a wide node, of twice that: each one with
 * exact timing, else only roots. An ordinal counts units: of SMP_CALL_UNIT bytes, and with exact
 * timing of a wide node.
 *
 * All but the nodes is static and stays for ever, as an old frame may run a hook at any time. A
 * state stays in its slot's chain, and changes its thread only after that thread, or that thread's
 * outermost root, has ended: so a chain can be followed without a lock.
 *
 * Java's ThreadsSamplerHook has the same offsets; it compares them when it is set up.
 *
 * Threads  key, ordinal, depth of a node are constant once its parent is set. child, next and all
 *          of a state but tid, position, generation and phase belong to the thread that is counted.
 *          The rest is read by others at any time.
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
    SMP_CALL_REFLECTED = 65536, /* calls by reflection that were seen: a table of the hook's */
    SMP_CALL_DEEP = 1 << 20,    /* calls of a thread that have a key but no node */
    SMP_CALL_UNIT = 64,         /* bytes of a node without times */
    SMP_CALL_HINTS = 128,       /* of a tree: callees that were found before */
    SMP_CALL_HINT_BYTES = SMP_CALL_HINTS * 8,
    SMP_CALL_HINT_SCATTER = 8 * 53 /* the next method's hint is so many bytes on */
};

/* Is there room for a call's node? In the overflow node's depth: why not. The hook in Java writes
 * OVER_NODES itself. */
enum smp_call_room {
    SMP_CALL_HAS_ROOM,
    SMP_CALL_OVER_NODES,
    SMP_CALL_OVER_DEPTH,
    SMP_CALL_BEGAN_BEFORE, /* of a call around it, which has no place (call_past.h) */
    SMP_CALL_NO_MEMORY
};

/* A node's key is its method's id; these are others. */
#define SMP_CALL_ROOT INT32_MIN /* a bit: entered by enterRoot */
#define SMP_CALL_TOP (-1)
#define SMP_CALL_OVERFLOW (-2)

struct smp_call_node {
    int32_t key;
    uint32_t ordinal; /* its place in the tree, in units; the top's is 0, the overflow node's 1 */
    _Atomic(struct smp_call_node *) parent; /* stored last: the node is complete */
    union {
        struct smp_call_node *child;
        /* Of the overflow node: the keys of its calls; the first number is no key, but minus how
         * many there is room for. The hook in Java takes it for a child of no method. */
        int32_t *deep;
    };
    union {
        struct smp_call_node *next;
        _Atomic int64_t over_memory; /* of the overflow node, which has no siblings */
    };
    _Atomic int64_t count;   /* of the top: the depth where a doubt was settled; call_path.c */
    _Atomic int64_t time;    /* ticks of call_clock.h, of calls that have ended */
    _Atomic int64_t entered; /* when the running call began; 0: none, or it has no time stamp */
    int32_t depth;
    _Atomic uint32_t exits; /* calls with a time that have ended; wraps around. Of the top: which
                             * doubt that was */
};

/* Two of each: the thread writes the one of the running epoch (its number modulo 2) while the
 * reader reads the one of the epoch that has ended. */
struct smp_call_wide_node {
    struct smp_call_node node;
    _Atomic int64_t least[2]; /* ticks of the shortest call that ended in that epoch */
    _Atomic int64_t most[2];
    _Atomic uint32_t epoch[2];
    uint32_t unused[6];
};

/* The hook in Java marks its begin and its end. With exact timing a call's time has the part that
 * runs between its stamps. */
enum smp_call_phase {
    SMP_CALL_NO_HOOK,
    SMP_CALL_IN_HOOK,
    SMP_CALL_BETWEEN_STAMPS /* in a hook: of the call that was entered, or is left next */
};

struct smp_call_state {
    _Atomic int64_t tid; /* Java's id of the thread; 0: the state is free */
    struct smp_call_state *next;
    _Atomic(struct smp_call_node *) position; /* NULL: the thread is outside of all roots */
    struct smp_call_node *top;
    _Atomic uint32_t generation; /* of its tree: call_arena.h */
    _Atomic uint8_t phase;       /* of a hook: enum smp_call_phase */
    uint8_t is_exact;
    uint8_t is_virtual;
    uint8_t is_full; /* its tree has as many nodes as it may have */
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

/* Leads to the callee of that key, if it is among the hints. */
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

/* Calls with times. */
static inline size_t smp_call_node_bytes(int32_t key, bool is_exact)
{
    return is_exact || key < SMP_CALL_OVERFLOW ? sizeof(struct smp_call_wide_node)
                                               : sizeof(struct smp_call_node);
}

/* The node is neither the top nor the overflow node. */
static inline int32_t smp_call_method(const struct smp_call_node *node)
{
    return node->key & INT32_MAX;
}

static inline struct smp_call_node *smp_call_parent(const struct smp_call_node *node)
{
    return atomic_load_explicit(&node->parent, memory_order_acquire);
}

#endif
