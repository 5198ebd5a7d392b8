/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signal.h - the signal handler, and the slots through which requests for walks and their answers
 * pass.
 *
 *   requester  FREE ─take─► FILLING ─post─► PENDING ──too late─► LATE ──abandon─► FREE
 *                              └─spare─► DONE │                   │
 *   handler                                    └─► BUSY ─► DONE    └─► BUSY ─► DONE
 *   requester  FREE ◄────────────────────────── release ┘ ◄───────────── release ┘
 *
 * A signal carries a cookie (cookie.h), so a signal that comes after its request matches no slot.
 * Slots and mailboxes are static: nothing that a late signal touches is ever freed. A thread
 * without a CPU answers when it gets one; the requester does not wait for such a LATE walk, and its
 * session makes no second request to that thread until then. A requester that abandons a request
 * may free its frames, because the signal matches no slot any more.
 *
 * Requests have the code of timers (SI_TIMER), and an id that no timer has. execve() drops pending
 * signals of timers; a pending signal with another code would end the new program.
 *
 * Signals that are not ours are passed on to the handler that was installed before. If that handler
 * calls ours with them (because ours was installed a second time, above it), the handler before it
 * gets them. Ours is never removed: a late signal must not meet the default action, which ends the
 * process. If a redeployed application has brought another version of the library, that core's
 * handler is above, and passes on the signals of the cores before: cookie.h tells them apart.
 *
 * Owns     the slots; the walked frames belong to the requester.
 * Threads  the handler on any thread. take, post, release: any requester, for its own slots.
 * Cost     the handler: a few atomic operations, and the walk.
 */
#ifndef SMP_HANDLER_SIGNAL_H
#define SMP_HANDLER_SIGNAL_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "handler/cpu_timer.h"
#include "handler/walk_data.h"

enum {
    SMP_SIGNAL_SLOTS = 1024,     /* outstanding requests, over all sessions; late ones included */
    SMP_SIGNAL_MAILBOXES = 64,   /* sessions at one time */
    SMP_SIGNAL_TIMED_EVERY = 64, /* one signal of so many is timed for the median */
    SMP_SIGNAL_TIMES = 256,      /* the last times that are kept */
    SMP_SIGNAL_NUMBERS = 65,     /* of signals, and 0 */
    SMP_SIGNAL_INSTALLS = 4,     /* of one signal: the first, and after other libraries took it */
    SMP_SIGNAL_ALIGNMENT = 64    /* keeps apart the cache lines that several CPUs write */
};

enum smp_slot_state {
    SMP_SLOT_FREE,
    SMP_SLOT_FILLING,
    SMP_SLOT_PENDING,
    SMP_SLOT_BUSY,
    SMP_SLOT_DONE,
    SMP_SLOT_LATE
};

/* Counts answers. The requester polls until pending is 0: to wake it up would cost the walked
 * thread more than the walk. */
struct smp_signal_mailbox {
    _Alignas(SMP_SIGNAL_ALIGNMENT) _Atomic uint32_t pending; /* requests without an answer */
    /* The thread that a signal is being sent to; 0: none. A thread that ends waits for it. */
    _Atomic int32_t sending_to;
    _Atomic bool is_taken;
};

struct smp_signal_slot {
    _Alignas(SMP_SIGNAL_ALIGNMENT) _Atomic uint64_t word; /* generation and smp_slot_state */
    struct smp_walk_target target;
    struct smp_signal_mailbox *mailbox;
    struct smp_jvm_frame *frames;
    uint32_t capacity;
    struct smp_walk_answer answer;
};

/* Everything that the handler reads of the process; set before the first signal is sent. */
struct smp_signal_process { /* NOLINT(clang-analyzer-optin.performance.Padding): on purpose */
    int32_t pid;
    _Atomic bool is_open; /* false: handlers do not walk, the JVM may be shutting down */
    /* Handlers write from here on; the fields above stay in the caches of all CPUs. */
    _Alignas(SMP_SIGNAL_ALIGNMENT) _Atomic uint64_t walks;
    _Atomic uint64_t timed; /* handlers that were timed from beginning to end */
    _Atomic uint64_t timed_ns;
    _Atomic uint64_t foreign; /* signals that were passed on */
    _Atomic uint64_t stale;   /* signals that came after their request */
    /* By signal: the action that each install has found. */
    struct sigaction previous[SMP_SIGNAL_NUMBERS][SMP_SIGNAL_INSTALLS];
    _Atomic uint32_t installs[SMP_SIGNAL_NUMBERS];
    _Atomic uint32_t times_ns[SMP_SIGNAL_TIMES]; /* the last ones, in no order */
};

extern struct smp_signal_process smp_signal_process;
extern struct smp_signal_slot smp_signal_slots[SMP_SIGNAL_SLOTS];
extern struct smp_signal_mailbox smp_signal_mailboxes[SMP_SIGNAL_MAILBOXES];

/* The si_timerid of requests. Timers' ids are not negative. */
static inline int32_t smp_signal_request_id(void)
{
    return ~smp_signal_process.pid;
}

/* The handler, for sigaction. */
void smp_signal_handle(int number, siginfo_t *info, void *context);

/* A slot in FILLING with a new generation; *cookie is what its signal must carry. NULL: all are in
 * use. */
struct smp_signal_slot *smp_signal_take(uint64_t *cookie);
/* The slot's fields are filled: from now on the handler may find it. Counts it in its mailbox. */
void smp_signal_post(struct smp_signal_slot *slot);
/* Instead of post, if the requester has filled in the answer itself and sends no signal. */
void smp_signal_spare(uint64_t cookie);
/* The state of a cookie's request; FREE also if the slot serves another by now. */
enum smp_slot_state smp_signal_state(uint64_t cookie);
struct smp_signal_slot *smp_signal_slot_of(uint64_t cookie);
/* PENDING becomes LATE. False: the handler is BUSY, or DONE. */
bool smp_signal_give_up(uint64_t cookie);
/* PENDING or LATE becomes FREE. False: the handler is BUSY, or DONE. */
bool smp_signal_abandon(uint64_t cookie);
/* Back to FREE, from any state but BUSY. */
void smp_signal_release(uint64_t cookie);
/* Waits while the handler walks: some microseconds. */
void smp_signal_let_finish(uint64_t cookie);
/* On a thread that ends, after its ended_ns is set: returns when no signal is being sent to it. */
void smp_signal_thread_ends(int32_t tid);
/* Does a handler walk for this slot? */
bool smp_signal_is_busy(const struct smp_signal_slot *slot);

#endif
