/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_walk.h - walks the stack of the interrupted thread, in its signal handler.
 *
 * The target names one engine, and no walk uses both:
 *
 *   target->own   our own walk (top.h, hotspot/frames.h). It needs the bounds of the stack
 *   target->walk  AsyncGetCallTrace. It gets the registers that the kernel has saved, and never
 *                 others: it believes them
 *
 * If another signal's handler was interrupted (signal_frame.h), the walk starts from the registers
 * that this handler had interrupted. They are copied: its frame is only read. The walk looks for
 * such a handler if the thread was caught outside of the JVM's code, and searches the stack for it
 * only if the thread's Java frames have no anchor.
 *
 * The JVM's object of the thread is read only while the thread has not ended. Its ThreadEnd runs on
 * this very thread, so a thread whose ThreadEnd has not come still has its object.
 *
 * Owns     no memory: all is the caller's.
 * Threads  the interrupted thread. Nothing here allocates, locks or calls anything but
 *          AsyncGetCallTrace, through a pointer, and the system call of base/safe_read.h.
 * Errors   an answer of model/walk_answer.h.
 * Cost     0.5-1.5 us at depth 50 if the code has been seen before; the first sight of a return
 *          address costs 10-100 us.
 */
#ifndef SMP_HANDLER_STACK_WALK_H
#define SMP_HANDLER_STACK_WALK_H

#include <stdint.h>
#include <ucontext.h>

#include "handler/walk_data.h"

/* frames[0 .. capacity): room for the answer; its content is undefined if there is no stack. */
void smp_stack_walk(const struct smp_walk_target *target, ucontext_t *context,
                    struct smp_jvm_frame *frames, uint32_t capacity,
                    struct smp_walk_answer *answer);
/* The same for a thread whose registers lead to a stack that is not its own: reads none of it.
 * Walks only a thread that is in native code, from the JVM's anchor; else FOREIGN_STACK. */
void smp_stack_walk_anchor(const struct smp_walk_target *target, ucontext_t *context,
                           struct smp_jvm_frame *frames, uint32_t capacity,
                           struct smp_walk_answer *answer);

#endif
