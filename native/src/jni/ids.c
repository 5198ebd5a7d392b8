/* SPDX-License-Identifier: Apache-2.0 */
#include "jni/ids.h"

#include <stddef.h>

static struct smp_jni_ids ids;

static const struct class_entry {
    const char *name;
    jclass *at;
} class_entries[] = {
#define X(field, class_name) { class_name, &ids.field },
    SMP_JNI_CLASS_MAP(X)
#undef X
};

enum { CLASS_COUNT = sizeof(class_entries) / sizeof(class_entries[0]) };

static enum smp_status load_class(JNIEnv *env, const struct class_entry *entry)
{
    jclass local = (*env)->FindClass(env, entry->name);

    if (local == NULL)
        return SMP_EVM;
    *entry->at = (*env)->NewGlobalRef(env, local);
    (*env)->DeleteLocalRef(env, local);
    return *entry->at != NULL ? SMP_OK : SMP_EVM;
}

enum smp_status smp_jni_ids_load(JNIEnv *env)
{
    enum smp_status status = SMP_OK;

    for (size_t i = 0; status == SMP_OK && i < CLASS_COUNT; i++)
        status = load_class(env, &class_entries[i]);
    if (status == SMP_OK) {
        ids.current_thread =
            (*env)->GetStaticMethodID(env, ids.thread, "currentThread", "()Ljava/lang/Thread;");
        status = ids.current_thread != NULL ? SMP_OK : SMP_EVM;
    }
    if (status == SMP_OK) {
        ids.write_bytes = (*env)->GetMethodID(env, ids.output_stream, "write", "([BII)V");
        status = ids.write_bytes != NULL ? SMP_OK : SMP_EVM;
    }
    if (status != SMP_OK)
        smp_jni_ids_unload(env);
    return status;
}

void smp_jni_ids_unload(JNIEnv *env)
{
    for (size_t i = CLASS_COUNT; i > 0; i--) {
        jclass global = *class_entries[i - 1].at;
        if (global != NULL)
            (*env)->DeleteGlobalRef(env, global);
    }
    ids = (struct smp_jni_ids){ 0 };
}

const struct smp_jni_ids *smp_jni_ids_get(void)
{
    return &ids;
}
