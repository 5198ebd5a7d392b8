/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jdk.h - looks up classes, methods and fields that this JDK may not have, and JNI local frames:
 * the references that are made in a frame end with it.
 *
 * Threads  any attached one.
 * Errors   NULL, with no exception pending; also if owner is NULL. push: false without memory, with
 *          no exception pending; then there is no frame.
 * Cost     a look-up by name. push: an allocation of the JVM's.
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

/* A local reference. */
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
