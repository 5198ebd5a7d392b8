/* SPDX-License-Identifier: Apache-2.0 */
#include "vm/vm_ids.h"

#include <jvmti.h>

#include "vm/vm.h"
#include "vm/vm_status.h"

enum { EXTRA_REFS = 16 };

enum smp_status smp_vm_ids_walk(jobject thread, struct smp_frame *frames, size_t capacity,
                                size_t *count)
{
    jvmtiEnv *jvmti = smp_vm_jvmti();
    jint got = 0;

    if (!smp_vm_is_live())
        return SMP_EPHASE;
    const enum smp_status status = smp_vm_status((*jvmti)->GetStackTrace(
        jvmti, thread, 0, (jint)capacity, (jvmtiFrameInfo *)(void *)frames, &got));
    if (status == SMP_OK)
        *count = (size_t)got;
    return status;
}

static void make(jvmtiEnv *jvmti, jclass owner)
{
    jint count = 0;
    jmethodID *methods = NULL;

    /* A class that is not prepared yet has no running methods. */
    if ((*jvmti)->GetClassMethods(jvmti, owner, &count, &methods) == JVMTI_ERROR_NONE)
        (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)(void *)methods);
}

enum smp_status smp_vm_ids_make_all(JNIEnv *env)
{
    jvmtiEnv *jvmti = smp_vm_jvmti();
    jint count = 0;
    jclass *classes = NULL;

    if (!smp_vm_is_live())
        return SMP_EPHASE;
    if ((*env)->PushLocalFrame(env, EXTRA_REFS) != JNI_OK) {
        (*env)->ExceptionClear(env);
        return SMP_ENOMEM;
    }
    const enum smp_status status =
        smp_vm_status((*jvmti)->GetLoadedClasses(jvmti, &count, &classes));
    for (jint i = 0; status == SMP_OK && i < count; i++)
        make(jvmti, classes[i]);
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)(void *)classes);
    (void)(*env)->PopLocalFrame(env, NULL);
    return status;
}
