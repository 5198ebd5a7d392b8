/* SPDX-License-Identifier: Apache-2.0 */
#include "jni/throw.h"

#include <string.h>

#include "jni/convert.h"
#include "jni/ids.h"

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

/* By the constructor and a String of ours: ThrowNew would take the message for modified UTF-8. */
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
