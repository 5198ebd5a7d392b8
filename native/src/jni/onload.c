/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onload.c - what the JVM calls when it loads and unloads the library.
 *
 * Agent_OnLoad and Agent_OnAttach only let it be named with -agentpath, where its file must not be
 * unpacked; what to do comes from Java all the same, so options are refused rather than ignored.
 */
#include <jni.h>
#include <stdio.h>

#include "jni/ids.h"
#include "vm/vm.h" /* by way of it the prototypes of Agent_*, which jvmti.h has */

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *java_vm, void *reserved)
{
    void *env = NULL;

    (void)reserved;
    if ((*java_vm)->GetEnv(java_vm, &env, SMP_VM_JNI_VERSION) != JNI_OK)
        return JNI_ERR;
    if (smp_jni_ids_load(env) != SMP_OK)
        return JNI_ERR; /* the pending exception tells what is missing */
    smp_vm_loaded(java_vm);
    return SMP_VM_JNI_VERSION;
}

JNIEXPORT void JNICALL JNI_OnUnload(JavaVM *java_vm, void *reserved)
{
    void *env = NULL;

    (void)reserved;
    smp_vm_unloaded();
    if ((*java_vm)->GetEnv(java_vm, &env, SMP_VM_JNI_VERSION) == JNI_OK)
        smp_jni_ids_unload(env);
}

static jint accept_options(const char *options)
{
    if (options == NULL || options[0] == '\0')
        return JNI_OK;
    (void)fprintf(stderr, "threads-sampler: the agent takes no options, got \"%s\"\n", options);
    return JNI_ERR;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *java_vm, char *options, void *reserved)
{
    (void)java_vm;
    (void)reserved;
    return accept_options(options);
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *java_vm, char *options, void *reserved)
{
    (void)java_vm;
    (void)reserved;
    return accept_options(options);
}

JNIEXPORT void JNICALL Agent_OnUnload(JavaVM *java_vm)
{
    (void)java_vm;
}
