/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures times in the handler of one thread. At first each handler is timed from beginning to
 * end. Later single walks are timed: AsyncGetCallTrace, and our own walk without and with its
 * cache, in turn from the same interrupted registers. Without the cache each walk sees all return
 * addresses for the first time; methods remain known (hotspot/method_table.h).
 *
 * For comparison a bare signal is measured: the same signal, sent in the same way, with a handler
 * that returns at once.
 *
 * The linker puts __wrap_smp_signal_handle and __wrap_smp_stack_walk in front of the product's
 * functions. Measured walks run before the requested one, which then continues as usual.
 */
#include <jni.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/safe_read.h"
#include "bench/observed/interrupted.h"
#include "handler/code_view.h"
#include "handler/registers.h"
#include "handler/signal.h"
#include "handler/stack_walk.h"
#include "jvm/walk/async.h"

#define NATIVE(name) JNICALL Java_com_incapsula_sampler_bench_cost_HandlerTimes_##name

enum { BY_JVM, OWN, OWN_CACHED, WAYS };
/* As interrupted; immediately after the same walk; after SWEPT_BYTES have been read. */
enum { FOUND, WARM, SWEPT, STATES };
enum {
    SWEPT_BYTES = 8 * 1024 * 1024,
    LINE_BYTES = 64,
    SAMPLES = 8192,
    CALLS = WAYS + WAYS * STATES, /* index of the system calls in a row */
    /* The frames that each way found; times in ns, -1: none; system calls that read memory. */
    COLUMNS = CALLS + WAYS,
};

static struct {
    _Atomic pid_t tid; /* 0: no thread is measured */
    _Atomic bool is_busy;
    _Atomic int signal; /* the sampler's signal; 0: none was seen yet */
    uint32_t turn;
    uint32_t count;
    int32_t rows[SAMPLES][COLUMNS];
    bool is_whole;   /* the handler running on the measured thread is timed as a whole */
    uint32_t frames; /* frames that it found */
    _Atomic bool are_walks_timed; /* if set, walks are timed instead of whole handlers */
    uint32_t whole_count;
    int32_t whole[SAMPLES][2]; /* frames, ns */
    uint32_t bare_count;
    int32_t bare_ns[SAMPLES];
    unsigned char swept[SWEPT_BYTES];
    volatile unsigned sum;
} state;

/* The input of one walk. */
struct job {
    struct smp_walk_target targets[WAYS];
    struct smp_own_walk uncached;
    ucontext_t *context;
    struct smp_jvm_frame *frames;
    uint32_t capacity;
};

void __real_smp_stack_walk(const struct smp_walk_target *target, ucontext_t *context,
                           struct smp_jvm_frame *frames, uint32_t capacity,
                           struct smp_walk_answer *answer);
void __wrap_smp_stack_walk(const struct smp_walk_target *target, ucontext_t *context,
                           struct smp_jvm_frame *frames, uint32_t capacity,
                           struct smp_walk_answer *answer);

void __real_smp_signal_handle(int number, siginfo_t *info, void *context);
void __wrap_smp_signal_handle(int number, siginfo_t *info, void *context);

static struct interrupted interrupted;

void interrupted_keep(const ucontext_t *context)
{
    const uintptr_t pc = smp_registers_get(context).pc;

    interrupted.pc = 0;
    if (!smp_code_is_near(pc))
        return;
    memcpy(interrupted.code, (const uint8_t *)pc - INTERRUPTED_BYTES / 2, INTERRUPTED_BYTES);
    interrupted.pc = pc;
}

struct interrupted interrupted_take(void)
{
    const struct interrupted taken = interrupted;

    interrupted.pc = 0;
    return taken;
}

static int32_t walk(const struct job *job, int way)
{
    const struct smp_walk_target *target = &job->targets[way];

    if (way == BY_JVM) {
        struct smp_jvm_trace trace = { .env = target->env, .frames = job->frames + 1 };
        target->walk(&trace, (int32_t)job->capacity - 1, job->context);
        return trace.count;
    }
    struct smp_walk_answer answer;
    __real_smp_stack_walk(target, job->context, job->frames, job->capacity, &answer);
    return (int32_t)answer.count;
}

static int32_t time_walk(const struct job *job, int way, int32_t *frames)
{
    const int64_t start_ns = smp_clock_ns();

    *frames = walk(job, way);
    return (int32_t)(smp_clock_ns() - start_ns);
}

static void sweep(void)
{
    unsigned sum = 0;

    for (size_t i = 0; i < SWEPT_BYTES; i += LINE_BYTES)
        sum += state.swept[i];
    state.sum = sum;
}

static void measure(const struct job *job, uint32_t turn, int32_t row[COLUMNS])
{
    static _Atomic uint64_t calls;
    int32_t *const times = row + WAYS;

    memset(row, -1, COLUMNS * sizeof(*row));
    times[FOUND * WAYS + (int)(turn % WAYS)] =
        time_walk(job, (int)(turn % WAYS), &row[turn % WAYS]);
    for (uint32_t i = 0; i < WAYS; i++) {
        const int way = (int)((turn + i) % WAYS);
        atomic_store(&calls, 0);
        smp_safe_read_count_calls(&calls);
        (void)walk(job, way);
        smp_safe_read_count_calls(NULL);
        row[CALLS + way] = (int32_t)atomic_load(&calls);
        times[WARM * WAYS + way] = time_walk(job, way, &row[way]);
    }
    for (uint32_t i = 0; i < WAYS; i++) {
        const int way = (int)((turn + i) % WAYS);
        sweep();
        times[SWEPT * WAYS + way] = time_walk(job, way, &row[way]);
    }
}

