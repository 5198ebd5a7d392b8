/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_frame.h - a JNI local frame: the references that are made in it end with it.
 *
 * Threads  any attached one.
 * Errors   push: false without memory, with no exception pending; there is no frame then.
 * Cost     push: an allocation of the JVM's.
 */
#ifndef SMP_JVM_AGENT_LOCAL_FRAME_H
#define SMP_JVM_AGENT_LOCAL_FRAME_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>

static inline bool smp_local_frame_push(JNIEnv *env, jint references)
{
    if ((*env)->PushLocalFrame(env, references) == JNI_OK)
        return true;
    (*env)->ExceptionClear(env);
    return false;
}

static inline void smp_local_frame_pop(JNIEnv *env)
{
    (void)(*env)->PopLocalFrame(env, NULL);
}

#endif
