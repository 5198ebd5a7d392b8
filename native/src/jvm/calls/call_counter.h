/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_counter.h - counts calls in this JVM for the engine: instrumenter.h adds the probes, and the
 * call arena has their counts.
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

/* All sessions share it; only one counts at a time. */
struct smp_call_counter smp_jvm_call_counter(void);

/* May a thread have a state? Then each ThreadEnd matters, also while no sampler runs: a state that
 * is not freed is missing in all later countings. */
bool smp_call_counter_has_threads(void);
/* For smp_call_spot_of. NULL: nothing is counted, or not in that thread. Never freed. */
const void *smp_call_counter_state_of(int64_t java_id);
/* To be called on that thread. */
void smp_call_counter_on_thread_end(JNIEnv *env, jobject thread);

#endif
