/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recovery.h - recovers what AsyncGetCallTrace alone does not walk.
 *
 * AsyncGetCallTrace fails where the registers do not describe a complete frame. Our own walk
 * (hotspot/frames.h) begins at one, and which one follows from the registers:
 *
 *   pc in a method's prologue   the caller's: pc = return address, sp above it; leaf: the
 *                               method itself, at its beginning
 *   pc in a method's epilogue   the same pc, sp where it was before the frame was taken down
 *   pc amid a method that has   the same pc, sp above them
 *   pushed registers
 *   pc in a stub, or in code    the caller's, at the first return address on the stack; leaf: the
 *   that is not Java's          stub's name. One that follows a call of this very stub goes first.
 *                               Here the line is that of the beginning of the call, because it is
 *                               recorded there. A stub, or a method, that calls into the JVM
 *                               without an anchor (a barrier of G1, say) is found by the frame
 *                               pointers of the JVM's functions, however many there are; so
 *                               is the caller of that stub
 *   thread in native code,      the frame in the JVM's anchor, which is only read; or the caller
 *   or in the JVM               of the runtime stub that it is of
 *
 * A word is a return address only if it follows a call instruction in a method that is known to
 * code_view.h, or lies in the interpreter; or among code that is not known yet, where our walk must
 * find a method. A stack that does not end in the thread's root method, if that is
 * known, does not count.
 *
 * Reads of other memory cannot fault: words of the stack lie between the stack pointer and the end
 * of the thread's stack, both known beforehand, else only the page of the stack pointer is read;
 * code bytes lie in the code cache, which the JVM never unmaps. Our walk reads all else by
 * base/safe_read.h.
 *
 * Threads  the interrupted thread. Nothing here allocates, locks or calls into the JVM.
 * Cost     a walk for each attempt.
 */
#ifndef SMP_JVM_WALK_HANDLER_RECOVERY_H
#define SMP_JVM_WALK_HANDLER_RECOVERY_H

#include "jvm/walk/handler/one_walk.h"

/* code: what AsyncGetCallTrace returned for the registers as interrupted. Sets walk->answer if it
 * finds a whole stack. */
void smp_recovery_run(struct smp_walk *walk, int32_t code);

#endif
