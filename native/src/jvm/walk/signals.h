/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signals.h - the requester's half of handler/signal.h: installs the handler, sends signals, waits
 * for answers.
 *
 * A thread that ends first sets ended_ns, then waits until no signal is being sent to it; a sender
 * first sets sending_to, then checks ended_ns. So a signal is only ever sent to a live thread, and
 * reaches it before the JVM's thread object is freed.
 *
 * Owns     the mailboxes.
 * Threads  any.
 * Errors   as listed.
 * Cost     request: a system call, about 1 us.
 */
#ifndef SMP_JVM_WALK_SIGNALS_H
#define SMP_JVM_WALK_SIGNALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/jvm.h"
#include "handler/signal.h"

/* The signal for 0: one that neither the C library nor the JVM nor its flight recorder uses. */
int smp_signals_number(int wanted);

/* Installs the handler, which stays. If it is installed already, as smp_signals_check. SMP_EINVAL:
 * no such signal. */
SMP_CHECKED enum smp_status smp_signals_install(int number);
bool smp_signals_is_installed(int number);
/* NULL: no filter of system calls forbids requests. */
const char *smp_signals_refusal(void);

/* The bit of a signal number in a mask. */
static inline uint64_t smp_signal_mask_bit(int number)
{
    return UINT64_C(1) << (number - 1);
}

/* The signals that a thread of this process blocks; 0: none, or the system does not say. Costs 10
 * to 20 us. */
uint64_t smp_signal_mask_of_tid(int32_t tid);
/* The mask in the 16 digits of /proc/self/task/<tid>/status. */
uint64_t smp_signal_mask_parse(const char *digits);

enum smp_signals_hold {
    SMP_SIGNALS_HELD, /* the handler is ours, or passes our signals on to ours */
    SMP_SIGNALS_TAKEN_BACK,
    SMP_SIGNALS_LOST
};

/*
 * Another library may have installed its own handler. One signal to the calling thread shows
 * whether that passes our signals on. If it does not, ours is installed again, above the other,
 * which then gets all other signals. This is done at most SMP_SIGNAL_INSTALLS times, and only if
 * the other handler's file can be kept mapped. Else the signal is lost, and must not be sent, until
 * the handler is ours again. taker: the file of the other handler, unless the signal is held.
 */
enum smp_signals_hold smp_signals_check(int number, char *taker, size_t size);
bool smp_signals_is_lost(int number);
/* Hook of agent.h, on an internal thread that runs the user's Java code: a thread started there
 * inherits its mask, and must be able to answer. */
void smp_signals_let_through(void);

/* The cost of our signals to the threads that handled them, in this process, over all sessions. */
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
/* The same for a thread that surely lives as long as the call lasts. */
SMP_CHECKED enum smp_status smp_signals_request_tid(int number, int32_t tid,
                                                    struct smp_signal_slot *slot, uint64_t cookie);

/* The first pause between two checks for answers; the system adds some 50 us. */
enum { SMP_SIGNAL_FIRST_PAUSE_NS = 10000 };

/* Sleeps for about *pause_ns, but not past deadline_ns (monotonic), and lengthens it for the next
 * call. Returns false at once if no answer is missing, or no time is left. */
bool smp_signals_pause(struct smp_signal_mailbox *mailbox, int64_t deadline_ns, int64_t *pause_ns);
/* Returns soon after all requests have been answered, or at deadline_ns. */
void smp_signals_wait(struct smp_signal_mailbox *mailbox, int64_t deadline_ns);
/* Ends a request: afterwards no handler writes for it. True: there is an answer, and the caller
 * must release the slot. */
bool smp_signals_end(uint64_t cookie);

#endif
