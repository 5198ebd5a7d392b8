/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/calls/hook_class.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/stay_mapped.h"
#include "base/utf8.h"
#include "counting/call_arena.h"
#include "counting/call_layout.h"
#include "counting/call_path.h"
#include "counting/call_pools.h"
#include "counting/call_shared.h"
#include "jvm/agent/jdk.h"
#include "jvm/calls/own_calls.h"
#include "jvm/threads/threads.h"

static struct {
    jclass type;                    /* a global reference; NULL: not open */
    smp_on_reflected *on_reflected; /* set before the hooks can be called */
} hook;

/* In the order of setUp in Java. */
static const jlong layout[] = {
    SMP_CALL_SLOTS - 1,
    sizeof(void *),
    offsetof(struct smp_call_state, tid),
    offsetof(struct smp_call_state, next),
    offsetof(struct smp_call_state, position),
    offsetof(struct smp_call_state, top),
    offsetof(struct smp_call_state, generation),
    offsetof(struct smp_call_state, phase),
    offsetof(struct smp_call_state, is_exact),
    offsetof(struct smp_call_state, is_full),
    offsetof(struct smp_call_node, key),
    offsetof(struct smp_call_node, parent),
    offsetof(struct smp_call_node, child),
    offsetof(struct smp_call_node, next),
    offsetof(struct smp_call_node, count),
    offsetof(struct smp_call_node, time),
    sizeof(struct smp_call_node),
    SMP_CALL_HINT_BYTES,
    SMP_CALL_HINT_SCATTER,
    SMP_CALL_OVERFLOW,
    offsetof(struct smp_call_node, depth),
    SMP_CALL_OVER_NODES,
    SMP_CALL_REFLECTED - 1,
};

enum { LAYOUT_SIZE = sizeof(layout) / sizeof(layout[0]), SAME_LAYOUT = -1, LOCAL_REFS = 8 };
/* Further characters of a virtual thread's name do not choose its group. */
enum { POOL_NAME_CHARS = 120 };

#define SET_UP_SIGNATURE "(L" SMP_HOOK_CLASS ";JJJ[J)I"

static struct smp_call_state *state_of(jlong address)
{
    return (struct smp_call_state *)(uintptr_t)address;
}

/* ---- native methods ---- */

/* For a virtual thread that enters its outermost root. */
static uint32_t pool_of_thread(JNIEnv *env, jstring name)
{
    char modified[3 * POOL_NAME_CHARS + 1] = { 0 };
    char text[3 * POOL_NAME_CHARS + 1];
    jsize length = name == NULL ? 0 : (*env)->GetStringLength(env, name);

    if (length == 0)
        return 0;
    if (length > POOL_NAME_CHARS)
        length = POOL_NAME_CHARS;
    (*env)->GetStringUTFRegion(env, name, 0, length, modified);
    (void)smp_utf8_from_modified(text, sizeof(text), modified, strlen(modified));
    return smp_call_pool_find(text);
}

static void JNICALL hook_enter_root(JNIEnv *env, SMP_UNUSED jobject self, jlong tid,
                                    jboolean is_virtual, jstring name, jint id)
{
    const bool begins = is_virtual != JNI_FALSE && smp_call_begins(tid);

    smp_call_enter_root(tid, is_virtual != JNI_FALSE, begins ? pool_of_thread(env, name) : 0, id);
}

static void JNICALL hook_exit_root(SMP_UNUSED JNIEnv *env, SMP_UNUSED jobject self, jlong state,
                                   jint id)
{
    smp_call_exit_root(state_of(state), id);
}

static void JNICALL hook_enter(SMP_UNUSED JNIEnv *env, SMP_UNUSED jobject self, jlong state,
                               jint id)
{
    smp_call_enter(state_of(state), id);
}

static void JNICALL hook_exit(SMP_UNUSED JNIEnv *env, SMP_UNUSED jobject self, jlong state, jint id)
{
    smp_call_exit(state_of(state), id);
}

static jlong JNICALL hook_child(SMP_UNUSED JNIEnv *env, SMP_UNUSED jobject self, jlong state,
                                jlong at, jint id)
{
    struct smp_call_node *node = (struct smp_call_node *)(uintptr_t)at;

    return (jlong)(uintptr_t)smp_call_child(state_of(state), node, id);
}

