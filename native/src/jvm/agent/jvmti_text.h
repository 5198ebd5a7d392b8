/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvmti_text.h - copies a Java String as UTF-8 into the caller's buffer.
 *
 * Threads  any attached one.
 * Errors   SMP_ENOMEM: out is untouched.
 * Cost     O(size); the heap only for Strings of more than 256 units, never the Java heap.
 */
#ifndef SMP_JVM_AGENT_JVMTI_TEXT_H
#define SMP_JVM_AGENT_JVMTI_TEXT_H

#include <jni.h>
#include <stddef.h>

#include "base/status.h"

/* size is at least 4; a longer text is truncated as described in utf8.h. string is not NULL. */
SMP_CHECKED enum smp_status smp_jvmti_text_copy(JNIEnv *env, jstring string, char *out,
                                                size_t size);

#endif
