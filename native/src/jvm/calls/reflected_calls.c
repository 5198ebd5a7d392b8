/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/calls/reflected_calls.h"

#include <string.h>

#include "base/lock.h"
#include "jvm/calls/loaded_outline.h"

/* Modifiers of java.lang.reflect. */
enum { MODIFIER_PRIVATE = 0x0002, MODIFIER_STATIC = 0x0008 };

static struct {
    struct smp_lock lock; /* guards the rest, and the buffer that is being filled */
    size_t filled;        /* which one: 0 or 1 */
    size_t used;          /* of it */
} noted = { .lock = SMP_LOCK_INIT };

static char buffers[2][SMP_REFLECTED_BUFFER_BYTES];

/* Behind each record's texts there is no NUL; the lengths stand before them. */
struct reflected_record {
    size_t class_length;
    size_t signature_length;
};

/* What is called, while it is being named; texts are JVMTI's. */
struct reflected_names {
    char *class_signature;
    char *name;
    char *descriptor;
    struct smp_slice class_name;
};

void smp_reflected_calls_clear(void)
{
    smp_lock_acquire(&noted.lock);
    noted.used = 0;
    smp_lock_release(&noted.lock);
}

/* --- names --- */

/* class_name is empty where the class is hidden. */
static bool name_reflected_class(struct reflected_names *names, jvmtiEnv *jvmti, jclass type)
{
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)names->class_signature);
    names->class_signature = NULL;
    if ((*jvmti)->GetClassSignature(jvmti, type, &names->class_signature, NULL) != JVMTI_ERROR_NONE)
        return false;
    names->class_name = smp_loaded_class_name(names->class_signature);
    return true;
}

static bool name_receiver(struct reflected_names *names, jvmtiEnv *jvmti, JNIEnv *env,
                          jobject receiver)
{
    jclass type = (*env)->GetObjectClass(env, receiver);
    const bool is_named = name_reflected_class(names, jvmti, type);

    (*env)->DeleteLocalRef(env, type);
    return is_named;
}

static bool name_declaring(struct reflected_names *names, jvmtiEnv *jvmti, JNIEnv *env,
                           jmethodID method)
{
    jclass type = NULL;

    if ((*jvmti)->GetMethodDeclaringClass(jvmti, method, &type) != JVMTI_ERROR_NONE)
        return false;
    const bool is_named = name_reflected_class(names, jvmti, type);
    (*env)->DeleteLocalRef(env, type);
    return is_named;
}

static bool name_reflected(struct reflected_names *names, jvmtiEnv *jvmti, JNIEnv *env,
                           jmethodID method, jobject receiver)
{
    jint modifiers = 0;

    if ((*jvmti)->GetMethodModifiers(jvmti, method, &modifiers) != JVMTI_ERROR_NONE ||
        (*jvmti)->GetMethodName(jvmti, method, &names->name, &names->descriptor, NULL) !=
            JVMTI_ERROR_NONE)
        return false;
    if (receiver != NULL && (modifiers & (MODIFIER_PRIVATE | MODIFIER_STATIC)) == 0 &&
        !name_receiver(names, jvmti, env, receiver))
        return false;
    return names->class_name.length > 0 || name_declaring(names, jvmti, env, method);
}

static void free_reflected(struct reflected_names *names, jvmtiEnv *jvmti)
{
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)names->class_signature);
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)names->name);
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)names->descriptor);
}

/* --- the buffer --- */

static char *append(char *at, const char *text, size_t length)
{
    memcpy(at, text, length);
    return at + length;
}

static bool append_record(const struct reflected_names *names)
{
    const size_t name = strlen(names->name);
    const size_t descriptor = strlen(names->descriptor);
    const struct reflected_record record = { .class_length = names->class_name.length,
                                             .signature_length = name + 1 + descriptor };
    const size_t bytes = sizeof(record) + record.class_length + record.signature_length;
    bool has_room = false;

    smp_lock_acquire(&noted.lock);
    has_room = bytes <= SMP_REFLECTED_BUFFER_BYTES - noted.used;
    if (has_room) {
        char *at = buffers[noted.filled] + noted.used;
        at = append(at, (const char *)&record, sizeof(record));
        at = append(at, names->class_name.bytes, record.class_length);
        at = append(at, names->name, name);
        at = append(at, ".", 1);
        (void)append(at, names->descriptor, descriptor);
        noted.used += bytes;
    }
    smp_lock_release(&noted.lock);
    return has_room;
}

bool smp_reflected_calls_note(jvmtiEnv *jvmti, JNIEnv *env, jobject called, jobject receiver)
{
    struct reflected_names names = { 0 };
    jmethodID method = (*env)->FromReflectedMethod(env, called);
    bool is_noted = false;

    if (method == NULL) {
        (*env)->ExceptionClear(env);
        return false;
    }
    if (name_reflected(&names, jvmti, env, method, receiver))
        is_noted = names.class_name.length == 0 || append_record(&names);
    free_reflected(&names, jvmti);
    return is_noted;
}

size_t smp_reflected_calls_each(smp_on_reflected_call *on_call, void *self)
{
    const char *at = NULL;
    const char *end = NULL;
    size_t count = 0;

    smp_lock_acquire(&noted.lock);
    at = buffers[noted.filled];
    end = at + noted.used;
    noted.filled = 1 - noted.filled;
    noted.used = 0;
    smp_lock_release(&noted.lock);
    for (; at < end; count++) {
        struct reflected_record record;
        memcpy(&record, at, sizeof(record));
        at += sizeof(record);
        on_call(self, (struct smp_slice){ at, record.class_length },
                (struct smp_slice){ at + record.class_length, record.signature_length });
        at += record.class_length + record.signature_length;
    }
    return count;
}
