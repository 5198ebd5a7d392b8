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
#include "hotspot/method_copy.h"
#include "jvm/agent/agent.h"
#include "jvm/agent/local_frame.h"

enum {
    FRAMES = 256,
    NAMED_FRAMES = 8,  /* of each stack, whose names are compared, too */
    COPY_BYTES = 2048, /* for a method's names and file */
    PAUSE_NS = 50000,
    SLEEPER_BYTES = 64 * 1024 /* of its stack; it uses a few hundred */
};
#define WAIT_MS 10000LL /* the waits end by themselves if they are never interrupted */
#define TEST_NS 2000000000LL
#define STAYS_NS 200000000LL

/* --- one stack, walked by us and by JVMTI --- */

struct stack {
    uintptr_t java_thread;
    uintptr_t low; /* its words in use: from our own frame, or lower, */
    uintptr_t high;
    int32_t state;  /* the expected one */
    jthread thread; /* NULL: the caller */
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

static bool is_same_name(jvmtiEnv *jvmti, jmethodID method, const struct smp_method_names *names)
{
    char *name = NULL;
    char *signature = NULL;
    jclass owner = NULL;
    bool is_same = false;

    if ((*jvmti)->GetMethodName(jvmti, method, &name, NULL, NULL) == JVMTI_ERROR_NONE &&
        (*jvmti)->GetMethodDeclaringClass(jvmti, method, &owner) == JVMTI_ERROR_NONE &&
        (*jvmti)->GetClassSignature(jvmti, owner, &signature, NULL) == JVMTI_ERROR_NONE) {
        const size_t length = strlen(signature);
        /* A hidden class has another last character in its signature than in its name. */
        is_same = strcmp(name, names->name) == 0 &&
                  (strchr(signature, '.') != NULL ||
                   (length >= 2 && strlen(names->class_name) == length - 2 &&
                    memcmp(names->class_name, signature + 1, length - 2) == 0));
    }
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)name);
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
    if (owner != NULL)
        (*smp_agent_env())->DeleteLocalRef(smp_agent_env(), owner);
    return is_same;
}

static bool is_same_file(jvmtiEnv *jvmti, jmethodID method, const struct smp_method_copy *copy)
{
    const char *ours = copy->texts + copy->class_bytes + copy->name_bytes;
    char *file = NULL;
    jclass owner = NULL;
    bool is_same = false;

    if ((*jvmti)->GetMethodDeclaringClass(jvmti, method, &owner) != JVMTI_ERROR_NONE)
        return false;
    const jvmtiError error = (*jvmti)->GetSourceFileName(jvmti, owner, &file);
    if (error == JVMTI_ERROR_NONE)
        is_same = strlen(file) == copy->file_bytes && memcmp(file, ours, copy->file_bytes) == 0;
    else
        is_same = copy->file_bytes == 0 || error != JVMTI_ERROR_ABSENT_INFORMATION;
    (void)(*jvmti)->Deallocate(jvmti, (unsigned char *)file);
    (*smp_agent_env())->DeleteLocalRef(smp_agent_env(), owner);
    return is_same;
}

/* Does the method say that it has none, as a native one must? */
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

static bool is_same_place(const struct smp_layout *layout, jvmtiEnv *jvmti,
                          const struct smp_raw_frame *raw, jmethodID method)
{
    _Alignas(uintptr_t) char room[COPY_BYTES];
    const struct smp_method_copy *copy = (const struct smp_method_copy *)(const void *)room;

    return smp_method_copy(layout, raw->method, raw->bci, room, sizeof(room)) > 0 &&
           is_same_file(jvmti, method, copy) && is_same_line(layout, jvmti, method, raw, copy);
}

/* Longer names are cut. Such methods are not on the internal thread's stacks, but may be on the
 * caller's. */
static bool is_cut(const struct smp_method_names *names)
{
    return strlen(names->class_name) >= SMP_METHOD_NAME_BYTES - 4 ||
           strlen(names->name) >= SMP_METHOD_NAME_BYTES - 4;
}

