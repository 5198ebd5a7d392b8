/* SPDX-License-Identifier: Apache-2.0 */
/* Measures how long the signal handlers of profilers take on one thread, ours and another
 * profiler's by the same clock. A function that reads the clock is installed in front of the
 * handlers of SIGPROF and SIGVTALRM, which async-profiler uses, and of the real-time signals, one
 * of which we use. Work that a handler leaves to other threads is not included. */
#include <jni.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

#define NATIVE(name) JNICALL Java_com_incapsula_sampler_bench_accuracy_SignalTimes_##name

enum { SIGNALS = 65, SAMPLES = 128 * 1024 };

static struct {
    _Atomic pid_t tid; /* 0: no thread is measured */
    uint32_t count;    /* written only by that thread */
    int32_t ns[SAMPLES];
    bool is_ours[SIGNALS];
    struct sigaction before[SIGNALS];
} state;

static void handle(int signal, siginfo_t *info, void *context)
{
    const bool is_measured = (pid_t)syscall(SYS_gettid) == atomic_load(&state.tid);
    const int64_t begin_ns = smp_clock_ns();

    state.before[signal].sa_sigaction(signal, info, context);
    const int64_t ns = smp_clock_ns() - begin_ns;
    if (is_measured && state.count < SAMPLES && ns <= INT32_MAX)
        state.ns[state.count++] = (int32_t)ns;
}

static void stand_in_front(int signal)
{
    struct sigaction action;

    if (sigaction(signal, NULL, &action) != 0 || (action.sa_flags & SA_SIGINFO) == 0 ||
        action.sa_sigaction == handle)
        return;
    state.before[signal] = action;
    action.sa_sigaction = handle;
    state.is_ours[signal] = sigaction(signal, &action, NULL) == 0;
}

/* A handler that was installed in the meantime remains. */
static void step_aside(int signal)
{
    struct sigaction action;

    if (state.is_ours[signal] && sigaction(signal, NULL, &action) == 0 &&
        action.sa_sigaction == handle)
        (void)sigaction(signal, &state.before[signal], NULL);
    state.is_ours[signal] = false;
}

/* javac writes no header for the tests. */
JNIEXPORT void NATIVE(start)(JNIEnv *env, jclass type, jint tid);
JNIEXPORT jintArray NATIVE(stop)(JNIEnv *env, jclass type);

/* Call it after the profiler has been started. */
JNIEXPORT void NATIVE(start)(JNIEnv *env, jclass type, jint tid)
{
    (void)env;
    (void)type;
    state.count = 0;
    atomic_store(&state.tid, (pid_t)tid);
    stand_in_front(SIGPROF);
    stand_in_front(SIGVTALRM);
    for (int signal = SIGRTMIN; signal <= SIGRTMAX; signal++)
        stand_in_front(signal);
}

JNIEXPORT jintArray NATIVE(stop)(JNIEnv *env, jclass type)
{
    (void)type;
    step_aside(SIGPROF);
    step_aside(SIGVTALRM);
    for (int signal = SIGRTMIN; signal <= SIGRTMAX; signal++)
        step_aside(signal);
    atomic_store(&state.tid, 0);
    const jsize count = (jsize)state.count;
    jintArray array = (*env)->NewIntArray(env, count);
    if (array != NULL)
        (*env)->SetIntArrayRegion(env, array, 0, count, state.ns);
    return array;
}
