/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/threads/virtual_threads.h"

#include <stdatomic.h>
#include <stddef.h>

#include "jvm/agent/jdk.h"
#include "jvm/threads/thread_name.h"

enum { MAX_ENTER_FRAMES = 4 /* between the boundary and VirtualThread.run */ };

static struct {
    bool found;
    uint64_t enter_special; /* method keys; 0: there is none */
    uint64_t enter;
    uint64_t enter0;
    uint64_t run_body; /* of the object that calls VirtualThread.run(Runnable) */
    jclass carrier;    /* global references, kept */
    jclass body;
    jfieldID cont;
    jfieldID target;
    jfieldID vthread;
} known;

static _Atomic bool in_use;

static uint64_t method_key(jmethodID method)
{
    return (uint64_t)(uintptr_t)method;
}

static void find_boundary_methods(JNIEnv *env, jclass continuation)
{
    known.enter_special = method_key(smp_jdk_static_method(env, continuation, "enterSpecial",
                                                           "(Ljdk/internal/vm/Continuation;ZZ)V"));
    known.enter = method_key(
        smp_jdk_static_method(env, continuation, "enter", "(Ljdk/internal/vm/Continuation;Z)V"));
    known.enter0 = method_key(smp_jdk_method(env, continuation, "enter0", "()V"));
}

static void find_mount_fields(JNIEnv *env, jclass continuation, jclass thread, jclass body)
{
    known.cont = smp_jdk_field(env, thread, "cont", "Ljdk/internal/vm/Continuation;");
    known.target = smp_jdk_field(env, continuation, "target", "Ljava/lang/Runnable;");
    known.vthread = smp_jdk_field(env, body, "val$vthread", "Ljava/lang/VirtualThread;");
}

bool smp_virtual_threads_init(JNIEnv *env)
{
    if (known.found)
        return true;
    if (!smp_local_frame_push(env, 8))
        return false;
    jclass continuation = smp_jdk_class(env, "jdk/internal/vm/Continuation");
    jclass thread = smp_jdk_class(env, "java/lang/Thread");
    if (continuation != NULL && thread != NULL) {
        jclass body = smp_jdk_class(env, "java/lang/VirtualThread$VThreadContinuation$1");
        jclass carrier = smp_jdk_class(env, "jdk/internal/misc/CarrierThread");
        find_boundary_methods(env, continuation);
        find_mount_fields(env, continuation, thread, body);
        known.run_body = method_key(smp_jdk_method(env, body, "run", "()V"));
        if (carrier != NULL)
            known.carrier = (*env)->NewGlobalRef(env, carrier);
        if (body != NULL)
            known.body = (*env)->NewGlobalRef(env, body);
        known.found = known.enter_special != 0;
    }
    smp_local_frame_pop(env);
    return known.found;
}

static bool is_enter_frame(uint64_t method)
{
    return method == known.enter || method == known.enter0 || method == known.run_body;
}

static bool is_enter_special(const struct smp_frame *frame)
{
    return frame->method == known.enter_special && frame->bci != SMP_BCI_PSEUDO;
}

size_t smp_virtual_threads_count_own(const struct smp_frame *frames, size_t count)
{
    for (size_t i = 0; i < MAX_ENTER_FRAMES && count > 0; i++) {
        if (!is_enter_frame(frames[count - 1].method))
            break;
        count--;
    }
    return count;
}

enum smp_virtual_cut smp_virtual_threads_trim(struct smp_sample *sample)
{
    size_t boundary = 0;

    if (!known.found)
        return SMP_VIRTUAL_NONE;
    while (boundary < sample->count && !is_enter_special(&sample->frames[boundary]))
        boundary++;
    if (boundary == sample->count)
        return SMP_VIRTUAL_NONE;
    const size_t own = smp_virtual_threads_count_own(sample->frames, boundary);
    if (boundary < sample->leaf_count)
        sample->omitted = 0; /* of the carrier's frames */
    if (own < sample->leaf_count)
        sample->leaf_count = own;
    sample->count = own;
    return own < boundary ? SMP_VIRTUAL_WHOLE : SMP_VIRTUAL_CUT;
}

void smp_virtual_threads_trim_root(struct smp_sample *sample)
{
    size_t count = sample->count;

    if (!known.found)
        return;
    if (count > 0 && is_enter_special(&sample->frames[count - 1]))
        count--;
    sample->count = smp_virtual_threads_count_own(sample->frames, count);
    if (sample->leaf_count > sample->count)
        sample->leaf_count = sample->count;
}

struct smp_mounted_thread smp_virtual_threads_describe(JNIEnv *env, jobject ref, char *name,
                                                       size_t size)
{
    struct smp_mounted_thread mounted = { .ref = ref };
    void *seen = NULL;
    bool changed = false;

    if (ref == NULL)
        return mounted;
    const enum smp_status status = smp_jvm_thread_name_read(env, ref, &seen, name, size, &changed);
    if (seen != NULL)
        smp_jvm_thread_name_forget(env, seen);
    if (status == SMP_OK && name[0] != '\0')
        mounted.name = name;
    return mounted;
}

uint64_t smp_virtual_threads_boundary(void)
{
    return known.found ? known.enter_special : 0;
}

bool smp_virtual_threads_is_carrier(JNIEnv *env, jobject thread)
{
    if (known.carrier == NULL || !(*env)->IsInstanceOf(env, thread, known.carrier))
        return false;
    atomic_store_explicit(&in_use, true, memory_order_relaxed);
    return true;
}

bool smp_virtual_threads_in_use(void)
{
    return atomic_load_explicit(&in_use, memory_order_relaxed);
}

jobject smp_virtual_threads_mounted(JNIEnv *env, jobject carrier)
{
    jobject mounted = NULL;
    jobject target = NULL;

    if (known.cont == NULL || known.target == NULL || known.vthread == NULL || known.body == NULL)
        return NULL;
    jobject cont = (*env)->GetObjectField(env, carrier, known.cont);
    if (cont != NULL)
        target = (*env)->GetObjectField(env, cont, known.target);
    if (target != NULL && (*env)->IsInstanceOf(env, target, known.body))
        mounted = (*env)->GetObjectField(env, target, known.vthread);
    (*env)->DeleteLocalRef(env, target);
    (*env)->DeleteLocalRef(env, cont);
    return mounted;
}
