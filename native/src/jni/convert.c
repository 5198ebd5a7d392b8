/* SPDX-License-Identifier: Apache-2.0 */
#include "jni/convert.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "jni/ids.h"
#include "jvm/agent/jvmti_text.h"

enum { UTF8_BYTES_PER_UNIT = 3, UTF8_MIN_BYTES = 4 };

enum smp_status smp_jni_text(JNIEnv *env, jstring string, size_t max_units, char **out)
{
    if (string == NULL)
        return SMP_EINVAL;
    const size_t units = (size_t)(*env)->GetStringLength(env, string);
    if (units > max_units)
        return SMP_EINVAL;
    const size_t size = units * UTF8_BYTES_PER_UNIT + UTF8_MIN_BYTES;
    char *text = smp_alloc(NULL, size);
    if (text == NULL)
        return SMP_ENOMEM;
    const enum smp_status status = smp_jvmti_text_copy(env, string, text, size);
    if (status == SMP_OK)
        *out = text;
    else
        smp_free(NULL, text);
    return status;
}

/* In ASCII without NUL, UTF-8 and the JVM's modified UTF-8 are the same. */
static bool is_ascii(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (text[i] <= 0)
            return false;
    }
    return true;
}

/* smp_throw creates its messages with smp_jni_string, so it cannot be used here. */
static jstring refuse_string(JNIEnv *env)
{
    (void)(*env)->ThrowNew(env, smp_jni_ids_get()->out_of_memory, smp_status_text(SMP_ENOMEM));
    return NULL;
}

jstring smp_jni_string(JNIEnv *env, const char *text, size_t length)
{
    if (length > INT_MAX)
        return refuse_string(env);
    if (is_ascii(text, length))
        return (*env)->NewStringUTF(env, text);
    jchar *units = smp_alloc(NULL, length * sizeof(jchar));
    if (units == NULL)
        return refuse_string(env);
    const size_t count = smp_utf8_to_utf16(units, text, length);
    jstring string = (*env)->NewString(env, units, (jsize)count);
    smp_free(NULL, units);
    return string;
}

jobjectArray smp_jni_strings(JNIEnv *env, size_t count,
                             const char *(*text_of)(void *self, size_t index), void *self)
{
    jobjectArray array = (*env)->NewObjectArray(env, (jsize)count, smp_jni_ids_get()->string, NULL);

    for (size_t i = 0; array != NULL && i < count; i++) {
        const char *text = text_of(self, i);
        if (text == NULL)
            continue;
        jstring string = smp_jni_string(env, text, strlen(text));
        if (string == NULL)
            return NULL;
        (*env)->SetObjectArrayElement(env, array, (jsize)i, string);
        if ((*env)->ExceptionCheck(env))
            return NULL;
        (*env)->DeleteLocalRef(env, string);
    }
    return array;
}

jlongArray smp_jni_longs(JNIEnv *env, const int64_t *values, size_t count)
{
    jlongArray array = (*env)->NewLongArray(env, (jsize)count);

    if (array != NULL)
        (*env)->SetLongArrayRegion(env, array, 0, (jsize)count, (const jlong *)values);
    return array;
}

/* --- failures --- */

static jclass class_of(enum smp_status status)
{
    const struct smp_jni_ids *ids = smp_jni_ids_get();

    switch (status) {
    case SMP_EINVAL:
        return ids->illegal_argument;
    case SMP_ENOMEM:
    case SMP_EQUOTA:
    case SMP_ETHREAD: /* as Java does when it cannot start a thread */
        return ids->out_of_memory;
    case SMP_EUNSUPPORTED:
        return ids->unsupported;
    default:
        return ids->illegal_state;
    }
}

/* Calls the constructor with a String, because ThrowNew would read the message as modified
 * UTF-8. */
static void throw_new(JNIEnv *env, jclass exception_class, const char *message)
{
    jobject exception = NULL;
    jmethodID constructor = NULL;
    jstring text = smp_jni_string(env, message, strlen(message));

    if (text == NULL)
        return; /* an OutOfMemoryError is pending */
    constructor = (*env)->GetMethodID(env, exception_class, "<init>", "(Ljava/lang/String;)V");
    if (constructor != NULL)
        exception = (*env)->NewObject(env, exception_class, constructor, text);
    if (exception != NULL && !(*env)->ExceptionCheck(env))
        (void)(*env)->Throw(env, exception);
    (*env)->DeleteLocalRef(env, text);
    if (exception != NULL)
        (*env)->DeleteLocalRef(env, exception);
}

void smp_throw_message(JNIEnv *env, enum smp_status status, const char *message)
{
    if (status == SMP_OK || status == SMP_EIO || (*env)->ExceptionCheck(env))
        return;
    if (message == NULL || message[0] == '\0')
        message = smp_status_text(status);
    throw_new(env, class_of(status), message);
}

void smp_throw(JNIEnv *env, enum smp_status status)
{
    smp_throw_message(env, status, NULL);
}
