/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signals.h - the requester's half of signal.h: installing the handler, sending signals,
 * waiting for answers.
 *
 * A thread that ends first says so (ended_ns), then waits until no signal is being sent to it; who
 * sends says so first (sending_to), then looks whether the thread has ended. So a signal is only
 * ever sent to a thread that lives, and reaches it before the JVM's thread object is gone.
 *
 * Owns     the mailboxes.
 * Threads  any.
 * Errors   as listed.
 * Cost     send: a system call, about 1 us.
 */
#ifndef SMP_JVM_WALK_SIGNALS_H
#define SMP_JVM_WALK_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/jvm.h"
#include "jvm/walk/handler/signal.h"

/* The signal for 0: one that neither the C library nor the JVM nor its flight recorder uses. */
int smp_signals_number(int wanted);

/*
 * Once per process and number; it stays. Somebody's handler put over ours is left there: it is up
 * to them to call ours. SMP_EINVAL: no such signal.
 */
SMP_CHECKED enum smp_status smp_signals_install(int number);
bool smp_signals_is_installed(int number);
/* On a thread of ours that runs the user's Java code: a thread started there inherits its mask, and
 * must be able to answer. */
void smp_signals_let_through(void);

/* What signals of ours cost the threads that got them, in this process, over all sessions. */
struct smp_handler_cost {
    uint64_t signals;
    uint64_t timed; /* of them, */
    uint64_t timed_ns;
    uint64_t median_ns;         /* of the last SMP_SIGNAL_TIMES of those */
    uint64_t in_other_handlers; /* walks that began inside another signal's handler */
};
void smp_signals_get_handler_cost(struct smp_handler_cost *out);

/* NULL: too many. */
struct smp_signal_mailbox *smp_signals_take_mailbox(void);
void smp_signals_give_mailbox(struct smp_signal_mailbox *mailbox);

/*
 * Posts slot and sends its cookie. SMP_EGONE: the thread has ended. SMP_EQUOTA: the system's queue
 * is full. SMP_EVM. On failure the slot is free again.
 */
SMP_CHECKED enum smp_status smp_signals_request(int number, const struct smp_thread *thread,
                                                struct smp_signal_slot *slot, uint64_t cookie);
/* The same to a thread that is known to live for as long as the call lasts. */
SMP_CHECKED enum smp_status smp_signals_request_tid(int number, int32_t tid,
                                                    struct smp_signal_slot *slot, uint64_t cookie);

/* Between two looks for answers, to begin with; the system adds some 50 us. */
enum { SMP_SIGNAL_FIRST_PAUSE_NS = 10000 };

/* Sleeps for about *pause_ns, but not past deadline_ns (monotonic), and makes it longer for the
 * next time. False, at once: there is nothing to wait for, or no time. */
bool smp_signals_pause(struct smp_signal_mailbox *mailbox, int64_t deadline_ns, int64_t *pause_ns);
/* Returns soon after all that was asked has been answered, or at deadline_ns. */
void smp_signals_wait(struct smp_signal_mailbox *mailbox, int64_t deadline_ns);
/* Waits while the handler is at it: some microseconds. */
void smp_signals_let_finish(uint64_t cookie);
/* Ends a request: afterwards no handler writes for it. True: there is an answer, and the slot is to
 * be released. */
bool smp_signals_end(uint64_t cookie);

#endif
