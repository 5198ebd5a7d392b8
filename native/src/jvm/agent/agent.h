/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent.h - the JVM itself: its JavaVM, the one jvmtiEnv with its capabilities and events, and
 * whether it still lives.
 *
 * The environment is made when the first session starts, never while the library is loaded: on
 * JDK 21 and later its mere existence slows every switch of a virtual thread. It is kept for as
 * long as the library is loaded; events are on only while a session is open.
 *
 *   loaded ─open─► events on, threads known ─open, open─► ... ─close, close, close─► events off
 *
 * The other rooms of jvm/ hand in their functions as hooks; this one calls none of them by name.
 *
 * Owns     the jvmtiEnv, a reference to the system thread group while open.
 * Threads  any. open and close of one session wait for those of another, without a lock.
 * Errors   as listed.
 * Cost     the first open: one environment, and a scan of all threads. The getters: one load.
 */
#ifndef SMP_JVM_AGENT_AGENT_H
#define SMP_JVM_AGENT_AGENT_H

#include <jni.h>
#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

enum {
    SMP_AGENT_JNI_VERSION = JNI_VERSION_1_8,
    /* The oldest that has every function used here: a JVM refuses versions newer than itself. */
    SMP_AGENT_JVMTI_VERSION = JVMTI_VERSION_1_2,
    SMP_JVM_THREAD_NAME_BYTES = 64 /* of internal threads; longer names are cut */
};

/* Functions of the other rooms of jvm/, which the agent calls at its events. None is NULL. */
struct smp_agent_hooks {
    jvmtiEventCallbacks events; /* VMDeath is the agent's */
    /* The first open: before the events of threads are on, and after. A failure closes. */
    enum smp_status (*open)(JNIEnv *env);
    enum smp_status (*scan)(JNIEnv *env);
    /* True: ThreadEnd stays on after the last close. */
    bool (*needs_thread_end)(void);
    /* The last close, with the other events off. env is NULL where the thread is not attached. */
    void (*close)(JNIEnv *env);
    void (*vm_death)(void);
    /* On a native thread that smp_agent_attach makes one of the library's. */
    enum smp_status (*before_attach)(void);
    void (*after_attach)(void);
    void (*after_detach)(void); /* undoes before_attach */
};

/* When the library is loaded and unloaded. loaded touches no environment. */
void smp_agent_loaded(JavaVM *java_vm, const struct smp_agent_hooks *hooks);
void smp_agent_unloaded(void);

/*
 * Every open is paired with a close. On an attached thread. SMP_EUNSUPPORTED: this JVM offers no
 * JVMTI or its threads look unlike any known. SMP_EPHASE: not live. SMP_ENOMEM, SMP_EVM.
 */
SMP_CHECKED enum smp_status smp_agent_open(void);
void smp_agent_close(void);

/* False before the first open and from VMDeath on: no call to JVMTI then. */
bool smp_agent_is_live(void);
/* NULL before the first open. Callers check is_live before. */
jvmtiEnv *smp_agent_jvmti(void);
/* The calling thread's environment; NULL if the thread is not attached. */
JNIEnv *smp_agent_env(void);

/*
 * The stack of an ordinary Java thread (-Xss, -XX:ThreadStackSize); 0: unknown. Any thread, at any
 * time. Costs the look-up of a symbol.
 */
size_t smp_agent_stack_bytes(void);

/*
 * Attaches the calling native thread as an internal one: a daemon in the system thread group, whose
 * tid is registered before the JVM sends its ThreadStart. SMP_ETHREAD, SMP_EQUOTA (too many
 * internal threads), SMP_EPHASE.
 */
SMP_CHECKED enum smp_status smp_agent_attach(const char *thread_name);
void smp_agent_detach(void);

#endif
