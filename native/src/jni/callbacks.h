/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callbacks.h - the outputer whose far end is a Java NativeCallbacks.
 *
 * The methods are looked up in the class of the very object: several copies of the Java classes
 * may use one core.
 *
 * Owns     a global reference to it.
 * Threads  create and destroy on any attached thread; the outputer on the reporter thread.
 * Errors   SMP_ENOMEM; SMP_EVM with the Java exception pending: a method is missing. An
 *          exception out of a callback is cleared and counts as a failed call. Once the JVM shuts
 *          down every call fails.
 * Cost     one or two Strings per call. No local reference outlives a call, because the thread
 *          never returns to Java.
 */
#ifndef SMP_JNI_CALLBACKS_H
#define SMP_JNI_CALLBACKS_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "export/outputer.h"

/* X(field, Java name, signature): the methods of NativeCallbacks */
#define SMP_JNI_CALLBACK_MAP(X)                                        \
    X(title, "title", "(JJ)Z")                                         \
    X(record, "record", "(Ljava/lang/String;Ljava/lang/String;)Z")     \
    X(flush, "flush", "()Z")                                           \
    X(deadlock, "deadlock", "(Ljava/lang/String;Ljava/lang/String;)V") \
    X(message, "message", "(ILjava/lang/String;)V")                    \
    X(group_names, "groupNames", "([Ljava/lang/Thread;I[Ljava/lang/String;[Z)V")

enum smp_jni_callback {
#define X(field, name, signature) SMP_JNI_CALLBACK_##field,
    SMP_JNI_CALLBACK_MAP(X)
#undef X
        SMP_JNI_CALLBACK_COUNT
};

struct smp_jni_callbacks;

SMP_CHECKED enum smp_status smp_jni_callbacks_create(JNIEnv *env, jobject target,
                                                     struct smp_jni_callbacks **out);
void smp_jni_callbacks_destroy(JNIEnv *env, struct smp_jni_callbacks *callbacks);

/* The global reference; borrowed. */
jobject smp_jni_callbacks_target(const struct smp_jni_callbacks *callbacks);
jmethodID smp_jni_callbacks_method(const struct smp_jni_callbacks *callbacks,
                                   enum smp_jni_callback callback);
/* Name and signature, one text. */
const char *smp_jni_callback_signature(size_t callback);
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
