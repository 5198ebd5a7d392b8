/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_reader.h - reads what was counted since the last read, while the threads go on counting.
 *
 * The counts of a node only grow. The reader keeps the counts that it has seen and reports the
 * differences. So a reset needs no action of the threads: it marks all counts as seen. Only the
 * extremes, the shortest and the longest call, are begun anew by the threads after each read and
 * each reset. A call that ends while its tree is read may be among the extremes of two reads.
 *
 * Times include those of running calls, up to now. In a recursion the inclusive time of a call
 * contains the inner calls' (call_layout.h). A call counts when it is entered.
 *
 * Owns     the counts it has seen, for which the trees' chunks have room.
 * Threads  one at a time, while the arena is open; not during its close.
 * Errors   calls without a node are reported with the reason.
 * Cost     a pass over all nodes, 64 bytes each.
 */
#ifndef SMP_COUNTING_CALL_READER_H
#define SMP_COUNTING_CALL_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "model/counting_account.h"
#include "model/sample.h"

/* Stands for calls without a node in place of a method. */
#define SMP_METHOD_UNCOUNTED INT64_C(-1)

/* The counts of one node since the last read. */
struct smp_counted_call {
    uint32_t ordinal;
    uint32_t parent; /* the caller's ordinal; 0: none, the node is an outermost root */
    int64_t method;  /* or SMP_METHOD_UNCOUNTED: then only calls and loss matter, parent is 0 */
    enum smp_call_loss loss; /* why they have no node */
    bool is_root;
    int64_t calls;    /* that began */
    int64_t time_ns;  /* inclusive, up to now; of roots, and with exact timing of all calls */
    int64_t ended;    /* timed calls that have ended */
    int64_t ended_ns; /* the inclusive time of the ended calls */
    int64_t least_ns; /* the shortest ended call; 0: not known */
    int64_t most_ns;  /* the longest ended call; 0: not known */
};

struct smp_call_delta {
    uint64_t tree;          /* unique for ever */
    int64_t tid;            /* 0: virtual threads of the pool */
    uint64_t thread_serial; /* of the view (call_shared.h); 0: not known */
    uint32_t pool;
    bool is_new; /* the node is new since the last read */
    struct smp_counted_call call;
};

struct smp_call_visitor {
    void *self;
    /* Called for each node that is new or has changed, for callers before callees. */
    void (*on_delta)(void *self, const struct smp_call_delta *delta);
    /* Called for a tree that is gone after this read. May be NULL. */
    void (*on_end)(void *self, uint64_t tree);
    /* Called with the id of each node of a tree that stays; an id may come several times. May be
     * NULL. */
    void (*on_kept)(void *self, int32_t id);
};

void smp_call_read(const struct smp_call_visitor *visitor);
/* Sets all counts and times to zero. */
void smp_call_reset(void);

struct smp_call_position {
    uint64_t tree;
    uint64_t thread_serial;
    uint32_t pool;    /* of virtual threads; 0: of a platform thread, or nameless */
    uint32_t ordinal; /* 0: inside of a root's hook, in no call yet */
    int32_t method;
    bool is_root;
    bool is_in_hook;        /* it runs a probe now, not the method */
    bool is_between_stamps; /* it runs a part of a probe that exact times of calls contain */
};

/* Returns the call that the calling thread runs now; state is its own. For its signal handler,
 * during which the tree cannot be freed. */
struct smp_call_spot smp_call_spot_of(const void *state, int64_t java_id);
/* Reads the call of any thread, which keeps running. Returns false if it is outside of all
 * roots. */
bool smp_call_position_of(int64_t tid, struct smp_call_position *out);

#endif