void __wrap_smp_stack_walk(const struct smp_walk_target *target, ucontext_t *context,
                           struct smp_jvm_frame *frames, uint32_t capacity,
                           struct smp_walk_answer *answer)
{
    if (atomic_load(&state.tid) == 0)
        interrupted_keep(context);
    if (state.is_whole) {
        __real_smp_stack_walk(target, context, frames, capacity, answer);
        state.frames = answer->count;
        return;
    }
    const struct smp_async *const async = smp_async_get();
    if (atomic_load(&state.tid) == gettid() && target->own != NULL && async->walk != NULL &&
        !atomic_exchange(&state.is_busy, true)) {
        struct job job = { .targets = { *target, *target, *target },
                           .uncached = *target->own,
                           .context = context,
                           .frames = frames,
                           .capacity = capacity };
        job.uncached.cache = NULL;
        job.targets[OWN].own = &job.uncached;
        job.targets[BY_JVM].walk = async->walk;
        job.targets[BY_JVM].env = (void *)(target->java_thread + async->layout.env_offset);
        if (state.count < SAMPLES)
            measure(&job, state.turn++, state.rows[state.count++]);
        atomic_store(&state.is_busy, false);
    }
    __real_smp_stack_walk(target, context, frames, capacity, answer);
}

static bool is_bare(const siginfo_t *info)
{
    return info->si_value.sival_ptr == (const void *)&state;
}

static void handle_whole(int number, siginfo_t *info, void *context)
{
    state.frames = 0;
    state.is_whole = true;
    (void)smp_clock_ns(); /* loads the clock's memory into the cache */
    const int64_t start_ns = smp_clock_ns();
    __real_smp_signal_handle(number, info, context);
    const int64_t ns = smp_clock_ns() - start_ns;
    state.is_whole = false;
    if (state.whole_count == SAMPLES || state.frames == 0)
        return;
    state.whole[state.whole_count][0] = (int32_t)state.frames;
    state.whole[state.whole_count++][1] = (int32_t)ns;
}

void __wrap_smp_signal_handle(int number, siginfo_t *info, void *context)
{
    if (is_bare(info))
        return;
    atomic_store(&state.signal, number);
    if (atomic_load(&state.tid) == gettid() && !atomic_load(&state.are_walks_timed))
        handle_whole(number, info, context);
    else
        __real_smp_signal_handle(number, info, context);
}

/* Sends the signal to the calling thread as a request is sent. Number 0: only checks. */
static void send_to_self(int number)
{
    siginfo_t info = { .si_code = SI_TIMER };

    info.si_timerid = smp_signal_request_id();
    info.si_value.sival_ptr = &state;
    (void)syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), number, &info);
}

/* javac writes no header for the tests. */
JNIEXPORT void NATIVE(start)(JNIEnv *env, jclass type);
JNIEXPORT void NATIVE(timeWalks)(JNIEnv *env, jclass type);
JNIEXPORT void NATIVE(bare)(JNIEnv *env, jclass type);
JNIEXPORT jintArray NATIVE(stop)(JNIEnv *env, jclass type);
JNIEXPORT jintArray NATIVE(whole)(JNIEnv *env, jclass type);
JNIEXPORT jintArray NATIVE(bareTimes)(JNIEnv *env, jclass type);

/* Times one signal on the measured thread: its delivery, the handler, its end; without the system
 * call that sends it. */
JNIEXPORT void NATIVE(bare)(JNIEnv *env, jclass type)
{
    const int number = atomic_load(&state.signal);

    (void)env;
    (void)type;
    if (number == 0 || state.bare_count == SAMPLES)
        return;
    send_to_self(0);
    const int64_t start_ns = smp_clock_ns();
    send_to_self(number);
    const int64_t sent_ns = smp_clock_ns();
    send_to_self(0);
    state.bare_ns[state.bare_count++] = (int32_t)(sent_ns - start_ns - (smp_clock_ns() - sent_ns));
}

/* May be called by any thread. */
JNIEXPORT void NATIVE(timeWalks)(JNIEnv *env, jclass type)
{
    (void)env;
    (void)type;
    atomic_store(&state.are_walks_timed, true);
}

/* Measures the calling thread from here on. */
JNIEXPORT void NATIVE(start)(JNIEnv *env, jclass type)
{
    (void)env;
    (void)type;
    memset(state.swept, 1, SWEPT_BYTES); /* otherwise all of it is one page of zeros */
    state.count = state.whole_count = state.bare_count = 0;
    atomic_store(&state.tid, gettid());
}

static jintArray array_of(JNIEnv *env, const int32_t *numbers, size_t count)
{
    jintArray array = (*env)->NewIntArray(env, (jsize)count);

    if (array != NULL)
        (*env)->SetIntArrayRegion(env, array, 0, (jsize)count, numbers);
    return array;
}

/* Returns the rows one after the other. */
JNIEXPORT jintArray NATIVE(stop)(JNIEnv *env, jclass type)
{
    (void)type;
    atomic_store(&state.tid, 0);
    while (atomic_load(&state.is_busy))
        (void)usleep(1000);
    return array_of(env, state.rows[0], state.count * COLUMNS);
}

/* Call it after stop. */
JNIEXPORT jintArray NATIVE(whole)(JNIEnv *env, jclass type)
{
    (void)type;
    return array_of(env, state.whole[0], (size_t)state.whole_count * 2);
}

JNIEXPORT jintArray NATIVE(bareTimes)(JNIEnv *env, jclass type)
{
    (void)type;
    return array_of(env, state.bare_ns, state.bare_count);
}
