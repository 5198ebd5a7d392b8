/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onload.c - what the JVM finds by name in the file of each copy, the core's or not: what it calls
 * when it loads and unloads the library, and the native methods that Java calls first.
 *
 * The library is made ready by NativeBridge.join (core.h): the JVM calls no JNI_OnLoad of a file
 * that it has loaded as an agent (-agentpath).
 *
 * Without options Agent_OnLoad and Agent_OnAttach do nothing: -agentpath then only spares unpacking
 * the library's file. With options they are the agent of JVMs that may lack java.instrument.
 */
#include <jni.h>
#include <stdbool.h>

#include "jni/bridge.h"
#include "jni/core.h"
#include "jni/java_agent.h"
#include "jvm/agent/agent.h" /* includes jvmti.h, which declares Agent_* */

JNIEXPORT jint BRIDGE(abi)(SMP_UNUSED JNIEnv *env, SMP_UNUSED jclass bridge)
{
    return com_incapsula_sampler_internal_engine_NativeBridge_ABI;
}

/* Throws nothing itself: the classes for that (ids.h) are in the core. */
static jstring join_core(JNIEnv *env, jclass bridge, bool by_class_loader)
{
    const enum smp_status status = smp_core_join(env, bridge, by_class_loader);

    if (status == SMP_OK || (*env)->ExceptionCheck(env))
        return NULL;
    return (*env)->NewStringUTF(env, smp_status_text(status));
}

/* Found by name: no class loader has loaded this file for that class, but the JVM, as an agent. */
JNIEXPORT jstring BRIDGE(join)(JNIEnv *env, jclass bridge)
{
    return join_core(env, bridge, false);
}

static jstring JNICALL join_by_class_loader(JNIEnv *env, jclass bridge)
{
    return join_core(env, bridge, true);
}

/* Found by name they might already be those of a file that the JVM has loaded as an agent, of
 * another version perhaps. */
static bool register_own(JNIEnv *env)
{
    static const JNINativeMethod own[] = {
        { "abi", "()I", (void *)BRIDGE(abi) },
        { "join", "()Ljava/lang/String;", (void *)join_by_class_loader },
    };
    jclass bridge = (*env)->FindClass(env, "com/incapsula/sampler/internal/engine/NativeBridge");
    jint status = JNI_ERR;

    if (bridge != NULL) {
        status = (*env)->RegisterNatives(env, bridge, own, sizeof(own) / sizeof(own[0]));
        (*env)->DeleteLocalRef(env, bridge);
    }
    return status == JNI_OK;
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *java_vm, SMP_UNUSED void *reserved)
{
    void *env = NULL;

    if ((*java_vm)->GetEnv(java_vm, &env, SMP_AGENT_JNI_VERSION) != JNI_OK || !register_own(env))
        return JNI_ERR; /* the pending exception says what is missing */
    return SMP_AGENT_JNI_VERSION;
}

JNIEXPORT void JNICALL JNI_OnUnload(JavaVM *java_vm, SMP_UNUSED void *reserved)
{
    void *env = NULL;

    if ((*java_vm)->GetEnv(java_vm, &env, SMP_AGENT_JNI_VERSION) != JNI_OK)
        env = NULL;
    smp_core_leave(env);
}

static bool has_options(const char *options)
{
    return options != NULL && options[0] != '\0';
}

/* Never JNI_ERR, which would end the JVM. */
JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *java_vm, char *options, SMP_UNUSED void *reserved)
{
    if (has_options(options))
        smp_java_agent_start(java_vm, options);
    return JNI_OK;
}

/* An error is the answer to the program that attached. */
JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *java_vm, char *options, SMP_UNUSED void *reserved)
{
    void *env = NULL;

    if (!has_options(options))
        return JNI_OK;
    if ((*java_vm)->GetEnv(java_vm, &env, SMP_AGENT_JNI_VERSION) != JNI_OK)
        return JNI_ERR;
    return smp_java_agent_command(env, options) ? JNI_OK : JNI_ERR;
}
