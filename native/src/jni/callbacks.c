/* SPDX-License-Identifier: Apache-2.0 */
#include "jni/callbacks.h"

#include <string.h>

#include "base/alloc.h"
#include "jni/convert.h"
#include "jvm/agent/agent.h"
#include "jvm/agent/jdk.h"

enum { LOCAL_REFS = 16 }; /* of one call */

struct smp_jni_callbacks {
    jobject target;
    jmethodID methods[SMP_JNI_CALLBACK_COUNT];
};

static const struct method {
    const char *name;
    const char *signature;
    const char *both;
} methods[SMP_JNI_CALLBACK_COUNT] = {
#define X(field, name, signature) { name, signature, name signature },
    SMP_JNI_CALLBACK_MAP(X)
#undef X
};

bool smp_jni_clear_exception(JNIEnv *env)
{
    if (!(*env)->ExceptionCheck(env))
        return false;
    (*env)->ExceptionClear(env);
    return true;
}

JNIEnv *smp_jni_begin_call(void)
{
    JNIEnv *env = smp_agent_is_live() ? smp_agent_env() : NULL;

    if (env != NULL && !smp_local_frame_push(env, LOCAL_REFS))
        env = NULL;
    return env;
}

bool smp_jni_end_call(JNIEnv *env)
{
    const bool failed = smp_jni_clear_exception(env);

    smp_local_frame_pop(env);
    return !failed;
}

static bool end_callback(JNIEnv *env, jboolean answer)
{
    return smp_jni_end_call(env) && answer == JNI_TRUE;
}

static bool send_title(void *self, int64_t from_wall_ms, int64_t till_wall_ms)
{
    const struct smp_jni_callbacks *callbacks = self;
    JNIEnv *env = smp_jni_begin_call();

    if (env == NULL)
        return false;
    return end_callback(env, (*env)->CallBooleanMethod(env, callbacks->target,
                                                       callbacks->methods[SMP_JNI_CALLBACK_title],
                                                       (jlong)from_wall_ms, (jlong)till_wall_ms));
}

static bool send_report_record(void *self, const char *title, size_t title_length, const char *rows,
                               size_t rows_length)
{
    const struct smp_jni_callbacks *callbacks = self;
    jboolean answer = JNI_FALSE;
    jstring rows_string = NULL;
    JNIEnv *env = smp_jni_begin_call();

    if (env == NULL)
        return false;
    jstring title_string = smp_jni_string(env, title, title_length);
    if (title_string != NULL)
        rows_string = smp_jni_string(env, rows, rows_length);
    if (rows_string != NULL)
        answer = (*env)->CallBooleanMethod(env, callbacks->target,
                                           callbacks->methods[SMP_JNI_CALLBACK_record],
                                           title_string, rows_string);
    return end_callback(env, answer);
}

static bool send_flush(void *self)
{
    const struct smp_jni_callbacks *callbacks = self;
    JNIEnv *env = smp_jni_begin_call();

    if (env == NULL)
        return false;
    return end_callback(env, (*env)->CallBooleanMethod(env, callbacks->target,
                                                       callbacks->methods[SMP_JNI_CALLBACK_flush]));
}

static void send_deadlock(void *self, const char *title, size_t title_length, const char *rows,
                          size_t rows_length)
{
    const struct smp_jni_callbacks *callbacks = self;
    jstring rows_string = NULL;
    JNIEnv *env = smp_jni_begin_call();

    if (env == NULL)
        return;
    jstring title_string = smp_jni_string(env, title, title_length);
    if (title_string != NULL)
        rows_string = smp_jni_string(env, rows, rows_length);
    if (rows_string != NULL)
        (*env)->CallVoidMethod(env, callbacks->target,
                               callbacks->methods[SMP_JNI_CALLBACK_deadlock], title_string,
                               rows_string);
    (void)smp_jni_end_call(env);
}

static void send_message(void *self, enum smp_log_level level, const char *text)
{
    const struct smp_jni_callbacks *callbacks = self;
    JNIEnv *env = smp_jni_begin_call();

    if (env == NULL)
        return;
    jstring string = smp_jni_string(env, text, strlen(text));
    if (string != NULL)
        (*env)->CallVoidMethod(env, callbacks->target, callbacks->methods[SMP_JNI_CALLBACK_message],
                               (jint)level, string);
    (void)smp_jni_end_call(env);
}

static enum smp_status look_up_methods(JNIEnv *env, struct smp_jni_callbacks *callbacks)
{
    enum smp_status status = SMP_OK;
    jclass type = (*env)->GetObjectClass(env, callbacks->target);

    for (size_t i = 0; status == SMP_OK && i < SMP_JNI_CALLBACK_COUNT; i++) {
        callbacks->methods[i] =
            (*env)->GetMethodID(env, type, methods[i].name, methods[i].signature);
        status = callbacks->methods[i] != NULL ? SMP_OK : SMP_EVM;
    }
    (*env)->DeleteLocalRef(env, type);
    return status;
}

enum smp_status smp_jni_callbacks_create(JNIEnv *env, jobject target,
                                         struct smp_jni_callbacks **out)
{
    struct smp_jni_callbacks *callbacks = smp_alloc(NULL, sizeof(*callbacks));
    if (callbacks == NULL)
        return SMP_ENOMEM;
    callbacks->target = (*env)->NewGlobalRef(env, target);
    enum smp_status status = callbacks->target != NULL ? SMP_OK : SMP_ENOMEM;
    if (status == SMP_OK)
        status = look_up_methods(env, callbacks);
    if (status == SMP_OK)
        *out = callbacks;
    else
        smp_jni_callbacks_destroy(env, callbacks);
    return status;
}

void smp_jni_callbacks_destroy(JNIEnv *env, struct smp_jni_callbacks *callbacks)
{
    if (callbacks == NULL)
        return;
    if (callbacks->target != NULL)
        (*env)->DeleteGlobalRef(env, callbacks->target);
    smp_free(NULL, callbacks);
}

jobject smp_jni_callbacks_target(const struct smp_jni_callbacks *callbacks)
{
    return callbacks->target;
}

jmethodID smp_jni_callbacks_method(const struct smp_jni_callbacks *callbacks,
                                   enum smp_jni_callback callback)
{
    return callbacks->methods[callback];
}

const char *smp_jni_callback_signature(size_t callback)
{
    return methods[callback].both;
}

struct smp_outputer smp_jni_callbacks_outputer(struct smp_jni_callbacks *callbacks)
{
    return (struct smp_outputer){ .title = send_title,
                                  .record = send_report_record,
                                  .flush = send_flush,
                                  .deadlock = send_deadlock,
                                  .message = send_message,
                                  .self = callbacks };
}
