/* SPDX-License-Identifier: Apache-2.0 */
/* The native library of the benchmark "outside". It walks waiting threads from outside and through
 * JVMTI, as the product does, and measures each walk. */
#include <jni.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "jvm/agent/agent.h"
#include "jvm/loaded.h"
#include "jvm/threads/threads.h"
#include "jvm/walk/async.h"
#include "jvm/walk/cross_check.h"
#include "jvm/walk/outside.h"

enum {
    MAX_THREADS = 16384,
    CAPACITY = 1024, /* frames, as the product's default */
    FAILED = -1,
    NEVER = 1 << 30
};

/* How a thread is walked. */
enum way {
    BY_JVMTI,
    AFTER_A_POLL, /* from outside, with the clock reading of the poll just before */
    WITH_CLOCKS   /* from outside, with two clock readings */
};

static struct {
    struct smp_outside *outside;
    struct smp_walker walker;
    struct smp_sample samples[2];
    uint64_t cursor;
    uint64_t unseen;
    struct smp_thread *threads[MAX_THREADS];
    size_t count;
    struct smp_thread *chosen[MAX_THREADS];
    size_t chosen_count;
} bench;

static bool keep_thread(void *context, struct smp_thread *thread)
{
    (void)context;
    if (bench.count == MAX_THREADS)
        return false;
    bench.threads[bench.count++] = thread;
    return true;
}

static struct smp_thread *find_thread(int64_t java_id)
{
    for (size_t i = 0; i < bench.count; i++) {
        if (smp_threads_java_id(bench.threads[i]) == java_id)
            return bench.threads[i];
    }
    return NULL;
}

static bool walk(struct smp_thread *thread, enum way way, int64_t cpu_ns, struct smp_sample *sample)
{
    const struct smp_walker *walker = &bench.walker;

    sample->count = sample->leaf_count = sample->omitted = 0;
    return (way == BY_JVMTI ? walker->walk(walker->self, thread, sample)
                            : walker->walk_outside(walker->self, thread, cpu_ns, sample)) == SMP_OK;
}

static int64_t time_walk(struct smp_thread *thread, enum way way)
{
    int64_t cpu_ns = -1;

    if (way == AFTER_A_POLL && !smp_clock_thread_cpu_ns(thread->os_tid, &cpu_ns))
        return FAILED;
    const int64_t start_ns = smp_clock_ns();
    const bool is_walked = walk(thread, way, cpu_ns, &bench.samples[0]);
    const int64_t end_ns = smp_clock_ns();
    return is_walked ? end_ns - start_ns : FAILED;
}

static const char *open_all(void)
{
    static char reason[SMP_ASYNC_REFUSAL_BYTES];

    if (smp_agent_open() != SMP_OK || smp_async_open(0) != SMP_OK)
        return "the agent cannot be opened";
    smp_outside_open();
    if (!smp_outside_is_usable()) {
        smp_async_own_refusal(reason);
        return reason;
    }
    for (size_t i = 0; i < 2; i++) {
        bench.samples[i] = (struct smp_sample){ .capacity = CAPACITY };
        bench.samples[i].frames = calloc(CAPACITY, sizeof(struct smp_frame));
        if (bench.samples[i].frames == NULL)
            return "out of memory";
    }
    if (smp_outside_create(CAPACITY, NULL, &bench.outside) != SMP_OK)
        return "out of memory";
    bench.walker = smp_outside_functions(bench.outside);
    smp_cross_check_set_each(NEVER);
    return "";
}

/* javac writes no header for the tests. */
#define BENCH(name) JNICALL Java_com_incapsula_sampler_bench_cost_OutsideWalks_##name

JNIEXPORT jstring BENCH(open)(JNIEnv *env, jclass type);
JNIEXPORT jint BENCH(choose)(JNIEnv *env, jclass type, jlongArray ids);
JNIEXPORT jlongArray BENCH(times)(JNIEnv *env, jclass type, jint way);

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *java_vm, void *reserved)
{
    (void)reserved;
    smp_jvm_loaded(java_vm);
    return SMP_AGENT_JNI_VERSION;
}

/* Returns the reason why nothing can be measured, or "". */
JNIEXPORT jstring BENCH(open)(JNIEnv *env, jclass type)
{
    (void)type;
    return (*env)->NewStringUTF(env, open_all());
}

static bool is_same(void)
{
    const struct smp_sample *a = &bench.samples[0];
    const struct smp_sample *b = &bench.samples[1];

    for (size_t i = 0; i < a->count && i < b->count; i++) {
        if (a->frames[i].method != b->frames[i].method || a->frames[i].bci != b->frames[i].bci)
            return false;
    }
    return a->count == b->count && a->count > 0;
}

static jint compare_chosen(void)
{
    jint differences = 0;

    for (size_t i = 0; i < bench.chosen_count; i++)
        differences += !walk(bench.chosen[i], BY_JVMTI, -1, &bench.samples[0]) ||
                       !walk(bench.chosen[i], WITH_CLOCKS, -1, &bench.samples[1]) || !is_same();
    return differences;
}

/* Chooses the threads to measure, by their Java ids. Returns how many are not found, or have
 * different stacks in the two ways. */
JNIEXPORT jint BENCH(choose)(JNIEnv *env, jclass type, jlongArray ids)
{
    const struct smp_thread_source source = smp_threads_source();
    const jsize count = (*env)->GetArrayLength(env, ids);
    jlong *all = (*env)->GetLongArrayElements(env, ids, NULL);

    (void)type;
    (void)!source.poll(source.self, &bench.cursor, &bench.unseen, keep_thread, NULL);
    bench.chosen_count = 0;
    for (jsize i = 0; i < count; i++) {
        struct smp_thread *thread = find_thread(all[i]);
        if (thread != NULL)
            bench.chosen[bench.chosen_count++] = thread;
    }
    (*env)->ReleaseLongArrayElements(env, ids, all, JNI_ABORT);
    return count - (jint)bench.chosen_count + compare_chosen();
}

/* Returns the time of a walk of each thread in nanoseconds, or FAILED. */
JNIEXPORT jlongArray BENCH(times)(JNIEnv *env, jclass type, jint way)
{
    jlongArray out = (*env)->NewLongArray(env, (jsize)bench.chosen_count);
    jlong *all = out == NULL ? NULL : (*env)->GetLongArrayElements(env, out, NULL);

    (void)type;
    if (all == NULL)
        return NULL;
    for (size_t i = 0; i < bench.chosen_count; i++)
        all[i] = time_walk(bench.chosen[i], (enum way)way);
    (*env)->ReleaseLongArrayElements(env, out, all, 0);
    return out;
}
