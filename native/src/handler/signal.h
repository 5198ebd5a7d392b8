/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signal.h - the signal handler, and the slots for requests of walks and their answers.
 *
 *   requester  FREE ─take─► FILLING ─post─► PENDING ──too late─► LATE ──abandon─► FREE
 *                              └─spare─► DONE │                   │
 *   handler                                    └─► BUSY ─► DONE    └─► BUSY ─► DONE
 *   requester  FREE ◄────────────────────────── release ┘ ◄───────────── release ┘
 *
 * A signal carries a cookie (cookie.h), so a signal that comes after its request has ended matches
 * no slot. Slots and mailboxes are static, because late signals access them. A thread without a
 * CPU answers when it gets one. The requester does not wait for such a LATE walk, and its session
 * makes no other request to that thread until then. After it has abandoned a request, the
 * requester may free the frames, because the signal matches no slot.
 *
 * Requests have the code of timers (SI_TIMER) and an id that no timer has, because execve() drops
 * pending signals of timers. A pending signal with another code would kill the new program.
 *
 * Signals that are not ours are passed on to the handler that was installed before. If that
 * handler calls ours (because ours was installed again after it), they go to the handler before
 * it. Our handler is never removed, because the default action for a late signal kills the
 * process. If a redeployed application has brought another version of the library, its handler
 * passes on the signals of earlier cores, which cookie.h distinguishes.
 *
 * Owns     the slots. The frames belong to the requester.
 * Threads  the handler: any thread. take, post, release: any requester, for its own slots.
 * Cost     the handler: a few atomic operations and the walk.
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
    SMP_SIGNAL_SLOTS = 1024,     /* outstanding requests of all sessions, including late ones */
    SMP_SIGNAL_MAILBOXES = 64,   /* sessions at one time */
    SMP_SIGNAL_TIMED_EVERY = 64, /* one of this many signals is timed for the median */
    SMP_SIGNAL_TIMES = 256,      /* number of times that are kept */
    SMP_SIGNAL_NUMBERS = 65,     /* signal numbers, including 0 */
    SMP_SIGNAL_INSTALLS = 4,     /* of one signal: the first, and again after other libraries */
    SMP_SIGNAL_ALIGNMENT = 64    /* separates cache lines that several CPUs write */
};

enum smp_slot_state {
    SMP_SLOT_FREE,
    SMP_SLOT_FILLING,
    SMP_SLOT_PENDING,
    SMP_SLOT_BUSY,
    SMP_SLOT_DONE,
    SMP_SLOT_LATE
};

/* Counts answers. The requester polls until pending is 0, because waking it up would cost the
 * walked thread more than the walk. */
struct smp_signal_mailbox {
    _Alignas(SMP_SIGNAL_ALIGNMENT) _Atomic uint32_t pending; /* requests without an answer */
    /* The thread to which a signal is being sent; 0: none. A thread that ends waits for it. */
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

/* Data of the process that the handler reads, set before the first signal is sent. */
struct smp_signal_process { /* NOLINT(clang-analyzer-optin.performance.Padding): on purpose */
    int32_t pid;
    _Atomic bool is_open; /* false: handlers do not walk, because the JVM may be shutting down */
    /* Written by handlers from here on; the fields above stay in the caches of all CPUs. */
    _Alignas(SMP_SIGNAL_ALIGNMENT) _Atomic uint64_t walks;
    _Atomic uint64_t timed; /* timed signals */
    _Atomic uint64_t timed_ns;
    _Atomic uint64_t foreign; /* signals that were passed on */
    _Atomic uint64_t stale;   /* signals without a request */
    /* For each signal the action that each install has replaced. */
    struct sigaction previous[SMP_SIGNAL_NUMBERS][SMP_SIGNAL_INSTALLS];
    _Atomic uint32_t installs[SMP_SIGNAL_NUMBERS];
    _Atomic uint32_t times_ns[SMP_SIGNAL_TIMES]; /* the last times, unordered */
};

extern struct smp_signal_process smp_signal_process;
extern struct smp_signal_slot smp_signal_slots[SMP_SIGNAL_SLOTS];
extern struct smp_signal_mailbox smp_signal_mailboxes[SMP_SIGNAL_MAILBOXES];

/* The si_timerid of requests; ids of timers are not negative. */
static inline int32_t smp_signal_request_id(void)
{
    return ~smp_signal_process.pid;
}

/* The handler, for sigaction. */
void smp_signal_handle(int number, siginfo_t *info, void *context);

/* Returns a slot in FILLING, whose signal must carry *cookie. NULL: all are in use. */
struct smp_signal_slot *smp_signal_take(uint64_t *cookie);
/* Makes a filled slot visible to the handler and counts it in its mailbox. */
void smp_signal_post(struct smp_signal_slot *slot);
/* Called instead of post if the requester has filled in the answer itself and sends no signal. */
void smp_signal_spare(uint64_t cookie);
/* The state of the cookie's request; FREE also if the slot belongs to another request. */
enum smp_slot_state smp_signal_state(uint64_t cookie);
struct smp_signal_slot *smp_signal_slot_of(uint64_t cookie);
/* From PENDING to LATE. Returns false if the slot is BUSY or DONE. */
bool smp_signal_give_up(uint64_t cookie);
/* From PENDING or LATE to FREE. Returns false if the slot is BUSY or DONE. */
bool smp_signal_abandon(uint64_t cookie);
/* To FREE from any state but BUSY. */
void smp_signal_release(uint64_t cookie);
/* Waits some microseconds while the slot is BUSY. */
void smp_signal_let_finish(uint64_t cookie);
/* Called on a thread that ends, after ended_ns is set. Returns when no signal is being sent to
 * it. */
void smp_signal_thread_ends(int32_t tid);
/* Returns whether the slot is BUSY. */
bool smp_signal_is_busy(const struct smp_signal_slot *slot);

#endif
