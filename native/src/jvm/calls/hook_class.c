/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/calls/hook_class.h"

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/stay_mapped.h"
#include "base/utf8.h"
#include "counting/call_arena.h"
#include "counting/call_layout.h"
#include "counting/call_path.h"
#include "counting/call_shared.h"
#include "jvm/agent/agent.h"
#include "jvm/agent/jdk.h"
#include "jvm/code/same_method.h"
#include "jvm/threads/threads.h"

static struct {
    jclass type;                    /* a global reference; NULL: not open */
    smp_on_reflected *on_reflected; /* set before any hook can be called */
} hook;

/* In the order that ThreadsSamplerHook.setUp expects. */
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
/* Only these first characters of a virtual thread's name determine its group. */
enum { POOL_NAME_CHARS = 120 };

#define SET_UP_SIGNATURE "(L" SMP_HOOK_CLASS ";JJJ[J)I"

static struct smp_call_state *state_of(jlong address)
{
    return (struct smp_call_state *)(uintptr_t)address;
}

/* ---- native methods ---- */

/* Returns the pool of a virtual thread that enters its outermost root. */
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

/* Looks up a method before it registers the natives: the look-up initialises the class, which
 * discards natives that were registered before. */
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

/* Sets up a class that is defined. */
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

/* The class was defined by another core, or comes from a class archive (CDS, JDK 17) that was
 * dumped while calls were counted. In the second case it was never set up. */
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

/* ---- the calling thread's stack: calls of the method that has called a hook ---- */

/*
 *   the hook's native method ◄─ the hook ◄─ the method ◄─ ... ◄─ the method ◄─ ...      count: 2
 */

enum {
    HOOK_FRAMES = 2,
    KNOWN = 64,
    COUNTED_FRAMES = 16384, /* a deeper stack is not counted */
    CHECKED_FRAMES = 1024   /* innermost frames that find_older_call checks */
};

/* A cache of comparisons with the method's id, which cost much more than a look-up. */
struct known_methods {
    jmethodID own;
    jmethodID ids[KNOWN];
    bool is_same[KNOWN];
};

static bool is_own(struct known_methods *known, jmethodID id)
{
    const size_t place = ((uintptr_t)id >> 3) % KNOWN;

    if (id == known->own)
        return true;
    if (known->ids[place] != id) {
        known->ids[place] = id;
        known->is_same[place] = smp_same_method((uintptr_t)known->own, (uintptr_t)id);
    }
    return known->is_same[place];
}

static int32_t count_same(const jvmtiFrameInfo *frames, jint count)
{
    struct known_methods known = { .own = frames[HOOK_FRAMES].method };
    int32_t calls = 0;

    for (jint i = HOOK_FRAMES; i < count; i++)
        calls += is_own(&known, frames[i].method) ? 1 : 0;
    return calls;
}

/* Counts the active calls of the method that has called the hook; 0: unknown. Never too low, but
 * may be too high, because it includes calls outside of a root and of older versions. */
static int32_t count_own_calls(void)
{
    jvmtiEnv *const jvmti = smp_agent_is_live() ? smp_agent_jvmti() : NULL;
    jvmtiFrameInfo *const frames =
        jvmti == NULL ? NULL : smp_alloc(NULL, COUNTED_FRAMES * sizeof(*frames));
    jint count = 0;
    int32_t calls = 0;

    if (frames == NULL)
        return 0;
    if ((*jvmti)->GetStackTrace(jvmti, NULL, 0, COUNTED_FRAMES, frames, &count) ==
            JVMTI_ERROR_NONE &&
        count > HOOK_FRAMES && count < COUNTED_FRAMES)
        calls = count_same(frames, count);
    smp_free(NULL, frames);
    return calls;
}

enum { NEAR_FRAMES = 8 };

/* State of a walk through the stack. */
struct stack_check {
    jvmtiEnv *jvmti;
    uint64_t caller;   /* 0: the call is an outermost root call */
    uint64_t own;      /* 0: the frame of the method is not reached yet */
    int32_t at;        /* the next frame */
    bool has_replaced; /* a frame runs an obsolete version of its method */
    bool is_over;
    enum smp_older_call seen;
};

static void check_own_frame(struct stack_check *check, jmethodID method)
{
    const uint64_t id = (uint64_t)(uintptr_t)method;
    jboolean is_replaced = JNI_FALSE;

    if (check->own == 0) {
        check->own = id;
        return;
    }
    if (check->caller != 0 && id == check->caller) {
        check->is_over = true;
        return;
    }
    if ((*check->jvmti)->IsMethodObsolete(check->jvmti, method, &is_replaced) != JVMTI_ERROR_NONE ||
        is_replaced == JNI_FALSE)
        return;
    check->has_replaced = true;
    check->is_over = smp_same_method(check->own, id);
    if (check->is_over)
        check->seen = SMP_HAS_OLDER_CALL;
}

/* Returns whether the stack has at least `most` frames. */
static bool check_frames(struct stack_check *check, jvmtiFrameInfo *frames, jint most)
{
    jint count = 0;

    if ((*check->jvmti)->GetStackTrace(check->jvmti, NULL, 0, most, frames, &count) !=
        JVMTI_ERROR_NONE)
        return true;
    for (; check->at < count && !check->is_over; check->at++)
        check_own_frame(check, frames[check->at].method);
    return count == most;
}

static uint64_t own_method(int32_t hook_frames)
{
    jvmtiEnv *const jvmti = smp_agent_is_live() ? smp_agent_jvmti() : NULL;
    jvmtiFrameInfo frames[NEAR_FRAMES];
    jint count = 0;

    if (jvmti == NULL || (*jvmti)->GetStackTrace(jvmti, NULL, 0, hook_frames + 1, frames, &count) !=
                             JVMTI_ERROR_NONE)
        return 0;
    return count > hook_frames ? (uint64_t)(uintptr_t)frames[hook_frames].method : 0;
}

static enum smp_older_call find_older_call(int32_t hook_frames, uint64_t caller)
{
    struct stack_check check = { .jvmti = smp_agent_is_live() ? smp_agent_jvmti() : NULL,
                                 .caller = caller,
                                 .at = hook_frames,
                                 .seen = SMP_MAYBE_OLDER_CALL };
    jvmtiFrameInfo near[NEAR_FRAMES];
    bool has_more = check.jvmti != NULL && check_frames(&check, near, NEAR_FRAMES);

    if (has_more && !check.is_over) {
        jvmtiFrameInfo *const frames = smp_alloc(NULL, CHECKED_FRAMES * sizeof(*frames));
        if (frames != NULL)
            has_more = check_frames(&check, frames, CHECKED_FRAMES);
        smp_free(NULL, frames);
    }
    const bool is_whole = caller != 0 ? check.is_over : check.own != 0 && !has_more;
    return is_whole && !check.has_replaced ? SMP_NO_OLDER_CALL : check.seen;
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
                                               .own_method = own_method,
                                               .find_older = find_older_call,
                                               .count_calls = count_own_calls };
    enum smp_status status = SMP_OK;

    hook.on_reflected = on_reflected;
    smp_call_set_view(&view);
    if (hook.type != NULL)
        return SMP_OK;
    /* The JVM may unload the library with its class loader, but not the hook class. */
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
