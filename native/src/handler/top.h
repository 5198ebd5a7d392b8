/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top.h - from the registers of an interrupted thread to a complete frame, from which our own walk
 * (hotspot/frames.h) goes on. Which frame that is follows from where the pc lies:
 *
 *   compiled method     its own, at sp. While it is made, or when it has been taken down, which its
 *                       code shows: the caller's, or its own where it was; while registers are
 *                       pushed: above them
 *   native method       likewise; or the JVM's anchor
 *   interpreter         that of its frame pointer; the byte code by its register. While a method is
 *                       entered: the caller's, and the method that is in its register. When its
 *                       frame has been left: the caller's
 *   stub                the caller's, at the first return address on the stack; leaf: its name.
 *                       While it looks for the handler of an exception: exception.h
 *   code that replaces  none: its frames are not all there. The next try comes later
 *   frames (deopt)
 *   other code          the one in the JVM's anchor, where the thread has left Java; it is only
 *                       read. Without an anchor, in Java: foreign
 *
 * Threads  the interrupted thread. Nothing here allocates, locks or calls into the JVM.
 * Errors   FAILED, with walk->answer's reason.
 * Cost     a walk; where the first frame is not complete, one for each attempt.
 */
#ifndef SMP_HANDLER_TOP_H
#define SMP_HANDLER_TOP_H

#include "handler/one_walk.h"

enum smp_top {
    SMP_TOP_WALKED, /* walk->answer has the stack */
    SMP_TOP_FAILED,
    SMP_TOP_FOREIGN /* code that is not the JVM's, in a thread whose Java frames have no anchor, or
                       whose object may not be read */
};

/* The bounds of the stack are known. walk->code is entered. */
enum smp_top smp_top_walk(struct smp_walk *walk);
/* From the anchor alone. FOREIGN: there is none. */
enum smp_top smp_top_walk_anchor(struct smp_walk *walk);
/* 0: not known. */
int32_t smp_top_state(const struct smp_walk *walk);

#endif
