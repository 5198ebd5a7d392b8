/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_jvmti.h - a jvmtiEnv whose threads, stacks and refusals the test decides.
 *
 * A stack of depth d has the frame {method FAKE_METHOD + i, location i} at distance i from its
 * root, so that each frame shows where it belongs.
 *
 * Owns     what it allocates for its caller, until Deallocate; fake_jvmti_live_pieces counts it.
 * Threads  any, but for reset and the fields of fake_jvmti.
 * Errors   as the test says.
 * Cost     none that matters.
 */
#ifndef SMP_TEST_FAKE_JVMTI_H
#define SMP_TEST_FAKE_JVMTI_H

#include <jvmti.h>

#include "support/fake_jni.h"

enum { FAKE_METHOD = 1000, FAKE_MAX_THREADS = 4096 };

/* X(function): what may be refused */
#define FAKE_JVMTI_MAP(X)         \
    X(GetPhase)                   \
    X(AddCapabilities)            \
    X(SetEventCallbacks)          \
    X(SetEventNotificationMode)   \
    X(SetEnvironmentLocalStorage) \
    X(GetTopThreadGroups)         \
    X(GetAllThreads)              \
    X(GetThreadInfo)              \
    X(GetThreadState)             \
    X(GetThreadGroupInfo)         \
    X(GetStackTrace)              \
    X(GetFrameCount)              \
    X(GetMethodDeclaringClass)    \
    X(GetClassSignature)          \
    X(GetMethodName)              \
    X(GetSourceFileName)          \
    X(GetLineNumberTable)         \
    X(IsMethodNative)             \
    X(GetSystemProperty)          \
    X(GetLoadedClasses)           \
    X(GetClassMethods)            \
    X(GetExtensionEvents)         \
    X(SetExtensionEventCallback)  \
    X(GetClassLoader)

enum fake_call {
#define X(function) FAKE_##function,
    FAKE_JVMTI_MAP(X)
#undef X
        FAKE_CALL_COUNT
};

struct fake_method {
    const char *signature; /* of its class */
    const char *name;
    const char *type;           /* its own signature */
    struct fake_object *loader; /* of its class; NULL: the bootstrap loader */
    const char *file;           /* NULL: absent */
    bool is_native;
    jint line_count;
    const jvmtiLineNumberEntry *lines; /* NULL: absent */
};

struct fake_jvmti {
    jvmtiError errors[FAKE_CALL_COUNT]; /* what a call returns, JVMTI_ERROR_NONE unless set */
    _Atomic int calls[FAKE_CALL_COUNT]; /* how often it was called */
    /* Before a call does its work: where a thread may die or a stack change. */
    void (*before)(enum fake_call call);
    jint most_frames;  /* of all requests to GetStackTrace */
    jint absurd_count; /* what GetStackTrace says it wrote, where not 0 */
    bool null_methods; /* frames without a method id */
    bool has_cpu_time; /* GetThreadCpuTime returns the thread's cpu_ns */
    jvmtiPhase phase;
    jvmtiCapabilities potential;
    jvmtiCapabilities added;
    jvmtiEventCallbacks callbacks;
    bool enabled[JVMTI_MAX_EVENT_TYPE_VAL + 1];
    bool disposed;
    const void *local_storage;
    struct fake_method method; /* what every method id means, but for this one: */
    jmethodID other_id;
    struct fake_method other;
    const char *version;        /* of the Java platform; NULL: there is no such property */
    jint class_count;           /* loaded */
    jint class_methods;         /* of each of them */
    const jmethodID *class_ids; /* of these; NULL: they are all NULL */
    bool has_class_unload;      /* among the extension events */
    jvmtiExtensionEvent on_class_unload;
    struct fake_group system;
    struct fake_thread *threads[FAKE_MAX_THREADS];
    size_t thread_count;
};
extern struct fake_jvmti fake_jvmti;

void fake_jvmti_reset(void);
long fake_jvmti_live_pieces(void);

/* The events, as the JVM sends them: on the thread itself, where they are enabled. */
void fake_jvmti_thread_start(struct fake_thread *thread);
void fake_jvmti_thread_end(struct fake_thread *thread);
void fake_jvmti_vm_death(void);

#endif