static void JNICALL hook_caught(SMP_UNUSED JNIEnv *env, SMP_UNUSED jobject self, jlong state,
                                jint id, jint doubt)
{
    smp_call_caught(state_of(state), id, doubt);
}

static jboolean JNICALL hook_reflected(JNIEnv *env, SMP_UNUSED jobject self, jobject called,
                                       jobject receiver)
{
    return hook.on_reflected(env, called, receiver) ? JNI_TRUE : JNI_FALSE;
}

static bool register_natives(JNIEnv *env, jclass type)
{
    static const JNINativeMethod methods[] = {
        { (char *)"enterRoot0", (char *)"(JZLjava/lang/String;I)V", (void *)hook_enter_root },
        { (char *)"exitRoot0", (char *)"(JI)V", (void *)hook_exit_root },
        { (char *)"enter0", (char *)"(JI)V", (void *)hook_enter },
        { (char *)"exit0", (char *)"(JI)V", (void *)hook_exit },
        { (char *)"child0", (char *)"(JJI)J", (void *)hook_child },
        { (char *)"caught0", (char *)"(JII)V", (void *)hook_caught },
        { (char *)"reflected0", (char *)"(Ljava/lang/Object;Ljava/lang/Object;)Z",
          (void *)hook_reflected },
    };

    return (*env)->RegisterNatives(env, type, methods,
                                   (jint)(sizeof(methods) / sizeof(methods[0]))) == JNI_OK;
}

/* ---- setting up ---- */

static enum smp_status refuse_hook(JNIEnv *env, char reason[SMP_HOOK_REASON_BYTES], const char *why)
{
    (*env)->ExceptionClear(env);
    (void)snprintf(reason, SMP_HOOK_REASON_BYTES, "%s", why);
    return SMP_EUNSUPPORTED;
}

/* Looking up a method initialises the class, which forgets natives that were registered before. */
static enum smp_status create_natives(JNIEnv *env, char reason[SMP_HOOK_REASON_BYTES], jobject *out)
{
    jclass type =
        (*env)->DefineClass(env, SMP_HOOK_NATIVES, NULL, (const jbyte *)smp_hook_natives_bytes,
                            (jsize)smp_hook_natives_size);
    jmethodID init = type == NULL ? NULL : smp_jdk_method(env, type, "<init>", "()V");

    if (init == NULL)
        return refuse_hook(env, reason, "the JVM does not define the hooks' native part");
    if (!register_natives(env, type))
        return refuse_hook(env, reason, "the hooks' native methods are not accepted");
    *out = (*env)->NewObject(env, type, init);
    if (*out != NULL)
        return SMP_OK;
    (*env)->ExceptionClear(env);
    return SMP_ENOMEM;
}

static enum smp_status set_up_hook(JNIEnv *env, jclass type, jobject natives,
                                   char reason[SMP_HOOK_REASON_BYTES])
{
    struct smp_call_shared *const shared = smp_call_arena_share();
    jmethodID set_up = smp_jdk_static_method(env, type, "setUp", SET_UP_SIGNATURE);
    jlongArray numbers = set_up == NULL ? NULL : (*env)->NewLongArray(env, LAYOUT_SIZE);

    if (set_up == NULL)
        return refuse_hook(env, reason, "the hook class has another layout");
    if (numbers == NULL) {
        (*env)->ExceptionClear(env);
        return SMP_ENOMEM;
    }
    (*env)->SetLongArrayRegion(env, numbers, 0, LAYOUT_SIZE, layout);
    const jint different = (*env)->CallStaticIntMethod(
        env, type, set_up, natives, (jlong)(uintptr_t)shared->slots, (jlong)(uintptr_t)shared,
        (jlong)(uintptr_t)shared->reflected, numbers);
    if ((*env)->ExceptionCheck(env) || different != SAME_LAYOUT)
        return refuse_hook(env, reason, "the hook class has another layout");
    return SMP_OK;
}

/* The class is defined, but not set up. */
static enum smp_status connect_hook(JNIEnv *env, jclass type, char reason[SMP_HOOK_REASON_BYTES])
{
    jobject natives = NULL;
    enum smp_status status = SMP_OK;

