/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signal_frame.h - what another signal handler has interrupted, when ours interrupts that handler.
 *
 * Two signals that are pending at once are delivered one on top of the other: the second handler
 * interrupts the first one at its first instruction. A handler that does not mask our signal is
 * interrupted anywhere. Either way the registers of the thread's own code lie further up the stack,
 * in the frame that the kernel made for the other handler:
 *
 *   lower   sp ──► frames of the other handler
 *                  its return address: the restorer, which calls sigreturn
 *                  ucontext_t with the registers of what it interrupted
 *   higher         that code's stack (elsewhere, if the other handler has an alternate stack)
 *
 * A frame is recognized by its restorer, which must be the C library's, and by all that the kernel
 * always writes the same way. It is only read.
 *
 * Owns     the address of the restorer, and how many walks have begun inside other handlers.
 * Threads  any, signal handlers included: no lock, no call, no allocation.
 * Errors   NULL also for a handler whose restorer is not the C library's.
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

/* In a handler, with the address that it returns to: kept if the code there calls sigreturn. */
void smp_signal_frame_learn(uintptr_t return_address);
uintptr_t smp_signal_frame_restorer(void);

/*
 * Has context been interrupted at the first instruction of a handler, or while the restorer ran?
 * Then the registers that that handler had interrupted, else NULL. thread: the thread's own stack.
 * The word at the stack pointer is read in any case.
 */
const ucontext_t *smp_signal_frame_at(struct smp_signal_stack thread, const ucontext_t *context);
/* The same for any place inside a handler. NULL also if the stack is not known, or if the
 * processor's frames cannot be found this way. */
const ucontext_t *smp_signal_frame_above(struct smp_signal_stack thread, const ucontext_t *context);
/* Counts a walk that starts from such a frame; their number in this process. */
void smp_signal_frame_count(void);
uint64_t smp_signal_frame_walks(void);
/* The stack that holds address: the alternate one, as context has it, or the thread's own; both 0:
 * neither. */
struct smp_signal_stack smp_signal_frame_stack(struct smp_signal_stack thread,
                                               const ucontext_t *context, uintptr_t address);

#endif
