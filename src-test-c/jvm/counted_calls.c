/* SPDX-License-Identifier: Apache-2.0 */
/* The native library of the programs in jvm/counted. It counts calls as the product does and
 * returns the counts of each method over all threads. */
#include <jni.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "jvm/agent/agent.h"
#include "jvm/calls/call_counter.h"
#include "jvm/calls/hook_class.h"
#include "jvm/loaded.h"
#include "model/counting_account.h"

enum { METHODS = 1 << 20, TEXT_BYTES = 1 << 20, FIGURES = 7, MAX_DEPTH = 1000 };

/* Calls of each method since the last start or reset, indexed by its number. */
static int64_t counted_calls[METHODS];
static int64_t uncounted;
static uint64_t ended_trees;
static struct smp_quota *quota;
static struct smp_counting_plan *counted_plan;

/* javac writes no header for the tests. */
#define COUNTED(name) JNICALL Java_counted_Counting_##name

JNIEXPORT jstring COUNTED(start)(JNIEnv *env, jclass type, jstring roots, jstring filter,
                                 jint scheme, jboolean exact, jint max_methods);
JNIEXPORT void COUNTED(stop)(JNIEnv *env, jclass type);
JNIEXPORT jstring COUNTED(read)(JNIEnv *env, jclass type);
JNIEXPORT void COUNTED(reset)(JNIEnv *env, jclass type);
JNIEXPORT void COUNTED(drop)(JNIEnv *env, jclass type, jint method);
JNIEXPORT jlongArray COUNTED(figures)(JNIEnv *env, jclass type);
JNIEXPORT jstring COUNTED(account)(JNIEnv *env, jclass type);
JNIEXPORT jint COUNTED(inside)(JNIEnv *env, jclass type);

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *java_vm, void *reserved)
{
    (void)reserved;
    smp_jvm_loaded(java_vm);
    return SMP_AGENT_JNI_VERSION;
}

static void forget_counts(void)
{
    memset(counted_calls, 0, sizeof(counted_calls));
    uncounted = 0;
}

static enum smp_status start_plan(struct smp_counting_plan *plan,
                                  char message[SMP_COUNTER_MESSAGE_BYTES])
{
    const struct smp_call_counter counter = smp_jvm_call_counter();
    enum smp_status status = smp_agent_open();

    if (status != SMP_OK)
        return status;
    status = counter.start(counter.self, plan, message);
    if (status != SMP_OK)
        smp_agent_close();
    return status;
}

/* Returns the reason why calls are not counted, or "". */
JNIEXPORT jstring COUNTED(start)(JNIEnv *env, jclass type, jstring roots, jstring filter,
                                 jint scheme, jboolean exact, jint max_methods)
{
    const char *root_text = (*env)->GetStringUTFChars(env, roots, NULL);
    const char *filter_text = (*env)->GetStringUTFChars(env, filter, NULL);
    char message[SMP_COUNTER_MESSAGE_BYTES] = "";
    struct smp_quota *own = smp_quota_create(256u << 20);
    struct smp_counting_plan *plan = NULL;
    enum smp_status status = smp_counting_plan_create(own, root_text, filter_text, &plan);

    if (status == SMP_OK) {
        plan->instrumentation = (enum smp_instrumentation)scheme;
        plan->timing = exact ? SMP_METHOD_TIMING_EXACT : SMP_METHOD_TIMING_NONE;
        plan->max_methods = (uint32_t)max_methods;
        plan->max_nodes = 100000;
        plan->max_depth = MAX_DEPTH;
        status = start_plan(plan, message);
    }
    (void)type;
    (*env)->ReleaseStringUTFChars(env, roots, root_text);
    (*env)->ReleaseStringUTFChars(env, filter, filter_text);
    if (status == SMP_OK) {
        quota = own;
        counted_plan = plan;
        forget_counts();
        return (*env)->NewStringUTF(env, "");
    }
    smp_counting_plan_release(plan);
    smp_quota_release(own);
    return (*env)->NewStringUTF(env, message[0] != '\0' ? message : smp_status_text(status));
}

JNIEXPORT void COUNTED(stop)(JNIEnv *env, jclass type)
{
    const struct smp_call_counter counter = smp_jvm_call_counter();
    struct smp_quota *own = quota;
    struct smp_counting_plan *plan = counted_plan;

    (void)env;
    (void)type;
    quota = NULL; /* another thread may start at once */
    counter.stop(counter.self);
    smp_agent_close();
    smp_counting_plan_release(plan);
    smp_quota_release(own);
}

static void keep_call(void *context, const struct smp_counted_thread *thread,
                      const struct smp_counted_call *call)
{
    (void)context;
    (void)thread;
    if (call->method == SMP_METHOD_UNCOUNTED)
        uncounted += call->calls;
    else if (call->method < METHODS)
        counted_calls[call->method] += call->calls;
}

