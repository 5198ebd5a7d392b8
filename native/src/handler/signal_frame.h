/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signal_frame.h - finds the code that another signal handler has interrupted, if our signal has
 * interrupted that handler.
 *
 * If two signals are pending at once, the second handler interrupts the first one at its first
 * instruction. A handler that does not mask our signal may be interrupted anywhere. In both cases
 * the registers of the thread's own code lie further up the stack, in the frame that the kernel has
 * made for the other handler:
 *
 *   lower   sp ──► frames of the other handler
 *                  its return address: the restorer, which calls sigreturn
 *                  ucontext_t with the registers of what it interrupted
 *   higher         that code's stack (elsewhere, if the other handler has an alternate stack)
 *
 * A frame is recognized by its restorer, which must be the C library's, and by the fields that the
 * kernel always writes the same way. The frame is only read.
 *
 * Owns     the address of the restorer, and how many walks have begun inside other handlers.
 * Threads  any, signal handlers included: no lock, no call, no allocation.
 * Errors   NULL for a handler whose restorer is not the C library's, too.
 * Cost     at: a load or two. above: up to SMP_SIGNAL_FRAME_WORDS loads, some 0.5 us.
 */
#ifndef SMP_HANDLER_SIGNAL_FRAME_H
#define SMP_HANDLER_SIGNAL_FRAME_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

enum {
    SMP_SIGNAL_FRAME_WORDS = 2048, /* searched above the stack pointer for a frame: 16 KB */
    SMP_SIGNAL_FRAMES_NESTED = 4   /* handlers that may have interrupted each other */
};

/* Both 0: not known. */
struct smp_signal_stack {
    uintptr_t low;
    uintptr_t high;
};

/* Called in a handler with its return address, which is kept if the code there calls sigreturn. */
void smp_signal_frame_learn(uintptr_t return_address);
uintptr_t smp_signal_frame_restorer(void);

/*
 * The registers that a handler had interrupted, if context was interrupted at that handler's first
 * instruction or while its restorer ran; else NULL. thread: the thread's own stack. The word at the
 * stack pointer is always read.
 */
const ucontext_t *smp_signal_frame_at(struct smp_signal_stack thread, const ucontext_t *context);
/* The same for any place inside a handler. NULL, too, if the stack is not known, or on processors
 * whose frames cannot be found this way. */
const ucontext_t *smp_signal_frame_above(struct smp_signal_stack thread, const ucontext_t *context);
/* Counts a walk that starts from such a frame. */
void smp_signal_frame_count(void);
/* The number of such walks in this process. */
uint64_t smp_signal_frame_walks(void);
/* The stack that holds address: the alternate one that context names, or the thread's own. Both
 * bounds are 0 if neither does. */
struct smp_signal_stack smp_signal_frame_stack(struct smp_signal_stack thread,
                                               const ucontext_t *context, uintptr_t address);

#endif
