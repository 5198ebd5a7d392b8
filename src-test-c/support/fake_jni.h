/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_jni.h - as much of a JavaVM and its JNIEnv as jvm/ and jni/ call, over objects that are C
 * structs.
 *
 * Every reference is a malloc of its own, so that the sanitizers see a reference that is used after
 * it was deleted, and fake_jni_live_refs one that was never deleted.
 *
 * Owns     references and environments; objects belong to the test.
 * Threads  any; each attached thread has its own environment.
 * Errors   a JNI function that neither is known to call is NULL: calling it crashes the test.
 * Cost     none that matters.
 */
#ifndef SMP_TEST_FAKE_JNI_H
#define SMP_TEST_FAKE_JNI_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FAKE_MAX_NAME = 4096, FAKE_MAX_ELEMENTS = 64 };

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
    struct fake_string *name; /* what the field Thread.name holds */
    const char *jvmti_name;   /* what GetThreadInfo returns */
    struct fake_group *group;
    bool daemon;
    bool is_carrier;    /* of virtual threads */
    int64_t address;    /* what the field Thread.eetop holds, where there is one */
    int32_t status;     /* and threadStatus */
    bool has_no_holder; /* where threads have one */
    _Atomic bool ended;
    _Atomic int depth; /* frames on its stack */
    _Atomic int64_t cpu_ns;
};

struct fake_array {
    struct fake_object object;
    size_t count;
    struct fake_object *elements[FAKE_MAX_ELEMENTS];
};

/* Methods of jdk.internal.vm.Continuation, where there are virtual threads. */
enum { FAKE_ENTER_SPECIAL = 900, FAKE_ENTER = 901 };

struct fake_jni {
    bool has_virtual_threads;
    bool no_id_field;   /* Thread has no field tid */
    bool no_name_field; /* nor name */
    bool has_addresses; /* but eetop */
    bool has_status;    /* and threadStatus, */
    bool has_holder;    /* in an object of its own */
    bool refuse_attach;
    bool refuse_global; /* NewGlobalRef gives NULL */
    jint jvmti_answer;  /* of GetEnv for JVMTI, JNI_OK unless set */
    JavaVMAttachArgs last_attach;
    char last_attach_name[128];
    void (*on_attach)(void); /* on the new thread: where ThreadStart comes from */
};
extern struct fake_jni fake_jni;

/* Everything as after start-up, the calling thread attached. */
void fake_jni_reset(void);
JavaVM *fake_jni_java_vm(void);
/* Of the calling thread, attached first where it was not. */
JNIEnv *fake_jni_env(void);
/* Frees the calling thread's environment and the local references it left. */
void fake_jni_detach(void);

jobject fake_jni_local(void *object);
jobject fake_jni_global(void *object);
/* NULL for a NULL reference. */
void *fake_jni_object(jobject ref);
long fake_jni_live_refs(void);
/* What a JVM that dies does with the global references that were not deleted. */
void fake_jni_free_globals(void);

void fake_string_set(struct fake_string *string, const char *ascii);

/* fake_jvmti.c */
void *fake_jvmti_env(void);

#endif