static void end_tree(void *context, uint64_t tree)
{
    (void)context;
    (void)tree;
    ended_trees++;
}

static void read_calls(void)
{
    const struct smp_call_counter counter = smp_jvm_call_counter();
    const struct smp_counter_visitor visitor = { .counted = keep_call, .ended = end_tree };

    counter.read(counter.self, &visitor);
}

/* Returns "counted.Work.run=12 3" for each called method: calls, number. */
JNIEXPORT jstring COUNTED(read)(JNIEnv *env, jclass type)
{
    const struct smp_call_counter counter = smp_jvm_call_counter();
    char *text = malloc(TEXT_BYTES);
    size_t length = 0;

    (void)type;
    read_calls();
    if (text == NULL)
        return NULL;
    text[0] = '\0';
    for (int32_t method = 0; method < METHODS; method++) {
        struct smp_method_info info = { 0 };
        if (counted_calls[method] == 0)
            continue;
        if (!counter.name(counter.self, method, &info))
            info = (struct smp_method_info){ .class_name = "?", .method_name = "?" };
        if (length < TEXT_BYTES - 256)
            length += (size_t)snprintf(text + length, TEXT_BYTES - length, "%s.%s=%lld %d\n",
                                       info.class_name, info.method_name,
                                       (long long)counted_calls[method], method);
    }
    jstring result = (*env)->NewStringUTF(env, text);
    free(text);
    return result;
}

JNIEXPORT void COUNTED(reset)(JNIEnv *env, jclass type)
{
    const struct smp_call_counter counter = smp_jvm_call_counter();

    (void)env;
    (void)type;
    counter.reset(counter.self);
    forget_counts();
}

JNIEXPORT void COUNTED(drop)(JNIEnv *env, jclass type, jint method)
{
    const struct smp_call_counter counter = smp_jvm_call_counter();
    const int64_t number = method;

    (void)env;
    (void)type;
    counter.drop(counter.self, &number, 1);
}

/* Returns batches, methods, has work?, root entered?, live bytes, uncounted calls, CPU time of the
 * instrumenting thread up to its last round. */
JNIEXPORT jlongArray COUNTED(figures)(JNIEnv *env, jclass type)
{
    const struct smp_call_counter counter = smp_jvm_call_counter();
    struct smp_counter_figures figures = { 0 };
    jlongArray array = (*env)->NewLongArray(env, FIGURES);

    (void)type;
    if (quota != NULL)
        counter.get_figures(counter.self, &figures);
    const jlong numbers[FIGURES] = { (jlong)figures.batches,
                                     figures.methods,
                                     figures.has_work,
                                     figures.is_root_entered,
                                     (jlong)smp_alloc_live_bytes(),
                                     uncounted,
                                     (jlong)figures.own_cpu_ns };
    if (array != NULL)
        (*env)->SetLongArrayRegion(env, array, 0, FIGURES, numbers);
    return array;
}

/* Returns "LEFT_ALONE 1 too large: counted.Large.run" for each figure that is not 0. */
JNIEXPORT jstring COUNTED(account)(JNIEnv *env, jclass type)
{
    const struct smp_call_counter counter = smp_jvm_call_counter();
    struct smp_counting_account *account = NULL;
    char text[8192] = "";
    size_t length = 0;

    (void)type;
    if (smp_counting_account_create(NULL, &account) != SMP_OK)
        return NULL;
    counter.account(counter.self, account);
    for (int code = 0; code < SMP_COUNTING_COUNT; code++) {
        const uint64_t figure = smp_counting_account_figure(account, code);
        if (figure == 0 || length > sizeof(text) - 1024)
            continue;
        length += (size_t)snprintf(text + length, sizeof(text) - length, "%s %llu",
                                   smp_counting_code(code), (unsigned long long)figure);
        for (size_t i = 0; i < smp_counting_account_listed(account, code) && i < 3; i++)
            length += (size_t)snprintf(text + length, sizeof(text) - length, " %s",
                                       smp_counting_account_name_at(account, code, i));
        length += (size_t)snprintf(text + length, sizeof(text) - length, "\n");
    }
    smp_counting_account_destroy(account);
    return (*env)->NewStringUTF(env, text);
}

static void count_place(void *context, const struct smp_counted_thread *thread,
                        const struct smp_call_place *place)
{
    jint *const count = context;

    (void)thread;
    (void)place;
    (*count)++;
}

/* Returns the number of threads inside a root. */
JNIEXPORT jint COUNTED(inside)(JNIEnv *env, jclass type)
{
    const struct smp_call_counter counter = smp_jvm_call_counter();
    jint count = 0;

    (void)env;
    (void)type;
    counter.positions(counter.self, count_place, &count);
    return count;
}