static const char *compare_frame(const struct smp_layout *layout, jvmtiEnv *jvmti,
                                 const struct smp_frames *ours, const jvmtiFrameInfo *theirs,
                                 size_t i)
{
    struct smp_method_names names;
    const jlong bci = ours->raw[i].bci;

    if (smp_method_id(layout, ours->raw[i].method) != (uint64_t)(uintptr_t)theirs[i].method)
        return "a frame is of another method";
    if (bci != theirs[i].location)
        return "a frame is at another byte code";
    if (i >= NAMED_FRAMES)
        return NULL;
    if (!smp_method_names(layout, ours->raw[i].method, &names))
        return "a method has no names";
    if (is_cut(&names))
        return NULL;
    if (!is_same_name(jvmti, theirs[i].method, &names))
        return "a method has other names";
    return is_same_place(layout, jvmti, &ours->raw[i], theirs[i].method)
               ? NULL
               : "a method has another file or line";
}

/* JVMTI returns all frames of a virtual thread; a walk stops at the frames in the heap. */
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

/* JVMTI comes first, because it makes the ids of the methods. */
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

/* --- a thread that waits --- */

/*
 * The thread waits in one shape after the other: parked; then in the loader, for a lock that we
 * hold, in Java code that native code called. A waiting thread has no other kinds of frames. Each
 * shape makes a first start longer; walk/cross_check.h compares the first real walks as well.
 */
enum shape { IN_LATCH, IN_LOADER, SHAPES };

struct sleeper {
    _Atomic int shape; /* the thread waits in this one, or is about to */
    jobject latch;     /* global references */
    jobject thread;
    jobject unit;
    jclass class_class;
    jobject loader;
    jstring absent; /* a class name that does not exist */
    jobject lock;   /* the loader takes it for that name */
    jmethodID for_name;
    jmethodID await;
    jmethodID interrupt;
    _Atomic int done;      /* the number of shapes that are finished */
    _Atomic uintptr_t env; /* 0: not begun; 1: cannot */
    uintptr_t high;
};

static void wait_in_shape(JNIEnv *env, const struct sleeper *sleeper, enum shape shape)
{
    if (shape == IN_LATCH)
        (void)(*env)->CallBooleanMethod(env, sleeper->latch, sleeper->await, (jlong)WAIT_MS,
                                        sleeper->unit);
    else
        (void)(*env)->CallStaticObjectMethod(env, sleeper->class_class, sleeper->for_name,
                                             sleeper->absent, JNI_TRUE, sleeper->loader);
    (*env)->ExceptionClear(env); /* it was interrupted, or there is no such class */
}

/* An interrupt may end two waits: its own and, by a late signal inside the JVM, the next one. So a
 * wait is repeated until its shape is done. */
static void wait_in_all_shapes(JNIEnv *env, struct sleeper *sleeper)
{
    for (int shape = 0; shape < SHAPES; shape++) {
        atomic_store(&sleeper->shape, shape);
        while (atomic_load(&sleeper->done) <= shape)
            wait_in_shape(env, sleeper, (enum shape)shape);
    }
}

static void *run_sleeper(void *self)
{
    struct sleeper *sleeper = self;
    jthread current = NULL;

    if (smp_agent_attach("threads-sampler-probe") != SMP_OK) {
        atomic_store(&sleeper->env, 1);
        return NULL;
    }
    JNIEnv *env = smp_agent_env();
    jvmtiEnv *jvmti = smp_agent_jvmti();
    if ((*jvmti)->GetCurrentThread(jvmti, &current) == JVMTI_ERROR_NONE)
        sleeper->thread = (*env)->NewGlobalRef(env, current);
    (*env)->DeleteLocalRef(env, current);
    sleeper->high = (uintptr_t)__builtin_frame_address(0);
    atomic_store(&sleeper->env, sleeper->thread != NULL ? (uintptr_t)env : 1);
    if (sleeper->thread != NULL)
        wait_in_all_shapes(env, sleeper);
    smp_agent_detach();
    return NULL;
}

static void pause_a_little(void)
{
    const struct timespec pause = { .tv_nsec = PAUSE_NS };

    (void)nanosleep(&pause, NULL);
}

/* Does JVMTI see the thread waiting? */
static bool is_waiting(jvmtiEnv *jvmti, jthread thread)
{
    jint state = 0;

    return (*jvmti)->GetThreadState(jvmti, thread, &state) == JVMTI_ERROR_NONE &&
           (state & (JVMTI_THREAD_STATE_WAITING | JVMTI_THREAD_STATE_SLEEPING |
                     JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER)) != 0;
}

