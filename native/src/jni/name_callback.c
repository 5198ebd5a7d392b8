/* SPDX-License-Identifier: Apache-2.0 */
#include "jni/name_callback.h"

#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "jni/callbacks.h"
#include "jni/ids.h"
#include "jvm/agent/agent.h"
#include "jvm/agent/jvmti_text.h"
#include "jvm/threads/threads.h"
#include "model/thread_groups.h"

enum { FIRST_CAPACITY = 64 };

/* The arguments of the call, reused by the next one. */
struct name_arrays {
    jobjectArray threads;
    jobjectArray names;
    jbooleanArray failed;
    size_t capacity;
    size_t previous_count;
    uint64_t *serials; /* of the thread in each element; 0: none */
    jboolean *flags;   /* a copy of failed */
};

struct smp_jni_name_callback {
    const struct smp_jni_callbacks *callbacks;
    struct name_arrays arrays;
    char text[SMP_MAX_GROUP_NAME_BYTES];
};

/* The last name of a thread. */
struct memory {
    jobject string; /* a global reference; NULL: there was no memory for it */
    char text[];
};

/* --- the arrays --- */

static void delete_global(JNIEnv *env, jobject ref)
{
    if (ref != NULL)
        (*env)->DeleteGlobalRef(env, ref);
}

static void forget_arrays(JNIEnv *env, struct name_arrays *arrays)
{
    delete_global(env, arrays->threads);
    delete_global(env, arrays->names);
    delete_global(env, arrays->failed);
    smp_free(NULL, arrays->serials);
    smp_free(NULL, arrays->flags);
    *arrays = (struct name_arrays){ 0 };
}

/* local may be NULL, with an exception pending. */
static jobject globalise(JNIEnv *env, jobject local)
{
    jobject global = NULL;

    if (!smp_jni_clear_exception(env) && local != NULL)
        global = (*env)->NewGlobalRef(env, local);
    if (local != NULL)
        (*env)->DeleteLocalRef(env, local);
    return global;
}

static enum smp_status reserve_names(JNIEnv *env, struct name_arrays *arrays, size_t count)
{
    const struct smp_jni_ids *ids = smp_jni_ids_get();
    size_t capacity = arrays->capacity != 0 ? arrays->capacity : FIRST_CAPACITY;

    if (count <= arrays->capacity)
        return SMP_OK;
    if (count > INT_MAX / 2)
        return SMP_ENOMEM;
    while (capacity < count)
        capacity *= 2;
    forget_arrays(env, arrays);
    arrays->threads =
        globalise(env, (*env)->NewObjectArray(env, (jsize)capacity, ids->thread, NULL));
    arrays->names = globalise(env, (*env)->NewObjectArray(env, (jsize)capacity, ids->string, NULL));
    arrays->failed = globalise(env, (*env)->NewBooleanArray(env, (jsize)capacity));
    arrays->serials = smp_alloc(NULL, capacity * sizeof(arrays->serials[0]));
    arrays->flags = smp_alloc(NULL, capacity * sizeof(arrays->flags[0]));
    if (arrays->threads == NULL || arrays->names == NULL || arrays->failed == NULL ||
        arrays->serials == NULL || arrays->flags == NULL) {
        forget_arrays(env, arrays);
        return SMP_ENOMEM;
    }
    arrays->capacity = capacity;
    return SMP_OK;
}

/* thread NULL empties the element, so that no ended thread is kept alive. */
static void set_thread(JNIEnv *env, struct name_arrays *arrays, size_t index,
                       const struct smp_thread *thread)
{
    const uint64_t serial = thread != NULL ? thread->serial : 0;

    if (arrays->serials[index] == serial)
        return;
    (*env)->SetObjectArrayElement(env, arrays->threads, (jsize)index,
                                  thread != NULL ? smp_threads_ref(thread) : NULL);
    (void)smp_jni_clear_exception(env);
    arrays->serials[index] = serial;
}

static void fill_threads(JNIEnv *env, struct name_arrays *arrays,
                         const struct smp_thread_to_name *threads, size_t count)
{
    for (size_t i = 0; i < count; i++)
        set_thread(env, arrays, i, threads[i].thread);
    for (size_t i = count; i < arrays->previous_count; i++) {
        set_thread(env, arrays, i, NULL);
        (*env)->SetObjectArrayElement(env, arrays->names, (jsize)i, NULL);
        (void)smp_jni_clear_exception(env);
    }
    arrays->previous_count = count;
}

/* Returns false if the callback has thrown an exception. */
static bool call(JNIEnv *env, struct smp_jni_name_callback *name_callback, size_t count)
{
    (*env)->CallVoidMethod(
        env, smp_jni_callbacks_target(name_callback->callbacks),
        smp_jni_callbacks_method(name_callback->callbacks, SMP_JNI_CALLBACK_group_names),
        name_callback->arrays.threads, (jint)count, name_callback->arrays.names,
        name_callback->arrays.failed);
    if (smp_jni_clear_exception(env))
        return false;
    (*env)->GetBooleanArrayRegion(env, name_callback->arrays.failed, 0, (jsize)count,
                                  name_callback->arrays.flags);
    return !smp_jni_clear_exception(env);
}

/* --- the names --- */

static void forget_memory(JNIEnv *env, struct memory *memory)
{
    if (memory == NULL)
        return;
    if (env != NULL)
        delete_global(env, memory->string);
    smp_free(NULL, memory);
}

/* Returns NULL without memory; the next call then delivers the name again. */
static struct memory *remember_name(JNIEnv *env, jobject string, const char *text)
{
    const size_t length = strlen(text);
    struct memory *memory = smp_alloc(NULL, sizeof(*memory) + length + 1);

