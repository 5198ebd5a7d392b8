/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/threads/thread_name.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "jvm/agent/agent.h"
#include "jvm/agent/jdk.h"
#include "jvm/agent/jvmti_status.h"
#include "jvm/agent/jvmti_text.h"

/* Thread.name; NULL: not found, so JVMTI is used. */
static _Atomic(jfieldID) name_field;

void smp_jvm_thread_name_init(JNIEnv *env)
{
    jclass thread_class = smp_jdk_class(env, "java/lang/Thread");

    name_field = smp_jdk_field(env, thread_class, "name", "Ljava/lang/String;");
    (*env)->DeleteLocalRef(env, thread_class);
}

/* seen is a global reference to the String. Without memory for one, the next call reads the name
 * again. */
static enum smp_status read_name_field(JNIEnv *env, jobject thread, void **seen, char *out,
                                       size_t size, bool *changed)
{
    enum smp_status status = SMP_OK;
    jobject name = (*env)->GetObjectField(env, thread, name_field);

    if (name == NULL) {
        out[0] = '\0';
        *changed = true;
        return SMP_OK;
    }
    if (*seen != NULL && (*env)->IsSameObject(env, name, *seen)) {
        *changed = false;
    } else {
        status = smp_jvmti_text_copy(env, name, out, size);
        if (status == SMP_OK) {
            if (*seen != NULL)
                (*env)->DeleteGlobalRef(env, *seen);
            *seen = (*env)->NewGlobalRef(env, name);
            *changed = true;
        }
    }
    (*env)->DeleteLocalRef(env, name);
    return status;
}

/* seen is a copy of the text. */
static enum smp_status read_name_info(JNIEnv *env, jobject thread, void **seen, char *out,
                                      size_t size, bool *changed)
{
    jvmtiEnv *jvmti = smp_agent_jvmti();
    jvmtiThreadInfo info = { 0 };
    enum smp_status status = smp_jvmti_status((*jvmti)->GetThreadInfo(jvmti, thread, &info));

    if (status != SMP_OK)
        return status;
    const char *name = info.name != NULL ? info.name : "";
    *changed = *seen == NULL || strcmp(*seen, name) != 0;
    if (*changed) {
        (void)smp_utf8_from_modified(out, size, name, strlen(name));
        smp_free(NULL, *seen);
        *seen = smp_strndup(NULL, name, strlen(name));
    }
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)info.name);
    if (info.thread_group != NULL)
        (*env)->DeleteLocalRef(env, info.thread_group);
    if (info.context_class_loader != NULL)
        (*env)->DeleteLocalRef(env, info.context_class_loader);
    return SMP_OK;
}

enum smp_status smp_jvm_thread_name_read(JNIEnv *env, jobject thread, void **seen, char *out,
                                         size_t size, bool *changed)
{
    if (name_field != NULL)
        return read_name_field(env, thread, seen, out, size, changed);
    return read_name_info(env, thread, seen, out, size, changed);
}

void smp_jvm_thread_name_forget(JNIEnv *env, void *seen)
{
    if (name_field == NULL)
        smp_free(NULL, seen);
    else if (env != NULL)
        (*env)->DeleteGlobalRef(env, seen);
}
