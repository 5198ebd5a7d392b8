/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/walk/self_test.h"

#include <jvmti.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "jvm/agent/agent.h"
#include "jvm/threads/threads.h"
#include "jvm/threads/virtual_threads.h"
#include "jvm/walk/signals.h"

enum {
    TEST_FRAMES = 256,  /* frames that are compared */
    WALK_FRAMES = 1536, /* capacity of a walk; our own walk uses half of it for frames */
    HASHED_NUMBERS = 4096,
    REQUEST_PAUSE_NS = 200000
};
#define ANSWER_WAIT_NS 250000000LL
#define TEST_NS 2000000000LL  /* timeout of the test */
#define HASH_NS (2 * TEST_NS) /* the hasher ends after this time even if it is not stopped */

struct walked {
    struct smp_signal_mailbox *mailbox;
    struct smp_jvm_frame frames[WALK_FRAMES];
    struct smp_walk_answer answer;
};

/* Returns SMP_ESTATE without an answer in time. */
static enum smp_status request_walk_of(int signal, int32_t tid,
                                       const struct smp_walk_target *target, struct walked *walked)
{
    uint64_t cookie = 0;
    struct smp_signal_slot *slot = smp_signal_take(&cookie);

    if (slot == NULL)
        return SMP_EQUOTA;
    slot->target = *target;
    slot->mailbox = walked->mailbox;
    slot->frames = walked->frames;
    slot->capacity = WALK_FRAMES;
    const enum smp_status status = smp_signals_request_tid(signal, tid, slot, cookie);
    if (status != SMP_OK)
        return status;
    smp_signals_wait(walked->mailbox, smp_clock_ns() + ANSWER_WAIT_NS);
    if (!smp_signals_end(cookie))
        return SMP_ESTATE;
    walked->answer = slot->answer;
    smp_signal_release(cookie);
    return SMP_OK;
}

/* --------------------------------------------------------------------------- the caller's stack */

/* JVMTI returns all frames of a virtual thread, a walk only those up to its boundary. */
static const char *compare_with_jvmti(const struct walked *walked, const jvmtiFrameInfo *frames,
                                      jint count)
{
    const struct smp_jvm_frame *first = walked->frames + walked->answer.first;
    const uint32_t common =
        walked->answer.count < (uint32_t)count ? walked->answer.count : (uint32_t)count;

    if (walked->answer.answer != SMP_ANSWER_WHOLE)
        return "the stack of a native method is not walked";
    if (walked->answer.count + 1 >= WALK_FRAMES)
        return NULL; /* the stack is deeper than the compared frames */
    for (uint32_t i = 0; i < common; i++) {
        if (first[i].method != NULL &&
            (uint64_t)(uintptr_t)first[i].method == smp_virtual_threads_boundary())
            return NULL;
        if (first[i].method != (void *)frames[i].method)
            return "the stack of a native method comes out wrong";
    }
    return NULL;
}

const char *smp_self_test_native(int signal, const struct smp_walk_target *target)
{
    jvmtiEnv *jvmti = smp_agent_jvmti();
    jvmtiFrameInfo frames[TEST_FRAMES];
    jint count = 0;
    struct walked walked = { .mailbox = smp_signals_take_mailbox() };
    const char *reason = NULL;

    if (walked.mailbox == NULL)
        return "too many samplers";
    /* Comes first, because it creates the ids of the methods. */
    if ((*jvmti)->GetStackTrace(jvmti, NULL, 0, TEST_FRAMES, frames, &count) != JVMTI_ERROR_NONE)
        reason = "JVMTI does not return the caller's stack";
    else if (request_walk_of(signal, smp_thread_own_tid(), target, &walked) != SMP_OK)
        reason = "the signal does not arrive";
    else if (count > 0)
        reason = compare_with_jvmti(&walked, frames, count);
    smp_signals_give_mailbox(walked.mailbox);
    return reason;
}

/* -------------------------------------------------------------- the stack of an internal thread */

/*
 * Hashes an array of numbers repeatedly: a loop in JDK code, interpreted or compiled, that loads
 * no class. Sorting would load lambdas, which takes 4 ms in a new JVM.
 */
struct hasher {
    jclass arrays; /* global reference */
    jmethodID hash;
    _Atomic int32_t tid; /* 0: it has not begun; -1: it has failed */
    _Atomic bool stop;
    struct smp_stack_bounds stack;
};

