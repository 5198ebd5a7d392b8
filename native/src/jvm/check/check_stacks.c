/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/check/check_stacks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/safe_read.h"
#include "base/thread.h"
#include "hotspot/frames.h"
#include "hotspot/method.h"
#include "jvm/agent/agent.h"
#include "jvm/agent/jdk.h"

enum {
    FRAMES = 256,
    NAMED_FRAMES = 8,        /* frames of each stack whose names are also compared */
    COPY_BYTES = 200 * 1024, /* the longest names of class, method and file */
    PAUSE_NS = 50000,
    WAITER_BYTES = 64 * 1024 /* walked part of the thread's stack; it uses a few hundred */
};
#define TEST_NS 2000000000LL
#define STAYS_NS 200000000LL

/* --- one stack, walked by us and by JVMTI --- */

struct stack {
    uintptr_t java_thread;
    uintptr_t low; /* the used part of the stack begins here or higher */
    uintptr_t high;
    int32_t state;  /* the expected one */
    jthread thread; /* NULL: the calling thread */
};

static const char *read_start(const struct smp_layout *layout, const struct stack *stack,
                              struct smp_frames_start *out)
{
    const uintptr_t anchor = stack->java_thread + layout->thread.anchor;
    int32_t state = 0;

    if (!smp_safe_read(&state, stack->java_thread + layout->thread.state, sizeof(state)) ||
        !smp_safe_read(&out->sp, anchor + layout->anchor.sp, sizeof(out->sp)) ||
        !smp_safe_read(&out->pc, anchor + layout->anchor.pc, sizeof(out->pc)) ||
        !smp_safe_read(&out->fp, anchor + layout->anchor.fp, sizeof(out->fp)))
        return "a thread's last Java frame cannot be read";
    if (state != stack->state)
        return "a thread is in another state";
    if (out->sp <= stack->low || out->sp >= stack->high || out->sp % sizeof(uintptr_t) != 0)
        return "a thread's last Java frame is not on its stack";
    return NULL;
}

static bool is_text(const char *ours, size_t length, const char *theirs)
{
    return strlen(theirs) == length && memcmp(ours, theirs, length) == 0;
}

static bool is_same_name(jvmtiEnv *jvmti, jmethodID method, jclass owner,
                         const struct smp_method_copy *copy)
{
    char *name = NULL;
    char *signature = NULL;
    bool is_same = false;

    if ((*jvmti)->GetMethodName(jvmti, method, &name, NULL, NULL) == JVMTI_ERROR_NONE &&
        (*jvmti)->GetClassSignature(jvmti, owner, &signature, NULL) == JVMTI_ERROR_NONE) {
        /* A hidden class has a dot in its signature, and another character in its name. */
        is_same = is_text(copy->texts + copy->class_bytes, copy->name_bytes, name) &&
                  (strchr(signature, '.') != NULL ||
                   (strlen(signature) == copy->class_bytes + 2U &&
                    memcmp(copy->texts, signature + 1, copy->class_bytes) == 0));
    }
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)name);
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
    return is_same;
}

static bool is_same_file(jvmtiEnv *jvmti, jclass owner, const struct smp_method_copy *copy)
{
    const char *ours = copy->texts + copy->class_bytes + copy->name_bytes;
    char *file = NULL;
    bool is_same = false;
    const jvmtiError error = (*jvmti)->GetSourceFileName(jvmti, owner, &file);

    if (error == JVMTI_ERROR_NONE)
        is_same = is_text(ours, copy->file_bytes, file);
    else
        is_same = copy->file_bytes == 0 || error != JVMTI_ERROR_ABSENT_INFORMATION;
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)file);
    return is_same;
}

/* Returns whether the method has no line table, as is right for a native method. */
static bool has_no_lines(const struct smp_layout *layout, uintptr_t method)
{
    struct smp_method_code code;

    return smp_method_code(layout, method, &code) && !code.has_lines;
}

