/* SPDX-License-Identifier: Apache-2.0 */
#include "jni/core.h"

#include <stdatomic.h>
#include <stddef.h>

#include "base/core_anchor.h"
#include "base/once.h"
#include "base/stay_mapped.h"
#include "com_incapsula_sampler_internal_engine_NativeBridge.h"
#include "jni/ids.h"
#include "jni/natives.h"
#include "jvm/agent/agent.h"
#include "jvm/loaded.h"
#include "jvm/threads/hidden_threads.h"

enum { ABI = com_incapsula_sampler_internal_engine_NativeBridge_ABI };

/* The functions that the core's file offers. Only files of the same identity call them. */
struct core_functions {
    enum smp_status (*open)(JNIEnv *env, jclass bridge);
    void (*close)(JNIEnv *env);
};

/* In the core: open as long as there are copies. */
static struct smp_once copies = SMP_ONCE_INIT;

/* --- in the core --- */

static enum smp_status open_core(JNIEnv *env)
{
    JavaVM *java_vm = NULL;

    if ((*env)->GetJavaVM(env, &java_vm) != JNI_OK)
        return SMP_EVM;
    const enum smp_status status = smp_jni_ids_load(env);
    if (status == SMP_OK)
        smp_jvm_loaded(java_vm);
    return status;
}

static void close_for_copy(JNIEnv *env)
{
    if (!smp_once_close(&copies))
        return;
    smp_agent_unloaded();
    if (env != NULL) {
        smp_hidden_threads_unloaded(env);
        smp_jni_ids_unload(env);
    }
    smp_once_finish(&copies, false);
}

static enum smp_status open_for_copy(JNIEnv *env, jclass bridge)
{
    enum smp_status status = SMP_OK;

    if (smp_once_open(&copies)) {
        status = open_core(env);
        smp_once_finish(&copies, status == SMP_OK);
    }
    if (status != SMP_OK)
        return status;
    status = smp_natives_register(env, bridge);
    if (status != SMP_OK)
        close_for_copy(env);
    return status;
}

static const struct core_functions own = { .open = open_for_copy, .close = close_for_copy };

/* --- in the file of each copy --- */

/* The core that the file's class loader has joined, which is one at a time; NULL: none has. */
static _Atomic(const struct core_functions *) joined;

enum smp_status smp_core_join(JNIEnv *env, jclass bridge, bool by_class_loader)
{
    const struct smp_core_identity identity = { .abi = ABI, .seam = smp_natives_seam() };
    const struct core_functions *core = smp_core_anchor_find(identity);

    if (core == NULL) {
        if (!smp_stay_mapped(&own))
            return SMP_EUNSUPPORTED;
        smp_core_anchor_publish(identity, &own);
        core = &own;
    }
    const enum smp_status status = core->open(env, bridge);
    if (status == SMP_OK && by_class_loader)
        atomic_store(&joined, core);
    return status;
}

void smp_core_leave(JNIEnv *env)
{
    const struct core_functions *const core = atomic_exchange(&joined, NULL);

    if (core != NULL)
        core->close(env);
}
