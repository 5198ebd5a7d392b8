/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert.h - texts and numbers between Java and C, with limits.
 *
 * Threads  any attached one.
 * Errors   as listed.
 * Cost     O(length). An ASCII text becomes a String without a copy in between.
 */
#ifndef SMP_JNI_CONVERT_H
#define SMP_JNI_CONVERT_H

#include <jni.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/*
 * A NUL-terminated UTF-8 copy, to be given to smp_free(NULL, ...). SMP_EINVAL: null, or longer than
 * max_units UTF-16 units. SMP_ENOMEM.
 */
SMP_CHECKED enum smp_status smp_jni_text(JNIEnv *env, jstring string, size_t max_units, char **out);

/* text is UTF-8 with a NUL after length. A local reference; NULL: an OutOfMemoryError is
 * pending. */
jstring smp_jni_string(JNIEnv *env, const char *text, size_t length);
/* A String[] of count texts, null where text_of gives NULL; each is copied before the next call of
 * text_of. NULL: an exception is pending. */
jobjectArray smp_jni_strings(JNIEnv *env, size_t count,
                             const char *(*text_of)(void *self, size_t index), void *self);
/* A long[]. NULL with an exception pending. */
jlongArray smp_jni_longs(JNIEnv *env, const int64_t *values, size_t count);

#endif
