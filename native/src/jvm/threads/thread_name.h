/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_name.h - a thread's name, read again only if it is another String.
 *
 * The field Thread.name is compared by identity with the String read last. If this JVM has no such
 * field, JVMTI's GetThreadInfo returns the name, and its text is compared.
 *
 * Owns     the value that read puts into *seen, until forget.
 * Threads  any attached one; *seen belongs to one reader.
 * Errors   SMP_EGONE, SMP_ENOMEM, SMP_EPHASE, SMP_EVM.
 * Cost     unchanged: one field read. Changed: one copy and one global reference; nothing is
 *          allocated on the Java heap.
 */
#ifndef SMP_JVM_THREADS_THREAD_NAME_H
#define SMP_JVM_THREADS_THREAD_NAME_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* At least once per process. */
void smp_jvm_thread_name_init(JNIEnv *env);
/* As smp_thread_source.name. */
SMP_CHECKED enum smp_status smp_jvm_thread_name_read(JNIEnv *env, jobject thread, void **seen,
                                                     char *out, size_t size, bool *changed);
/* env NULL: the JVM is shutting down, which frees its references. */
void smp_jvm_thread_name_forget(JNIEnv *env, void *seen);

#endif
