/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert.h - converts texts and numbers between Java and C, with limits, and failures to Java
 * exceptions:
 *
 *   EINVAL                             IllegalArgumentException
 *   ENOMEM EQUOTA ETHREAD              OutOfMemoryError
 *   EUNSUPPORTED                       UnsupportedOperationException
 *   EIO                                none: the failure is the outputer's own
 *   all others                         IllegalStateException
 *
 * Threads  any attached one.
 * Errors   as listed. If no exception can be made, the JVM has thrown one of its own.
 * Cost     O(length). An ASCII text becomes a String without a copy in between.
 */
#ifndef SMP_JNI_CONVERT_H
#define SMP_JNI_CONVERT_H

#include <jni.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Creates a NUL-terminated UTF-8 copy, which the caller frees with smp_free(NULL, ...). SMP_EINVAL:
 * the string is null, or longer than max_units UTF-16 units. SMP_ENOMEM. */
SMP_CHECKED enum smp_status smp_jni_text(JNIEnv *env, jstring string, size_t max_units, char **out);

/* Returns a local reference, or NULL with an OutOfMemoryError pending. text is UTF-8 with a NUL
 * after length. */
jstring smp_jni_string(JNIEnv *env, const char *text, size_t length);
/* Returns a String[] of count texts, with null for each NULL that text_of returns. Each text is
 * copied before the next call of text_of. Returns NULL if an exception is pending. */
jobjectArray smp_jni_strings(JNIEnv *env, size_t count,
                             const char *(*text_of)(void *self, size_t index), void *self);
/* Returns a long[], or NULL if an exception is pending. */
jlongArray smp_jni_longs(JNIEnv *env, const int64_t *values, size_t count);

/* Throws the status's exception. Does nothing for SMP_OK, or if an exception is pending, because
 * the first failure counts. */
void smp_throw(JNIEnv *env, enum smp_status status);
/* message NULL or "": the status's own text. */
void smp_throw_message(JNIEnv *env, enum smp_status status, const char *message);

#endif
