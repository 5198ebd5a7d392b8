/* SPDX-License-Identifier: Apache-2.0 */
#include "vm/async_facts.h"

#include <jvmti.h>
#include <stdbool.h>

#include "vm/vm.h"
#include "vm/vm_threads.h"

#define NO_METHOD ((uintptr_t)1) /* no run() that could be asked for; no id is this number */

/* To ask such a class for a method is to wait until it is made. */
static bool is_being_made(jclass owner)
{
    jvmtiEnv *jvmti = smp_vm_jvmti();
    jint status = 0;

    return (*jvmti)->GetClassStatus(jvmti, owner, &status) == JVMTI_ERROR_NONE &&
           (status & (JVMTI_CLASS_STATUS_INITIALIZED | JVMTI_CLASS_STATUS_ERROR)) == 0;
}

/* 0: it cannot be asked for yet. */
static uintptr_t find_run(JNIEnv *env, jobject thread)
{
    uintptr_t run = NO_METHOD;
    jmethodID method = NULL;
    jclass owner = (*env)->GetObjectClass(env, thread);

    if (is_being_made(owner)) {
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

struct smp_walk_target smp_async_facts_target(struct smp_vm_facts *facts,
                                              const struct smp_vm_async *async, JNIEnv *env,
                                              jobject thread)
{
    struct smp_walk_target target = { .walk = async->walk, .layout = async->layout.jvm };

    if (facts->run_method == 0)
        facts->run_method = find_run(env, thread);
    if (facts->java_thread == 0)
        facts->java_thread = smp_vm_threads_address(env, thread);
    target.java_thread = facts->java_thread;
    target.stack_low = facts->stack_low;
    target.stack_high = facts->stack_high;
    target.root = (void *)facts->root; /* NOLINT(performance-no-int-to-ptr) */
    target.no_made_up_registers = async->no_made_up_registers;
    /* The JVMs at hand only look whether there is one; the thread's own is given all the same. */
    target.env = env;
    if (target.java_thread != 0 && async->layout.env_offset != 0)
        target.env = (void *)(target.java_thread + async->layout.env_offset); /* NOLINT */
    return target;
}

static void guess(struct smp_vm_facts *facts, uintptr_t root)
{
    if (facts->root_guess != root) {
        facts->root_guess = root;
        facts->root_guessed = 1;
    } else if (++facts->root_guessed >= SMP_FACTS_ROOT_SURE) {
        facts->root = root;
    }
}

void smp_async_facts_set_root(struct smp_vm_facts *facts, uint64_t root)
{
    facts->root = (uintptr_t)root;
    facts->root_guess = (uintptr_t)root;
    facts->root_guessed = 0;
}

void smp_async_facts_learn_root(struct smp_vm_facts *facts, const struct smp_walk_answer *answer)
{
    const uintptr_t root = (uintptr_t)answer->root;

    if (answer->raw <= 0 || root == 0)
        return;
    if (root == facts->run_method)
        facts->root = root;
    else if (facts->root != facts->run_method)
        guess(facts, root);
}

bool smp_async_facts_knows_stack(const struct smp_vm_facts *facts)
{
    return facts->stack_high != 0;
}
