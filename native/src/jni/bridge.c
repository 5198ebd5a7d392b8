/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bridge.c - the native methods of NativeBridge about sessions.
 */
#include "jni/bridge.h"

#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "engine/session/dump.h"
#include "engine/session/session.h"
#include "jni/convert.h"
#include "jni/figures.h"
#include "jni/ids.h"
#include "jni/java_agent.h"
#include "jni/option_values.h"
#include "jvm/calls/instrumenter.h"
#include "jvm/threads/hidden_threads.h"
#include "jvm/threads/threads.h"
#include "jvm/walk/cross_check.h"

JNIEXPORT jclass BRIDGE(serveCommands)(JNIEnv *env, SMP_UNUSED jclass bridge, jclass agent)
{
    jclass serving = NULL;
    const enum smp_status status = smp_java_agent_serve(env, agent, &serving);

    smp_throw(env, status);
    return status == SMP_OK ? (*env)->NewLocalRef(env, serving) : NULL;
}

JNIEXPORT jstring BRIDGE(coreFile)(JNIEnv *env, SMP_UNUSED jclass bridge)
{
    const char *file = smp_java_agent_file();

    if (file == NULL)
        smp_throw(env, SMP_EVM);
    return file != NULL ? smp_jni_string(env, file, strlen(file)) : NULL;
}

JNIEXPORT jlong BRIDGE(create)(JNIEnv *env, SMP_UNUSED jclass bridge, jlongArray integers,
                               jobjectArray texts, jobject callbacks)
{
    struct smp_java_session *created = NULL;
    struct smp_options options = { 0 };
    char message[SMP_OPTIONS_MESSAGE_BYTES] = "";
    enum smp_status status = smp_jni_read_options(env, integers, texts, &options, message);

    if (status == SMP_OK)
        status = smp_java_session_create(env, &options, callbacks, message, &created);
    smp_options_fini(&options);
    smp_throw_message(env, status, message);
    return (jlong)(intptr_t)created;
}

JNIEXPORT void BRIDGE(start)(JNIEnv *env, SMP_UNUSED jclass bridge, jlong session)
{
    char message[SMP_OPTIONS_MESSAGE_BYTES] = "";

    smp_throw_message(env, smp_java_session_start(smp_bridge_java_session(session), message),
                      message);
}

JNIEXPORT void BRIDGE(configure)(JNIEnv *env, SMP_UNUSED jclass bridge, jlong session,
                                 jlongArray integers, jobjectArray texts)
{
    struct smp_options options = { 0 };
    char message[SMP_OPTIONS_MESSAGE_BYTES] = "";
    enum smp_status status = smp_jni_read_options(env, integers, texts, &options, message);

    if (status == SMP_OK)
        status = smp_session_configure(smp_bridge_session(session), &options, message);
    smp_options_fini(&options);
    smp_throw_message(env, status, message);
}

JNIEXPORT jobjectArray BRIDGE(optionTable)(JNIEnv *env, SMP_UNUSED jclass bridge)
{
    char row[SMP_JNI_OPTION_ROW_BYTES];

    return smp_jni_strings(env, SMP_OPTION_COUNT, smp_jni_option_row, row);
}

JNIEXPORT void BRIDGE(filterThreads)(JNIEnv *env, SMP_UNUSED jclass bridge, jlong session,
                                     jobjectArray threads, jboolean only)
{
    const enum smp_status status =
        smp_java_session_select(smp_bridge_java_session(session), env, threads, only != 0);
    smp_throw_message(env, status, status == SMP_EINVAL ? "threads must not contain null" : NULL);
}

JNIEXPORT void BRIDGE(resetCounts)(JNIEnv *env, SMP_UNUSED jclass bridge, jlong session)
{
    smp_throw(env, smp_session_reset_counts(smp_bridge_session(session)));
}

JNIEXPORT void BRIDGE(pause)(JNIEnv *env, SMP_UNUSED jclass bridge, jlong session)
{
    smp_throw(env, smp_session_pause(smp_bridge_session(session)));
}

JNIEXPORT void BRIDGE(resume)(JNIEnv *env, SMP_UNUSED jclass bridge, jlong session)
{
    smp_throw(env, smp_session_resume(smp_bridge_session(session)));
}

JNIEXPORT void BRIDGE(report)(JNIEnv *env, SMP_UNUSED jclass bridge, jlong session)
{
    smp_throw(env, smp_session_report(smp_bridge_session(session)));
}

JNIEXPORT void BRIDGE(sampleOnce)(JNIEnv *env, SMP_UNUSED jclass bridge, jlong session)
{
    smp_throw(env, smp_session_sample_once(smp_bridge_session(session)));
}

