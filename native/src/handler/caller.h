/* SPDX-License-Identifier: Apache-2.0 */
/*
 * caller.h - begins a walk at the caller's frame, found by its return address, if the frame on top
 * is not complete.
 *
 * A word is taken for a return address only if it follows a call instruction in a method that is
 * known to code_view.h, or lies in the interpreter, or lies among code that is not known yet; the
 * walk then must find a method there. A slot that surely holds a return address is not checked.
 *
 * Reads here cannot fault: words of the stack lie between the stack pointer and the end of the
 * thread's stack, both known beforehand; code bytes lie in the code cache, which the JVM never
 * unmaps. The walk reads all else by base/safe_read.h.
 *
 * Threads  the interrupted thread. Nothing here allocates, locks or calls into the JVM.
 * Errors   false: there is no such frame, or no walk from it reaches the thread's root.
 * Cost     a walk for each attempt.
 */
#ifndef SMP_HANDLER_CALLER_H
#define SMP_HANDLER_CALLER_H

#include <stdbool.h>
#include <stdint.h>

#include "handler/one_walk.h"

/* May a word be read there? */
bool smp_caller_on_stack(const struct smp_walk *walk, uintptr_t address);

/* From a complete frame; sets walk->answer's frames. */
bool smp_caller_walk(struct smp_walk *walk, struct smp_frames_start from);
/* Puts a frame before those. is_pseudo: method is a key of code_map.h. */
void smp_caller_put_leaf(struct smp_walk *walk, uint64_t method, bool is_pseudo);
/* The same by a Method*. Puts nothing if it is no method. */
void smp_caller_put_method(struct smp_walk *walk, uintptr_t method);

/* From the caller whose return address is surely in slot. */
bool smp_caller_walk_return(struct smp_walk *walk, uintptr_t slot);
/* The same, if slot holds what looks like a return address. */
bool smp_caller_try_return(struct smp_walk *walk, uintptr_t slot);
/* Does slot hold a return address of Java code? */
bool smp_caller_is_at(const struct smp_walk *walk, uintptr_t slot);
/* From the caller of code without a frame: its return address is on top, or above registers that
 * the code keeps on the stack, at most SMP_WALK_KEPT_WORDS. */
bool smp_caller_walk_above_kept(struct smp_walk *walk);

/*
 * From the Java code that has called code that is not Java's. Frame pointers of that code lead to
 * a return address that follows a call of a known place outside of the JVM's code. No frame
 * further up has such a return address: it has called Java code, or has left Java. The C library
 * uses the frame pointer's register for other values, and has saved the frame pointer on the
 * stack, so each word of the first SMP_WALK_SAVED_WORDS is tried as a frame pointer. A return
 * address that no frame pointer leads to may be a dead frame's, and does not count.
 *
 * A stub may lie between, as between C1's code and the end of a lock that wakes another thread.
 * Then the return address must follow a call of this stub, and the leaf is the stub's name. If a
 * collector's barrier at the entry of a method has called, the leaf is that method.
 */
bool smp_caller_walk_leaf_call(struct smp_walk *walk);
/*
 * From the caller of a stub. stub: NULL if it is not known by name; else the leaf is its name. The
 * return address lies in the frame that the stub has made, if its code shows that; else it is the
 * first one on the stack, first among those that follow a call of this very stub. The line is that
 * of the first record at or behind the return address. Frame pointers lead through a stub whose
 * frame is larger than what is searched.
 */
bool smp_caller_search(struct smp_walk *walk, const struct smp_code_piece *stub);
/* From the caller of a runtime stub whose frame the JVM's anchor shows. */
bool smp_caller_walk_runtime_stub(struct smp_walk *walk, struct smp_registers anchor);

#endif
