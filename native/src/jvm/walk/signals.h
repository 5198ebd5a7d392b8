/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signals.h - the sender's side of handler/signal.h: installs the handler, sends signals, waits
 * for answers.
 *
 * A signal is sent only to a live thread, and arrives before the JVM frees the thread object: a
 * thread that ends sets ended_ns and then waits until no signal is being sent to it, and a sender
 * sets sending_to and then checks ended_ns.
 *
 * Owns     the mailboxes.
 * Threads  any.
 * Errors   as listed.
 * Cost     request: a system call (about 1 us).
 */
#ifndef SMP_JVM_WALK_SIGNALS_H
#define SMP_JVM_WALK_SIGNALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/jvm.h"
#include "handler/signal.h"

/* Returns wanted; for 0 a signal that the C library, the JVM and its flight recorder do not use. */
int smp_signals_number(int wanted);

/* Installs the handler, which is never removed. If it is already installed, works like
 * smp_signals_check. SMP_EINVAL: no such signal. */
SMP_CHECKED enum smp_status smp_signals_install(int number);
bool smp_signals_is_installed(int number);
/* Returns why a seccomp filter forbids requests, or NULL. */
const char *smp_signals_refusal(void);

/* The bit of a signal number in a mask. */
static inline uint64_t smp_signal_mask_bit(int number)
{
    return UINT64_C(1) << (number - 1);
}

/* Returns the blocked signals of a thread of this process, or 0 if they cannot be read. Costs 10
 * to 20 us. */
uint64_t smp_signal_mask_of_tid(int32_t tid);
/* Parses the 16 digits of a mask in /proc/self/task/<tid>/status. */
uint64_t smp_signal_mask_parse(const char *digits);

enum smp_signals_hold {
    SMP_SIGNALS_HELD, /* our handler is installed, or gets our signals from another one */
    SMP_SIGNALS_TAKEN_BACK,
    SMP_SIGNALS_LOST
};

/*
 * Checks whether another library has replaced our handler. If so, sends a signal to the calling
 * thread to see whether the other handler calls ours. If it does not, installs our handler again,
 * which then calls the other one for all other signals. It does so at most SMP_SIGNAL_INSTALLS
 * times, and only if the other handler's file can be kept mapped. Otherwise the signal is lost and
 * must not be sent until our handler is installed again. taker is the file of the other handler,
 * unless HELD.
 */
enum smp_signals_hold smp_signals_check(int number, char *taker, size_t size);
bool smp_signals_is_lost(int number);
/* Hook of agent.h: unblocks our signals on an internal thread. The user's Java code may run there
 * and start threads, which inherit the mask and must be able to answer. */
void smp_signals_let_through(void);

/* The time that threads have spent in our handler, over all sessions of this process. */
struct smp_handler_cost {
    uint64_t signals;
    uint64_t timed; /* signals whose time was measured */
    uint64_t timed_ns;
    uint64_t median_ns;         /* of the last SMP_SIGNAL_TIMES measured ones */
    uint64_t in_other_handlers; /* walks that began inside the handler of another signal */
};
void smp_signals_get_handler_cost(struct smp_handler_cost *out);

/* Returns NULL if all mailboxes are taken. */
struct smp_signal_mailbox *smp_signals_take_mailbox(void);
void smp_signals_give_mailbox(struct smp_signal_mailbox *mailbox);

/*
 * Posts slot and sends its cookie. SMP_EGONE: the thread has ended. SMP_EQUOTA: the kernel's
 * signal queue is full. SMP_EVM. On failure the slot is freed.
 */
SMP_CHECKED enum smp_status smp_signals_request(int number, const struct smp_thread *thread,
                                                struct smp_signal_slot *slot, uint64_t cookie);
/* Like smp_signals_request, for a thread that cannot end during the call. */
SMP_CHECKED enum smp_status smp_signals_request_tid(int number, int32_t tid,
                                                    struct smp_signal_slot *slot, uint64_t cookie);

/* The first pause between two checks for answers; the kernel adds about 50 us. */
enum { SMP_SIGNAL_FIRST_PAUSE_NS = 10000 };

/* Sleeps for about *pause_ns, at most until deadline_ns (monotonic), and increases *pause_ns for
 * the next call. Returns false at once if no answer is missing or no time is left. */
bool smp_signals_pause(struct smp_signal_mailbox *mailbox, int64_t deadline_ns, int64_t *pause_ns);
/* Returns soon after all requests have been answered, or at deadline_ns. */
void smp_signals_wait(struct smp_signal_mailbox *mailbox, int64_t deadline_ns);
/* Ends a request, after which no handler writes for it. Returns true if there is an answer; the
 * caller must then release the slot. */
bool smp_signals_end(uint64_t cookie);

#endif
