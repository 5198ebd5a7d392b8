/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_counter.h - implements engine/call_counter.h in this JVM: instrumenter.h adds the probes,
 * and the call arena holds their counts.
 *
 * Threads  as in engine/call_counter.h. has_threads, state_of, on_thread_end: any.
 * Errors   as in engine/call_counter.h.
 * Cost     as in engine/call_counter.h. on_thread_end: a look-up.
 */
#ifndef SMP_JVM_CALLS_CALL_COUNTER_H
#define SMP_JVM_CALLS_CALL_COUNTER_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/jvm.h"

/* Shared by all sessions. Only one session counts at a time. */
struct smp_call_counter smp_jvm_call_counter(void);

/* Returns whether a thread may have a state. If so, ThreadEnd events are needed even while no
 * sampler runs: a state that is not freed is lost for all later sessions. */
bool smp_call_counter_has_threads(void);
/* The state for smp_call_spot_of, or NULL if the thread counts no calls. Never freed. */
const void *smp_call_counter_state_of(int64_t java_id);
/* Called on the thread that ends. */
void smp_call_counter_on_thread_end(JNIEnv *env, jobject thread);

#endif
