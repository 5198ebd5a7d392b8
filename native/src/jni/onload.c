/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onload.c - what the JVM calls when it loads and unloads the library.
 *
 * Agent_OnLoad and Agent_OnAttach only allow -agentpath, for systems where its file must not be
 * unpacked; all options come from Java, so those given here are refused rather than ignored.
 */
#include "jni/onload.h"

#include <jni.h>
#include <stdbool.h>
#include <stdio.h>

#include "jni/ids.h"
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

static jint accept_options(const char *options)
{
    if (options == NULL || options[0] == '\0')
        return JNI_OK;
    (void)fprintf(stderr, "threads-sampler: the agent takes no options, got \"%s\"\n", options);
    return JNI_ERR;
}

JNIEXPORT jint JNICALL Agent_OnLoad(SMP_UNUSED JavaVM *java_vm, char *options,
                                    SMP_UNUSED void *reserved)
{
    return accept_options(options);
}

JNIEXPORT jint JNICALL Agent_OnAttach(SMP_UNUSED JavaVM *java_vm, char *options,
                                      SMP_UNUSED void *reserved)
{
    return accept_options(options);
}
