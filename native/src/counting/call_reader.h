/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_reader.h - what was counted since the last time, while the threads go on counting.
 *
 * A node's counts only grow; the reader keeps what it has seen of each and hands out the
 * difference. So a reset needs nothing of the threads: what was counted until then counts as seen.
 * Only the shortest and the longest call are the thread's own: it begins them anew with each read
 * and each reset. A call that ends while its tree is read may be among those of two reads.
 *
 * Time of calls that run is included, up to now. Inclusive times of a recursion contain each other
 * (call_layout.h). Calls are entered calls.
 *
 * Owns     what it has seen, in the trees' chunks, which come with room for that.
 * Threads  one at a time, while the arena is open; not while it is closed.
 * Errors   calls that had no room for a node are handed out without one, with the limit.
 * Cost     a pass over all nodes, 64 bytes each.
 */
#ifndef SMP_COUNTING_CALL_READER_H
#define SMP_COUNTING_CALL_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "model/counting_account.h"
#include "model/sample.h"

/* In place of a method: calls below the tree's limits, which have no node. */
#define SMP_CALL_UNCOUNTED (-1)

struct smp_call_delta {
    uint64_t tree;          /* no other one ever has this number */
    int64_t tid;            /* 0: virtual threads of the pool */
    uint64_t thread_serial; /* of the view (call_shared.h); 0: not known */
    uint32_t pool;
    uint32_t ordinal; /* of the node, in its tree */
    uint32_t parent;  /* the caller's; 0: none, it is an outermost root */
    int32_t method;
    enum smp_counting limit; /* of calls that are not counted: which one was reached */
    bool is_root;
    bool is_new; /* the node was not there at the last read */
    int64_t calls;
    int64_t time_ns;  /* inclusive; of roots, and with exact timing of all */
    int64_t ended;    /* calls with a time that have ended, */
    int64_t ended_ns; /* their whole time, */
    int64_t least_ns; /* the shortest of them, */
    int64_t most_ns;  /* and the longest; both 0: none ended */
};

struct smp_call_visitor {
    void *self;
    /* For each node that is new or has changed; a caller's node comes before its callees'. */
    void (*on_delta)(void *self, const struct smp_call_delta *delta);
    /* The tree's last delta was this read's. May be NULL. */
    void (*on_end)(void *self, uint64_t tree);
    /* Of each node of a tree that stays, maybe several times: the id that its probe has pushed.
     * May be NULL. */
    void (*on_kept)(void *self, int32_t id);
};

void smp_call_read(const struct smp_call_visitor *visitor);
/* From here on all counts and times begin at zero. */
void smp_call_reset(void);

struct smp_call_position {
    uint64_t tree;
    uint64_t thread_serial;
    uint32_t pool;    /* of virtual threads; 0: of a platform thread, or nameless */
    uint32_t ordinal; /* 0: inside of a root's hook, in no call yet */
    int32_t method;
    bool is_root;
    bool is_in_hook;        /* what it does now is ours, not the method's */
    bool is_between_stamps; /* so is this, and exact times of calls contain it */
};

/* The call that the calling thread, whose state that is, runs. For its signal handler: its tree
 * stays meanwhile. */
struct smp_call_spot smp_call_spot_of(const void *state, int64_t java_id);
/* False: the thread is outside of all roots. It runs on meanwhile. */
bool smp_call_position_of(int64_t tid, struct smp_call_position *out);

#endif
