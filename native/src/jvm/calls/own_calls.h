/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_calls.h - how many calls of the method that has called a hook are on this thread's stack.
 *
 *   the hook's native method ◄─ the hook ◄─ the method ◄─ ... ◄─ the method ◄─ ...      here: 2
 *
 * Calls from before a root count as well, and those of a version of the method that was changed
 * meanwhile: so the answer may be too high, never too low.
 *
 * Threads  the calling one, in a native method of the hook.
 * Errors   0: no memory, SMP_OWN_CALLS_MOST_FRAMES or more, or the JVM is about to end.
 * Cost     a walk of the whole stack by JVMTI, for which a safepoint waits: tens of ns for each
 *          frame.
 */
#ifndef SMP_JVM_CALLS_OWN_CALLS_H
#define SMP_JVM_CALLS_OWN_CALLS_H

#include <stdint.h>

#include "counting/call_shared.h"

enum { SMP_OWN_CALLS_MOST_FRAMES = 16384, SMP_OWN_CALLS_LOOK_FRAMES = 1024 };

int32_t smp_own_calls_count(void);

/* As call_shared.h wants them. look: at SMP_OWN_CALLS_LOOK_FRAMES at most, nearest first. */
uint64_t smp_own_calls_method(int32_t hook_frames);
enum smp_call_look smp_own_calls_look(int32_t hook_frames, uint64_t caller);

#endif
