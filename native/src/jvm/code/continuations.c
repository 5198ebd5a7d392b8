/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/code/continuations.h"

#include <stddef.h>
#include <stdio.h>

#include "jvm/agent/jdk.h"

struct unsafe {
    JNIEnv *env;
    jobject object;
    jmethodID offset;
};

static bool has_thrown(JNIEnv *env)
{
    const bool thrown = (*env)->ExceptionCheck(env);

    if (thrown)
        (*env)->ExceptionClear(env);
    return thrown;
}

static bool open_unsafe(JNIEnv *env, struct unsafe *unsafe)
{
    jclass owner = smp_jdk_class(env, "jdk/internal/misc/Unsafe");
    jmethodID get = smp_jdk_static_method(env, owner, "getUnsafe", "()Ljdk/internal/misc/Unsafe;");

    unsafe->env = env;
    unsafe->offset =
        smp_jdk_method(env, owner, "objectFieldOffset", "(Ljava/lang/Class;Ljava/lang/String;)J");
    if (get == NULL || unsafe->offset == NULL)
        return false;
    unsafe->object = (*env)->CallStaticObjectMethod(env, owner, get);
    return !has_thrown(env) && unsafe->object != NULL;
}

static bool find_offset(const struct unsafe *unsafe, jclass owner, const char *field, uint32_t *out)
{
    JNIEnv *env = unsafe->env;
    jstring name = smp_jdk_found(env, (*env)->NewStringUTF(env, field));
    jlong offset = 0;

    if (name == NULL)
        return false;
    offset = (*env)->CallLongMethod(env, unsafe->object, unsafe->offset, owner, name);
    const bool is_missing = has_thrown(env);
    (*env)->DeleteLocalRef(env, name);
    if (is_missing)
        return false;
    *out = (uint32_t)offset;
    return offset > 0 && offset < SMP_CHUNKS_MAX_HEADER;
}

static bool find_offsets(JNIEnv *env, jclass continuation, jclass chunk, struct smp_chunks *out)
{
    struct unsafe unsafe;

    if (!open_unsafe(env, &unsafe) || !find_offset(&unsafe, continuation, "tail", &out->tail) ||
        !find_offset(&unsafe, chunk, "parent", &out->parent) ||
        !find_offset(&unsafe, chunk, "size", &out->size) ||
        !find_offset(&unsafe, chunk, "sp", &out->sp))
        return false;
    out->is_bottom_from_end = !find_offset(&unsafe, chunk, "bottom", &out->bottom);
    return !out->is_bottom_from_end || find_offset(&unsafe, chunk, "argsize", &out->bottom);
}

static uint64_t id_of(jmethodID method)
{
    return (uint64_t)(uintptr_t)method;
}

static bool refuse_heap(char reason[SMP_CHUNKS_REASON_BYTES], const char *text)
{
    (void)snprintf(reason, SMP_CHUNKS_REASON_BYTES, "%s", text);
    return false;
}

static bool find_classes(const struct smp_layout *layout, JNIEnv *env, struct smp_chunks *out,
                         char reason[SMP_CHUNKS_REASON_BYTES])
{
    jclass continuation = smp_jdk_class(env, "jdk/internal/vm/Continuation");
    jclass chunk = smp_jdk_class(env, "jdk/internal/vm/StackChunk");

    if (continuation == NULL || chunk == NULL)
        return refuse_heap(reason, "no class jdk.internal.vm.StackChunk");
    if (!find_offsets(env, continuation, chunk, out))
        return refuse_heap(reason, "no offsets of the fields of a StackChunk");
    /* A local reference is the address of a word that refers to the object. */
    if (!smp_chunks_find_frames(layout, (uintptr_t)chunk, out))
        return refuse_heap(reason, "no offset of the frames in a StackChunk");
    out->yields[0] = id_of(smp_jdk_static_method(env, continuation, "doYield", "()I"));
    out->yields[1] = id_of(
        smp_jdk_method(env, continuation, "yield0",
                       "(Ljdk/internal/vm/ContinuationScope;Ljdk/internal/vm/Continuation;)Z"));
    return (out->yields[0] != 0 && out->yields[1] != 0) ||
           refuse_heap(reason, "no methods Continuation.doYield and yield0");
}

bool smp_continuations_find(const struct smp_layout *layout, JNIEnv *env, struct smp_chunks *out,
                            char reason[SMP_CHUNKS_REASON_BYTES])
{
    enum { REFERENCES = 16 };
    bool is_found = false;

    *out = (struct smp_chunks){ 0 };
    reason[0] = '\0';
    if (layout->version < SMP_CHUNKS_FIRST_VERSION)
        return refuse_heap(reason, "this JDK has no virtual threads");
    if (!smp_chunks_find_references(NULL, out, reason))
        return false;
    if (!smp_local_frame_push(env, REFERENCES))
        return refuse_heap(reason, "no memory");
    is_found = find_classes(layout, env, out, reason);
    smp_local_frame_pop(env);
    return is_found;
}
