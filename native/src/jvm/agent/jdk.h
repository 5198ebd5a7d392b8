/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jdk.h - classes, methods and fields of the JDK, which this JDK may not have.
 *
 * Threads  any attached one.
 * Errors   NULL, with no exception pending. owner may be NULL: then there is none, either.
 * Cost     a look-up by name.
 */
#ifndef SMP_JVM_AGENT_JDK_H
#define SMP_JVM_AGENT_JDK_H

#include <jni.h>
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

#endif
