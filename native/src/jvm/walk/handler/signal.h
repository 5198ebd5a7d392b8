/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signal.h - what happens in a thread that is asked for its stack: the slots that requests
 * and answers are exchanged in, and the handler.
 *
 *   requester  FREE ─take─► FILLING ─post─► PENDING ───────┬──too late─► LATE ──abandon─► LOST ─┐
 *   handler                                    └─► BUSY ─► DONE ◄─ BUSY ◄─┘                     └─►
 * FREE requester  FREE ◄──────────────────────────── release ─┘
 *
 * A signal carries a cookie: the slot's number and generation. The generation changes with every
 * take, so a signal that comes when its request is over finds nothing to do. Slots and mailboxes
 * are static: nothing a late signal touches is ever freed. Who is asked and gets no CPU answers
 * when it gets one: a LATE walk is as good as another, but nobody waits for it. Of a LOST one the
 * frames are no longer there: the signal only frees the slot. Until either there is no second
 * request of the same session to that thread.
 *
 * Deliveries of the signal that are not ours go to the handler that was there before us, on that
 * signal. It is never reset: a late signal must not meet the default action, which ends the
 * process. Where a redeployed application has brought another copy of the library, that one's
 * handler is on top, and passes on what is for the copies before: cookie_mark.h tells them apart.
 *
 * Owns     the slots; the walked frames belong to the requester.
 * Threads  the handler on any thread. take, post, release: any requester, for its own slots.
 * Errors   none.
 * Cost     the handler: a few atomic operations, and the walk.
 */
#ifndef SMP_JVM_WALK_HANDLER_SIGNAL_H
#define SMP_JVM_WALK_HANDLER_SIGNAL_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "jvm/walk/handler/cpu_timer.h"
#include "jvm/walk/handler/stack_walk.h"

enum {
    SMP_SIGNAL_SLOTS = 1024,     /* requests that are out, over all sessions; late ones included */
    SMP_SIGNAL_MAILBOXES = 64,   /* sessions at one time */
    SMP_SIGNAL_TIMED_EVERY = 64, /* each so many-th of our signals is timed */
    SMP_SIGNAL_TIMES = 256,      /* the last times that are kept */
    SMP_SIGNAL_NUMBERS = 65      /* of signals, and 0 */
};

enum smp_slot_state {
    SMP_SLOT_FREE,
    SMP_SLOT_FILLING,
    SMP_SLOT_PENDING,
    SMP_SLOT_BUSY,
    SMP_SLOT_DONE,
    SMP_SLOT_LATE,
    SMP_SLOT_LOST
};

/* Where answers are counted: the requester looks until pending is 0. Nobody is woken: to wake it
 * costs the thread that was asked more than the walk. */
struct smp_signal_mailbox {
    _Atomic uint32_t pending; /* requests without an answer */
    /* The thread a signal is just being sent to; 0: none. A thread that ends waits for it. */
    _Atomic int32_t sending_to;
    _Atomic bool is_taken;
};

struct smp_signal_slot {
    _Atomic uint64_t word; /* generation and smp_slot_state */
    struct smp_walk_target target;
    struct smp_signal_mailbox *mailbox;
    struct smp_jvm_frame *frames;
    uint32_t capacity;
    struct smp_walk_answer answer;
};

/* All that the handler reads of the process; set before the first signal is sent. */
struct smp_signal_process {
    int32_t pid;
    _Atomic bool is_open; /* false: no walk any more, the JVM is going */
    _Atomic uint64_t walks;
    _Atomic uint64_t timed; /* of the whole handler, beginning to end */
    _Atomic uint64_t timed_ns;
    _Atomic uint64_t foreign; /* deliveries that were passed on */
    _Atomic uint64_t stale;   /* signals that came when their request was over */
    struct sigaction previous[SMP_SIGNAL_NUMBERS]; /* by signal */
    _Atomic uint32_t times_ns[SMP_SIGNAL_TIMES];   /* the last ones, in no order */
};

extern struct smp_signal_process smp_signal_process;
extern struct smp_signal_slot smp_signal_slots[SMP_SIGNAL_SLOTS];
extern struct smp_signal_mailbox smp_signal_mailboxes[SMP_SIGNAL_MAILBOXES];

/* Of sigaction. */
void smp_signal_handle(int number, siginfo_t *info, void *context);

/* A slot in FILLING with a new generation, or NULL: all are in use. *cookie is what the signal must
 * carry. */
struct smp_signal_slot *smp_signal_take(uint64_t *cookie);
/* The slot's fields are filled; from now on the handler may find it. Counts in its mailbox. */
void smp_signal_post(struct smp_signal_slot *slot);
/* Of a cookie: where its request stands. FREE also when the slot serves another by now. */
enum smp_slot_state smp_signal_state(uint64_t cookie);
struct smp_signal_slot *smp_signal_slot_of(uint64_t cookie);
/* PENDING becomes LATE. False: the handler has it, or has had it. */
bool smp_signal_give_up(uint64_t cookie);
/* PENDING or LATE becomes LOST. False: the handler has it, or has had it. */
bool smp_signal_abandon(uint64_t cookie);
/* Back to FREE, from FILLING, DONE, or PENDING, LATE, LOST when no signal will come any more. */
void smp_signal_release(uint64_t cookie);
/* On a thread that ends, after its ended_ns is set: returns when no signal is being sent to it. */
void smp_signal_thread_ends(int32_t tid);
/* A handler walks in it. */
bool smp_signal_is_busy(const struct smp_signal_slot *slot);

#endif
