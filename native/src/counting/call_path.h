/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_path.h - what a hook does, in C: a call is entered, a call is left.
 *
 * With exact timing the hooks in Java call these functions for each call. Else they call them only
 * for roots, for calls without a node, and for exits that do not match the position, and do the
 * other cases in the same way themselves (ThreadsSamplerHook.java).
 *
 * An exit ends the nearest running call of its method, and all calls inside of that one: they have
 * lost their exits (an exception thrown before a constructor's super(), a hook without stack). An
 * exit never goes past a root, except the root's own exit. An exit of a method that is not running
 * does nothing.
 *
 * When a method catches an exception, all calls inside of its own call are over. In a recursion its
 * own call need not be the nearest one, which may have lost its exit. So the tree never knows fewer
 * calls than run, and among the calls of one method the outer ones run. If a call of that method
 * may have lost its exit (in a constructor before super(), or at the end of the stack), the
 * thread's stack shows how many of them run.
 *
 * A thread may be inside of a root when counting is closed, and never leave it. Its next root in a
 * later counting is an outermost root then, and the exits of its old frames find nothing.
 *
 * A method may be a root and be called from a root: each enter_root makes a root with a node of its
 * own.
 *
 * A hook that has called enter or exit ends the phase that it has marked, so that its way back into
 * Java is part of the phase. The phase of a root's hook ends here.
 *
 * Calls may run that began before their methods had probes:
 *
 *   root ◄─ A (began before A's probe came) ◄─ A      the inner A has a probe, its caller has none
 *
 * The tree does not know the outer A, so the inner one would be placed below the root, as if the
 * root had called it. Before a new place is made, the stack is checked: does an older call of the
 * same method run between this call and its caller? Then the call has no place, and counts as
 * misplaced, until the older one has ended. The same holds for the inner calls of a recursive root
 * that runs when its probe comes.
 *
 * The JVM tells which frames run replaced bytes: those of a class that got probes. Frames of a
 * method that another agent has changed cannot be told from them. A thread without such frames
 * below its outermost root is not checked again until more probes come. A stack that cannot be
 * walked, or is too deep, counts as one without such calls.
 *
 * Threads  the thread that the state belongs to. begin_probes, end_probes: the thread that changes
 *          classes.
 * Errors   a call without a node is counted in the overflow node.
 * Cost     some ns; each new node a cache miss or two, and a walk of the frames between (1 us and
 *          more) while the thread may run replaced code. A root 20 ns more. caught: a stack walk if
 *          it needs the stack.
 */
#ifndef SMP_COUNTING_CALL_PATH_H
#define SMP_COUNTING_CALL_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "counting/call_layout.h"

/* Is the next root of the calling thread an outermost one? Then enter_root uses pool. */
bool smp_call_begins(int64_t tid);
/* tid: of the calling thread. pool: as in smp_call_begin. */
void smp_call_enter_root(int64_t tid, bool is_virtual, uint32_t pool, int32_t id);
void smp_call_exit_root(struct smp_call_state *state, int32_t id);
/* Both do nothing outside of all roots. */
void smp_call_enter(struct smp_call_state *state, int32_t id);
void smp_call_exit(struct smp_call_state *state, int32_t id);

/* Which calls may have lost their exits? Above 0: several, for lack of stack; the number identifies
 * the exception, which many calls may catch one after the other. */
enum { SMP_CALL_NO_DOUBT = 0, SMP_CALL_DOUBT = -1 };

/* A call of this method has caught an exception. */
void smp_call_caught(struct smp_call_state *state, int32_t id, int32_t doubt);

/* Returns the node of a call with this key (call_layout.h) from the call at, and makes it if
 * necessary; the overflow node if it cannot be made. The caller adds 1 to the node's count. */
struct smp_call_node *smp_call_child(struct smp_call_state *state, struct smp_call_node *at,
                                     int32_t key);

/* Frames of the hook above the method: for a call that Java counts until it finds no node; for all
 * other calls. */
enum { SMP_CALL_HOOK_FRAMES = 5, SMP_CALL_NATIVE_HOOK_FRAMES = 2 };

/* To be called around each change of classes. */
void smp_call_begin_probes(void);
void smp_call_end_probes(void);
/* The number of misplaced calls since the library was loaded. */
uint64_t smp_call_misplaced(void);

#endif