static bool is_same_line(const struct smp_layout *layout, jvmtiEnv *jvmti, jmethodID method,
                         const struct smp_raw_frame *raw, const struct smp_method_copy *copy)
{
    jint count = 0;
    jint line = 0;
    jlong best = -1;
    jvmtiLineNumberEntry *lines = NULL;
    const jvmtiError error = (*jvmti)->GetLineNumberTable(jvmti, method, &count, &lines);

    for (jint i = 0; error == JVMTI_ERROR_NONE && i < count; i++) {
        if (lines[i].start_location <= raw->bci && lines[i].start_location >= best) {
            best = lines[i].start_location;
            line = lines[i].line_number;
        }
    }
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)(void *)lines);
    if (error == JVMTI_ERROR_NONE)
        return copy->line == line;
    return (error != JVMTI_ERROR_ABSENT_INFORMATION && error != JVMTI_ERROR_NATIVE_METHOD) ||
           (copy->line == 0 && has_no_lines(layout, raw->method));
}

/* Compares the names and the line that a report would show. */
static const char *compare_shown(const struct smp_layout *layout, jvmtiEnv *jvmti,
                                 const struct smp_raw_frame *raw, jmethodID method)
{
    static _Alignas(uintptr_t) char room[COPY_BYTES]; /* prove runs one at a time */
    const struct smp_method_copy *copy = (const struct smp_method_copy *)(const void *)room;
    const char *reason = NULL;
    jclass owner = NULL;

    if (smp_method_copy(layout, raw->method, raw->bci, room, sizeof(room)) == 0)
        return "a method has no names";
    if ((*jvmti)->GetMethodDeclaringClass(jvmti, method, &owner) != JVMTI_ERROR_NONE ||
        !is_same_name(jvmti, method, owner, copy))
        reason = "a method has other names";
    else if (!is_same_file(jvmti, owner, copy) || !is_same_line(layout, jvmti, method, raw, copy))
        reason = "a method has another file or line";
    if (owner != NULL)
        (*smp_agent_env())->DeleteLocalRef(smp_agent_env(), owner);
    return reason;
}

static const char *compare_frame(const struct smp_layout *layout, jvmtiEnv *jvmti,
                                 const struct smp_frames *ours, const jvmtiFrameInfo *theirs,
                                 size_t i)
{
    const jlong bci = ours->raw[i].bci;

    if (smp_method_id(layout, ours->raw[i].method) != (uint64_t)(uintptr_t)theirs[i].method)
        return "a frame is of another method";
    if (bci != theirs[i].location)
        return "a frame is at another byte code";
    return i < NAMED_FRAMES ? compare_shown(layout, jvmti, &ours->raw[i], theirs[i].method) : NULL;
}

/* JVMTI may return more frames: those of a virtual thread that are in the heap. */
static const char *compare_stacks(const struct smp_layout *layout, jvmtiEnv *jvmti,
                                  const struct smp_frames *ours, const jvmtiFrameInfo *theirs,
                                  size_t count)
{
    const bool is_part = ours->end == SMP_FRAMES_VIRTUAL_ROOT || ours->end == SMP_FRAMES_BARRIER ||
                         ours->end == SMP_FRAMES_FULL;
    const size_t common = ours->count < count ? ours->count : count;
    const char *reason = NULL;

    if (!is_part && ours->end != SMP_FRAMES_ROOT)
        return "a stack is not walked to its root";
    if (!is_part && ours->count + ours->omitted != count && count < FRAMES)
        return "a stack has another depth";
    for (size_t i = 0; reason == NULL && i < common && i < ours->leaf_count; i++)
        reason = compare_frame(layout, jvmti, ours, theirs, i);
    return reason;
}

/* Calls JVMTI first, because that creates the ids of the methods. */
static const char *check_stack(const struct smp_layout *layout, jvmtiEnv *jvmti,
                               const struct stack *stack)
{
    struct smp_raw_frame raw[FRAMES];
    uint64_t ids[FRAMES];
    jvmtiFrameInfo theirs[FRAMES];
    struct smp_frames ours = { .raw = raw, .ids = ids, .capacity = FRAMES };
    struct smp_frames_start start = { 0 };
    jint count = 0;

    if ((*jvmti)->GetStackTrace(jvmti, stack->thread, 0, FRAMES, theirs, &count) !=
            JVMTI_ERROR_NONE ||
        count <= 0)
        return "JVMTI returns no stack";
    const char *reason = read_start(layout, stack, &start);
    if (reason != NULL)
        return reason;
    smp_frames_walk(layout, NULL, start, stack->high, &ours);
    return compare_stacks(layout, jvmti, &ours, theirs, (size_t)count);
}

/* --- a thread that waits in a class loader --- */

