/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callbacks.h - the outputer whose far end is a Java NativeCallbacks.
 *
 * Owns     a global reference to it.
 * Threads  create and destroy on any attached thread; the outputer on the reporter thread.
 * Errors   SMP_ENOMEM. An exception out of a callback is cleared and counts as
 *          a failed call. Once the JVM shuts down every call fails.
 * Cost     one or two Strings per call. No local reference outlives a call, because the thread
 *          never returns to Java.
 */
#ifndef SMP_JNI_CALLBACKS_H
#define SMP_JNI_CALLBACKS_H

#include <jni.h>
#include <stdbool.h>

#include "base/status.h"
#include "export/outputer.h"

struct smp_jni_callbacks;

SMP_CHECKED enum smp_status smp_jni_callbacks_create(JNIEnv *env, jobject target,
                                                     struct smp_jni_callbacks **out);
void smp_jni_callbacks_destroy(JNIEnv *env, struct smp_jni_callbacks *callbacks);

/* The global reference; borrowed. */
jobject smp_jni_callbacks_target(const struct smp_jni_callbacks *callbacks);
/* Borrows callbacks. */
struct smp_outputer smp_jni_callbacks_outputer(struct smp_jni_callbacks *callbacks);

/* For threads that never return to Java: */

/* True when an exception was pending; it is cleared. */
bool smp_jni_clear_exception(JNIEnv *env);
/* The calling thread's environment with a fresh frame of local references, or NULL: the JVM shuts
 * down, or has no memory. end clears an exception; false: there was one. */
JNIEnv *smp_jni_begin_call(void);
bool smp_jni_end_call(JNIEnv *env);

#endif
