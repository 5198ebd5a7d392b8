/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top.h - finds the first complete frame of an interrupted thread, from which our own walk
 * (hotspot/frames.h) continues. It depends on the pc:
 *
 *   compiled method     the method's frame, at sp. The code shows if that is incomplete: the walk
 *                       then begins at the caller's frame, or at the former place of the method's
 *                       frame. If registers are pushed, the frame is above them
 *   native method       as a compiled method; or the frame of the JVM's anchor
 *   interpreter         the frame at the frame pointer; the byte code register has the bci. While
 *                       a method is entered: the caller's frame, with the method of a register as
 *                       leaf. After the frame has been left: the caller's frame
 *   stub                the caller's frame, at the first return address on the stack; the leaf is
 *                       the stub's name. While C1 searches an exception handler: exception.h
 *   deoptimisation      none, because frames are being replaced. A later try may succeed
 *   other code          the frame of the JVM's anchor, if the thread has left Java. In Java without
 *                       an anchor: FOREIGN
 *
 * Threads  the interrupted thread. Does not allocate, lock or call the JVM.
 * Errors   FAILED, with the reason in walk->answer.
 * Cost     a walk, or several if the first frame is not complete.
 */
#ifndef SMP_HANDLER_TOP_H
#define SMP_HANDLER_TOP_H

#include "handler/one_walk.h"

enum smp_top {
    SMP_TOP_WALKED, /* walk->answer has the stack */
    SMP_TOP_FAILED,
    SMP_TOP_FOREIGN /* the pc is foreign, and no anchor can be read */
};

/* Requires the bounds of the stack, and an entered walk->code. */
enum smp_top smp_top_walk(struct smp_walk *walk);
/* Walks only from the anchor. FOREIGN: there is no anchor. */
enum smp_top smp_top_walk_anchor(struct smp_walk *walk);
/* Returns the JVM's state of the thread, or 0. */
int32_t smp_top_state(const struct smp_walk *walk);

#endif
