/* SPDX-License-Identifier: Apache-2.0 */
/*
 * method_ids.h - has the JVM make method ids before a walk needs them.
 *
 * AsyncGetCallTrace names a frame only if the method has an id already; our own walk copies the
 * names of others (hotspot/frames.h), and ids make that rare. Compiled methods have one,
 * because we listen to their events. A young process runs methods that are only interpreted,
 * so ids are made for all methods of a class as soon as the class is prepared, before any of them
 * runs:
 *
 *   open ─► ClassPrepare on ─► ids of all classes that are loaded, on the caller's thread
 *   ClassPrepare ─► ids of that class, on the thread that prepares it
 *   SMP_IDS_LIMIT methods ─► ClassPrepare off: names are copied, or a handshake makes ids
 *
 * Each id is also offered to hotspot/method_table.h.
 *
 * An id costs memory of the JVM's own, a part of which stays when its class is unloaded (up to JDK
 * 25). The limit bounds that in an application that makes classes for ever.
 *
 * smp_by_jvmti_fetch makes the ids of one stack by a handshake. From JDK 21 on a handshake may
 * stall all virtual threads until a running thread reaches its next safepoint (measured on 25, for
 * GetStackTrace and for a list of one thread alike), so make_all takes its place if virtual threads
 * are in use.
 *
 * Owns     its share of the JVM's ClassPrepare event (class_events.h) while open.
 * Threads  open, close: one at a time. on_prepare: any. The others: an attached one.
 * Errors   as jvmti_status.h. A class whose ids cannot be made now is skipped: a handshake makes
 *          them later.
 * Cost     a class: about 2 us, on the thread that prepares it. make_all: that for all loaded
 *          classes, so its caller limits it.
 */
#ifndef SMP_JVM_CODE_METHOD_IDS_H
#define SMP_JVM_CODE_METHOD_IDS_H

#include <jni.h>
#include <jvmti.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum { SMP_IDS_LIMIT = 512 * 1024 /* methods, since open */ };

/* A frame whose id is still missing afterwards is shown without a name. */
void smp_method_ids_open(JNIEnv *env);
void smp_method_ids_close(void);
void JNICALL smp_method_ids_on_prepare(jvmtiEnv *jvmti, JNIEnv *env, jthread thread,
                                       jclass prepared);

/* SMP_EQUOTA: the limit is reached. */
SMP_CHECKED enum smp_status smp_method_ids_make_all(JNIEnv *env);

/* Returns how many ids were made here since open; at most a class more than SMP_IDS_LIMIT. */
uint64_t smp_method_ids_made(void);

#endif