JNIEXPORT void BRIDGE(stop)(JNIEnv *env, SMP_UNUSED jclass bridge, jlong session)
{
    smp_throw(env, smp_session_stop(smp_bridge_session(session)));
}

JNIEXPORT void BRIDGE(destroy)(JNIEnv *env, SMP_UNUSED jclass bridge, jlong session)
{
    smp_java_session_destroy(env, smp_bridge_java_session(session));
}

JNIEXPORT jlongArray BRIDGE(statistics)(JNIEnv *env, SMP_UNUSED jclass bridge, jlong session)
{
    struct smp_statistics statistics;
    struct smp_handler_cost cost;
    int64_t values[SMP_JNI_STATISTIC_COUNT];

    smp_session_get_statistics(smp_bridge_session(session), &statistics);
    smp_signals_get_handler_cost(&cost);
    smp_jni_statistics(&statistics, &cost, values);
    return smp_jni_longs(env, values, SMP_JNI_STATISTIC_COUNT);
}

JNIEXPORT jobjectArray BRIDGE(statisticNames)(JNIEnv *env, SMP_UNUSED jclass bridge)
{
    char name[SMP_JNI_FIGURE_NAME_BYTES];

    return smp_jni_strings(env, SMP_JNI_STATISTIC_COUNT, smp_jni_statistic_name, name);
}

JNIEXPORT jstring BRIDGE(engine)(JNIEnv *env, SMP_UNUSED jclass bridge, jlong session)
{
    char engine[SMP_JAVA_SESSION_ENGINE_BYTES];

    smp_java_session_engine(smp_bridge_java_session(session), engine);
    return smp_jni_string(env, engine, strlen(engine));
}

/* Returns the mode, then the code and the reason of each limitation. */
static const char *status_text(void *self, size_t index)
{
    const struct smp_java_session_status *const status = self;
    const struct smp_java_session_limitation *const each = &status->limitations[(index - 1) / 2];

    if (index == 0)
        return status->mode;
    return index % 2 == 1 ? each->code : each->reason;
}

JNIEXPORT jobjectArray BRIDGE(status)(JNIEnv *env, SMP_UNUSED jclass bridge, jlong session)
{
    struct smp_java_session_status status;

    smp_java_session_get_status(smp_bridge_java_session(session), &status);
    return smp_jni_strings(env, 1 + 2 * status.count, status_text, &status);
}

JNIEXPORT jstring BRIDGE(dump)(JNIEnv *env, SMP_UNUSED jclass bridge, jlong session)
{
    struct smp_bytes text;
    jstring dump = NULL;

    smp_bytes_init(&text, NULL, SMP_DUMP_MAX_BYTES);
    smp_java_session_dump(smp_bridge_java_session(session), &text);
    if (text.status == SMP_OK)
        dump = smp_jni_string(env, smp_bytes_text(&text), text.length);
    smp_throw(env, text.status);
    smp_bytes_fini(&text);
    return dump;
}

JNIEXPORT void BRIDGE(hideCurrentThread)(JNIEnv *env, SMP_UNUSED jclass bridge)
{
    const struct smp_jni_ids *ids = smp_jni_ids_get();
    jobject thread = (*env)->CallStaticObjectMethod(env, ids->thread, ids->current_thread);

    if ((*env)->ExceptionCheck(env))
        return;
    smp_throw(env, smp_threads_hide(env, thread));
    (*env)->DeleteLocalRef(env, thread);
}

JNIEXPORT jobject BRIDGE(hide)(JNIEnv *env, SMP_UNUSED jclass bridge, jobject group)
{
    jobject hidden = NULL;

    if (group == NULL)
        smp_throw_message(env, SMP_EINVAL, "group must not be null");
    else
        smp_throw(env, smp_hidden_threads_offer_group(env, group, &hidden));
    return hidden;
}

JNIEXPORT jlong BRIDGE(liveBytes)(SMP_UNUSED JNIEnv *env, SMP_UNUSED jclass bridge)
{
    return (jlong)(smp_alloc_live_bytes() - smp_instrumenter_kept_bytes());
}

JNIEXPORT jlongArray BRIDGE(crossChecks)(JNIEnv *env, SMP_UNUSED jclass bridge, jlong each)
{
    if (each > 0)
        smp_cross_check_set_each((uint64_t)each);
    const struct smp_cross_check_counts counts = smp_cross_check_get_counts();
    const int64_t values[] = { (int64_t)counts.compared, (int64_t)counts.different };
    return smp_jni_longs(env, values, sizeof(values) / sizeof(values[0]));
}

JNIEXPORT jstring BRIDGE(lastDifference)(JNIEnv *env, SMP_UNUSED jclass bridge)
{
    char reason[SMP_CROSS_CHECK_REASON_BYTES];

    smp_cross_check_last_difference(reason);
    return (*env)->NewStringUTF(env, reason);
}