static void hash_until_stopped(JNIEnv *env, struct hasher *hasher)
{
    jintArray array = (*env)->NewIntArray(env, HASHED_NUMBERS);

    if (array == NULL) {
        hasher->tid = -1;
        return;
    }
    hasher->stack = smp_stack_bounds_own();
    atomic_store(&hasher->tid, smp_thread_own_tid());
    const int64_t end_ns = smp_clock_ns() + HASH_NS;
    while (smp_clock_ns() < end_ns && !atomic_load(&hasher->stop) && !(*env)->ExceptionCheck(env))
        (void)(*env)->CallStaticIntMethod(env, hasher->arrays, hasher->hash, array);
    (*env)->DeleteLocalRef(env, array);
}

static void *run_hasher(void *self)
{
    struct hasher *hasher = self;

    if (smp_agent_attach("threads-sampler-probe") != SMP_OK) {
        hasher->tid = -1;
        return NULL;
    }
    hash_until_stopped(smp_agent_env(), hasher);
    /* No signal is pending, because the requester awaits each answer and then stops this thread. */
    smp_agent_detach();
    return NULL;
}

static bool find_hash_method(JNIEnv *env, struct hasher *hasher)
{
    jclass arrays = (*env)->FindClass(env, "java/util/Arrays");

    if (arrays != NULL) {
        hasher->hash = (*env)->GetStaticMethodID(env, arrays, "hashCode", "([I)I");
        hasher->arrays = (*env)->NewGlobalRef(env, arrays);
        (*env)->DeleteLocalRef(env, arrays);
    }
    if (hasher->hash != NULL && hasher->arrays != NULL)
        return true;
    (*env)->ExceptionClear(env);
    return false;
}

static void sleep_ns(long ns)
{
    const struct timespec pause = { .tv_nsec = ns };

    (void)nanosleep(&pause, NULL);
}

static bool ends_in(const struct walked *walked, jmethodID method)
{
    const struct smp_walk_answer *answer = &walked->answer;

    return answer->count > 0 &&
           walked->frames[answer->first + answer->count - 1].method == (void *)method;
}

/* Repeats, because between two calls, and while one begins, there is no stack to walk. */
static const char *walk_hasher(int signal, struct smp_walk_target target, struct hasher *hasher,
                               struct walked *walked)
{
    const int64_t end_ns = smp_clock_ns() + TEST_NS;
    const char *reason = "the signal does not arrive at other threads";

    while (atomic_load(&hasher->tid) == 0 && smp_clock_ns() < end_ns)
        sleep_ns(REQUEST_PAUSE_NS);
    const int32_t tid = atomic_load(&hasher->tid);
    if (tid <= 0)
        return "no thread to try it with";
    target.java_thread = 0;
    target.stack_low = hasher->stack.low;
    target.stack_high = hasher->stack.high;
    while (smp_clock_ns() < end_ns) {
        const enum smp_status status = request_walk_of(signal, tid, &target, walked);
        if (status != SMP_OK && status != SMP_ESTATE)
            return "the signal cannot be sent to other threads";
        if (status == SMP_OK)
            reason = "the stack of a running method is not walked";
        if (status == SMP_OK && ends_in(walked, hasher->hash))
            return NULL;
        sleep_ns(REQUEST_PAUSE_NS);
    }
    return reason;
}

enum smp_status smp_self_test_java(int signal, const struct smp_walk_target *target, JNIEnv *env,
                                   const char **reason)
{
    struct hasher hasher = { 0 };
    struct walked walked = { .mailbox = smp_signals_take_mailbox() };
    enum smp_status status = SMP_OK;
    pthread_t thread;

    *reason = "no method to try it with";
    if (walked.mailbox == NULL) {
        *reason = "too many samplers";
        return SMP_OK;
    }
    if (find_hash_method(env, &hasher)) {
        status = smp_thread_start(&thread, smp_agent_stack_bytes(), run_hasher, &hasher);
        if (status == SMP_OK) {
            *reason = walk_hasher(signal, *target, &hasher, &walked);
            atomic_store(&hasher.stop, true);
            (void)pthread_join(thread, NULL);
        }
    }
    if (hasher.arrays != NULL)
        (*env)->DeleteGlobalRef(env, hasher.arrays);
    smp_signals_give_mailbox(walked.mailbox);
    return status;
}
