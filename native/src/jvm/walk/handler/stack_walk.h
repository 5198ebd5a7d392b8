/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_walk.h - walks the stack of the interrupted thread, in its signal handler, by
 * AsyncGetCallTrace; recovery.h does what that alone does not walk.
 *
 * If another signal's handler was interrupted (signal_frame.h), the walk starts from the registers
 * that handler had interrupted. They are copied: its frame is only read. Such a handler is searched
 * for if the thread was caught outside of the JVM's code, in full only while its state is "in
 * Java": in all other states AsyncGetCallTrace uses the anchor, not the registers.
 *
 * Owns     no memory: all is the caller's.
 * Threads  the interrupted thread. Nothing here allocates, locks or calls anything but
 *          AsyncGetCallTrace, through a pointer.
 * Errors   an answer of jvm.h.
 * Cost     1-3 us at depth 50, some more per attempt of the recovery.
 */
#ifndef SMP_JVM_WALK_HANDLER_STACK_WALK_H
#define SMP_JVM_WALK_HANDLER_STACK_WALK_H

#include <stdint.h>
#include <ucontext.h>

#include "jvm/walk/handler/walk_data.h"

/* frames[0 .. capacity): room for the answer; its content is undefined where there is no stack. The
 * registers in context are restored. */
void smp_stack_walk(const struct smp_walk_target *target, ucontext_t *context,
                    struct smp_jvm_frame *frames, uint32_t capacity,
                    struct smp_walk_answer *answer);

#endif