/* Waits until the thread waits in this shape. False: too late. */
static bool await_shape(jvmtiEnv *jvmti, struct sleeper *sleeper, enum shape shape)
{
    const int64_t end_ns = smp_clock_ns() + TEST_NS;

    while (smp_clock_ns() < end_ns && atomic_load(&sleeper->env) == 0)
        pause_a_little();
    if (atomic_load(&sleeper->env) <= 1)
        return false;
    while (smp_clock_ns() < end_ns) {
        if (atomic_load(&sleeper->shape) == (int)shape && is_waiting(jvmti, sleeper->thread))
            return true;
        pause_a_little();
    }
    return false;
}

/* A thread is reported as waiting shortly before it is, so only a difference that stays counts. */
static enum smp_status check_shape(const struct smp_layout *layout,
                                   const struct smp_check_caller *caller, struct sleeper *sleeper,
                                   enum shape shape, const char **reason)
{
    const int64_t end_ns = smp_clock_ns() + STAYS_NS;

    if (!await_shape(caller->jvmti, sleeper, shape))
        return SMP_ESTATE;
    const uintptr_t env_offset = (uintptr_t)caller->env - caller->java_thread;
    const struct stack stack = { .java_thread = atomic_load(&sleeper->env) - env_offset,
                                 .low = sleeper->high - SLEEPER_BYTES,
                                 .high = sleeper->high,
                                 .state = layout->states.blocked,
                                 .thread = sleeper->thread };
    do {
        *reason = check_stack(layout, caller->jvmti, &stack);
        if (*reason != NULL)
            pause_a_little();
    } while (*reason != NULL && smp_clock_ns() < end_ns);
    return SMP_OK;
}

static void interrupt_sleeper(JNIEnv *env, const struct sleeper *sleeper)
{
    (*env)->CallVoidMethod(env, sleeper->thread, sleeper->interrupt);
    (*env)->ExceptionClear(env);
}

static enum smp_status check_all_shapes(const struct smp_layout *layout,
                                        const struct smp_check_caller *caller,
                                        struct sleeper *sleeper, const char **reason)
{
    enum smp_status status = SMP_OK;

    for (int shape = 0; shape < SHAPES; shape++) {
        status = check_shape(layout, caller, sleeper, (enum shape)shape, reason);
        if (status != SMP_OK || *reason != NULL || shape == IN_LOADER)
            break;
        atomic_store(&sleeper->done, shape + 1);
        interrupt_sleeper(caller->env, sleeper);
    }
    return status;
}

/* Ends the thread, whatever it waits for. */
static void end_sleeper(JNIEnv *env, struct sleeper *sleeper, pthread_t thread)
{
    while (atomic_load(&sleeper->env) == 0)
        pause_a_little();
    if (atomic_load(&sleeper->env) > 1)
        interrupt_sleeper(env, sleeper);
    (void)pthread_join(thread, NULL);
    if (sleeper->thread != NULL)
        (*env)->DeleteGlobalRef(env, sleeper->thread);
}

static bool find_methods(JNIEnv *env, struct sleeper *sleeper, jclass latch, jclass threads)
{
    jmethodID create = (*env)->GetMethodID(env, latch, "<init>", "(I)V");

    if (create == NULL)
        return false;
    sleeper->latch = (*env)->NewObject(env, latch, create, 1);
    return sleeper->latch != NULL &&
           (sleeper->await = (*env)->GetMethodID(env, latch, "await",
                                                 "(JLjava/util/concurrent/TimeUnit;)Z")) != NULL &&
           (sleeper->interrupt = (*env)->GetMethodID(env, threads, "interrupt", "()V")) != NULL;
}

/*
 * The loader takes the lock of a name before it searches for the class. While we hold that lock, a
 * thread that asks for the class waits in the loader, which the JVM has called.
 */
