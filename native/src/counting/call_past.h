/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_past.h - calls that began before their methods had probes, and still run.
 *
 *   root ◄─ A (began before A's probe came) ◄─ A      the inner A has a probe, its caller has none
 *
 * The thread's tree does not know the outer A, so the inner one would hang below the root, as if
 * that had called it. A place in the tree is made once, so only a new one is looked at: does an
 * older call of the same method run between this call and its caller's? Then the call has no place,
 * and counts as misplaced, until the older one has ended. A recursive root that runs when its probe
 * comes is not counted by its inner calls, either, until it is entered anew. Another method that is
 * not counted yet is passed over, as one without a probe always is.
 *
 * The JVM says which frames are of bytes that were replaced: those of a class that got probes, and
 * of a method that another agent has changed, which are taken for the same. A thread whose stack
 * has none of these below its outermost root is not looked at again until more probes come: such
 * frames never get more by themselves. A virtual thread is looked at for some seconds only, as
 * nearly all of them began later.
 *
 * Threads  a state: its thread. begin, end: the one that changes classes.
 * Errors   a stack that cannot be seen, or is too deep, has no such call.
 * Cost     a new place: some loads; while it is in doubt, and for each call that stays without a
 *          place below one that has one, a walk of the frames between: 1 us and more.
 */
#ifndef SMP_COUNTING_CALL_PAST_H
#define SMP_COUNTING_CALL_PAST_H

#include <stdbool.h>
#include <stdint.h>

#include "counting/call_layout.h"

/* Frames of the hook: a call that it counts in Java until it has no place; all others. */
enum { SMP_CALL_HOOK_FRAMES = 5, SMP_CALL_NATIVE_HOOK_FRAMES = 2 };

/* Around each change of classes. */
void smp_call_past_begin_probes(void);
void smp_call_past_end_probes(void);

/* The state is another thread's. */
void smp_call_past_forget(const struct smp_call_state *state);
/* A method has its first place. */
void smp_call_past_note(int32_t id, int32_t hook_frames);
/* Would a new place below this node be wrong? */
bool smp_call_past_is_wrong(const struct smp_call_state *state, const struct smp_call_node *at,
                            int32_t hook_frames);
/* A call has no place for that reason. */
void smp_call_past_misplaced(void);
/* How many, since the library was loaded. */
uint64_t smp_call_past_count(void);

#endif
