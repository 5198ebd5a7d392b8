/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instrumenter.h - adds probes to methods of the running JVM, and removes them.
 *
 *   start ─► capabilities, hook class, load hook on ─► loaded classes in graph ─► first batches
 *            thread threads-sampler-calls: first entries ─► call graph ─► a batch ─► a pause ─► ...
 *            any thread, in the load hook: a new class gets its probes at once
 *   stop  ─► counting off ─► all probes are removed ─► load hook off
 *
 * After stop, frames that still run code with probes call hooks that do nothing.
 *
 * Only one sampler may count in a JVM at a time. The load hook adds probes to the bytes that the
 * JVM passes to it, so changes of agents before ours are kept; agents after ours see the probes.
 *
 * Owns     the thread, the load hook, the memory of counted_classes.h, the open call arena.
 * Threads  start, stop, and in between classes, get_figures: the sampler thread. The hooks: any.
 * Errors   start: SMP_ESTATE: another sampler counts; SMP_EUNSUPPORTED, SMP_EINVAL, SMP_ENOMEM,
 *          SMP_EVM, SMP_EPHASE, SMP_ETHREAD. message says why.
 * Cost     the first start discards all compiled code on a JDK before 23. start: a pass over the
 *          loaded classes (20 us for each that may be counted, 2 us for each JDK class), and a
 *          stop of the program for 10 to 50 ms for each batch of root classes. The thread:
 *          nothing measurable while no new method is called. stop: a stop of the program for each
 *          batch of classes with probes.
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

/* Called when the library is loaded, before it has a JVMTI environment. Afterwards it could not
 * tell whether other agents may change classes. */
void smp_instrumenter_loaded(void);
/* Holds the plan until its classes are closed. */
SMP_CHECKED enum smp_status smp_instrumenter_start(struct smp_counting_plan *plan,
                                                   char message[SMP_PLAN_MESSAGE_BYTES]);
/* Called once after a successful start. */
void smp_instrumenter_stop(void);

/* Callers take its lock, except for functions of ids. */
struct smp_counted_classes *smp_instrumenter_classes(void);
/* Fills in all figures except the costs of calls. */
void smp_instrumenter_get_figures(struct smp_counter_figures *out);
/* The memory that is kept after stop: bytes of redefined classes. */
size_t smp_instrumenter_kept_bytes(void);

/* Hooks of agent.h. */
void JNICALL smp_instrumenter_on_load(jvmtiEnv *jvmti, JNIEnv *env, jclass redefined,
                                      jobject loader, const char *name, jobject domain, jint size,
                                      const unsigned char *bytes, jint *new_size,
                                      unsigned char **new_bytes);
void JNICALL smp_instrumenter_on_prepare(jvmtiEnv *jvmti, JNIEnv *env, jthread thread,
                                         jclass prepared);

#endif
