/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name_callback.h - calls the user's thread-name manipulator: one call of Java per tick, for all
 * threads.
 *
 * The three arrays of NativeCallbacks.groupNames are reused, and grow by doubling. A thread's
 * element is written only if the element had another thread, and a name is copied only if it is
 * another String with another text.
 *
 * Owns     the arrays. The memory of a name belongs to the caller until forget.
 * Threads  create and destroy: any attached one; otherwise the sampler thread.
 * Errors   SMP_ENOMEM: no result was delivered. If the callback throws, all names are FAILED.
 * Cost     per thread and tick: two JNI calls if the manipulator returns the same String; a copy
 *          and a comparison if it makes a new one each time.
 */
#ifndef SMP_JNI_NAME_CALLBACK_H
#define SMP_JNI_NAME_CALLBACK_H

#include <jni.h>

#include "base/status.h"
#include "engine/jvm.h"
#include "jni/callbacks.h"

struct smp_jni_name_callback;

/* callbacks: borrowed until destroy. */
SMP_CHECKED enum smp_status smp_jni_name_callback_create(const struct smp_jni_callbacks *callbacks,
                                                         struct smp_jni_name_callback **out);
void smp_jni_name_callback_destroy(JNIEnv *env, struct smp_jni_name_callback *name_callback);
/* Borrows name_callback. */
struct smp_name_callback
smp_jni_name_callback_functions(struct smp_jni_name_callback *name_callback);

#endif
