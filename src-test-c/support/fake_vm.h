/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_vm.h - a JVM as jvm/ and jni/ see it: a JavaVM, its JNIEnv and its jvmtiEnv, whose threads,
 * stacks and refusals the test decides. fake_jvm.h is the JVM that the engine sees.
 *
 *   fake_vm_setup();                                   a live JVM with main_thread
 *   fake_vm_add(&thread, 100, "worker");
 *   fake_vm.errors[FAKE_GetStackTrace] = JVMTI_ERROR_OUT_OF_MEMORY;
 *   ... the code under test opens its environment of fake_vm_java_vm() ...
 *   fake_vm_teardown();                                fails the test if anything is left
 *
 * Objects are C structs. Every reference is a malloc of its own, so that the sanitizers see a
 * reference that is used after it was deleted, and fake_vm_live_refs one that was never deleted.
 *
 * A stack of depth d has the frame {method FAKE_METHOD + i, location i} at distance i from its
 * root, so that each frame can be recognised.
 *
 * Owns     references, environments and main_thread; other objects belong to the test. Memory that
 *          JVMTI allocates belongs to its caller until Deallocate; fake_vm_live_pieces counts it.
 * Threads  any, but for reset, setup, teardown and the fields of fake_vm. Each attached thread has
 *          its own environment.
 * Errors   those that the test sets. A function that the product does not call is NULL, so that a
 *          call of it crashes the test.
 */
#ifndef SMP_SUPPORT_FAKE_VM_H
#define SMP_SUPPORT_FAKE_VM_H

#include <jni.h>
#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/jvm.h"

enum { FAKE_MAX_NAME = 4096, FAKE_MAX_ELEMENTS = 64, FAKE_METHOD = 1000, FAKE_MAX_THREADS = 4096 };

/* --- objects --- */

struct fake_object {
    enum { FAKE_STRING, FAKE_THREAD, FAKE_GROUP, FAKE_CLASS, FAKE_ARRAY } kind;
};

struct fake_string {
    struct fake_object object;
    size_t length;
    jchar units[FAKE_MAX_NAME];
};

struct fake_group {
    struct fake_object object;
    const char *name;
    struct fake_group *parent;
};

struct fake_thread {
    struct fake_object object;
    int64_t java_id;
    struct fake_string *name; /* the value of the field Thread.name */
    const char *jvmti_name;   /* the name that GetThreadInfo returns */
    struct fake_group *group;
    bool daemon;
    bool is_carrier;    /* a carrier of virtual threads */
    int64_t address;    /* the value of the field Thread.eetop, if there is one */
    int32_t status;     /* the value of threadStatus */
    bool has_no_holder; /* although threads of this JVM have one */
    _Atomic bool ended;
    _Atomic int depth; /* number of frames */
    _Atomic int64_t cpu_ns;
};

struct fake_array {
    struct fake_object object;
    size_t count;
    struct fake_object *elements[FAKE_MAX_ELEMENTS];
};

struct fake_method {
    const char *signature; /* the signature of its class */
    const char *name;
    const char *type;           /* the signature of the method itself */
    struct fake_object *loader; /* the loader of its class; NULL: the bootstrap loader */
    const char *file;           /* NULL: no source file */
    bool is_native;
    jint line_count;
    const jvmtiLineNumberEntry *lines; /* NULL: no line table */
};

/* Methods of jdk.internal.vm.Continuation, in a JVM with virtual threads. */
enum { FAKE_ENTER_SPECIAL = 900, FAKE_ENTER = 901 };

/* --- the JVM --- */

/* X(function): JVMTI calls that a test may let fail */
#define FAKE_CALL_MAP(X)          \
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
    FAKE_CALL_MAP(X)
#undef X
        FAKE_CALL_COUNT
};

/* Zero, except the fields that fake_vm_reset sets: phase, potential, system, method and other. */
struct fake_vm {
    /* JNI. */
    bool has_virtual_threads;
    bool no_id_field;   /* the class Thread has no field tid */
    bool no_name_field; /* ... no field name */
    bool has_addresses; /* ... a field eetop */
    bool has_status;    /* ... a field threadStatus, */
    bool has_holder;    /* which is in a holder object */
    bool refuse_attach;
    bool refuse_global; /* NewGlobalRef returns NULL */
    jint jvmti_answer;  /* the result of GetEnv for JVMTI, JNI_OK unless set */
    JavaVMAttachArgs last_attach;
    char last_attach_name[128];
    void (*on_attach)(void); /* called on the new thread; sends ThreadStart */

