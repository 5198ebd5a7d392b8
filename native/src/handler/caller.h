/* SPDX-License-Identifier: Apache-2.0 */
/*
 * caller.h - if the frame on top is incomplete, finds its caller by the return address and walks
 * from there.
 *
 * A word counts as a return address only if it follows a call instruction in a method of
 * code_view.h or is in the interpreter. It may also be in code that is not known yet, if the walk
 * finds a method there. A slot that certainly contains a return address is not checked.
 *
 * Reads here cannot fault. Stack words are between the stack pointer and the end of the thread's
 * stack, which are known beforehand. Code bytes are in the code cache, which the JVM never unmaps.
 * The walk reads everything else with base/safe_read.h.
 *
 * Threads  the interrupted thread. Nothing here allocates, locks or calls into the JVM.
 * Errors   false: no such frame, or no walk from it reaches the thread's root.
 * Cost     a walk for each attempt.
 */
#ifndef SMP_HANDLER_CALLER_H
#define SMP_HANDLER_CALLER_H

#include <stdbool.h>
#include <stdint.h>

#include "handler/one_walk.h"

/* Returns whether a word of the thread's stack is at address. */
bool smp_caller_on_stack(const struct smp_walk *walk, uintptr_t address);

/* Walks from a complete frame, and sets the frames of walk->answer. */
bool smp_caller_walk(struct smp_walk *walk, struct smp_frames_start from);
/* Adds a leaf before these frames. is_pseudo: method is a key of code_map.h. */
void smp_caller_put_leaf(struct smp_walk *walk, uint64_t method, bool is_pseudo);
/* Adds a Method* as leaf, or nothing if it is not a method. */
void smp_caller_put_method(struct smp_walk *walk, uintptr_t method);

/* Walks from the caller whose return address is certainly in slot. */
bool smp_caller_walk_return(struct smp_walk *walk, uintptr_t slot);
/* Walks from there only if the word in slot looks like a return address. */
bool smp_caller_try_return(struct smp_walk *walk, uintptr_t slot);
/* Returns whether slot contains what looks like a return address into Java code. */
bool smp_caller_is_at(const struct smp_walk *walk, uintptr_t slot);
/* Walks from the caller of code without a frame. Its return address is on top, or above at most
 * SMP_WALK_KEPT_WORDS registers that the code has saved on the stack. */
bool smp_caller_walk_above_kept(struct smp_walk *walk);

/*
 * Walks from Java code that has called foreign code. Frame pointers of the foreign code lead to a
 * return address after a call whose target is outside of the JVM's code. No frame further up has
 * such a return address, because it has called Java code or has left Java. The C library uses the
 * frame pointer's register for other values and saves the frame pointer on the stack, so each of
 * the first SMP_WALK_SAVED_WORDS is tried as a frame pointer. A return address without a frame
 * pointer may belong to a dead frame and does not count.
 *
 * There may be a stub in between, such as when C1's code unlocks a monitor. The return address
 * must then follow a call of this stub, and the leaf is the stub's name. If the foreign code was
 * called by a collector's entry barrier, the leaf is the entered method.
 */
bool smp_caller_walk_leaf_call(struct smp_walk *walk);
/*
 * Walks from the caller of a stub. The leaf is the stub's name; stub is NULL if that is unknown.
 * The return address is in the frame that the stub's code shows, or else the first one on the
 * stack, preferably after a call of this stub. The line is taken from the first record at or after
 * the return address. If the searched part is too small, frame pointers are followed.
 */
bool smp_caller_search(struct smp_walk *walk, const struct smp_code_piece *stub);
/* Walks from the caller of a runtime stub to whose frame the JVM's anchor points. */
bool smp_caller_walk_runtime_stub(struct smp_walk *walk, struct smp_registers anchor);

#endif
