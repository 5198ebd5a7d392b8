/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name_callback.h - calls the user's thread-name manipulator: one call into Java per tick, for all
 * threads.
 *
 * The three arrays of NativeCallbacks.groupNames are made once, grown by doubling and reused. A
 * thread's element is written only when another thread was there before, and a name is copied only
 * when it is another String with another text.
 *
 * Owns     the arrays. *seen, the memory of a name, belongs to the caller until forget.
 * Threads  the sampler thread, but for create and destroy.
 * Errors   SMP_ENOMEM: no result was delivered. An exception out of the callback: FAILED for all.
 * Cost     per thread and tick: two JNI calls where the rule answers with the same String, a copy
 *          and a comparison where it makes a new one each time.
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
