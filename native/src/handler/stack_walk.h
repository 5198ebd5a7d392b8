/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_walk.h - walks the stack of the interrupted thread in its signal handler.
 *
 * The target selects one engine:
 *
 *   target->own   our own walk (top.h, hotspot/frames.h), which requires the bounds of the stack
 *   target->walk  AsyncGetCallTrace. It gets the registers that the kernel has saved, and never
 *                 others: it believes them
 *
 * If the handler of another signal was interrupted (signal_frame.h), the walk starts from a copy
 * of the registers that it had interrupted. Such a handler is expected if the pc is outside of the
 * JVM's code. The stack is searched for its frame only if the Java frames have no anchor.
 *
 * The JVM's thread object is read only before the thread's ThreadEnd. That event runs on this
 * thread, so the object exists until then.
 *
 * Owns     no memory; all belongs to the caller.
 * Threads  the interrupted thread. Does not allocate or lock. Calls only AsyncGetCallTrace,
 *          through a pointer, and the system call of base/safe_read.h.
 * Errors   see model/walk_answer.h.
 * Cost     0.5-1.5 us at depth 50. Each new return address costs 10-100 us.
 */
#ifndef SMP_HANDLER_STACK_WALK_H
#define SMP_HANDLER_STACK_WALK_H

#include <stdint.h>
#include <ucontext.h>

#include "handler/walk_data.h"

/* frames[0 .. capacity) is a buffer for the answer, undefined if there is no stack. */
void smp_stack_walk(const struct smp_walk_target *target, ucontext_t *context,
                    struct smp_jvm_frame *frames, uint32_t capacity,
                    struct smp_walk_answer *answer);
/* For a thread whose stack pointer is on a foreign stack, which is not read. A thread in native
 * code is walked from the JVM's anchor. Otherwise the answer is FOREIGN_STACK. */
void smp_stack_walk_anchor(const struct smp_walk_target *target, ucontext_t *context,
                           struct smp_jvm_frame *frames, uint32_t capacity,
                           struct smp_walk_answer *answer);

#endif
