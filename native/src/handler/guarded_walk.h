/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guarded_walk.h - decides in the handler whether the interrupted stack may be walked.
 *
 *   stack of the handler            interrupted stack pointer      walk
 *   less than SMP_WALK_ROOM_BYTES   anywhere                       none: FOREIGN_STACK
 *   enough room                     on the thread's own stack      stack_walk.h
 *                                   on another stack, native code  from the JVM's anchor
 *                                   on another stack, other code   none: FOREIGN_STACK
 *
 * A library may run code of this thread on a small stack of its own (goroutines, coroutines). It
 * then gives the thread an alternate signal stack of any size, on which our handler runs as well
 * (SA_ONSTACK). Only the thread's own stack is ever read. The Java frames of a thread in native
 * code are on that stack and do not change.
 *
 * Threads  the interrupted thread, on any stack; the decision uses about 200 bytes of it.
 * Errors   see model/walk_answer.h.
 * Cost     a few comparisons and the walk.
 */
#ifndef SMP_HANDLER_GUARDED_WALK_H
#define SMP_HANDLER_GUARDED_WALK_H

#include <stdint.h>
#include <ucontext.h>

#include "handler/walk_data.h"

/* As smp_stack_walk. */
void smp_guarded_walk(const struct smp_walk_target *target, ucontext_t *context,
                      struct smp_jvm_frame *frames, uint32_t capacity,
                      struct smp_walk_answer *answer);

#endif
