/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_path.h - what a hook does, in C: a call is entered, a call is left.
 *
 * With exact timing the hooks in Java (ThreadsSamplerHook.java) call these functions for each
 * call. Else they call them only for roots, for calls without a node, and for exits that do not
 * match the position. They handle all other cases themselves, in the same way.
 *
 * An exit ends the nearest running call of its method and all calls inside of it. These have lost
 * their exits (an exception before a constructor's super(), a hook without stack). Only the exit
 * of a root ends roots. An exit of a method that is not running does nothing.
 *
 * When a method catches an exception, all calls inside of its own call have ended. In a recursion
 * its own call need not be the nearest one in the tree, which may have lost its exit. The tree
 * never has fewer calls than are running, and among the calls of one method the outer ones are
 * running. If one of them may have lost its exit (in a constructor before super(), or at the end
 * of the stack), the thread's stack shows how many are running.
 *
 * A thread may be inside of a root when counting is closed, and never leave it. Then its next root
 * in a later session is an outermost root, and the exits of its old frames find nothing.
 *
 * A root may be called from inside of a root: each enter_root makes a root with its own node.
 *
 * After a call of enter or exit the hook in Java ends its phase itself, so that the return into
 * Java is part of the phase. The phase of a root's hook ends here.
 *
 * Calls may run that began before their methods had probes:
 *
 *   root ◄─ A (began before A's probe came) ◄─ A      the inner A has a probe, its caller has none
 *
 * The tree does not know the outer A, so the inner one would get a node below the root, as if the
 * root had called it. So before a node is made, the stack is checked for an older call of the same
 * method between this call and its caller. As long as there is one, the call gets no node and
 * counts as misplaced. So do inner calls of a recursive root that was running when it got its
 * probe.
 *
 * The JVM tells which frames run replaced bytes. These are frames of classes that got probes, but
 * also of methods that another agent has changed. A thread without such frames below its outermost
 * root is not checked again until more probes are added. A stack that cannot be walked, or is too
 * deep, counts as one without older calls.
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

/* Returns whether the thread's next root is an outermost one, for which enter_root uses pool. */
bool smp_call_begins(int64_t tid);
/* tid: of the calling thread. pool: as in smp_call_begin. */
void smp_call_enter_root(int64_t tid, bool is_virtual, uint32_t pool, int32_t id);
void smp_call_exit_root(struct smp_call_state *state, int32_t id);
/* Both do nothing outside of all roots. */
void smp_call_enter(struct smp_call_state *state, int32_t id);
void smp_call_exit(struct smp_call_state *state, int32_t id);

/* Tells which calls may have lost their exits. Above 0: several, for lack of stack. The number
 * identifies the exception, which many calls may catch one after the other. */
enum { SMP_CALL_NO_DOUBT = 0, SMP_CALL_DOUBT = -1 };

/* Notes that a call of this method has caught an exception. */
void smp_call_caught(struct smp_call_state *state, int32_t id, int32_t doubt);

/* Returns the node of a call with this key (call_layout.h) from the call at, and makes it if
 * necessary; the overflow node if it cannot be made. The caller adds 1 to the node's count. */
struct smp_call_node *smp_call_child(struct smp_call_state *state, struct smp_call_node *at,
                                     int32_t key);

/* The hook's frames above the method's: HOOK_FRAMES if Java counts the call until it finds no
 * node, else NATIVE_HOOK_FRAMES. */
enum { SMP_CALL_HOOK_FRAMES = 5, SMP_CALL_NATIVE_HOOK_FRAMES = 2 };

/* To be called around each change of classes. */
void smp_call_begin_probes(void);
void smp_call_end_probes(void);
/* Returns the number of misplaced calls since the library was loaded. */
uint64_t smp_call_misplaced(void);

#endif
