/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/walk/walk_target.h"

#include <jvmti.h>
#include <stdbool.h>
#include <unistd.h>

#include "jvm/agent/agent.h"
#include "jvm/threads/threads.h"

enum { GUARD_PAGES = 4 /* the default: two yellow, one red, one reserved */ };

#define NO_METHOD ((uintptr_t)1) /* the class has no run(); never a valid id */

/* GetMethodID would wait until the class is initialized. */
static bool is_initializing(jclass owner)
{
    jvmtiEnv *jvmti = smp_agent_jvmti();
    jint status = 0;

    return (*jvmti)->GetClassStatus(jvmti, owner, &status) == JVMTI_ERROR_NONE &&
           (status & (JVMTI_CLASS_STATUS_INITIALIZED | JVMTI_CLASS_STATUS_ERROR)) == 0;
}

/* Returns 0 if the class is not initialized yet. */
static uintptr_t find_run_method(JNIEnv *env, jobject thread)
{
    uintptr_t run = NO_METHOD;
    jmethodID method = NULL;
    jclass owner = (*env)->GetObjectClass(env, thread);

    if (is_initializing(owner)) {
        (*env)->DeleteLocalRef(env, owner);
        return 0;
    }
    method = (*env)->GetMethodID(env, owner, "run", "()V");
    if (method != NULL)
        run = (uintptr_t)method;
    else
        (*env)->ExceptionClear(env);
    (*env)->DeleteLocalRef(env, owner);
    return run;
}

void smp_walk_target_learn_stack(struct smp_walk_info *info, const struct smp_jvm_layout *layout)
{
    uintptr_t low = 0;
    uintptr_t high = 0;

    if (info->stack_high != 0 || !smp_thread_layout_stack(layout, info->java_thread, &low, &high))
        return;
    info->stack_low = low;
    info->stack_high = high;
}

static const struct smp_walk_call_source *call_source;

void smp_walk_target_set_calls(const struct smp_walk_call_source *source)
{
    call_source = source;
}

static struct smp_walk_calls calls_of(const struct smp_thread *thread)
{
    struct smp_walk_calls calls = { 0 };

    if (call_source == NULL)
        return calls;
    calls.java_id = smp_threads_java_id(thread);
    calls.state = call_source->state_of(calls.java_id);
    calls.spot_of = call_source->spot_of;
    return calls;
}

/* Passes the thread's own JNIEnv if it is known. Known JVMs only check that it is not NULL. */
static void prepare_jvm_walk(struct smp_walk_target *target, struct smp_walk_info *info,
                             jobject ref, const struct smp_async *async, JNIEnv *env)
{
    if (info->run_method == 0)
        info->run_method = find_run_method(env, ref);
    target->walk = async->walk;
    target->root = (void *)info->root; /* NOLINT(performance-no-int-to-ptr) */
    target->env = env;
    if (target->java_thread != 0 && async->layout.env_offset != 0)
        target->env = (void *)(target->java_thread + async->layout.env_offset); /* NOLINT */
}

struct smp_walk_target smp_walk_target_of(struct smp_thread *thread, const struct smp_async *async,
                                          JNIEnv *env)
{
    struct smp_walk_info *info = smp_threads_walk_info(thread);
    jobject ref = smp_threads_ref(thread);
    struct smp_walk_target target = { .own = smp_async_own_walk(),
                                      .layout = async->layout.jvm,
                                      .ended_ns = &thread->ended_ns,
                                      .was_alive = !smp_gate_is_unsure(&info->gate) };

    if (info->java_thread == 0)
        info->java_thread = smp_threads_address(env, ref);
    target.java_thread = info->java_thread;
    smp_walk_target_learn_stack(info, &target.layout);
    target.stack_low = info->stack_low;
    target.stack_high = info->stack_high;
    target.guard_end = info->stack_low + GUARD_PAGES * (uintptr_t)sysconf(_SC_PAGESIZE);
    target.calls = calls_of(thread);
    if (target.own == NULL)
        prepare_jvm_walk(&target, info, ref, async, env);
    return target;
}

/*
 * Called after a walk with frames. If the thread ended before it was registered, there was no
 * ThreadEnd, and its tid may belong to another thread by now. Its Thread object, which the JVM
 * clears before the OS thread ends, shows whether it is alive.
 */
static void learn_life(struct smp_thread *thread, JNIEnv *env)
{
    struct smp_walk_info *info = smp_threads_walk_info(thread);

    if (env == NULL || info->java_thread == 0 || !smp_gate_is_unsure(&info->gate))
        return;
    if (smp_threads_address(env, smp_threads_ref(thread)) != 0)
        smp_gate_confirm(&info->gate);
    else
        smp_threads_gone(thread);
}

void smp_walk_target_learn(struct smp_thread *thread, JNIEnv *env,
                           const struct smp_walk_answer *answer)
{
    struct smp_walk_info *info = smp_threads_walk_info(thread);
    const uintptr_t root = (uintptr_t)answer->root;

    if (answer->count > 0)
        learn_life(thread, env);
    if (root != 0 && root == info->run_method)
        info->root = root;
}