static bool find_loader(JNIEnv *env, struct sleeper *sleeper)
{
    jclass loaders = (*env)->FindClass(env, "java/lang/ClassLoader");
    jmethodID platform = NULL;
    jmethodID lock = NULL;

    if (loaders == NULL ||
        (sleeper->class_class = (*env)->FindClass(env, "java/lang/Class")) == NULL)
        return false;
    platform = (*env)->GetStaticMethodID(env, loaders, "getPlatformClassLoader",
                                         "()Ljava/lang/ClassLoader;");
    if (platform == NULL ||
        (lock = (*env)->GetMethodID(env, loaders, "getClassLoadingLock",
                                    "(Ljava/lang/String;)Ljava/lang/Object;")) == NULL ||
        (sleeper->for_name = (*env)->GetStaticMethodID(
             env, sleeper->class_class, "forName",
             "(Ljava/lang/String;ZLjava/lang/ClassLoader;)Ljava/lang/Class;")) == NULL ||
        (sleeper->absent = (*env)->NewStringUTF(env, "com.incapsula.sampler.Absent")) == NULL)
        return false;
    sleeper->loader = (*env)->CallStaticObjectMethod(env, loaders, platform);
    if ((*env)->ExceptionCheck(env) || sleeper->loader == NULL)
        return false;
    sleeper->lock = (*env)->CallObjectMethod(env, sleeper->loader, lock, sleeper->absent);
    return !(*env)->ExceptionCheck(env) && sleeper->lock != NULL;
}

static bool find_shapes(JNIEnv *env, struct sleeper *sleeper)
{
    jclass latch = (*env)->FindClass(env, "java/util/concurrent/CountDownLatch");
    jclass threads = latch == NULL ? NULL : (*env)->FindClass(env, "java/lang/Thread");
    jclass units = threads == NULL ? NULL : (*env)->FindClass(env, "java/util/concurrent/TimeUnit");
    jfieldID unit = units == NULL ? NULL
                                  : (*env)->GetStaticFieldID(env, units, "MILLISECONDS",
                                                             "Ljava/util/concurrent/TimeUnit;");

    if (unit == NULL)
        return false;
    sleeper->unit = (*env)->GetStaticObjectField(env, units, unit);
    return sleeper->unit != NULL && find_methods(env, sleeper, latch, threads) &&
           find_loader(env, sleeper);
}

enum { SHARED = 5 };

static void list_shared(struct sleeper *sleeper, jobject *out[SHARED])
{
    out[0] = &sleeper->latch;
    out[1] = &sleeper->unit;
    out[2] = (jobject *)&sleeper->class_class;
    out[3] = &sleeper->loader;
    out[4] = (jobject *)&sleeper->absent;
}

/* Makes the references global, so that another thread may use them. */
static bool share_references(JNIEnv *env, struct sleeper *sleeper)
{
    jobject *shared[SHARED];
    bool all = true;

    list_shared(sleeper, shared);
    for (size_t i = 0; i < SHARED; i++) {
        *shared[i] = (*env)->NewGlobalRef(env, *shared[i]);
        all = all && *shared[i] != NULL;
    }
    return all;
}

static void end_sharing(JNIEnv *env, struct sleeper *sleeper)
{
    jobject *shared[SHARED];

    list_shared(sleeper, shared);
    for (size_t i = 0; i < SHARED; i++)
        (*env)->DeleteGlobalRef(env, *shared[i]);
}

static enum smp_status run_shapes(const struct smp_layout *layout,
                                  const struct smp_check_caller *caller, struct sleeper *sleeper,
                                  const char **reason)
{
    JNIEnv *env = caller->env;
    pthread_t thread;

    if ((*env)->MonitorEnter(env, sleeper->lock) != JNI_OK)
        return SMP_ESTATE;
    enum smp_status status =
        smp_thread_start(&thread, smp_agent_stack_bytes(), run_sleeper, sleeper);
    if (status != SMP_OK) {
        (void)(*env)->MonitorExit(env, sleeper->lock);
        return status;
    }
    status = check_all_shapes(layout, caller, sleeper, reason);
    atomic_store(&sleeper->done, SHAPES);
    (void)(*env)->MonitorExit(env, sleeper->lock);
    end_sleeper(env, sleeper, thread);
    return status;
}

static enum smp_status check_shapes(const struct smp_layout *layout,
                                    const struct smp_check_caller *caller, const char **reason)
{
    struct sleeper sleeper = { 0 };
    enum smp_status status = SMP_ESTATE;

    if (!find_shapes(caller->env, &sleeper)) {
        (*caller->env)->ExceptionClear(caller->env);
        return SMP_ESTATE;
    }
    if (share_references(caller->env, &sleeper))
        status = run_shapes(layout, caller, &sleeper, reason);
    end_sharing(caller->env, &sleeper);
    return status;
}

/* Only the order of the states is known of those that no thread is in while it is read here. */
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
        status = check_shapes(layout, caller, reason);
    smp_local_frame_pop(caller->env);
    return status;
}
