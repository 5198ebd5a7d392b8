/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent.h - access to the JVM: the JavaVM, our jvmtiEnv with its capabilities and events, and
 * whether the JVM is still live.
 *
 * The environment is created when the first session starts, not when the library is loaded: on JDK
 * 21 and later its mere existence slows every mount of a virtual thread. It is kept until the
 * library is unloaded. Events are enabled only while a session is open.
 *
 *   loaded ─open─► events on, threads known ─open, open─► ... ─close, close, close─► events off
 *
 * The other rooms of jvm/ register their functions as hooks; this room includes none of them.
 *
 * Owns     the jvmtiEnv, a reference to the system thread group while open.
 * Threads  any. open and close are serialized, without a lock.
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
    /* The oldest version with all functions we use: a JVM rejects versions newer than its own. */
    SMP_AGENT_JVMTI_VERSION = JVMTI_VERSION_1_2,
    SMP_JVM_THREAD_NAME_BYTES = 64 /* of internal threads; longer names are cut */
};

/* Functions of the other rooms of jvm/ that the agent calls. None is NULL. */
struct smp_agent_hooks {
    jvmtiEventCallbacks events; /* VMDeath is set by the agent */
    /* Called by the first open, `scan` after the thread events are on. If one fails, so is
     * close. */
    enum smp_status (*open)(JNIEnv *env);
    enum smp_status (*scan)(JNIEnv *env);
    /* If true, ThreadEnd stays enabled after the last close. */
    bool (*needs_thread_end)(void);
    /* Called by the last close, without other events. env is NULL if the thread is not attached. */
    void (*close)(JNIEnv *env);
    void (*vm_death)(void);
    /* Called by smp_agent_attach and smp_agent_detach on their native thread. */
    enum smp_status (*before_attach)(void);
    void (*after_attach)(void);
    void (*after_detach)(void); /* undoes before_attach */
};

/* Called when the library is loaded and unloaded. loaded creates no environment. */
void smp_agent_loaded(JavaVM *java_vm, const struct smp_agent_hooks *hooks);
void smp_agent_unloaded(void);

/*
 * On an attached thread; each successful open needs a close. SMP_EUNSUPPORTED: no JVMTI, or
 * unknown thread structures. SMP_EPHASE: the JVM is not live. SMP_ENOMEM, SMP_EVM.
 */
SMP_CHECKED enum smp_status smp_agent_open(void);
void smp_agent_close(void);

/* False before the first open and after VMDeath. JVMTI must not be called while it is false. */
bool smp_agent_is_live(void);
/* NULL before the first open. Callers must check smp_agent_is_live first. */
jvmtiEnv *smp_agent_jvmti(void);
/* The calling thread's environment; NULL if the thread is not attached. */
JNIEnv *smp_agent_env(void);

/*
 * The stack size of an ordinary Java thread (-Xss, -XX:ThreadStackSize), or 0 if it is unknown.
 * Needs no open. Costs the look-up of a symbol.
 */
size_t smp_agent_stack_bytes(void);

/*
 * Attaches the calling native thread as an internal thread: a daemon in the system thread group.
 * Its tid is registered before the JVM sends its ThreadStart. SMP_ETHREAD, SMP_EQUOTA (too many
 * internal threads), SMP_EPHASE.
 */
SMP_CHECKED enum smp_status smp_agent_attach(const char *thread_name);
void smp_agent_detach(void);

#endif
