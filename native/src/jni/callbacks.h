/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callbacks.h - an outputer that calls a Java NativeCallbacks.
 *
 * The methods are looked up in the class of the object itself, because several copies of the Java
 * classes may use one core.
 *
 * Owns     a global reference to the object.
 * Threads  create and destroy on any attached thread; the outputer on the reporter thread.
 * Errors   SMP_ENOMEM; SMP_EVM with the Java exception pending: a method is missing. An exception
 *          that a callback throws is cleared, and the call has failed. Every call fails once the
 *          JVM shuts down.
 * Cost     one or two Strings per call. Each call frees its local references, because the thread
 *          never returns to Java.
 */
#ifndef SMP_JNI_CALLBACKS_H
#define SMP_JNI_CALLBACKS_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "export/report.h"

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

/* Returns the global reference; borrowed. */
jobject smp_jni_callbacks_target(const struct smp_jni_callbacks *callbacks);
jmethodID smp_jni_callbacks_method(const struct smp_jni_callbacks *callbacks,
                                   enum smp_jni_callback callback);
/* Returns name and signature as one text. */
const char *smp_jni_callback_signature(size_t callback);
/* Borrows callbacks. */
struct smp_outputer smp_jni_callbacks_outputer(struct smp_jni_callbacks *callbacks);

/* For threads that never return to Java: */

/* Clears a pending exception. Returns whether there was one. */
bool smp_jni_clear_exception(JNIEnv *env);
/* Returns the calling thread's environment with a new frame of local references, or NULL if the JVM
 * shuts down or has no memory. end clears a pending exception; false if there was one. */
JNIEnv *smp_jni_begin_call(void);
bool smp_jni_end_call(JNIEnv *env);

#endif
