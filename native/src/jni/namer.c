/* SPDX-License-Identifier: Apache-2.0 */
#include "jni/namer.h"

#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "jni/callbacks.h"
#include "jni/ids.h"
#include "model/thread_groups.h"
#include "vm/vm.h"
#include "vm/vm_text.h"
#include "vm/vm_threads.h"

enum { FIRST_CAPACITY = 64, LOCAL_REFS = 16 };

struct smp_jni_namer {
    jobject target;
    jobjectArray threads;
    jobjectArray names;
    jbooleanArray failed;
    size_t capacity;
    size_t previous_count;
    uint64_t *serials; /* of the thread in each element, 0 for none */
    jboolean *flags;   /* copy of failed */
    char *text;        /* SMP_MAX_GROUP_NAME_BYTES */
};

/* The last name of a thread. */
struct memory {
    jobject string; /* global; NULL where there was no memory for one */
    char text[];
};

/* ---------------------------------------------------------------------------------- the arrays */

static void delete_global(JNIEnv *env, jobject ref)
{
    if (ref != NULL)
        (*env)->DeleteGlobalRef(env, ref);
}

static void forget_arrays(JNIEnv *env, struct smp_jni_namer *namer)
{
    delete_global(env, namer->threads);
    delete_global(env, namer->names);
    delete_global(env, namer->failed);
    smp_free(NULL, namer->serials);
    smp_free(NULL, namer->flags);
    namer->threads = NULL;
    namer->names = NULL;
    namer->failed = NULL;
    namer->serials = NULL;
    namer->flags = NULL;
    namer->capacity = 0;
    namer->previous_count = 0;
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

static enum smp_status make_room(JNIEnv *env, struct smp_jni_namer *namer, size_t count)
{
    const struct smp_jni_ids *ids = smp_jni_ids_get();
    size_t capacity = namer->capacity != 0 ? namer->capacity : FIRST_CAPACITY;

    if (count <= namer->capacity)
        return SMP_OK;
    if (count > INT_MAX / 2)
        return SMP_ENOMEM;
    while (capacity < count)
        capacity *= 2;
    forget_arrays(env, namer);
    namer->threads =
        globalise(env, (*env)->NewObjectArray(env, (jsize)capacity, ids->thread, NULL));
    namer->names = globalise(env, (*env)->NewObjectArray(env, (jsize)capacity, ids->string, NULL));
    namer->failed = globalise(env, (*env)->NewBooleanArray(env, (jsize)capacity));
    namer->serials = smp_alloc(NULL, capacity * sizeof(namer->serials[0]));
    namer->flags = smp_alloc(NULL, capacity * sizeof(namer->flags[0]));
    if (namer->threads == NULL || namer->names == NULL || namer->failed == NULL ||
        namer->serials == NULL || namer->flags == NULL) {
        forget_arrays(env, namer);
        return SMP_ENOMEM;
    }
    namer->capacity = capacity;
    return SMP_OK;
}

/* thread NULL empties the element, so that no ended thread is held. */
static void set_thread(JNIEnv *env, struct smp_jni_namer *namer, size_t index,
                       const struct smp_thread *thread)
{
    const uint64_t serial = thread != NULL ? thread->serial : 0;

    if (namer->serials[index] == serial)
        return;
    (*env)->SetObjectArrayElement(env, namer->threads, (jsize)index,
                                  thread != NULL ? smp_vm_threads_ref(thread) : NULL);
    (void)smp_jni_clear_exception(env);
    namer->serials[index] = serial;
}

static void fill_threads(JNIEnv *env, struct smp_jni_namer *namer,
                         struct smp_thread *const *threads, size_t count)
{
    for (size_t i = 0; i < count; i++)
        set_thread(env, namer, i, threads[i]);
    for (size_t i = count; i < namer->previous_count; i++) {
        set_thread(env, namer, i, NULL);
        (*env)->SetObjectArrayElement(env, namer->names, (jsize)i, NULL);
        (void)smp_jni_clear_exception(env);
    }
    namer->previous_count = count;
}

/* False: the callback let an exception out. */
static bool call(JNIEnv *env, struct smp_jni_namer *namer, size_t count)
{
    (*env)->CallVoidMethod(env, namer->target, smp_jni_ids_get()->callback.group_names,
                           namer->threads, (jint)count, namer->names, namer->failed);
    if (smp_jni_clear_exception(env))
        return false;
    (*env)->GetBooleanArrayRegion(env, namer->failed, 0, (jsize)count, namer->flags);
    return !smp_jni_clear_exception(env);
}

/* ----------------------------------------------------------------------------------- the names */

static void forget_memory(JNIEnv *env, struct memory *memory)
{
    if (memory == NULL)
        return;
    if (env != NULL)
        delete_global(env, memory->string);
    smp_free(NULL, memory);
}

/* NULL without memory: the name will then be told again the next time. */
static struct memory *remember(JNIEnv *env, jobject string, const char *text)
{
    const size_t length = strlen(text);
    struct memory *memory = smp_alloc(NULL, sizeof(*memory) + length + 1);

    if (memory == NULL)
        return NULL;
    memory->string = (*env)->NewGlobalRef(env, string);
    memcpy(memory->text, text, length + 1);
    return memory;
}

/* string is what the rule answered; *name the memory of its last answer. */
static enum smp_naming compare(JNIEnv *env, struct smp_jni_namer *namer, jobject string,
                               void **name)
{
    struct memory *last = *name;

    if (last != NULL && (*env)->IsSameObject(env, last->string, string))
        return SMP_NAMING_SAME;
    if (smp_vm_text_copy(env, string, namer->text, SMP_MAX_GROUP_NAME_BYTES) != SMP_OK)
        return SMP_NAMING_FAILED;
    if (last != NULL && strcmp(last->text, namer->text) == 0)
        return SMP_NAMING_SAME;
    forget_memory(env, last);
    *name = remember(env, string, namer->text);
    return SMP_NAMING_NAMED;
}

/* After SKIP and FAILED nothing is remembered: SAME would have nothing to be the same as. */
static enum smp_naming read_answer(JNIEnv *env, struct smp_jni_namer *namer, size_t index,
                                   void **name)
{
    enum smp_naming naming = SMP_NAMING_FAILED;

    if (namer->flags[index] == JNI_FALSE) {
        jobject string = (*env)->GetObjectArrayElement(env, namer->names, (jsize)index);
        if (smp_jni_clear_exception(env))
            naming = SMP_NAMING_FAILED;
        else
            naming = string != NULL ? compare(env, namer, string, name) : SMP_NAMING_SKIP;
        if (string != NULL)
            (*env)->DeleteLocalRef(env, string);
    }
    if (naming == SMP_NAMING_SKIP || naming == SMP_NAMING_FAILED) {
        forget_memory(env, *name);
        *name = NULL;
    }
    return naming;
}

static enum smp_status
group_names(void *self, struct smp_thread *const *threads, void **names, size_t count,
            void (*result)(void *context, size_t index, enum smp_naming naming, const char *name),
            void *context)
{
    struct smp_jni_namer *namer = self;
    JNIEnv *env = smp_vm_is_live() ? smp_vm_env() : NULL;

    if (env == NULL)
        return SMP_EPHASE;
    if ((*env)->PushLocalFrame(env, LOCAL_REFS) != JNI_OK) {
        (void)smp_jni_clear_exception(env);
        return SMP_ENOMEM;
    }
    const enum smp_status status = make_room(env, namer, count);
    if (status == SMP_OK) {
        fill_threads(env, namer, threads, count);
        if (!call(env, namer, count))
            memset(namer->flags, JNI_TRUE, count * sizeof(namer->flags[0]));
        for (size_t i = 0; i < count; i++)
            result(context, i, read_answer(env, namer, i, &names[i]), namer->text);
    }
    (void)(*env)->PopLocalFrame(env, NULL);
    return status;
}

/* Through the first element, which the next call for threads sets again. */
static enum smp_naming ask_of_guest(JNIEnv *env, struct smp_jni_namer *namer, jobject guest)
{
    enum smp_naming naming = SMP_NAMING_FAILED;
    jobject string = NULL;

    if (make_room(env, namer, 1) != SMP_OK)
        return naming;
    namer->serials[0] = 0;
    (*env)->SetObjectArrayElement(env, namer->threads, 0, guest);
    if (!smp_jni_clear_exception(env) && call(env, namer, 1) && namer->flags[0] == JNI_FALSE) {
        string = (*env)->GetObjectArrayElement(env, namer->names, 0);
        if (!smp_jni_clear_exception(env))
            naming = string != NULL ? SMP_NAMING_NAMED : SMP_NAMING_SKIP;
        if (string != NULL &&
            smp_vm_text_copy(env, string, namer->text, SMP_MAX_GROUP_NAME_BYTES) != SMP_OK)
            naming = SMP_NAMING_FAILED;
    }
    (*env)->SetObjectArrayElement(env, namer->threads, 0, NULL);
    (void)smp_jni_clear_exception(env);
    return naming;
}

static enum smp_naming guest_name(void *self, void *ref, const char **name)
{
    struct smp_jni_namer *namer = self;
    JNIEnv *env = smp_vm_is_live() ? smp_vm_env() : NULL;
    enum smp_naming naming = SMP_NAMING_FAILED;

    if (env == NULL)
        return naming;
    if ((*env)->PushLocalFrame(env, LOCAL_REFS) != JNI_OK) {
        (void)smp_jni_clear_exception(env);
        return naming;
    }
    naming = ask_of_guest(env, namer, ref);
    (void)(*env)->PopLocalFrame(env, NULL);
    *name = namer->text;
    return naming;
}

static void forget(void *self, void *name)
{
    (void)self;
    forget_memory(smp_vm_is_live() ? smp_vm_env() : NULL, name);
}

enum smp_status smp_jni_namer_create(jobject target, struct smp_jni_namer **out)
{
    struct smp_jni_namer *namer = smp_alloc(NULL, sizeof(*namer));

    if (namer == NULL)
        return SMP_ENOMEM;
    namer->target = target;
    namer->text = smp_alloc(NULL, SMP_MAX_GROUP_NAME_BYTES);
    if (namer->text == NULL) {
        smp_free(NULL, namer);
        return SMP_ENOMEM;
    }
    *out = namer;
    return SMP_OK;
}

void smp_jni_namer_destroy(JNIEnv *env, struct smp_jni_namer *namer)
{
    if (namer == NULL)
        return;
    forget_arrays(env, namer);
    smp_free(NULL, namer->text);
    smp_free(NULL, namer);
}

struct smp_namer smp_jni_namer_functions(struct smp_jni_namer *namer)
{
    return (struct smp_namer){
        .group_names = group_names, .forget = forget, .guest_name = guest_name, .self = namer
    };
}