/*
 * An internal thread looks up a class while the caller holds the loader's lock for that class
 * name. It waits in Java code that was called from native code, which Java code has called, so the
 * walk must cross two entry frames. The caller's own stack cannot test this: it ends at an entry
 * frame whose anchor is empty, so a wrong offset of the anchor would not be noticed.
 */
struct waiter {
    jclass class_class; /* class_class, loader and absent are global references */
    jobject loader;
    jstring absent; /* a class name that does not exist */
    jobject lock;   /* the loader's lock for that name */
    jobject thread; /* a global reference, made by the thread */
    jmethodID for_name;
    _Atomic uintptr_t env; /* 0: the thread has not begun; 1: it has failed */
    uintptr_t high;
};

static void *run_waiter(void *self)
{
    struct waiter *waiter = self;
    jthread current = NULL;

    if (smp_agent_attach("threads-sampler-probe") != SMP_OK) {
        atomic_store(&waiter->env, 1);
        return NULL;
    }
    JNIEnv *env = smp_agent_env();
    jvmtiEnv *jvmti = smp_agent_jvmti();
    if ((*jvmti)->GetCurrentThread(jvmti, &current) == JVMTI_ERROR_NONE)
        waiter->thread = (*env)->NewGlobalRef(env, current);
    (*env)->DeleteLocalRef(env, current);
    waiter->high = (uintptr_t)__builtin_frame_address(0);
    atomic_store(&waiter->env, waiter->thread != NULL ? (uintptr_t)env : 1);
    if (waiter->thread != NULL)
        (void)(*env)->CallStaticObjectMethod(env, waiter->class_class, waiter->for_name,
                                             waiter->absent, JNI_TRUE, waiter->loader);
    (*env)->ExceptionClear(env); /* of the absent class */
    smp_agent_detach();
    return NULL;
}

static void pause_a_little(void)
{
    const struct timespec pause = { .tv_nsec = PAUSE_NS };

    (void)nanosleep(&pause, NULL);
}

/* Returns whether JVMTI sees the thread waiting for a lock. */
static bool is_waiting(jvmtiEnv *jvmti, jthread thread)
{
    jint state = 0;

    return (*jvmti)->GetThreadState(jvmti, thread, &state) == JVMTI_ERROR_NONE &&
           (state & JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER) != 0;
}

/* Returns false if the thread has failed or does not wait in time. */
static bool await_waiter(jvmtiEnv *jvmti, struct waiter *waiter)
{
    const int64_t end_ns = smp_clock_ns() + TEST_NS;

    while (smp_clock_ns() < end_ns && atomic_load(&waiter->env) == 0)
        pause_a_little();
    if (atomic_load(&waiter->env) <= 1)
        return false;
    while (smp_clock_ns() < end_ns) {
        if (is_waiting(jvmti, waiter->thread))
            return true;
        pause_a_little();
    }
    return false;
}

/* Only a lasting difference counts: JVMTI reports a thread as waiting shortly before it waits. */
static enum smp_status check_waiter(const struct smp_layout *layout,
                                    const struct smp_check_caller *caller, struct waiter *waiter,
                                    const char **reason)
{
    const int64_t end_ns = smp_clock_ns() + STAYS_NS;

    if (!await_waiter(caller->jvmti, waiter))
        return SMP_ESTATE;
    const uintptr_t env_offset = (uintptr_t)caller->env - caller->java_thread;
    const struct stack stack = { .java_thread = atomic_load(&waiter->env) - env_offset,
                                 .low = waiter->high - WAITER_BYTES,
                                 .high = waiter->high,
                                 .state = layout->states.blocked,
                                 .thread = waiter->thread };
    do {
        *reason = check_stack(layout, caller->jvmti, &stack);
        if (*reason != NULL)
            pause_a_little();
    } while (*reason != NULL && smp_clock_ns() < end_ns);
    return SMP_OK;
}

