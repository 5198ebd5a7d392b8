/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instrumenter.h - puts probes into methods of the running JVM, and takes them out again.
 *
 *   start ─► capabilities, hook class, load hook on ─► loaded classes made known ─► first batches
 *            thread threads-sampler-calls: first entries ─► call graph ─► a batch ─► 50 ms ─► ...
 *            any thread, in the load hook: a class that is loaded gets its probes at once
 *   stop  ─► counting off, load hook idle ─► all classes get back the bytes they have without it
 *            ─► load hook off
 *
 * Frames that still run code with probes call hooks that do nothing from then on.
 *
 * One may count at a time in a JVM. The bytes that the load hook is handed in are changed, not
 * those of the class file, so what other agents do stays; they see our probes if they come later.
 *
 * Owns     the thread; the load hook; while it runs all memory of counted_classes.h, and the call
 *          arena, which is open from start to stop.
 * Threads  start, stop: the sampler thread. classes, get_figures: likewise, in between. The
 *          hooks: any.
 * Errors   start: SMP_ESTATE: another one counts; SMP_EUNSUPPORTED, SMP_EINVAL, SMP_ENOMEM,
 *          SMP_EVM, SMP_EPHASE, SMP_ETHREAD. message says why.
 * Cost     the first start on a JDK before 23: all compiled code is thrown away, and never again.
 *          start: a pass over the loaded classes (20 us for each that may be counted, 2 for one of
 *          the JDK's), and a stop of 10 to 50 ms for each batch of root classes. The thread:
 *          nothing to be seen while no method is new. stop: a stop for each batch of classes with
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

/* When the library is loaded, before it has an environment of JVMTI: with that all agents could
 * change classes, as far as can be seen. */
void smp_instrumenter_loaded(void);
/* Holds the plan until its classes are closed. */
SMP_CHECKED enum smp_status smp_instrumenter_start(struct smp_counting_plan *plan,
                                                   char message[SMP_PLAN_MESSAGE_BYTES]);
/* After a start that was SMP_OK, once. */
void smp_instrumenter_stop(void);

/* For what has their lock, or reads ids. */
struct smp_counted_classes *smp_instrumenter_classes(void);
/* All but what a call costs. */
void smp_instrumenter_get_figures(struct smp_counter_figures *out);
/* Memory that outlasts a counting: that of redefined classes. */
size_t smp_instrumenter_kept_bytes(void);

/* Hooks of agent.h. */
void JNICALL smp_instrumenter_on_load(jvmtiEnv *jvmti, JNIEnv *env, jclass redefined,
                                      jobject loader, const char *name, jobject domain, jint size,
                                      const unsigned char *bytes, jint *new_size,
                                      unsigned char **new_bytes);
void JNICALL smp_instrumenter_on_prepare(jvmtiEnv *jvmti, JNIEnv *env, jthread thread,
                                         jclass prepared);

#endif
