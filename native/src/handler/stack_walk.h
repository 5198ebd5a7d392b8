/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_walk.h - walks the stack of the interrupted thread, in its signal handler.
 *
 *   our own walk (top.h, hotspot/frames.h)
 *     └─ foreign code in Java without an anchor ─► AsyncGetCallTrace ─► a search for the caller
 *   where our own walk is not usable, or the stack's bounds are not known: AsyncGetCallTrace alone
 *
 * AsyncGetCallTrace gets the registers that the kernel has saved, and never others: it believes
 * them. Where even those crash it (value classes) it is not called.
 *
 * If another signal's handler was interrupted (signal_frame.h), the walk starts from the registers
 * that handler had interrupted. They are copied: its frame is only read. Such a handler is searched
 * for if the thread was caught outside of the JVM's code, in full only where its Java frames have
 * no anchor.
 *
 * The JVM's object of the thread is read only while the thread has not ended. Its ThreadEnd says
 * when it does, and runs on this very thread: until then the object is there.
 *
 * Owns     no memory: all is the caller's.
 * Threads  the interrupted thread. Nothing here allocates, locks or calls anything but
 *          AsyncGetCallTrace, through a pointer, and the system call of base/safe_read.h.
 * Errors   an answer of jvm.h.
 * Cost     0.5-1.5 us at depth 50 where the code has been seen before; each first sight of a return
 *          address 10-100 us.
 */
#ifndef SMP_HANDLER_STACK_WALK_H
#define SMP_HANDLER_STACK_WALK_H

#include <stdint.h>
#include <ucontext.h>

#include "handler/walk_data.h"

/* frames[0 .. capacity): room for the answer; its content is undefined where there is no stack. */
void smp_stack_walk(const struct smp_walk_target *target, ucontext_t *context,
                    struct smp_jvm_frame *frames, uint32_t capacity,
                    struct smp_walk_answer *answer);
/* The same for a thread whose registers lead to a stack that is not its own: reads none of it.
 * Walks only a thread that is in native code, from the JVM's anchor; else FOREIGN_STACK. */
void smp_stack_walk_anchor(const struct smp_walk_target *target, ucontext_t *context,
                           struct smp_jvm_frame *frames, uint32_t capacity,
                           struct smp_walk_answer *answer);

#endif
