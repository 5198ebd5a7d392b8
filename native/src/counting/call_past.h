/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_past.h - calls that began before their methods had probes, and still run.
 *
 *   root ◄─ A (began before A's probe came) ◄─ A      the inner A has a probe, its caller has none
 *
 * The thread's tree does not know the outer A, so the inner one would be placed below the root, as
 * if the root had called it. Before a new place is made, the stack is checked: does an older call
 * of the same method run between this call and its caller? Then the call has no place, and counts
 * as misplaced, until the older one has ended. The same holds for the inner calls of a recursive
 * root that runs when its probe comes. Frames of other methods without probes do not matter, as
 * always.
 *
 * The JVM tells which frames run replaced bytes: those of a class that got probes. Frames of a
 * method that another agent has changed cannot be told from them. A thread without such frames
 * below its outermost root is not checked again until more probes come, because it cannot get more
 * of them by itself. A virtual thread is checked for some seconds only, as nearly all of them began
 * later.
 *
 * Threads  the thread that the state belongs to. begin, end: the thread that changes classes.
 * Errors   a stack that cannot be walked, or is too deep, counts as one without such calls.
 * Cost     a new place: some loads. While the thread is in doubt, and for each call without a place
 *          whose caller has one, a walk of the frames between: 1 us and more.
 */
#ifndef SMP_COUNTING_CALL_PAST_H
#define SMP_COUNTING_CALL_PAST_H

#include <stdbool.h>
#include <stdint.h>

#include "counting/call_layout.h"

/* Frames of the hook above the method: for a call that Java counts until it finds no node; for all
 * other calls. */
enum { SMP_CALL_HOOK_FRAMES = 5, SMP_CALL_NATIVE_HOOK_FRAMES = 2 };

/* To be called around each change of classes. */
void smp_call_past_begin_probes(void);
void smp_call_past_end_probes(void);

/* The state gets another thread. */
void smp_call_past_forget(const struct smp_call_state *state);
/* A place of this method was made: notes how the JVM names the method. */
void smp_call_past_note(int32_t id, int32_t hook_frames);
/* Would a new place below this node be wrong because of an older call? */
bool smp_call_past_is_wrong(const struct smp_call_state *state, const struct smp_call_node *at,
                            int32_t hook_frames);
/* Counts a call without a place. */
void smp_call_past_misplaced(void);
/* The number of such calls since the library was loaded. */
uint64_t smp_call_past_count(void);

#endif
