/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_path.h - what a hook does, in C: a call is entered, a call is left.
 *
 * With exact timing the hooks in Java call these for each call, else only for roots, for calls
 * whose node is not there yet, and for exits that do not match the position. The rest they do in
 * the same way themselves (ThreadsSamplerHook.java).
 *
 * An exit ends the nearest running call of its method, and all calls inside of it, which have lost
 * their exits (an exception thrown before a constructor's super(), a hook without stack). It never
 * goes past a root, except as that root's own exit. Of a method that is not running: nothing.
 *
 * Where a method catches an exception, all calls inside of its own one are over, and it goes on at
 * its own place. In a recursion its own call need not be the nearest one: the nearest may be one
 * that has lost its exit. So what is known is never less than what runs, and of the calls of one
 * method the outer ones run. Where one of that method may have lost its exit (a constructor, which
 * runs none before super(); the end of the stack), the thread's stack shows how many these are.
 *
 * A thread may be inside of a root when counting is closed, and never leave it. Its next root in a
 * later counting is an outermost one then, and the exits of its old frames find nothing.
 *
 * A method that is both a root and called from a root: each entry by enter_root is a root of its
 * own, with its own node.
 *
 * A hook that has called enter or exit ends the phase that it has marked, so that its way back into
 * Java is part of it. Roots have no such mark: theirs end here.
 *
 * Threads  a state: its thread.
 * Errors   what cannot be counted is counted as such, in the overflow node.
 * Cost     some ns; each new node a cache miss or two. A root 20 ns more. caught: where it needs
 *          the stack, a walk.
 */
#ifndef SMP_COUNTING_CALL_PATH_H
#define SMP_COUNTING_CALL_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "counting/call_layout.h"

/* Is the next root of this thread, which calls, an outermost one? Then pool matters. */
bool smp_call_begins(int64_t tid);
/* tid: of the calling thread. pool: as in smp_call_begin. */
void smp_call_enter_root(int64_t tid, bool is_virtual, uint32_t pool, int32_t id);
void smp_call_exit_root(struct smp_call_state *state, int32_t id);
/* Outside of all roots: nothing. */
void smp_call_enter(struct smp_call_state *state, int32_t id);
void smp_call_exit(struct smp_call_state *state, int32_t id);

/* What may have lost its exit? Above 0: several calls, for lack of stack; the number is that of the
 * exception, as it comes by many calls one after the other. */
enum { SMP_CALL_NO_DOUBT = 0, SMP_CALL_DOUBT = -1 };

/* A call of this method has caught an exception. */
void smp_call_caught(struct smp_call_state *state, int32_t id, int32_t doubt);

/* The node of a call of this key (call_layout.h) from the call at; made if it is not there yet. The
 * overflow node where it cannot be made. Its caller adds 1 to the node's count, in both cases. */
struct smp_call_node *smp_call_child(struct smp_call_state *state, struct smp_call_node *at,
                                     int32_t key);

#endif