    /* JVMTI. */
    jvmtiError errors[FAKE_CALL_COUNT]; /* result of a call, JVMTI_ERROR_NONE unless set */
    _Atomic int calls[FAKE_CALL_COUNT]; /* number of calls */
    /* Called before a call does its work; a thread may end or a stack may change here. */
    void (*before)(enum fake_call call);
    jint most_frames;  /* the largest request to GetStackTrace */
    jint absurd_count; /* if not 0, the frame count that GetStackTrace reports */
    bool null_methods; /* frames have no method ids */
    bool has_cpu_time; /* GetThreadCpuTime returns the thread's cpu_ns */
    jvmtiPhase phase;
    jvmtiCapabilities potential;
    jvmtiCapabilities added;
    jvmtiEventCallbacks callbacks;
    bool enabled[JVMTI_MAX_EVENT_TYPE_VAL + 1];
    bool disposed;
    const void *local_storage;
    struct fake_method method; /* the method of every method id except other_id */
    jmethodID other_id;
    struct fake_method other;
    const char *version;        /* of the Java platform; NULL: the property is absent */
    jint class_count;           /* loaded classes */
    jint class_methods;         /* methods of each loaded class */
    const jmethodID *class_ids; /* their ids; NULL: all ids are NULL */
    bool has_class_unload;      /* ClassUnload is among the extension events */
    jvmtiExtensionEvent on_class_unload;
    struct fake_group system;
    struct fake_thread *threads[FAKE_MAX_THREADS];
    size_t thread_count;

    /* Valid from fake_vm_setup on. */
    struct fake_group main_group;
    struct fake_thread main_thread; /* Java id 1, in the main group */
    struct fake_string main_name;
    long refs_before;
};
extern struct fake_vm fake_vm;

/* Resets everything to the state after start-up, without threads; the caller is attached. */
void fake_vm_reset(void);
/* As fake_vm_reset, with main_thread. The library is loaded and has opened nothing yet. */
void fake_vm_setup(void);
/* Unloads the library. Fails the test if a byte, a reference or a piece of JVMTI's memory is left.
 * References into a JVM that died may be left. */
void fake_vm_teardown(void);

/* Set-up and tear-down of a group of tests in a JVM with virtual threads. The library keeps its
 * references to their classes as long as the process lives. */
int fake_vm_know_virtual_threads(void **state);
int fake_vm_forget_virtual_threads(void **state);

JavaVM *fake_vm_java_vm(void);
/* Returns the environment of the calling thread, which it attaches if needed. */
JNIEnv *fake_vm_jni(void);
jvmtiEnv *fake_vm_jvmti(void);
/* Frees the calling thread's environment and the local references that it left. */
void fake_vm_detach(void);

jobject fake_vm_local(void *object);
jobject fake_vm_global(void *object);
/* Returns NULL for a NULL reference. */
void *fake_vm_object(jobject ref);
long fake_vm_live_refs(void);
/* Frees the global references that were not deleted, as a JVM does when it ends. */
void fake_vm_free_globals(void);
long fake_vm_live_pieces(void);

void fake_string_set(struct fake_string *string, const char *ascii);

/* --- its threads --- */

/* Adds a thread to the main group. The next scan finds it. */
void fake_vm_add(struct fake_thread *thread, int64_t java_id, const char *name);

/* Sends the event on the calling thread, if it is enabled. */
void fake_vm_thread_start(struct fake_thread *thread);
void fake_vm_thread_end(struct fake_thread *thread);
void fake_vm_death(void);

/* A reader of the library's threads, and the threads that one poll has delivered. */
enum { FAKE_VM_MAX_POLLED = 4096 };
struct fake_vm_reader {
    uint64_t cursor;
    uint64_t unseen;
    size_t accept; /* maximum number of threads that it accepts */
    size_t count;
    struct smp_thread *threads[FAKE_VM_MAX_POLLED];
};
void fake_vm_poll(struct fake_vm_reader *reader);
void fake_vm_drop_all(struct fake_vm_reader *reader);

#endif
