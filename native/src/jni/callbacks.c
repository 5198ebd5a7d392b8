/* SPDX-License-Identifier: Apache-2.0 */
#include "jni/callbacks.h"

#include <string.h>

#include "base/alloc.h"
#include "jni/convert.h"
#include "jni/ids.h"
#include "jvm/agent/agent.h"

enum { LOCAL_REFS = 16 }; /* of one call */

struct smp_jni_callbacks {
    jobject target;
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

    if (env != NULL && (*env)->PushLocalFrame(env, LOCAL_REFS) != JNI_OK) {
        (void)smp_jni_clear_exception(env);
        env = NULL;
    }
    return env;
}

bool smp_jni_end_call(JNIEnv *env)
{
    const bool failed = smp_jni_clear_exception(env);

    (void)(*env)->PopLocalFrame(env, NULL);
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
                                                       smp_jni_ids_get()->callback.title,
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
        answer = (*env)->CallBooleanMethod(
            env, callbacks->target, smp_jni_ids_get()->callback.record, title_string, rows_string);
    return end_callback(env, answer);
}

static bool send_flush(void *self)
{
    const struct smp_jni_callbacks *callbacks = self;
    JNIEnv *env = smp_jni_begin_call();

    if (env == NULL)
        return false;
    return end_callback(
        env, (*env)->CallBooleanMethod(env, callbacks->target, smp_jni_ids_get()->callback.flush));
}

static void send_message(void *self, enum smp_log_level level, const char *text)
{
    const struct smp_jni_callbacks *callbacks = self;
    JNIEnv *env = smp_jni_begin_call();

    if (env == NULL)
        return;
    jstring string = smp_jni_string(env, text, strlen(text));
    if (string != NULL)
        (*env)->CallVoidMethod(env, callbacks->target, smp_jni_ids_get()->callback.message,
                               (jint)level, string);
    (void)smp_jni_end_call(env);
}

enum smp_status smp_jni_callbacks_create(JNIEnv *env, jobject target,
                                         struct smp_jni_callbacks **out)
{
    struct smp_jni_callbacks *callbacks = smp_alloc(NULL, sizeof(*callbacks));
    if (callbacks == NULL)
        return SMP_ENOMEM;
    callbacks->target = (*env)->NewGlobalRef(env, target);
    if (callbacks->target == NULL) {
        smp_free(NULL, callbacks);
        return SMP_ENOMEM;
    }
    *out = callbacks;
    return SMP_OK;
}

void smp_jni_callbacks_destroy(JNIEnv *env, struct smp_jni_callbacks *callbacks)
{
    if (callbacks == NULL)
        return;
    (*env)->DeleteGlobalRef(env, callbacks->target);
    smp_free(NULL, callbacks);
}

jobject smp_jni_callbacks_target(const struct smp_jni_callbacks *callbacks)
{
    return callbacks->target;
}

struct smp_outputer smp_jni_callbacks_outputer(struct smp_jni_callbacks *callbacks)
{
    return (struct smp_outputer){ .title = send_title,
                                  .record = send_report_record,
                                  .flush = send_flush,
                                  .message = send_message,
                                  .self = callbacks };
}
