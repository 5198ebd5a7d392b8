/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hidden_threads.h - threads that are never sampled: the JVM's service threads, the thread that has
 * returned from main ("DestroyJavaVM"), and those of the library's own group. Their CPU time is in
 * the group [JVM].
 *
 * A service thread has a service thread's name and is in one of the JVM's own thread groups. A
 * user's thread called "Finalizer" is in another group, and is sampled. A user's thread called
 * "DestroyJavaVM" has a task, or a class of its own, and is sampled, too.
 *
 * Owns     a global reference to the library's group.
 * Threads  any attached one.
 * Errors   as listed.
 * Cost     is_hidden: a comparison of names; for such a name some calls of JVMTI or JNI.
 */
#ifndef SMP_JVM_THREADS_HIDDEN_THREADS_H
#define SMP_JVM_THREADS_HIDDEN_THREADS_H

#include <jni.h>
#include <jvmti.h>
#include <stdbool.h>

#include "base/status.h"

/* info: of the thread, which has just started or was found by a scan. */
bool smp_hidden_threads_is_hidden(jvmtiEnv *jvmti, JNIEnv *env, jthread thread,
                                  const jvmtiThreadInfo *info);
/*
 * Hides threads that start in the library's group from now on, including those that the JDK's code
 * starts for the library. The first group that is offered becomes the library's; *out is a local
 * reference to it. SMP_ENOMEM.
 */
SMP_CHECKED enum smp_status smp_hidden_threads_offer_group(JNIEnv *env, jobject group,
                                                           jobject *out);
/* Drops that group, because no class loader has the library any more. */
void smp_hidden_threads_unloaded(JNIEnv *env);

#endif
