/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_counter.h - counts calls in this JVM, for the engine: instrumenter.h puts in the probes, the
 * call arena has what they count, call_threads.h says whose it is.
 *
 * Threads  as engine/call_counter.h.
 * Errors   likewise.
 * Cost     likewise.
 */
#ifndef SMP_JVM_CALLS_CALL_COUNTER_H
#define SMP_JVM_CALLS_CALL_COUNTER_H

#include "engine/jvm.h"

/* All sessions share it; one may count at a time. */
struct smp_call_counter smp_jvm_call_counter(void);

#endif
