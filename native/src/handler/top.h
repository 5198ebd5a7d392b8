/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top.h - finds the first complete frame of an interrupted thread, from which our own walk
 * (hotspot/frames.h) goes on. The place of the pc decides which frame that is:
 *
 *   compiled method     its own frame, at sp. While the frame is made or taken down, which the code
 *                       shows: the caller's, or its own at its old place. While registers are
 *                       pushed: its own, above them
 *   native method       the same; or that of the JVM's anchor
 *   interpreter         the frame at the frame pointer; the register of the byte code has the bci.
 *                       While a method is entered: the caller's, and the method in its register.
 *                       After the frame has been left: the caller's
 *   stub                the caller's, at the first return address on the stack; the leaf is the
 *                       stub's name. While C1 looks for an exception's handler: exception.h
 *   code that replaces  none: its frames are not all there. A later try may succeed
 *   frames (deopt)
 *   other code          that of the JVM's anchor, if the thread has left Java; the anchor is only
 *                       read. Without an anchor, in Java: foreign
 *
 * Threads  the interrupted thread. Nothing here allocates, locks or calls into the JVM.
 * Errors   FAILED, with walk->answer's reason.
 * Cost     a walk; if the first frame is not complete, one for each attempt.
 */
#ifndef SMP_HANDLER_TOP_H
#define SMP_HANDLER_TOP_H

#include "handler/one_walk.h"

enum smp_top {
    SMP_TOP_WALKED, /* walk->answer has the stack */
    SMP_TOP_FAILED,
    SMP_TOP_FOREIGN /* the pc is outside of the JVM's code, and the thread has no anchor, or its
                       object must not be read */
};

/* The bounds of the stack must be known, and walk->code be entered. */
enum smp_top smp_top_walk(struct smp_walk *walk);
/* From the anchor alone. FOREIGN: there is none. */
enum smp_top smp_top_walk_anchor(struct smp_walk *walk);
/* The JVM's state of the thread; 0: not known. */
int32_t smp_top_state(const struct smp_walk *walk);

#endif
