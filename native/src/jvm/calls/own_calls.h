/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_calls.h - what the stack of this thread shows of the method that has called a hook.
 *
 *   the hook's native method ◄─ the hook ◄─ the method ◄─ ... ◄─ the method ◄─ ...      count: 2
 *
 * count includes calls from outside of a root, and calls of a version of the method that was
 * changed meanwhile: so the result may be too high, never too low.
 *
 * Threads  the calling thread, in a native method of the hook.
 * Errors   count: 0 without memory, for SMP_OWN_CALLS_MOST_FRAMES frames or more, and if the JVM is
 *          about to end.
 * Cost     count: a walk of the whole stack by JVMTI, for which a safepoint waits: tens of ns for
 *          each frame.
 */
#ifndef SMP_JVM_CALLS_OWN_CALLS_H
#define SMP_JVM_CALLS_OWN_CALLS_H

#include <stdint.h>

#include "counting/call_shared.h"

enum { SMP_OWN_CALLS_MOST_FRAMES = 16384, SMP_OWN_CALLS_LOOK_FRAMES = 1024 };

int32_t smp_own_calls_count(void);

/* Functions of struct smp_call_view. look sees the SMP_OWN_CALLS_LOOK_FRAMES nearest frames at
 * most. */
uint64_t smp_own_calls_method(int32_t hook_frames);
enum smp_call_look smp_own_calls_look(int32_t hook_frames, uint64_t caller);

#endif
