/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/agent/vm_start.h"

#include <stddef.h>

#include "base/alloc.h"
#include "jvm/agent/agent.h"
#include "jvm/agent/jvmti_status.h"

/* The function that VMInit is to call. */
struct waiting {
    void (*started)(JNIEnv *env, void *context);
    void *context;
};

static void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *env, SMP_UNUSED jthread main_thread)
{
    void *found = NULL;

    if ((*jvmti)->GetEnvironmentLocalStorage(jvmti, &found) != JVMTI_ERROR_NONE || found == NULL)
        return;
    const struct waiting waiting = *(const struct waiting *)found;
    smp_free(NULL, found);
    (void)(*jvmti)->DisposeEnvironment(jvmti);
    waiting.started(env, waiting.context);
}

static enum smp_status enable(jvmtiEnv *jvmti, const struct waiting *waiting)
{
    const jvmtiEventCallbacks callbacks = { .VMInit = on_vm_init };
    enum smp_status status = smp_jvmti_status((*jvmti)->SetEnvironmentLocalStorage(jvmti, waiting));

    if (status == SMP_OK)
        status = smp_jvmti_status(
            (*jvmti)->SetEventCallbacks(jvmti, &callbacks, (jint)sizeof(callbacks)));
    if (status == SMP_OK)
        status = smp_jvmti_status(
            (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL));
    return status;
}

enum smp_status smp_vm_start_await(JavaVM *java_vm, void (*started)(JNIEnv *env, void *context),
                                   void *context)
{
    void *found = NULL;
    struct waiting *waiting = NULL;

    if ((*java_vm)->GetEnv(java_vm, &found, SMP_AGENT_JVMTI_VERSION) != JNI_OK || found == NULL)
        return SMP_EUNSUPPORTED;
    jvmtiEnv *jvmti = found;
    enum smp_status status = SMP_ENOMEM;
    waiting = smp_alloc(NULL, sizeof(*waiting));
    if (waiting != NULL) {
        *waiting = (struct waiting){ .started = started, .context = context };
        status = enable(jvmti, waiting);
    }
    if (status != SMP_OK) {
        smp_free(NULL, waiting);
        (void)(*jvmti)->DisposeEnvironment(jvmti);
    }
    return status;
}
