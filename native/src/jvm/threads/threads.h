/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threads.h - the Java threads that live, and their names: the core's thread source.
 *
 * JVMTI events report starts and ends; one scan finds older threads. It runs after the events are
 * on, so no thread is missed between the two. The JVM's service threads and the internal ones are
 * not registered.
 *
 *   ThreadStart ┐
 *   scan        ┴► hidden_threads.h ─no─► registry.h ─poll─► a session
 *
 * Owns     the registry, a global reference for each registered thread.
 * Threads  events on any thread, the source on sampler threads; no lock is held across a call to
 *          the JVM.
 * Errors   a thread for which there is no memory counts as unseen.
 * Cost     start: GetThreadInfo, one global reference, one hash probe. name unchanged: one field
 *          read and one comparison of identities.
 */
#ifndef SMP_JVM_THREADS_THREADS_H
#define SMP_JVM_THREADS_THREADS_H

#include <jni.h>
#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "engine/jvm.h"
#include "jvm/threads/registry.h"

/* Hooks of agent.h, called in this order: open, events on, scan, ..., events off, close. */
SMP_CHECKED enum smp_status smp_threads_open(JNIEnv *env);
SMP_CHECKED enum smp_status smp_threads_scan(JNIEnv *env);
void smp_threads_close(JNIEnv *env);
void JNICALL smp_threads_on_start(jvmtiEnv *jvmti, JNIEnv *env, jthread thread);
void JNICALL smp_threads_on_end(jvmtiEnv *jvmti, JNIEnv *env, jthread thread);

struct smp_stack_bounds {
    uintptr_t low;
    uintptr_t high;
};

/* Returns the bounds of the calling thread's stack, for its walks; zeros: not known. For other
 * threads see hotspot/thread_layout.h. Any thread; the initial one reads /proc/self/maps. */
struct smp_stack_bounds smp_stack_bounds_own(void);

/* All sessions share one registry, which each reads with its own cursor. */
struct smp_thread_source smp_threads_source(void);

/* Borrowed while the thread is held. */
jthread smp_threads_ref(const struct smp_thread *thread);
/* Thread.threadId(): never reused. */
int64_t smp_threads_java_id(const struct smp_thread *thread);
/* Reads the Java id of any Thread object, started or not. On an attached thread. SMP_EUNSUPPORTED:
 * its class has no such field. */
SMP_CHECKED enum smp_status smp_threads_id_of(JNIEnv *env, jobject thread, int64_t *out);

/* Finds a live thread by its Java id. Returns false if the source does not have the thread. */
bool smp_threads_find(int64_t java_id, uint64_t *serial);

/* Calls smp_registry_search for all threads that are registered. */
uint64_t smp_threads_search(smp_thread_test *test, void *context);

/* Shared by all sessions; lasts while the thread is held. */
struct smp_walk_info *smp_threads_walk_info(struct smp_thread *thread);
/* Returns the address of the JVM's thread object for any Thread object; 0 if there is none, or it
 * is not known. */
uintptr_t smp_threads_address(JNIEnv *env, jobject thread);

/* Returns the state of a thread in its Thread object, as JVMTI's bits (JVMTI_THREAD_STATE_WAITING:
 * sleeps, is parked or in Object.wait); 0 if the JDK has no such field. */
int32_t smp_threads_status(JNIEnv *env, jobject thread);

/* Called if JVMTI or its Thread object shows that the thread is not alive: its end event was
 * missed, or is about to come. Ends its entry. */
void smp_threads_gone(struct smp_thread *thread);

/* Hooks of agent.h: the calling native thread becomes an internal one, or stops being one. */
SMP_CHECKED enum smp_status smp_threads_enter(void);
void smp_threads_leave(void);
/* Makes a Java thread an internal one. SMP_EQUOTA: too many. SMP_EUNSUPPORTED. */
SMP_CHECKED enum smp_status smp_threads_hide(JNIEnv *env, jobject thread);

#endif
