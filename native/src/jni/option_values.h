/* SPDX-License-Identifier: Apache-2.0 */
/*
 * option_values.h - converts a sampler's options from Java, a long[] and a String[] in the order of
 * options.h, and makes the rows of the table for Java's test.
 *
 * Threads  any attached one.
 * Errors   SMP_EINVAL with message filled, SMP_ENOMEM.
 * Cost     O(length of the texts).
 */
#ifndef SMP_JNI_OPTION_VALUES_H
#define SMP_JNI_OPTION_VALUES_H

#include <jni.h>

#include "base/status.h"
#include "model/options.h"

/* On failure out is unchanged. On success the caller frees it with smp_options_fini. */
SMP_CHECKED enum smp_status smp_jni_read_options(JNIEnv *env, jlongArray integers,
                                                 jobjectArray texts, struct smp_options *out,
                                                 char message[SMP_OPTIONS_MESSAGE_BYTES]);

enum { SMP_JNI_OPTION_ROW_BYTES = 160 };
/* Writes "name NUMBER default min max fixed", "name FLAG default fixed", "name TEXT fixed" or, with
 * two to four choices, "name CHOICE first second fixed". fixed and the default of a flag are true
 * or false. self: a buffer of SMP_JNI_OPTION_ROW_BYTES, which is returned. */
const char *smp_jni_option_row(void *self, size_t index);

#endif
