/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onload.c - what the JVM calls when it loads and unloads the library.
 *
 * Without options Agent_OnLoad and Agent_OnAttach do nothing: -agentpath then only spares unpacking
 * the library's file. With options they are the agent of JVMs that may lack java.instrument.
 */
#include "jni/onload.h"

#include <jni.h>
#include <stdbool.h>

#include "jni/ids.h"
#include "jni/java_agent.h"
#include "jvm/agent/agent.h"
#include "jvm/loaded.h"
#include "jvm/threads/hidden_threads.h"
#include "jvm/threads/threads.h" /* includes jvmti.h, which declares Agent_* */

static bool is_loaded; /* written and read under Java's lock */

static enum smp_status load_once(JNIEnv *env, JavaVM *java_vm)
{
    const enum smp_status status = smp_jni_ids_load(env);

    if (status == SMP_OK) {
        smp_jvm_loaded(java_vm);
        is_loaded = true;
    }
    return status;
}

enum smp_status smp_onload_ensure(JNIEnv *env)
{
    JavaVM *java_vm = NULL;

    if (is_loaded)
        return SMP_OK;
    if ((*env)->GetJavaVM(env, &java_vm) != JNI_OK)
        return SMP_EVM;
    return load_once(env, java_vm);
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *java_vm, SMP_UNUSED void *reserved)
{
    void *env = NULL;

    if ((*java_vm)->GetEnv(java_vm, &env, SMP_AGENT_JNI_VERSION) != JNI_OK)
        return JNI_ERR;
    if (load_once(env, java_vm) != SMP_OK)
        return JNI_ERR; /* the pending exception says what is missing */
    return SMP_AGENT_JNI_VERSION;
}

JNIEXPORT void JNICALL JNI_OnUnload(JavaVM *java_vm, SMP_UNUSED void *reserved)
{
    void *env = NULL;

    is_loaded = false;
    smp_agent_unloaded();
    if ((*java_vm)->GetEnv(java_vm, &env, SMP_AGENT_JNI_VERSION) != JNI_OK)
        return;
    smp_hidden_threads_unloaded(env);
    smp_jni_ids_unload(env);
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
