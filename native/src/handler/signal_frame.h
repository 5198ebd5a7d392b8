/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signal_frame.h - if our signal has interrupted another handler, finds the code that this handler
 * interrupted.
 *
 * If two signals are pending at the same time, the second handler interrupts the first one at its
 * first instruction. A handler that does not mask our signal may be interrupted anywhere. In both
 * cases the registers of the thread's own code are in the kernel's frame of the other handler:
 *
 *   lower   sp ──► frames of the other handler
 *                  its return address: the restorer, which calls sigreturn
 *                  ucontext_t with the registers of the interrupted code
 *   higher         that code's stack (elsewhere, if the other handler has an alternate stack)
 *
 * A frame is recognized by its restorer, which must be the C library's, and by fields in which the
 * kernel always writes the same values.
 *
 * Owns     the address of the restorer, and the number of walks that began inside other handlers.
 * Threads  any, signal handlers included: no lock, no call, no allocation.
 * Errors   NULL, also for a handler whose restorer is not the C library's.
 * Cost     at: one or two loads. above: up to SMP_SIGNAL_FRAME_WORDS loads, about 0.5 us.
 */
#ifndef SMP_HANDLER_SIGNAL_FRAME_H
#define SMP_HANDLER_SIGNAL_FRAME_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

enum {
    SMP_SIGNAL_FRAME_WORDS = 2048, /* words (16 KB) above the stack pointer that are searched */
    SMP_SIGNAL_FRAMES_NESTED = 4   /* maximum number of handlers that have interrupted each other */
};

/* Both are 0 if unknown. */
struct smp_signal_stack {
    uintptr_t low;
    uintptr_t high;
};

/* Called in a handler with its return address. Keeps it if the code there calls sigreturn. */
void smp_signal_frame_learn(uintptr_t return_address);
uintptr_t smp_signal_frame_restorer(void);

/*
 * If context is at the first instruction of a handler or in its restorer, returns the registers
 * that this handler has interrupted, or else NULL. thread is the thread's own stack. Always reads
 * the word at the stack pointer.
 */
const ucontext_t *smp_signal_frame_at(struct smp_signal_stack thread, const ucontext_t *context);
/* Returns them for any place inside a handler. NULL also if the stack is unknown, or on processors
 * whose frames cannot be found this way. */
const ucontext_t *smp_signal_frame_above(struct smp_signal_stack thread, const ucontext_t *context);
/* Counts a walk that starts from such registers. */
void smp_signal_frame_count(void);
/* The number of such walks in this process. */
uint64_t smp_signal_frame_walks(void);
/* Returns the stack that contains address: the alternate stack in context, or the thread's own.
 * Both bounds are 0 if neither does. */
struct smp_signal_stack smp_signal_frame_stack(struct smp_signal_stack thread,
                                               const ucontext_t *context, uintptr_t address);

#endif