    if (memory == NULL)
        return NULL;
    memory->string = (*env)->NewGlobalRef(env, string);
    memcpy(memory->text, text, length + 1);
    return memory;
}

/* string: the manipulator's result. *name: the memory of the previous result. */
static enum smp_naming compare_names(JNIEnv *env, struct smp_jni_name_callback *name_callback,
                                     jobject string, void **name)
{
    struct memory *last = *name;

    if (last != NULL && (*env)->IsSameObject(env, last->string, string))
        return SMP_NAMING_SAME;
    if (smp_jvmti_text_copy(env, string, name_callback->text, SMP_MAX_GROUP_NAME_BYTES) != SMP_OK)
        return SMP_NAMING_FAILED;
    if (last != NULL && strcmp(last->text, name_callback->text) == 0)
        return SMP_NAMING_SAME;
    forget_memory(env, last);
    *name = remember_name(env, string, name_callback->text);
    return SMP_NAMING_NAMED;
}

/* After SKIP and FAILED no name is remembered, because SAME would have no name to refer to. */
static enum smp_naming read_group_name(JNIEnv *env, struct smp_jni_name_callback *name_callback,
                                       size_t index, void **name)
{
    enum smp_naming naming = SMP_NAMING_FAILED;

    if (name_callback->arrays.flags[index] == JNI_FALSE) {
        jobject string =
            (*env)->GetObjectArrayElement(env, name_callback->arrays.names, (jsize)index);
        if (!smp_jni_clear_exception(env))
            naming =
                string != NULL ? compare_names(env, name_callback, string, name) : SMP_NAMING_SKIP;
        if (string != NULL)
            (*env)->DeleteLocalRef(env, string);
    }
    if (naming == SMP_NAMING_SKIP || naming == SMP_NAMING_FAILED) {
        forget_memory(env, *name);
        *name = NULL;
    }
    return naming;
}

static void group_names(void *self, const struct smp_thread_to_name *threads, size_t count,
                        smp_on_name *result, void *context)
{
    struct smp_jni_name_callback *name_callback = self;
    struct name_arrays *arrays = &name_callback->arrays;
    JNIEnv *env = smp_jni_begin_call();

    if (env == NULL)
        return;
    if (reserve_names(env, arrays, count) == SMP_OK) {
        fill_threads(env, arrays, threads, count);
        if (count > 0 && !call(env, name_callback, count))
            memset(arrays->flags, JNI_TRUE, count * sizeof(arrays->flags[0]));
        for (size_t i = 0; i < count; i++)
            result(context, threads[i].record,
                   read_group_name(env, name_callback, i, threads[i].memory), name_callback->text);
    }
    (void)smp_jni_end_call(env);
}

/* Uses the first element, which the next call for threads overwrites. */
static enum smp_naming name_mounted(JNIEnv *env, struct smp_jni_name_callback *name_callback,
                                    jobject mounted)
{
    enum smp_naming naming = SMP_NAMING_FAILED;
    jobject string = NULL;

    if (reserve_names(env, &name_callback->arrays, 1) != SMP_OK)
        return naming;
    name_callback->arrays.serials[0] = 0;
    (*env)->SetObjectArrayElement(env, name_callback->arrays.threads, 0, mounted);
    if (!smp_jni_clear_exception(env) && call(env, name_callback, 1) &&
        name_callback->arrays.flags[0] == JNI_FALSE) {
        string = (*env)->GetObjectArrayElement(env, name_callback->arrays.names, 0);
        if (!smp_jni_clear_exception(env))
            naming = string != NULL ? SMP_NAMING_NAMED : SMP_NAMING_SKIP;
        if (string != NULL && smp_jvmti_text_copy(env, string, name_callback->text,
                                                  SMP_MAX_GROUP_NAME_BYTES) != SMP_OK)
            naming = SMP_NAMING_FAILED;
    }
    (*env)->SetObjectArrayElement(env, name_callback->arrays.threads, 0, NULL);
    (void)smp_jni_clear_exception(env);
    return naming;
}

static enum smp_naming mounted_name(void *self, void *ref, const char **name)
{
    struct smp_jni_name_callback *name_callback = self;
    JNIEnv *env = smp_jni_begin_call();

    if (env == NULL)
        return SMP_NAMING_FAILED;
    const enum smp_naming naming = name_mounted(env, name_callback, ref);
    (void)smp_jni_end_call(env);
    *name = name_callback->text;
    return naming;
}

static void forget_group_name(SMP_UNUSED void *self, void *name)
{
    forget_memory(smp_agent_is_live() ? smp_agent_env() : NULL, name);
}

enum smp_status smp_jni_name_callback_create(const struct smp_jni_callbacks *callbacks,
                                             struct smp_jni_name_callback **out)
{
    struct smp_jni_name_callback *name_callback = smp_alloc(NULL, sizeof(*name_callback));

    if (name_callback == NULL)
        return SMP_ENOMEM;
    name_callback->callbacks = callbacks;
    *out = name_callback;
    return SMP_OK;
}

void smp_jni_name_callback_destroy(JNIEnv *env, struct smp_jni_name_callback *name_callback)
{
    if (name_callback == NULL)
        return;
    forget_arrays(env, &name_callback->arrays);
    smp_free(NULL, name_callback);
}

struct smp_name_callback
smp_jni_name_callback_functions(struct smp_jni_name_callback *name_callback)
{
    return (struct smp_name_callback){ .group_names = group_names,
                                       .forget = forget_group_name,
                                       .mounted_name = mounted_name,
                                       .self = name_callback };
}