static bool find_loader(JNIEnv *env, struct waiter *waiter)
{
    jclass loaders = (*env)->FindClass(env, "java/lang/ClassLoader");
    jmethodID platform = NULL;
    jmethodID lock = NULL;

    if (loaders == NULL ||
        (waiter->class_class = (*env)->FindClass(env, "java/lang/Class")) == NULL)
        return false;
    platform = (*env)->GetStaticMethodID(env, loaders, "getPlatformClassLoader",
                                         "()Ljava/lang/ClassLoader;");
    if (platform == NULL ||
        (lock = (*env)->GetMethodID(env, loaders, "getClassLoadingLock",
                                    "(Ljava/lang/String;)Ljava/lang/Object;")) == NULL ||
        (waiter->for_name = (*env)->GetStaticMethodID(
             env, waiter->class_class, "forName",
             "(Ljava/lang/String;ZLjava/lang/ClassLoader;)Ljava/lang/Class;")) == NULL ||
        (waiter->absent = (*env)->NewStringUTF(env, "com.incapsula.sampler.Absent")) == NULL)
        return false;
    waiter->loader = (*env)->CallStaticObjectMethod(env, loaders, platform);
    if ((*env)->ExceptionCheck(env) || waiter->loader == NULL)
        return false;
    waiter->lock = (*env)->CallObjectMethod(env, waiter->loader, lock, waiter->absent);
    return !(*env)->ExceptionCheck(env) && waiter->lock != NULL;
}

/* Makes the references global, so that another thread may use them. */
static bool share_references(JNIEnv *env, struct waiter *waiter)
{
    waiter->class_class = (*env)->NewGlobalRef(env, waiter->class_class);
    waiter->loader = (*env)->NewGlobalRef(env, waiter->loader);
    waiter->absent = (*env)->NewGlobalRef(env, waiter->absent);
    return waiter->class_class != NULL && waiter->loader != NULL && waiter->absent != NULL;
}

static void end_sharing(JNIEnv *env, const struct waiter *waiter)
{
    (*env)->DeleteGlobalRef(env, waiter->class_class);
    (*env)->DeleteGlobalRef(env, waiter->loader);
    (*env)->DeleteGlobalRef(env, waiter->absent);
    (*env)->DeleteGlobalRef(env, waiter->thread);
}

static enum smp_status run_check(const struct smp_layout *layout,
                                 const struct smp_check_caller *caller, struct waiter *waiter,
                                 const char **reason)
{
    JNIEnv *env = caller->env;
    pthread_t thread;

    if ((*env)->MonitorEnter(env, waiter->lock) != JNI_OK)
        return SMP_ESTATE;
    enum smp_status status = smp_thread_start(&thread, smp_agent_stack_bytes(), run_waiter, waiter);
    const bool is_started = status == SMP_OK;
    if (is_started)
        status = check_waiter(layout, caller, waiter, reason);
    (void)(*env)->MonitorExit(env, waiter->lock);
    if (is_started)
        (void)pthread_join(thread, NULL);
    return status;
}

static enum smp_status check_loader_stack(const struct smp_layout *layout,
                                          const struct smp_check_caller *caller,
                                          const char **reason)
{
    struct waiter waiter = { 0 };
    enum smp_status status = SMP_ESTATE;

    if (!find_loader(caller->env, &waiter)) {
        (*caller->env)->ExceptionClear(caller->env);
        return SMP_ESTATE;
    }
    if (share_references(caller->env, &waiter))
        status = run_check(layout, caller, &waiter, reason);
    end_sharing(caller->env, &waiter);
    return status;
}

/* The checks above see two of the states. The others are checked only for their order. */
static bool are_states_sane(const struct smp_layout *layout)
{
    const int32_t step = layout->states.in_vm - layout->states.in_native;

    return step > 0 && layout->states.in_java - layout->states.in_vm == step &&
           layout->states.blocked - layout->states.in_java == step;
}

enum smp_status smp_check_stacks(const struct smp_layout *layout,
                                 const struct smp_check_caller *caller, const char **reason)
{
    enum { REFS = 16 };
    const struct stack own = { .java_thread = caller->java_thread,
                               .low = (uintptr_t)__builtin_frame_address(0),
                               .high = caller->stack_high,
                               .state = layout->states.in_native };
    enum smp_status status = SMP_OK;

    *reason = NULL;
    if (!smp_local_frame_push(caller->env, REFS))
        return SMP_ENOMEM;
    *reason = are_states_sane(layout) ? check_stack(layout, caller->jvmti, &own)
                                      : "the states of threads are numbered otherwise";
    if (*reason == NULL)
        status = check_loader_stack(layout, caller, reason);
    smp_local_frame_pop(caller->env);
    return status;
}
