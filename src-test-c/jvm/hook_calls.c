/* SPDX-License-Identifier: Apache-2.0 */
/* The native library of the programs in jvm/hooked. It defines the hook class as the product does,
 * turns counting on and off, and returns the counts. */
#include <jni.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "counting/call_arena.h"
#include "counting/call_reader.h"
#include "jvm/calls/hook_class.h"

enum { FIELDS = 10, LOSSES = 3, OUTSIDE = -2 };

/* Deltas, FIELDS numbers each. */
struct numbers {
    jlong *all;
    size_t count;
    size_t capacity;
};

/* javac writes no header for the tests. */
#define HOOKED(name) JNICALL Java_hooked_Hooks_##name

JNIEXPORT jstring HOOKED(open)(JNIEnv *env, jclass type);
JNIEXPORT jint HOOKED(start)(JNIEnv *env, jclass type, jboolean exact, jint nodes, jint depth,
                             jlong bytes);
JNIEXPORT void HOOKED(stop)(JNIEnv *env, jclass type);
JNIEXPORT jlongArray HOOKED(deltas)(JNIEnv *env, jclass type);
JNIEXPORT void HOOKED(reset)(JNIEnv *env, jclass type);
JNIEXPORT void HOOKED(retire)(JNIEnv *env, jclass type, jlong tid);
JNIEXPORT jint HOOKED(position)(JNIEnv *env, jclass type, jlong tid);
JNIEXPORT jlongArray HOOKED(losses)(JNIEnv *env, jclass type);
JNIEXPORT jlong HOOKED(reflected)(JNIEnv *env, jclass type, jboolean refused);

/* Reflective calls in this process. */
static _Atomic jlong reflected_calls;
static _Atomic bool refuses_reflected;

static bool on_reflected(JNIEnv *env, jobject called, jobject receiver)
{
    (void)env;
    (void)called;
    (void)receiver;
    reflected_calls++;
    return !refuses_reflected;
}

/* Returns how many reflective calls the hook has reported since the last time; refused: whether
 * later ones are refused. */
JNIEXPORT jlong HOOKED(reflected)(JNIEnv *env, jclass type, jboolean refused)
{
    (void)env;
    (void)type;
    refuses_reflected = refused != JNI_FALSE;
    return atomic_exchange(&reflected_calls, 0);
}

/* Returns the reason why calls cannot be counted, or "". */
JNIEXPORT jstring HOOKED(open)(JNIEnv *env, jclass type)
{
    char reason[SMP_HOOK_REASON_BYTES] = "out of memory";
    const enum smp_status status = smp_hook_class_open(env, on_reflected, reason);

    (void)type;
    return (*env)->NewStringUTF(env, status == SMP_OK ? "" : reason);
}

/* Returns a status. */
JNIEXPORT jint HOOKED(start)(JNIEnv *env, jclass type, jboolean exact, jint nodes, jint depth,
                             jlong bytes)
{
    const struct smp_call_options options = {
        .max_bytes = (size_t)bytes,
        .nodes = (uint32_t)nodes,
        .depth = depth,
        .is_exact = exact != JNI_FALSE,
    };

    char reason[SMP_HOOK_REASON_BYTES] = "";
    enum smp_status status = smp_call_arena_open(&options);

    (void)type;
    if (status != SMP_OK)
        return (jint)status;
    status = smp_hook_class_take(env, reason);
    if (status != SMP_OK)
        smp_call_arena_close();
    return (jint)status;
}

JNIEXPORT void HOOKED(stop)(JNIEnv *env, jclass type)
{
    (void)env;
    (void)type;
    smp_call_arena_close();
}

static void keep_delta(void *self, const struct smp_call_delta *delta)
{
    struct numbers *numbers = self;
    const jlong row[FIELDS] = { (jlong)delta->tree, delta->tid,          delta->call.ordinal,
                                delta->call.parent, delta->call.method,  delta->call.is_root,
                                delta->call.calls,  delta->call.time_ns, delta->call.least_ns,
                                delta->call.most_ns };

    if (numbers->count + FIELDS > numbers->capacity) {
        numbers->capacity = 2 * numbers->capacity + FIELDS;
        numbers->all = realloc(numbers->all, numbers->capacity * sizeof(jlong));
        if (numbers->all == NULL)
            abort();
    }
    for (size_t i = 0; i < FIELDS; i++)
        numbers->all[numbers->count++] = row[i];
}

static jlongArray new_array(JNIEnv *env, const jlong *numbers, size_t count)
{
    jlongArray array = (*env)->NewLongArray(env, (jsize)count);

    if (array != NULL)
        (*env)->SetLongArrayRegion(env, array, 0, (jsize)count, numbers);
    return array;
}

/* For each node that has changed: tree, thread, ordinal, parent, method, root?, calls, ns, least,
 * most. */
JNIEXPORT jlongArray HOOKED(deltas)(JNIEnv *env, jclass type)
{
    struct numbers numbers = { 0 };
    const struct smp_call_visitor visitor = { .self = &numbers, .on_delta = keep_delta };

    (void)type;
    smp_call_read(&visitor);
    jlongArray array = new_array(env, numbers.all, numbers.count);
    free(numbers.all);
    return array;
}

JNIEXPORT void HOOKED(reset)(JNIEnv *env, jclass type)
{
    (void)env;
    (void)type;
    smp_call_reset();
}

JNIEXPORT void HOOKED(retire)(JNIEnv *env, jclass type, jlong tid)
{
    (void)env;
    (void)type;
    smp_call_arena_retire(tid);
}

/* Returns the method in which a thread is, plus 2^30 if it is in a hook. OUTSIDE: outside all
 * roots. */
JNIEXPORT jint HOOKED(position)(JNIEnv *env, jclass type, jlong tid)
{
    struct smp_call_position position;

    (void)env;
    (void)type;
    if (!smp_call_position_of(tid, &position))
        return OUTSIDE;
    return position.method + (position.is_in_hook ? 1 << 30 : 0);
}

/* Returns lost roots, used bytes, first entries. */
JNIEXPORT jlongArray HOOKED(losses)(JNIEnv *env, jclass type)
{
    const jlong numbers[LOSSES] = { (jlong)smp_call_arena_lost_roots(),
                                    (jlong)smp_alloc_live_bytes(), (jlong)smp_call_arena_news() };

    (void)type;
    return new_array(env, numbers, LOSSES);
}
