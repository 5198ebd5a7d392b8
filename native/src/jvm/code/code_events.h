/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_events.h - keeps code_map.h up to date with the JVM's events for code.
 *
 *   CompiledMethodLoad ───┐
 *   CompiledMethodUnload ─┼─► code_map.h
 *   DynamicCodeGenerated ─┘
 *   ClassUnload ────────────► class_events.h
 *
 * Threads  open and close: one at a time, attached. The events: any.
 * Cost     open: the events of all code made so far, some milliseconds.
 */
#ifndef SMP_JVM_CODE_CODE_EVENTS_H
#define SMP_JVM_CODE_CODE_EVENTS_H

#include <jvmti.h>

/* Returns NULL, or a static text: why there are no events. Call close in both cases. */
const char *smp_code_events_open(jvmtiEnv *jvmti);
void smp_code_events_close(void);

/* For agent.h. */
void JNICALL smp_code_events_on_class_load(jvmtiEnv *jvmti, JNIEnv *env, jthread thread,
                                           jclass loaded);
void JNICALL smp_code_events_on_load(jvmtiEnv *jvmti, jmethodID method, jint size,
                                     const void *start, jint map_length,
                                     const jvmtiAddrLocationMap *map, const void *info);
void JNICALL smp_code_events_on_unload(jvmtiEnv *jvmti, jmethodID method, const void *start);
void JNICALL smp_code_events_on_stub(jvmtiEnv *jvmti, const char *name, const void *start,
                                     jint size);

#endif
