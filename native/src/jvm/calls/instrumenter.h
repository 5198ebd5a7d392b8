/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instrumenter.h - puts probes into methods of the running JVM, and takes them out again.
 *
 *   start ─► capabilities, hook class, load hook on ─► loaded classes made known ─► first batches
 *            thread threads-sampler-calls: first entries ─► call graph ─► a batch ─► a pause ─► ...
 *            any thread, in the load hook: a class that is loaded gets its probes at once
 *   stop  ─► counting off ─► all probes are removed ─► load hook off
 *
 * Frames that still run code with probes call hooks that do nothing from then on.
 *
 * Only one sampler may count in a JVM at a time. The load hook changes the bytes that it is handed,
 * not those of the class file, so changes of other agents stay; agents behind ours see the probes.
 *
 * Owns     the thread; the load hook; while it runs all memory of counted_classes.h, and the call
 *          arena, which is open from start to stop.
 * Threads  start, stop: the sampler thread. classes, get_figures: the same, in between. The hooks:
 *          any.
 * Errors   start: SMP_ESTATE: another sampler counts; SMP_EUNSUPPORTED, SMP_EINVAL, SMP_ENOMEM,
 *          SMP_EVM, SMP_EPHASE, SMP_ETHREAD. message says why.
 * Cost     the first start on a JDK before 23 discards all compiled code, once.
 *          start: a pass over the loaded classes (20 us for each that may be counted, 2 for each of
 *          the JDK's), and a stop of 10 to 50 ms for each batch of root classes. The thread:
 *          nothing measurable while no method is new. stop: a stop for each batch of classes with
 *          probes.
 */
#ifndef SMP_JVM_CALLS_INSTRUMENTER_H
#define SMP_JVM_CALLS_INSTRUMENTER_H

#include <jni.h>
#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/jvm.h"
#include "jvm/calls/counted_classes.h"

#define SMP_INSTRUMENTER_THREAD "threads-sampler-calls"

/* To be called when the library is loaded, before it has a JVMTI environment of its own: after that
 * it cannot see whether other agents may change classes. */
void smp_instrumenter_loaded(void);
/* Holds the plan until its classes are closed. */
SMP_CHECKED enum smp_status smp_instrumenter_start(struct smp_counting_plan *plan,
                                                   char message[SMP_PLAN_MESSAGE_BYTES]);
/* After a start that was SMP_OK, once. */
void smp_instrumenter_stop(void);

/* For callers that take their lock, or read ids. */
struct smp_counted_classes *smp_instrumenter_classes(void);
/* All figures but the costs of calls. */
void smp_instrumenter_get_figures(struct smp_counter_figures *out);
/* Memory that is kept after a counting: bytes of redefined classes. */
size_t smp_instrumenter_kept_bytes(void);

/* Hooks of agent.h. */
void JNICALL smp_instrumenter_on_load(jvmtiEnv *jvmti, JNIEnv *env, jclass redefined,
                                      jobject loader, const char *name, jobject domain, jint size,
                                      const unsigned char *bytes, jint *new_size,
                                      unsigned char **new_bytes);
void JNICALL smp_instrumenter_on_prepare(jvmtiEnv *jvmti, JNIEnv *env, jthread thread,
                                         jclass prepared);

#endif
