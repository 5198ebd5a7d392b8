/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/threads/hidden_threads.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "jvm/agent/jdk.h"

/* Global reference to the group of internal threads, or NULL. */
static _Atomic(jobject) internal_group;

/* Accepts a number at the end, as in names of compiler threads. */
static bool is_service_name(const char *name)
{
    static const char *const stems[] = {
        "Reference Handler",    "Finalizer",
        "Signal Dispatcher",    "Common-Cleaner",
        "Notification Thread",  "Attach Listener",
        "Service Thread",       "Monitor Deflation Thread",
        "C1 CompilerThread",    "C2 CompilerThread",
        "JVMCI CompilerThread",
    };

    for (size_t i = 0; i < sizeof(stems) / sizeof(stems[0]); i++) {
        const size_t length = strlen(stems[i]);
        if (strncmp(name, stems[i], length) == 0)
            return name[length + strspn(name + length, "0123456789")] == '\0';
    }
    return false;
}

/* *parent: a local reference, NULL for a top group. *innocuous: the group has the name of the
 * JDK's. */
static bool read_group(jvmtiEnv *jvmti, jthreadGroup group, jthreadGroup *parent, bool *innocuous)
{
    jvmtiThreadGroupInfo info = { 0 };

    if ((*jvmti)->GetThreadGroupInfo(jvmti, group, &info) != JVMTI_ERROR_NONE)
        return false;
    *innocuous = info.name != NULL && strcmp(info.name, "InnocuousThreadGroup") == 0;
    *parent = info.parent;
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)info.name);
    return true;
}

/* The system group has no parent; InnocuousThreadGroup is its child. A user's group may have one of
 * these names, but not that position. */
static bool is_jvm_group(jvmtiEnv *jvmti, JNIEnv *env, jthreadGroup group)
{
    jthreadGroup parent = NULL;
    jthreadGroup grandparent = NULL;
    bool innocuous = false;
    bool ignored = false;
    bool result = false;

    if (group == NULL || !read_group(jvmti, group, &parent, &innocuous))
        return false;
    if (parent == NULL)
        result = true;
    else if (innocuous && read_group(jvmti, parent, &grandparent, &ignored))
        result = grandparent == NULL;
    if (parent != NULL)
        (*env)->DeleteLocalRef(env, parent);
    if (grandparent != NULL)
        (*env)->DeleteLocalRef(env, grandparent);
    return result;
}

static bool is_internal_group(JNIEnv *env, jthreadGroup group)
{
    jobject internal = internal_group;

    return internal != NULL && group != NULL && (*env)->IsSameObject(env, internal, group);
}

enum smp_status smp_hidden_threads_offer_group(JNIEnv *env, jobject group, jobject *out)
{
    jobject shared = NULL;
    jobject ref = (*env)->NewGlobalRef(env, group);

    if (ref == NULL)
        return SMP_ENOMEM;
    if (atomic_compare_exchange_strong(&internal_group, &shared, ref))
        shared = ref;
    else
        (*env)->DeleteGlobalRef(env, ref);
    *out = (*env)->NewLocalRef(env, shared);
    return *out != NULL ? SMP_OK : SMP_ENOMEM;
}

void smp_hidden_threads_unloaded(JNIEnv *env)
{
    jobject group = atomic_exchange(&internal_group, NULL);

    if (group != NULL)
        (*env)->DeleteGlobalRef(env, group);
}

/* Reads the Runnable of the thread, as a local reference; *out is NULL if the thread has none.
 * Returns false, with *out unchanged, if it is not known. */
static bool read_task(JNIEnv *env, jthread thread, jclass thread_class, jobject *out)
{
    jfieldID target = smp_jdk_field(env, thread_class, "target", "Ljava/lang/Runnable;");
    jobject owner = thread;

    if (target == NULL) { /* JDK 19 and later */
        jclass holder_class = smp_jdk_class(env, "java/lang/Thread$FieldHolder");
        jfieldID holder =
            smp_jdk_field(env, thread_class, "holder", "Ljava/lang/Thread$FieldHolder;");
        target = smp_jdk_field(env, holder_class, "task", "Ljava/lang/Runnable;");
        owner = holder != NULL ? (*env)->GetObjectField(env, thread, holder) : NULL;
    }
    if (target == NULL || owner == NULL)
        return false;
    *out = (*env)->GetObjectField(env, owner, target);
    return true;
}

/*
 * Recognises the thread that has returned from main and waits inside the JVM for the others. The
 * JVM has attached it again, so it has no task. A user's thread with that name has a task, or a
 * class of its own.
 */
static bool is_ended_main(JNIEnv *env, jthread thread, const char *name)
{
    enum { REFERENCES = 5 };
    bool result = false;
    jobject task = NULL;

    if (name == NULL || strcmp(name, "DestroyJavaVM") != 0 ||
        !smp_local_frame_push(env, REFERENCES))
        return false;
    jclass thread_class = smp_jdk_class(env, "java/lang/Thread");
    jclass own_class = (*env)->GetObjectClass(env, thread);
    if (thread_class != NULL && (*env)->IsSameObject(env, thread_class, own_class))
        result = read_task(env, thread, thread_class, &task) && task == NULL;
    smp_local_frame_pop(env);
    return result;
}

bool smp_hidden_threads_is_hidden(jvmtiEnv *jvmti, JNIEnv *env, jthread thread,
                                  const jvmtiThreadInfo *info)
{
    return is_internal_group(env, info->thread_group) || is_ended_main(env, thread, info->name) ||
           (info->name != NULL && is_service_name(info->name) &&
            is_jvm_group(jvmti, env, info->thread_group));
}
