/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jdk.h - look-ups of classes, methods and fields that this JDK may lack, and JNI local frames.
 * Popping a frame frees the local references that were made in it.
 *
 * Threads  any attached one.
 * Errors   look-ups return NULL if the JDK lacks the name or owner is NULL. push returns false
 *          without memory, and must not be popped then. No exception stays pending.
 * Cost     a look-up by name. push: an allocation by the JVM.
 */
#ifndef SMP_JVM_AGENT_JDK_H
#define SMP_JVM_AGENT_JDK_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>

static inline void *smp_jdk_found(JNIEnv *env, void *found)
{
    if (found == NULL)
        (*env)->ExceptionClear(env);
    return found;
}

/* Returns a local reference. */
static inline jclass smp_jdk_class(JNIEnv *env, const char *name)
{
    return smp_jdk_found(env, (*env)->FindClass(env, name));
}

/* The ids stay valid: these classes are never unloaded. */
static inline jfieldID smp_jdk_field(JNIEnv *env, jclass owner, const char *name,
                                     const char *signature)
{
    if (owner == NULL)
        return NULL;
    return smp_jdk_found(env, (*env)->GetFieldID(env, owner, name, signature));
}

static inline jfieldID smp_jdk_static_field(JNIEnv *env, jclass owner, const char *name,
                                            const char *signature)
{
    if (owner == NULL)
        return NULL;
    return smp_jdk_found(env, (*env)->GetStaticFieldID(env, owner, name, signature));
}

static inline jmethodID smp_jdk_method(JNIEnv *env, jclass owner, const char *name,
                                       const char *signature)
{
    if (owner == NULL)
        return NULL;
    return smp_jdk_found(env, (*env)->GetMethodID(env, owner, name, signature));
}

static inline jmethodID smp_jdk_static_method(JNIEnv *env, jclass owner, const char *name,
                                              const char *signature)
{
    if (owner == NULL)
        return NULL;
    return smp_jdk_found(env, (*env)->GetStaticMethodID(env, owner, name, signature));
}

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