    if (smp_jdk_static_method(env, type, SMP_HOOK_ENTER, SMP_HOOK_SIGNATURE) == NULL)
        return refuse_hook(env, reason, "the hook class cannot be initialised");
    status = create_natives(env, reason, &natives);
    return status == SMP_OK ? set_up_hook(env, type, natives, reason) : status;
}

static enum smp_status define_hook(JNIEnv *env, char reason[SMP_HOOK_REASON_BYTES], jclass *out)
{
    jclass type = (*env)->DefineClass(
        env, SMP_HOOK_CLASS, NULL, (const jbyte *)smp_hook_class_bytes, (jsize)smp_hook_class_size);

    if (type == NULL)
        return refuse_hook(env, reason, "the JVM does not define the hook class");
    *out = type;
    return connect_hook(env, type, reason);
}

static enum smp_status take_natives(JNIEnv *env, jclass type, char reason[SMP_HOOK_REASON_BYTES])
{
    jfieldID field = smp_jdk_static_field(env, type, "natives", "L" SMP_HOOK_CLASS ";");
    jobject object = field == NULL ? NULL : (*env)->GetStaticObjectField(env, type, field);

    if (object != NULL && register_natives(env, (*env)->GetObjectClass(env, object)))
        return SMP_OK;
    return refuse_hook(env, reason, "the hooks' native methods are not accepted");
}

/* The class comes from another core; or from an archive of classes (CDS, JDK 17) that was written
 * while calls were counted: that one was never set up. */
static enum smp_status adopt_hook(JNIEnv *env, jclass type, char reason[SMP_HOOK_REASON_BYTES])
{
    jfieldID field = smp_jdk_static_field(env, type, "shared", "J");
    const jlong address = field == NULL ? 0 : (*env)->GetStaticLongField(env, type, field);

    if (field != NULL && address == 0)
        return connect_hook(env, type, reason);
    if (field == NULL || !smp_call_arena_adopt((struct smp_call_shared *)(uintptr_t)address))
        return refuse_hook(env, reason, "another version of this library counts in this JVM");
    return SMP_OK;
}

static enum smp_status find_hook(JNIEnv *env, char reason[SMP_HOOK_REASON_BYTES])
{
    jclass type = smp_jdk_class(env, SMP_HOOK_CLASS);
    const enum smp_status status =
        type != NULL ? adopt_hook(env, type, reason) : define_hook(env, reason, &type);

    if (status != SMP_OK)
        return status;
    hook.type = (*env)->NewGlobalRef(env, type);
    return hook.type == NULL ? SMP_ENOMEM : SMP_OK;
}

static uint64_t serial_of_thread(int64_t tid)
{
    uint64_t serial = 0;

    return smp_threads_find(tid, &serial) ? serial : 0;
}

enum smp_status smp_hook_class_open(JNIEnv *env, smp_on_reflected *on_reflected,
                                    char reason[SMP_HOOK_REASON_BYTES])
{
    static const struct smp_call_view view = { .serial_of = serial_of_thread,
                                               .own_method = smp_own_calls_method,
                                               .look = smp_own_calls_look,
                                               .count_calls = smp_own_calls_count };
    enum smp_status status = SMP_OK;

    hook.on_reflected = on_reflected;
    smp_call_set_view(&view);
    if (hook.type != NULL)
        return SMP_OK;
    /* The JVM may unload the library with its class loader, but the class stays. */
    if (!smp_stay_mapped(&hook))
        return refuse_hook(env, reason, "the library cannot be kept in memory");
    if (!smp_local_frame_push(env, LOCAL_REFS))
        return SMP_ENOMEM;
    status = find_hook(env, reason);
    smp_local_frame_pop(env);
    return status;
}

enum smp_status smp_hook_class_take(JNIEnv *env, char reason[SMP_HOOK_REASON_BYTES])
{
    enum smp_status status = SMP_OK;

    if (!smp_local_frame_push(env, LOCAL_REFS))
        return SMP_ENOMEM;
    status = take_natives(env, hook.type, reason);
    smp_local_frame_pop(env);
    return status;
}
